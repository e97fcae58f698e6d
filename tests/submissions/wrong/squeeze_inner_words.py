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

    def forward(self, hidden, encoder_outputs):
        q = self.W_q(hidden).unsqueeze(2)
        v = encoder_outputs.transpose(0, 1)
        scores = torch.stack([torch.matmul(k, x).squeeze() for k, x in zip(self.W_k(v), q, strict=True)])
        alpha = F.softmax(scores / math.sqrt(self.kq_dim), dim=1)
        return torch.bmm(alpha.unsqueeze(1), v).squeeze(1), alpha
