"""Sentences of different lengths, read backwards."""

import torch

from regard.types import Float, Int, Tensor


def backwards(lengths: Int[Tensor, " B"] | None, batch: int, steps: int) -> Int[Tensor, "B T"]:
    """Return where each step of a sentence read backwards is in the sentence; past its end nothing is moved."""
    step = torch.arange(steps, device=None if lengths is None else lengths.device).expand(batch, steps)
    ends = torch.full((batch, 1), steps) if lengths is None else lengths[:, None]
    return torch.where(step < ends, ends - 1 - step, step)


def turn(sentences: Float[Tensor, "B T _"], order: Int[Tensor, "B T"]) -> Float[Tensor, "B T _"]:
    """Turn each sentence round; twice is as it was."""
    batch, steps = order.shape
    rows = order + steps * torch.arange(batch, device=order.device)[:, None]
    # Whole rows are copied; torch's `gather` looks every single number up.
    return sentences.flatten(0, 1).index_select(0, rows.flatten()).view_as(sentences)
