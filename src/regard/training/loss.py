"""Output layer and cross-entropy in one: the logits of a batch are never held all at once."""

from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable

from regard.types import Float, Int, Tensor

HELD = 2**25
"""How many logits are held at most, in 67 MB of bfloat16 or 134 of float32: the longer the products, the faster."""
BLOCK = 32
"""Rows of logits that are normalised at a time: these fit a core's own cache. All products have a multiple of it."""
LEAST = torch.finfo(torch.float32).tiny
"""Smallest probability that the reported loss tells from 0; gradients do not pass through it."""


class _LinearCrossEntropy(torch.autograd.Function):
    """Computes the gradients while the logits of a chunk are at hand, in the forward pass."""

    @staticmethod
    def forward(
        context: Any, features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        dtype = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else features.dtype
        features, matrix = _in_whole_blocks(features.to(dtype)), weight.to(dtype)
        grad_features, grad_weight = torch.empty_like(features), torch.empty_like(matrix)
        grad_bias = torch.zeros_like(bias)
        wide = torch.promote_types(dtype, torch.float32)
        of_gold, logits_of_gold = (features.new_empty(len(targets), 1, dtype=wide) for _ in range(2))
        less = of_gold.new_full((1, 1), smoothing - 1.0)
        size = max(1, HELD // len(matrix) // BLOCK) * BLOCK
        held = features.new_empty(min(size, len(features)), len(matrix))  # every chunk is computed in it
        chunks = (tensor.split(size) for tensor in (features, grad_features, targets[:, None], of_gold, logits_of_gold))
        for number, (rows, grad_rows, *by_token) in enumerate(zip(*chunks, strict=True)):
            slopes = held[: len(rows)]
            torch.mm(rows, matrix.t(), out=slopes)
            blocks = (tensor.split(BLOCK) for tensor in (slopes[: len(by_token[0])], *by_token))
            for block, gold, probability, logit in zip(*blocks, strict=True):
                slope = block.float().add_(bias) if dtype.itemsize < 4 else block.add_(bias)
                if smoothing:
                    torch.gather(slope, 1, gold, out=logit)
                torch.softmax(slope, dim=1, out=slope)
                torch.gather(slope, 1, gold, out=probability)
                slope.scatter_add_(1, gold, less.expand_as(gold))
                grad_bias += slope.sum(dim=0)
                block.copy_(slope)
            torch.mm(slopes, matrix, out=grad_rows)
            if number:
                grad_weight.addmm_(slopes.t(), rows)
            else:
                torch.mm(slopes.t(), rows, out=grad_weight)
        nats = -of_gold.clamp_min_(LEAST).log_().sum()
        loss = (1 - smoothing) * nats
        if smoothing:
            # It adds the same to every word, so its part of loss and gradients is known without the words' logits.
            evenly = smoothing / len(matrix)
            all_words, all_rows = (tensor.sum(dim=0).to(wide) for tensor in (matrix, features))
            spread = (nats + logits_of_gold.sum()) * len(matrix)  # logarithms of the softmaxes' denominators
            spread -= all_rows @ all_words + len(targets) * bias.sum()
            loss += evenly * spread
            grad_features -= (evenly * all_words).to(dtype)
            grad_weight -= (evenly * all_rows).to(dtype)
            grad_bias -= evenly * len(targets)
        context.save_for_backward(grad_features[: len(targets)], grad_weight, grad_bias)
        context.dtype = weight.dtype
        context.mark_non_differentiable(nats)
        return loss, nats

    @staticmethod
    @once_differentiable
    def backward(context: Any, *grads: Any) -> Any:
        grad_features, grad_weight, grad_bias = context.saved_tensors
        gradients = grad_features, grad_weight.to(context.dtype), grad_bias
        if grads[0] != 1:  # multiplying a matrix as large as the output layer for nothing would take its time
            gradients = tuple(gradient * grads[0] for gradient in gradients)
        return *gradients, None, None


def _in_whole_blocks(rows: Float[Tensor, "L F"]) -> Float[Tensor, "L2 F"]:
    """Fill up with zeros: for every number of rows oneDNN would compile three products, in up to 50 ms each."""
    missing = -len(rows) % BLOCK
    return nn.functional.pad(rows, (0, 0, 0, missing)) if missing else rows


def linear_cross_entropy(
    features: Float[Tensor, "L F"],
    output: nn.Linear,
    targets: Int[Tensor, " L"],
    *,
    smoothing: float = 0.0,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Return the smoothed loss summed over the rows, which has a gradient, and the plain sum in nats."""
    parts = features, output.weight, output.bias, targets, smoothing
    smoothed, nats = _LinearCrossEntropy.apply(*parts)  # type: ignore[no-untyped-call]
    return smoothed, nats
