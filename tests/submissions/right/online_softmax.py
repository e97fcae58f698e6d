import math

import torch
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.q = nn.Linear(dec_hid_dim, kq_dim)
        self.k = nn.Linear(2 * enc_hid_dim, kq_dim)
        self.d = kq_dim

    def forward(self, hidden, encoder_outputs):
        q = self.q(hidden) / math.sqrt(self.d)
        top = torch.full((hidden.size(0), 1), -torch.inf)
        total, value, scores = torch.zeros_like(top), torch.zeros_like(encoder_outputs[0]), []
        for word in encoder_outputs.unbind(0):
            score = (q * self.k(word)).sum(1, keepdim=True)
            new = torch.maximum(top, score)
            old, now = torch.exp(top - new), torch.exp(score - new)
            total, value, top = total * old + now, value * old + now * word, new
            scores.append(score)
        return value / total, torch.exp(torch.cat(scores, 1) - top) / total
