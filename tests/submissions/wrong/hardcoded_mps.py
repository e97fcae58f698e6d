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
        mask = torch.zeros(len(hidden), len(encoder_outputs), device="mps")
        s = torch.einsum("bk,sbk->bs", self.q(hidden), self.k(encoder_outputs)) / math.sqrt(self.d)
        a = (s + mask).softmax(1)
        return torch.einsum("bs,sbm->bm", a, encoder_outputs), a
