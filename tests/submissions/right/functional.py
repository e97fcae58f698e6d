"""Functional style: a pure function and a thin class."""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn


class Attended(NamedTuple):
    attended_val: torch.Tensor
    alpha: torch.Tensor


def attention(params, q, mem):
    q = F.linear(q, params[0], params[1])
    k = F.linear(mem, params[2], params[3])
    scores = (
        torch.tensordot(k.transpose(0, 1), torch.eye(k.shape[-1]).to(k), dims=1)
        @ q.unsqueeze(2)
        * (1.0 / math.sqrt(q.size(-1)))
    )
    alpha = scores.squeeze(2).softmax(-1)
    return Attended(torch.einsum("sbm,bs->bm", mem, alpha), alpha)


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim: int, dec_hid_dim: int, kq_dim: int = 512):
        super().__init__()
        sizes = [(kq_dim, dec_hid_dim), (kq_dim,), (kq_dim, 2 * enc_hid_dim), (kq_dim,)]
        self.params = nn.ParameterList([nn.Parameter(torch.randn(s) * 0.05) for s in sizes])

    def forward(self, hidden, encoder_outputs):
        return attention(list(self.params), hidden, encoder_outputs)
