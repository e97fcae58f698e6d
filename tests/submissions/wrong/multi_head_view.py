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
        q, k, v = (t.reshape(batch, self.heads, length, self.size) for t in self.qkv(x).chunk(3, dim=-1))
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.size), dim=-1)
        z = (weights @ v).transpose(1, 2).reshape(batch, length, d_model)
        return self.out(z), weights
