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
        k = self.k(encoder_outputs[:, :1]).expand(-1, hidden.size(0), -1)
        a = (torch.einsum("bk,sbk->bs", self.q(hidden), k) / math.sqrt(self.d)).softmax(1)
        return torch.einsum("bs,sbm->bm", a, encoder_outputs), a
