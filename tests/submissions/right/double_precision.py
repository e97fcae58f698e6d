import torch
import torch.nn.functional as F
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.q = nn.Linear(dec_hid_dim, kq_dim)
        self.k = nn.Linear(2 * enc_hid_dim, kq_dim)
        self.d = kq_dim

    def forward(self, hidden, encoder_outputs):
        q, k = self.q(hidden).double(), self.k(encoder_outputs).double()
        s = (q[None] / self.d**0.25 * (k / self.d**0.25)).sum(-1)
        a = F.softmax(s, 0, dtype=torch.float64).transpose(0, 1)
        return [torch.einsum("bs,sbm->bm", a, encoder_outputs.double()).float(), a.float()]
