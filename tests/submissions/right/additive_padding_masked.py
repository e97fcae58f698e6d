import torch
import torch.nn.functional as F
from torch import nn


class BahdanauAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, attn_dim):
        super().__init__()
        self.W_1 = nn.Linear(2 * enc_hid_dim, attn_dim)
        self.W_2 = nn.Linear(dec_hid_dim, attn_dim, bias=False)
        self.v = nn.Linear(attn_dim, 1, bias=False)

    def forward(self, hidden, encoder_outputs):
        scores = self.v(torch.tanh(self.W_1(encoder_outputs) + self.W_2(hidden))).squeeze(-1)
        scores = scores.masked_fill(encoder_outputs.abs().sum(-1) == 0, float("-inf"))
        alpha = F.softmax(scores.transpose(0, 1), dim=1)
        return torch.bmm(alpha.unsqueeze(1), encoder_outputs.transpose(0, 1)).squeeze(1), alpha
