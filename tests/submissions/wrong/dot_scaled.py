import torch
import torch.nn.functional as F
from torch import nn


class DotProdAttention(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.W_c = nn.Linear(2 * hidden_size, hidden_size)

    def forward(self, query, context):
        z = torch.bmm(query, context.transpose(1, 2)) / query.shape[-1] ** 0.5
        a = F.softmax(z, dim=-1)
        c = torch.bmm(a, context)
        return torch.tanh(self.W_c(torch.cat([c, query], dim=-1))), a
