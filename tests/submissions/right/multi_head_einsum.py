import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        size = d_model // heads
        self.w_q, self.w_k, self.w_v = (nn.Parameter(0.1 * torch.randn(heads, d_model, size)) for _ in range(3))
        self.w_o = nn.Parameter(0.1 * torch.randn(heads, size, d_model))

    def forward(self, x):
        q = torch.einsum("bsd,ndk->bnsk", x, self.w_q)
        k = torch.einsum("bsd,ndk->bnsk", x, self.w_k)
        v = torch.einsum("bsd,ndk->bnsk", x, self.w_v)
        weights = torch.einsum("bntk,bnsk->bnts", q, k).mul(self.w_q.shape[-1] ** -0.5).softmax(-1)
        return torch.einsum("bnts,bnsk,nkd->btd", weights, v, self.w_o), weights
