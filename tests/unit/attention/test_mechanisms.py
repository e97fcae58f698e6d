"""One case by hand for each mechanism."""

import math

import torch

from regard.attention.additive import Additive
from regard.attention.base import Source
from regard.attention.bilinear import Bilinear
from regard.attention.dot import Dot, ScaledDot
from regard.attention.mean import Mean
from regard.attention.multi_head import MultiHead
from regard.attention.none import NoAttention
from regard.attention.normalise import entmax15, softmax, sparsemax

MEMORY = torch.tensor([[[1.0, 1.0], [2.0, 0.0], [9.0, 9.0]]])
IS_TOKEN = torch.tensor([[True, True, False]])
QUERY = torch.tensor([[[1.0, 0.0]]])
IDENTITY = torch.eye(2)


def attend(attention: torch.nn.Module, query: torch.Tensor = QUERY) -> tuple[list[float], list[float]]:
    source = Source(attention.keys(MEMORY), attention.values(MEMORY), MEMORY[:, 0], IS_TOKEN)
    attended = attention(query, source)
    return attended.weights[0, 0, 0].tolist(), attended.context[0, 0].tolist()


def close(values: list[float], wanted: list[float]) -> bool:
    return all(math.isclose(a, b, abs_tol=1e-6) for a, b in zip(values, wanted, strict=True))


def test_none() -> None:
    weights, context = attend(NoAttention(memory=2))
    assert weights == [0, 0, 0]
    assert context == [0, 0]


def test_mean() -> None:
    weights, context = attend(Mean(memory=2))
    assert weights == [0.5, 0.5, 0]
    assert context == [1.5, 0.5]


def test_dot() -> None:
    weights, context = attend(Dot(memory=2))
    low, high = 1 / (1 + math.e), math.e / (1 + math.e)
    assert close(weights, [low, high, 0])
    assert close(context, [low + 2 * high, low])


def test_scaled_dot() -> None:
    attention = ScaledDot(hidden=2, memory=2, size=2)
    attention.query.weight.data, attention.key.weight.data = IDENTITY, IDENTITY
    high = 1 / (1 + math.exp(-1 / math.sqrt(2)))
    assert close(attend(attention)[0], [1 - high, high, 0])


def test_bilinear() -> None:
    attention = Bilinear(hidden=2, memory=2)
    attention.key.weight.data = torch.tensor([[0.0, 3.0], [0.0, 0.0]])  # s' W h = 3 h_2 for this s
    high = 1 / (1 + math.exp(-3))
    assert close(attend(attention)[0], [high, 1 - high, 0])


def test_additive() -> None:
    attention = Additive(hidden=2, memory=2, size=2)
    attention.query.weight.data, attention.key.weight.data = IDENTITY, IDENTITY
    attention.reduce.weight.data = torch.tensor([[1.0, 2.0]])
    first = math.tanh(2) + 2 * math.tanh(1)
    second = math.tanh(3) + 2 * math.tanh(0)
    high = 1 / (1 + math.exp(second - first))
    assert close(attend(attention)[0], [high, 1 - high, 0])


def test_multi_head() -> None:
    attention = MultiHead(hidden=2, memory=2, size=2, heads=2)
    for layer in (attention.query, attention.key, attention.value):
        layer.weight.data = IDENTITY
    attention.join.weight.data = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    source = Source(attention.keys(MEMORY), attention.values(MEMORY), MEMORY[:, 0], IS_TOKEN)
    attended = attention(QUERY, source)
    low, high = 1 / (1 + math.e), math.e / (1 + math.e)
    assert close(attended.weights[0, 0, 0].tolist(), [low, high, 0])  # head 1 sees the first feature only
    assert close(attended.weights[0, 1, 0].tolist(), [0.5, 0.5, 0])  # head 2 has the query 0
    assert close(attended.context[0, 0].tolist(), [0.5, low + 2 * high])  # W_O swaps the heads


def test_normalisers_on_the_same_scores() -> None:
    scores = torch.tensor([2.0, 1.0, -1.0])
    assert close(softmax(scores).tolist(), [0.7053845, 0.2594965, 0.0351190])
    assert sparsemax(scores).tolist() == [1.0, 0.0, 0.0]
    entmax = entmax15(scores).tolist()
    # alpha = 1.5: p_i = max(0, z_i / 2 - tau)^2 with tau such that the two positive ones sum to 1.
    tau = (1.5 - math.sqrt(2 - 0.25)) / 2
    assert close(entmax, [(1 - tau) ** 2, (0.5 - tau) ** 2, 0.0])
