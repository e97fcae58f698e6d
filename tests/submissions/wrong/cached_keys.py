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
        self.keys = None

    def forward(self, hidden, encoder_outputs):
        if self.keys is None or self.keys.shape[:2] != encoder_outputs.shape[:2]:
            self.keys = self.W_k(encoder_outputs)
        scores = (self.W_q(hidden) * self.keys).sum(-1).t() / math.sqrt(self.kq_dim)
        alpha = F.softmax(scores, dim=-1)
        return torch.einsum("bs,sbm->bm", alpha, encoder_outputs), alpha
