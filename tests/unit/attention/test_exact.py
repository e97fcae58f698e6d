"""Sums that are the same in any order."""

import torch

from regard.attention.exact import GRID, on_grid, product


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
