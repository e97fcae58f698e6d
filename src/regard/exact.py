"""Arithmetic with the same bits in any batch.

In which order a product adds up depends on its size, and so on the batch; rounded sums differ in their last digits.
Numbers on a grid have products on a finer grid, which double precision holds without rounding: their sum is the same in
any order. What is computed number by number must not be shared out among threads: torch computes the end of each
thread's share by other means, with other last digits.
"""

import torch
from torch import nn

from regard.types import Float, Tensor

GRID = 2.0**-18
"""Distance of neighbours. Sums are exact as long as sizes of products add up to less than 2^53 GRID^2 = 131,072."""
SHIFT = 1.5 * 2.0**52 * GRID
"""At this size neighbours in double precision are just as far apart, so that adding it rounds to the grid."""
LANES = 32
"""Numbers that torch computes at a time. It computes the rest, where there are fewer, by other means, with other last
digits, and which numbers these are depends on the number of rows unless a row is a multiple of it."""
PIECE = 2**14
"""Numbers that torch leaves to one thread."""
MINUS_ONE = torch.tensor(-1.0)


def on_grid(numbers: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """Round to the grid, in double precision."""
    return numbers.to(torch.float64, copy=True).add_(SHIFT).sub_(SHIFT)


def product(left: Float[Tensor, "*batch L D"], right: Float[Tensor, "*batch D R"]) -> Float[Tensor, "*batch L R"]:
    """Multiply; exactly if the right side is on the grid, and then the result has the type of the left side."""
    if right.dtype == torch.float64 != left.dtype:
        return (on_grid(left) @ right).to(left.dtype)
    return left.to(right.dtype) @ right


def is_shared_out(numbers: Float[Tensor, "*any"]) -> bool:
    """Say whether several threads would compute these numbers, outside training."""
    return numbers.numel() > PIECE and torch.get_num_threads() > 1 and not torch.is_grad_enabled()


def tanh_(numbers: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """Return tanh of numbers that nobody else needs.

    Where no gradient is asked for it is computed in place from a sigmoid, which takes torch a quarter of the time.
    """
    if torch.is_grad_enabled() or numbers.dtype != torch.float32:
        return torch.tanh(numbers)
    pieces = numbers.view(-1).split(PIECE) if is_shared_out(numbers) else (numbers,)
    for piece in pieces:
        torch.add(MINUS_ONE, piece.mul_(2).sigmoid_(), alpha=2, out=piece)
    return numbers


def sigmoid(numbers: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """Return the sigmoid of numbers, few to a row; outside training with the same bits however many rows there are."""
    if torch.is_grad_enabled():
        return torch.sigmoid(numbers)
    filled = nn.functional.pad(numbers.flatten(), (0, -numbers.numel() % LANES))
    done = torch.cat([torch.sigmoid(piece) for piece in filled.split(PIECE)])
    return done[: numbers.numel()].view_as(numbers)
