import math

import torch
import torch.nn.functional as F
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.W_q = nn.Linear(dec_hid_dim, kq_dim)
        self.W_k = nn.Linear(enc_hid_dim * 2, kq_dim)
        self.kq_dim = kq_dim

    def forward(self, hidden, encoder_outputs):
        v = encoder_outputs.transpose(0, 1)
        is_padding = (v == 0).all(dim=-1)
        scores = torch.bmm(self.W_k(v), self.W_q(hidden).unsqueeze(2)).squeeze(2) / math.sqrt(self.kq_dim)
        alpha = F.softmax(scores.masked_fill(is_padding, float("-inf")), dim=-1)
        return torch.bmm(alpha.unsqueeze(1), v).squeeze(1), alpha
