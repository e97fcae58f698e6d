import math

import torch
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self._layers = (nn.Linear(dec_hid_dim, kq_dim), nn.Linear(2 * enc_hid_dim, kq_dim))
        self.d = kq_dim

    def forward(self, hidden, encoder_outputs):
        s = torch.einsum("bk,sbk->bs", self._layers[0](hidden), self._layers[1](encoder_outputs)) / math.sqrt(self.d)
        a = s.softmax(1)
        return torch.einsum("bs,sbm->bm", a, encoder_outputs), a
