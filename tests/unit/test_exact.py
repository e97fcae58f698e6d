"""Sums that are the same in any order."""

from collections.abc import Iterator

import pytest
import torch

from regard.exact import GRID, PIECE, on_grid, product, sigmoid, tanh_
from regard.models.cells import GRU, LSTM, Cell, take_step


@pytest.fixture
def _three_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    with torch.inference_mode():
        yield
    torch.set_num_threads(before)


def test_the_order_of_adding_makes_no_difference() -> None:
    generator = torch.Generator().manual_seed(1)
    left, right = torch.randn(7, 300, generator=generator), torch.randn(300, 11, generator=generator)
    order = torch.randperm(300, generator=generator)
    exact = product(left, on_grid(right))
    assert torch.equal(product(left[:, order], on_grid(right[order])), exact)
    assert torch.equal(torch.cat([product(row[None], on_grid(right)) for row in left]), exact)
    padded = torch.nn.functional.pad(left, (0, 40)), torch.nn.functional.pad(right, (0, 0, 0, 40))
    assert torch.equal(product(padded[0], on_grid(padded[1])), exact)
    assert exact.dtype == torch.float32
    torch.testing.assert_close(exact, left @ right, atol=300**0.5 * 4 * GRID, rtol=0)


def test_rounding_is_to_the_nearest_and_leaves_its_argument_alone() -> None:
    numbers = torch.tensor([0.3 * GRID, -0.6 * GRID, 5.0, -2.5 * GRID], dtype=torch.float64)
    before = numbers.clone()
    assert on_grid(numbers).tolist() == [0.0, -GRID, 5.0, -2 * GRID]
    assert torch.equal(numbers, before)


def test_what_is_not_on_the_grid_is_multiplied_as_it_is() -> None:
    left, right = torch.randn(2, 3, dtype=torch.float64), torch.randn(3, 4, dtype=torch.float64)
    assert torch.equal(product(left, right), left @ right)
    assert product(left.float(), right.bfloat16()).dtype == torch.bfloat16


@pytest.mark.usefixtures("_three_threads")
def test_tanh_has_the_same_bits_however_many_threads_there_are() -> None:
    rows = torch.randn(343, 96, generator=torch.Generator().manual_seed(1))
    together = tanh_(rows.clone())
    assert torch.equal(together, torch.cat([tanh_(row.clone()[None]) for row in rows]))
    torch.testing.assert_close(together, rows.tanh(), atol=1e-6, rtol=0)


@pytest.mark.usefixtures("_three_threads")
def test_sigmoids_have_the_same_bits_however_many_there_are() -> None:
    numbers = torch.randn(3 * PIECE + 7, 1, generator=torch.Generator().manual_seed(1))
    together = sigmoid(numbers)
    for few in (1, 5, 31, 33, PIECE + 1):
        assert torch.equal(together[:few], sigmoid(numbers[:few]))
        assert torch.equal(together[-few:], sigmoid(numbers[-few:]))
    torch.testing.assert_close(together, torch.sigmoid(numbers))


@pytest.mark.usefixtures("_three_threads")
@pytest.mark.parametrize("cell", [GRU, LSTM])
def test_a_step_has_the_same_bits_however_many_threads_there_are(cell: type[Cell]) -> None:
    x, h = torch.randn(2, 343, cell.gates * 96, generator=torch.Generator().manual_seed(2))
    state = tuple(torch.randn(cell.tensors, 343, 96, generator=torch.Generator().manual_seed(3)))
    together = take_step(cell, x, h, state)
    for row in range(343):
        rows = slice(row, row + 1)
        alone = take_step(cell, x[rows], h[rows], tuple(part[rows] for part in state))
        assert all(torch.equal(one, part[rows]) for one, part in zip(alone, together, strict=True))


def test_tanh_has_a_gradient_and_short_numbers_keep_their_precision() -> None:
    x = torch.tensor([0.003, -2.0], requires_grad=True)
    tanh_(x * 1).sum().backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(x.grad, 1 - torch.tanh(x.detach()) ** 2)
    with torch.inference_mode():
        short = x.detach().bfloat16()
        assert torch.equal(tanh_(short.clone()), torch.tanh(short))
