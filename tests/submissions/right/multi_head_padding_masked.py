import math

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads, self.size = heads, d_model // heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x):
        batch, length, d_model = x.shape
        q, k, v = (t.view(batch, length, self.heads, self.size).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        is_padding = (x == 0).all(dim=-1)[:, None, None, :]
        scores = (q @ k.transpose(-2, -1) / math.sqrt(self.size)).masked_fill(is_padding, -1e9)
        weights = torch.softmax(scores, dim=-1)
        z = (weights @ v).transpose(1, 2).reshape(batch, length, d_model)
        return self.out(z), weights
