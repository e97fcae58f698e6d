"""Weights in a quarter of the space: one byte a number, and a scale for each row of a matrix."""

from collections.abc import Mapping

import torch

from regard.types import Tensor

SCALE = ".scale"
LARGEST = 127


def shrink(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return matrices as bytes with a scale for each row, and all else in half precision."""
    small: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        if tensor.dim() < 2:
            small[name] = tensor.half()
            continue
        scale = (tensor.abs().amax(dim=1, keepdim=True) / LARGEST).clamp(min=1e-12)
        small[name] = (tensor / scale).round().clamp(-LARGEST, LARGEST).to(torch.int8)
        small[name + SCALE] = scale
    return small


def restore(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Undo `shrink`, but for the rounding; weights that were not shrunk stay as they are."""
    return {
        name: tensor * weights[name + SCALE] if name + SCALE in weights else tensor
        for name, tensor in weights.items()
        if not name.endswith(SCALE)
    }
