import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d, k, bias=False) for _ in range(3))

    def forward(self, x):
        a = (self.q(x) @ self.k(x).transpose(1, 2) / self.q.out_features**0.5).softmax(-1)
        return a @ self.v(x), a


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.h = nn.ModuleList(Head(d_model, d_model // heads) for _ in range(heads))
        self.o = nn.Linear(d_model, d_model)

    def forward(self, x):
        zs, ps = zip(*[h(x) for h in self.h], strict=True)
        return self.o(torch.cat(zs, -1)), torch.stack(ps, 1)
