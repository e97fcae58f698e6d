"""From scores to weights. A score of -inf always becomes a weight of exactly 0."""

from collections.abc import Callable

import entmax
import torch
from torch import nn

from regard.types import Float, Tensor

LOWEST = -1e4
"""Stands in for -inf where a cumulative sum would turn it into NaN; far below any score that could get weight."""
FEWEST = 16
"""Fewer numbers are added in another order, with other last digits: a short sentence would depend on the padding of its
batch."""


def softmax(scores: Float[Tensor, "*any S"]) -> Float[Tensor, "*any S"]:
    """Exponential weights: every token gets some."""
    size = scores.shape[-1]
    if size < FEWEST and not torch.is_grad_enabled():
        scores = nn.functional.pad(scores, (0, FEWEST - size), value=float("-inf"))
    return torch.softmax(scores, dim=-1)[..., :size]


def sparsemax(scores: Float[Tensor, "*any S"]) -> Float[Tensor, "*any S"]:
    """Euclidean projection onto the simplex: many weights are exactly 0 (Martins and Astudillo, 2016)."""
    return _sparse(entmax.sparsemax, scores)


def entmax15(scores: Float[Tensor, "*any S"]) -> Float[Tensor, "*any S"]:
    """Between softmax and sparsemax, alpha = 1.5 (Peters, Niculae and Martins, 2019)."""
    return _sparse(entmax.entmax15, scores)


def _sparse(transform: Callable[..., Tensor], scores: Tensor) -> Tensor:
    is_out = scores == float("-inf")
    weights = transform(scores.masked_fill(is_out, LOWEST), dim=-1)
    return weights.masked_fill(is_out, 0.0)
