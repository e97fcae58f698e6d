import torch
import torch.nn.functional as F
from torch import nn


class DotProdAttention(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.c = nn.Linear(hidden_size, hidden_size, bias=False)
        self.s = nn.Linear(hidden_size, hidden_size)

    def forward(self, query, context, src_lengths=None):
        a = F.softmax(torch.stack([q @ c.T for q, c in zip(query, context, strict=True)]), 2)
        return torch.tanh(self.s(query)), a
