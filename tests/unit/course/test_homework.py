"""The homework's classes under their own names."""

import math

import pytest
import torch

import regard.course
from regard.attention.functional import attend
from regard.course import DotProdAttention, Dummy, MeanPool, SingleQueryScaledDotProductAttention

B, S, T, ENC, DEC, KEY = 2, 5, 3, 4, 7, 6


@pytest.fixture
def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(B, DEC, generator=generator), torch.randn(S, B, 2 * ENC, generator=generator)


@pytest.mark.parametrize(
    "module", [Dummy(), Dummy(dev="cpu"), MeanPool(), SingleQueryScaledDotProductAttention(ENC, DEC, KEY)]
)
def test_shapes_of_the_skeleton(module: torch.nn.Module, inputs: tuple[torch.Tensor, torch.Tensor]) -> None:
    value, alpha = module(*inputs)
    assert value.shape == (B, 2 * ENC)
    assert alpha.shape == (B, S)


def test_default_key_size() -> None:
    assert SingleQueryScaledDotProductAttention(3, 5).query.out_features == 512


def test_dummy_is_zero_and_mean_is_the_mean(inputs: tuple[torch.Tensor, torch.Tensor]) -> None:
    value, alpha = Dummy()(*inputs)
    assert not value.any()
    assert not alpha.any()
    value, alpha = MeanPool()(*inputs)
    torch.testing.assert_close(value, inputs[1].mean(0))
    torch.testing.assert_close(alpha, torch.full((B, S), 1 / S))


def test_single_query_is_the_equation(inputs: tuple[torch.Tensor, torch.Tensor]) -> None:
    module = SingleQueryScaledDotProductAttention(ENC, DEC, KEY)
    value, alpha = module(*inputs)
    for b in range(B):
        memory = inputs[1][:, b]
        expected, weights = attend(module.query(inputs[0][b]), module.key(memory), memory)
        torch.testing.assert_close(value[b], expected)
        torch.testing.assert_close(alpha[b], weights)


@pytest.mark.parametrize("module", [MeanPool(), SingleQueryScaledDotProductAttention(ENC, DEC, KEY)])
def test_padding_gets_nothing_and_changes_nothing(
    module: torch.nn.Module, inputs: tuple[torch.Tensor, torch.Tensor]
) -> None:
    mask = torch.tensor([[True] * S, [True, True, True, False, False]])
    value, alpha = module(*inputs, mask=mask)
    assert alpha[1, 3:].tolist() == [0, 0]
    short, _ = module(inputs[0][1:], inputs[1][:3, 1:])
    torch.testing.assert_close(value[1], short[0])


def test_dot_product_attention_of_the_practical() -> None:
    generator = torch.Generator().manual_seed(1)
    query, context = torch.randn(B, T, ENC, generator=generator), torch.randn(B, S, ENC, generator=generator)
    module = DotProdAttention(ENC)
    state, weights = module(query, context)
    assert state.shape == (B, T, ENC)
    assert weights.shape == (B, T, S)
    scores = torch.tensor([query[1, 2] @ context[1, s] for s in range(S)])
    torch.testing.assert_close(weights[1, 2], scores.softmax(0))
    read = weights[1, 2] @ context[1]
    torch.testing.assert_close(state[1, 2], torch.tanh(module.combine.weight @ torch.cat([read, query[1, 2]])))
    _, masked = module(query, context, torch.tensor([S, 2]))
    assert masked[1, :, 2:].abs().max() == 0
    assert math.isclose(float(masked[1, 0].sum().detach()), 1, abs_tol=1e-6)


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match=r"^module 'regard\.course' has no attribute 'Bahdanau'$"):
        regard.course.Bahdanau  # noqa: B018
