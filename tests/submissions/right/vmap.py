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
        def one(h, e):
            w = torch.softmax(self.k(e) @ self.q(h) / math.sqrt(self.d), 0)
            return w @ e, w

        return torch.vmap(one, in_dims=(0, 1))(hidden, encoder_outputs)
