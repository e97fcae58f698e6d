import math

import torch
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.q = nn.Linear(dec_hid_dim, kq_dim)
        self.k = nn.Linear(2 * enc_hid_dim, kq_dim)
        self.kq = kq_dim
        self.coverage = 0

    def forward(self, hidden, encoder_outputs):
        s = torch.einsum("bk,sbk->bs", self.q(hidden), self.k(encoder_outputs)) / math.sqrt(self.kq)
        if torch.is_tensor(self.coverage) and self.coverage.shape == s.shape:
            s = s - self.coverage
        a = s.softmax(1)
        self.coverage = a.detach()
        return torch.einsum("bs,sbm->bm", a, encoder_outputs), a
