"""Layers that a loop asks again and again learn what torch's layers learn."""

import pytest
import torch
from torch import Tensor, nn

from regard.models.repeated import repeated


def walk(layer: nn.Module, first: Tensor, steps: int, *, is_repeated: bool, skipped: int = -1) -> Tensor:
    """Ask the layer for its own last answer, step by step; one step's answer may be of no use to anybody."""
    ask = repeated(layer) if is_repeated else layer
    at, total = first, first.new_zeros(())
    for step in range(steps):
        answer = ask(at).tanh()
        if step != skipped:
            at = answer
            total = total + answer.square().sum()
    return total


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("skipped", [-1, 0, 2])
@pytest.mark.parametrize("needs", [True, False])
def test_gradients_are_those_of_the_layer(bias: bool, skipped: int, needs: bool) -> None:
    layer, first = nn.Linear(3, 3, bias=bias).double(), torch.randn(2, 3, dtype=torch.float64, requires_grad=needs)
    leaves = [*layer.parameters(), *([first] if needs else [])]
    pairs = [walk(layer, first, 4, is_repeated=way, skipped=skipped) for way in (True, False)]
    found, wanted = (torch.autograd.grad(total, leaves) for total in pairs)
    assert torch.equal(*pairs)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)


def test_the_gradient_may_be_asked_for_twice() -> None:
    layer = nn.Linear(3, 3).double()
    total = walk(layer, torch.randn(2, 3, dtype=torch.float64), 3, is_repeated=True)
    first = torch.autograd.grad(total, layer.weight, retain_graph=True)
    again = torch.autograd.grad(total, layer.weight)
    torch.testing.assert_close(first, again)


def test_a_gradient_of_the_inputs_alone_leaves_that_of_the_weights_right() -> None:
    layer, first = nn.Linear(3, 3).double(), torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    total, plain = (walk(layer, first, 3, is_repeated=way) for way in (True, False))
    wanted = torch.autograd.grad(plain, first, retain_graph=True)
    torch.testing.assert_close(torch.autograd.grad(total, first, retain_graph=True), wanted)
    torch.testing.assert_close(torch.autograd.grad(total, layer.weight), torch.autograd.grad(plain, layer.weight))


def test_a_slope_of_a_slope_is_refused() -> None:
    layer = nn.Linear(3, 3)
    total = walk(layer, torch.randn(2, 3), 3, is_repeated=True)
    (slope,) = torch.autograd.grad(total, layer.weight, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


def test_short_numbers_give_gradients_of_the_parameters_kind() -> None:
    layer = nn.Linear(3, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        total = walk(layer, torch.randn(5, 3), 3, is_repeated=True).float()
    (slope,) = torch.autograd.grad(total, layer.weight)
    assert slope.dtype == torch.float32
    assert slope.abs().sum() > 0


def test_without_gradients_the_layer_itself_is_asked() -> None:
    layer = nn.Linear(3, 3)
    with torch.no_grad():
        assert repeated(layer) is layer
