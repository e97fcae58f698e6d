"""Output layer and cross-entropy in one: the logits of a batch are never held all at once."""

from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable

from regard.types import Float, Int, Tensor

CHUNK = 512
"""Rows of logits held at a time: at 6,000 words 12 MB, which a processor's cache can hold."""
LEAST = torch.finfo(torch.float32).tiny
"""Smallest probability that the reported loss tells from 0; gradients do not pass through it."""


class _LinearCrossEntropy(torch.autograd.Function):
    """Computes the gradients while the logits of a chunk are at hand, in the forward pass."""

    @staticmethod
    def forward(
        context: Any, features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        dtype = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else features.dtype
        features, matrix = features.to(dtype), weight.to(dtype)
        # Smoothing adds the same to every word, so its part of loss and gradients is known without the words' logits.
        evenly = smoothing / weight.shape[0]
        even_row = matrix.sum(dim=0, dtype=torch.float32)
        grad_features = torch.empty_like(features)
        grad_weight = (-evenly * features.sum(dim=0)).expand_as(matrix).contiguous()
        grad_bias = torch.full_like(bias, -evenly * len(targets))
        nats = torch.zeros((), device=features.device, dtype=torch.float32)
        spread = torch.zeros((), device=features.device, dtype=torch.float32)
        # Every chunk is computed in the same memory, which stays in the processor's cache.
        held = features.new_empty(min(CHUNK, len(targets)), weight.shape[0])
        exact = held.float() if dtype.itemsize < 4 else held  # where it is the same, copies below do nothing
        chunks = (tensor.split(CHUNK) for tensor in (features, targets[:, None], grad_features))
        for rows, gold, grad_rows in zip(*chunks, strict=True):
            logits, slope = held[: len(rows)], exact[: len(rows)]
            torch.addmm(bias.to(dtype), rows, matrix.t(), out=logits)
            gold_logits = logits.gather(1, gold).float()
            torch.softmax(slope.copy_(logits), dim=1, out=slope)
            gold_nats = -slope.gather(1, gold).clamp_min_(LEAST).log_()
            nats += gold_nats.sum()
            spread += (gold_nats + gold_logits).sum() * weight.shape[0]  # log of the softmax's denominator
            slope.scatter_add_(1, gold, slope.new_full((1, 1), smoothing - 1.0).expand(len(gold), 1))
            grad_bias += slope.sum(dim=0).to(bias.dtype)
            logits.copy_(slope)
            torch.mm(logits, matrix, out=grad_rows)
            grad_weight.addmm_(logits.t(), rows)
        grad_features -= (evenly * even_row).to(dtype)
        spread -= features.sum(dim=0, dtype=torch.float32) @ even_row + len(targets) * bias.sum()
        context.save_for_backward(grad_features, grad_weight, grad_bias)
        context.dtype = weight.dtype
        context.mark_non_differentiable(nats)
        return (1 - smoothing) * nats + evenly * spread, nats

    @staticmethod
    @once_differentiable
    def backward(context: Any, *grads: Any) -> Any:
        grad_features, grad_weight, grad_bias = context.saved_tensors
        scale = grads[0]
        return grad_features * scale, grad_weight.to(context.dtype) * scale, grad_bias * scale, None, None


def linear_cross_entropy(
    features: Float[Tensor, "L F"], output: nn.Linear, targets: Int[Tensor, " L"], *, smoothing: float = 0.0
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Return the smoothed loss, which has a gradient, and the plain one in nats; both are sums over the rows."""
    parts = features, output.weight, output.bias, targets, smoothing
    smoothed, nats = _LinearCrossEntropy.apply(*parts)  # type: ignore[no-untyped-call]
    return smoothed, nats
