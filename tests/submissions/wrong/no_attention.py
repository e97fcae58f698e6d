import torch
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.W_q = nn.Linear(dec_hid_dim, kq_dim)
        self.W_k = nn.Linear(enc_hid_dim * 2, kq_dim)

    def forward(self, hidden, encoder_outputs):
        src_len = encoder_outputs.shape[0]
        return encoder_outputs.mean(dim=0), torch.full((hidden.shape[0], src_len), 1 / src_len)
