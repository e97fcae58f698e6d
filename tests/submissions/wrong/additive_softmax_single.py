import torch
from torch import nn


class BahdanauAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, attn_dim):
        super().__init__()
        self.W1 = nn.Linear(2 * enc_hid_dim, attn_dim)
        self.W2 = nn.Linear(dec_hid_dim, attn_dim)
        self.V = nn.Linear(attn_dim, 1)

    def forward(self, hidden, encoder_outputs):
        score = self.V(torch.tanh(self.W1(encoder_outputs) + self.W2(hidden)))
        weights = torch.softmax(score, dim=-1)
        ctx = (weights * encoder_outputs).sum(0)
        return ctx, weights.squeeze(-1).t()
