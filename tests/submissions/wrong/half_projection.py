import math

import torch
import torch.nn.functional as F
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.W_q = nn.Linear(dec_hid_dim, enc_hid_dim * 2)
        self.kq_dim = kq_dim

    def forward(self, hidden, encoder_outputs):
        q = self.W_q(hidden)
        scores = torch.einsum("bd,sbd->bs", q, encoder_outputs) / math.sqrt(q.shape[-1])
        alpha = F.softmax(scores, dim=1)
        return torch.einsum("bs,sbm->bm", alpha, encoder_outputs), alpha
