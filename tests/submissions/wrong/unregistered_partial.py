import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.q = partial(F.linear, weight=torch.randn(kq_dim, dec_hid_dim))
        self.k = nn.Linear(2 * enc_hid_dim, kq_dim)
        self.d = kq_dim

    def forward(self, hidden, encoder_outputs):
        s = torch.einsum("bk,sbk->bs", self.q(hidden), self.k(encoder_outputs)) / math.sqrt(self.d)
        a = s.softmax(1)
        return torch.einsum("bs,sbm->bm", a, encoder_outputs), a
