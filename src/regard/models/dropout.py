"""Dropout whose masks cost little and come from a generator that can be given."""

from typing import Literal

import torch
from torch import nn

from regard.types import Float, Tensor

STEPS = 1 << 16
"""A mask is drawn with 16 random bits a number: the share that is dropped is a multiple of 1 / STEPS."""
Unit = Literal["number", "feature", "word"]
"""What is dropped as one: single numbers, a feature at all steps of a sentence ("variational"), or whole words."""


class Dropout(nn.Module):
    """Sets a share of the numbers to 0 in training and enlarges the others, so that the expectation stays.

    torch draws one random number for each number in the mask; drawing 64 bits for four of them is several times faster.
    """

    def __init__(self, share: float, unit: Unit = "number") -> None:
        super().__init__()
        self.share = share
        self.unit: Unit = unit
        self.generator: torch.Generator | None = None
        """Where the masks come from; None for torch's own generator."""

    def forward(self, numbers: Float[Tensor, "B *L E"]) -> Float[Tensor, "B *L E"]:
        """Drop some numbers in training; in evaluation do nothing."""
        if not self.training or not self.share:
            return numbers
        batch, *steps, size = numbers.shape
        shapes = {
            "number": (batch, *steps, size),
            "feature": (batch, *(1 for _ in steps), size),
            "word": (batch, *steps, 1),
        }
        return numbers * self._mask(torch.Size(shapes[self.unit]), numbers)

    def _mask(self, shape: torch.Size, like: Tensor) -> Tensor:
        count = shape.numel()
        bits = torch.empty(-(-count // 4), dtype=torch.int64, device=like.device)
        bits.random_(-(2**63), None, generator=self.generator)
        dropped = min(max(round(self.share * STEPS), 1), STEPS - 1)
        numbers = bits.view(torch.int16)[:count].float()
        return numbers.ge_(dropped - STEPS // 2).mul_(STEPS / (STEPS - dropped)).to(like.dtype).view(shape)

    def extra_repr(self) -> str:
        """Show the share."""
        return f"{self.share}"
