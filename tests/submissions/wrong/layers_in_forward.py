import math

import torch
import torch.nn.functional as F
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.kq_dim = kq_dim

    def forward(self, hidden, encoder_outputs):
        W_q = nn.Linear(hidden.shape[-1], self.kq_dim)
        W_k = nn.Linear(encoder_outputs.shape[-1], self.kq_dim)
        scores = (W_q(hidden) * W_k(encoder_outputs)).sum(-1).t() / math.sqrt(self.kq_dim)
        alpha = F.softmax(scores, dim=-1)
        return torch.einsum("bs,sbm->bm", alpha, encoder_outputs), alpha
