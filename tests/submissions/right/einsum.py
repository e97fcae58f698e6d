import torch
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.query = nn.Linear(dec_hid_dim, kq_dim, bias=False)
        self.key = nn.Linear(2 * enc_hid_dim, kq_dim, bias=False)
        self.scale = kq_dim**-0.5

    def forward(self, hidden, encoder_outputs):
        scores = torch.einsum("bk,sbk->bs", self.query(hidden), self.key(encoder_outputs)) * self.scale
        alpha = scores.softmax(1)
        return torch.einsum("bs,sbm->bm", alpha, encoder_outputs), alpha
