import math

import torch.nn.functional as F
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.W_q = nn.Linear(dec_hid_dim, kq_dim)
        self.W_k = nn.Linear(enc_hid_dim * 2, kq_dim)
        self.kq_dim = kq_dim

    def forward(self, hidden, encoder_outputs):
        scores = (self.W_q(hidden) * self.W_k(encoder_outputs)).sum(-1) / math.sqrt(self.kq_dim)
        alpha = F.softmax(scores, dim=0)
        attended_val = (alpha.unsqueeze(-1) * encoder_outputs).sum(0)
        return attended_val, alpha.view(hidden.shape[0], -1)
