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
        q = self.W_q(hidden)[:, None]
        k = self.W_k(encoder_outputs).transpose(0, 1)
        v = encoder_outputs.transpose(0, 1)
        attended = F.scaled_dot_product_attention(q, k, v)
        with_identity = torch.eye(k.shape[1], device=k.device).expand(k.shape[0], -1, -1)
        alpha = F.scaled_dot_product_attention(q, k, with_identity)
        return attended[:, 0], alpha[:, 0]
