import math

import torch
import torch.nn.functional as F
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.enc_hid_dim, self.dec_hid_dim, self.kq_dim = enc_hid_dim, dec_hid_dim, kq_dim

    def forward(self, hidden, encoder_outputs):
        scores = torch.einsum("bd,sbd->bs", hidden, encoder_outputs) / math.sqrt(hidden.shape[-1])
        alpha = F.softmax(scores, dim=1)
        return torch.einsum("bs,sbm->bm", alpha, encoder_outputs), alpha
