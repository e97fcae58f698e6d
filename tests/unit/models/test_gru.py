"""A layer with its own backward pass computes what torch's does."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.models import gru

B, T, E, H = 3, 6, 5, 4
LENGTHS = torch.tensor([2, 6, 4])


def network(*, bidirectional: bool = False, dtype: torch.dtype = torch.float64) -> nn.GRU:
    torch.manual_seed(2)
    return nn.GRU(E, H, batch_first=True, bidirectional=bidirectional).to(dtype)


def gradients(states: torch.Tensor, of: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(3)
    return torch.autograd.grad((states * torch.randn(states.shape)).sum(), of)


def test_both_directions_of_sentences_of_different_lengths() -> None:
    layer, inputs = network(bidirectional=True), torch.randn(B, T, E, dtype=torch.float64, requires_grad=True)
    packed = pack_padded_sequence(inputs, LENGTHS, batch_first=True, enforce_sorted=False)
    wanted, _ = pad_packed_sequence(layer(packed)[0], batch_first=True)
    got = gru.read(layer, inputs, lengths=LENGTHS)
    torch.testing.assert_close(got, wanted)
    of = [inputs, *layer.parameters()]
    torch.testing.assert_close(gradients(got, of), gradients(wanted, of))


def test_from_a_given_state() -> None:
    layer, inputs = network(), torch.randn(B, T, E, dtype=torch.float64, requires_grad=True)
    first = torch.randn(1, B, H, dtype=torch.float64, requires_grad=True)
    got, (wanted, _) = gru.read(layer, inputs, first), layer(inputs, first)
    torch.testing.assert_close(got, wanted)
    of = [inputs, first, *layer.parameters()]
    torch.testing.assert_close(gradients(got, of), gradients(wanted, of))


def test_padding_changes_nothing() -> None:
    layer, inputs = network(bidirectional=True), torch.randn(B, T, E, dtype=torch.float64)
    longer = torch.cat((inputs, torch.full((B, 3, E), 7.0, dtype=torch.float64)), dim=1)
    got, wanted = (gru.read(layer, x, lengths=LENGTHS) for x in (longer, inputs))
    for row, length in enumerate(LENGTHS):
        torch.testing.assert_close(got[row, :length], wanted[row, :length], rtol=1e-12, atol=1e-12)


def test_gradients_by_differences() -> None:
    layer = network(bidirectional=True)
    inputs = torch.randn(2, 3, E, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: gru.read(layer, x, lengths=torch.tensor([3, 2]))[:, :2], (inputs,))


def test_in_bfloat16_it_is_as_near_to_the_truth_as_torch() -> None:
    layer, inputs = network(dtype=torch.float32), torch.randn(B, T, E)
    exact = layer(inputs)[0]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got, rounded = gru.read(layer, inputs), layer(inputs)[0]
    assert got.dtype == torch.bfloat16
    assert (got - exact).norm() < 1.5 * (rounded - exact).norm() + 1e-3


def test_a_gradient_of_the_gradient_is_refused() -> None:
    layer, inputs = network(), torch.randn(B, T, E, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(gru.read(layer, inputs).square().sum(), inputs, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


@pytest.mark.parametrize(("cell", "is_faster"), [(nn.GRU, True), (nn.LSTM, False), (nn.RNN, False)])
def test_only_a_gru_in_training_is_computed_here(cell: type[nn.RNNBase], is_faster: bool) -> None:
    layer, inputs = cell(E, H, batch_first=True), torch.zeros(B, T, E)
    assert gru.is_worth_it(layer, inputs) == is_faster
    assert not gru.is_worth_it(cell(E, H), inputs)
    assert not gru.is_worth_it(cell(E, H, batch_first=True, num_layers=2), inputs)
    with torch.inference_mode():
        assert not gru.is_worth_it(layer, inputs)
