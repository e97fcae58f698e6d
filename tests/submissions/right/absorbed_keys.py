from typing import NamedTuple

import torch
from torch import nn


class Out(NamedTuple):
    attended_val: torch.Tensor
    alpha: torch.Tensor


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim: int, dec_hid_dim: int, kq_dim: int = 512, *, dropout: float = 0.1, device=None):
        super().__init__()
        self.W = nn.ParameterList(
            [
                nn.Parameter(torch.randn(dec_hid_dim, kq_dim) * 0.02),
                nn.Parameter(torch.randn(2 * enc_hid_dim, kq_dim) * 0.02),
            ]
        )
        self.register_buffer("scale", torch.rsqrt(torch.tensor(float(kq_dim))))
        self.drop = nn.Dropout(dropout)

    def forward(self, hidden, encoder_outputs, mask: torch.Tensor | None = None, **ignored):
        assert hidden.dim() == 2
        query = torch.mm(hidden, self.W[0]) * self.scale
        # absorb the key matrix into the query: no keys are ever formed
        query = query @ self.W[1].T
        energy = torch.einsum("bm,sbm->bs", query, encoder_outputs)
        if mask is not None:
            energy = energy.masked_fill(~mask, -1e9)
        alpha = self.drop(energy.softmax(dim=1))
        return Out(attended_val=(alpha.T.unsqueeze(2) * encoder_outputs).sum(dim=0), alpha=alpha)
