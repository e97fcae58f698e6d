"""What every attention mechanism takes and gives."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields

from torch import nn

from regard.types import Bool, Float, Int, Tensor

Normaliser = Callable[[Tensor], Tensor]
"""Turns scores into weights along the last dimension; a score of -inf must become a weight of 0."""


@dataclass(frozen=True, slots=True)
class Source:
    """All that a decoder may know of a batch of encoded sentences."""

    memory: Float[Tensor, "B S M"]
    keys: Float[Tensor, "B S K"]
    """Projected once per sentence, not once per step."""
    values: Float[Tensor, "B S C"]
    sentence: Float[Tensor, "B H"]
    is_token: Bool[Tensor, "B S"]

    def select(self, rows: Int[Tensor, " R"]) -> "Source":
        """Return the given rows, in the given order; a row may be asked for more than once."""
        return Source(**{f.name: getattr(self, f.name).index_select(0, rows) for f in fields(self)})


@dataclass(frozen=True, slots=True)
class Attended:
    """What was read, and from where."""

    context: Float[Tensor, "B T C"]
    weights: Float[Tensor, "B N T S"]
    """Each row sums to 1 and is exactly 0 off the real tokens."""


class Attention(nn.Module, ABC):
    """Where to look, for all queries at once. Keeps nothing between calls."""

    def __init__(self, *, context: int, heads: int = 1) -> None:
        super().__init__()
        self.context = context
        """Size C of what `forward` returns as context."""
        self.heads = heads

    @abstractmethod
    def keys(self, memory: Float[Tensor, "B S M"]) -> Float[Tensor, "B S K"]:
        """Project the memory into what queries are compared with."""

    def values(self, memory: Float[Tensor, "B S M"]) -> Float[Tensor, "B S C"]:
        """Project the memory into what is read; by default it is read as it is."""
        return memory

    @abstractmethod
    def forward(self, queries: Float[Tensor, "B T H"], source: Source) -> Attended:
        """Attend from every query to the tokens of its sentence."""


class Scored(Attention):
    """Attention that normalises a score for each pair of query and key."""

    def __init__(self, *, context: int, normalise: Normaliser, heads: int = 1) -> None:
        super().__init__(context=context, heads=heads)
        self.normalise = normalise

    @abstractmethod
    def scores(self, queries: Float[Tensor, "B T H"], keys: Float[Tensor, "B S K"]) -> Float[Tensor, "B N T S"]:
        """Say how well each key fits each query."""

    def forward(self, queries: Float[Tensor, "B T H"], source: Source) -> Attended:
        """Normalise the scores over the real tokens and average the values with them."""
        weights = masked_weights(self.scores(queries, source.keys), source.is_token, self.normalise)
        return Attended(self.read(weights, source.values), weights)

    def read(self, weights: Float[Tensor, "B N T S"], values: Float[Tensor, "B S C"]) -> Float[Tensor, "B T C"]:
        """Average the values of a single head."""
        return weights.squeeze(1) @ values


def masked_weights(
    scores: Float[Tensor, "B N T S"], is_token: Bool[Tensor, "B S"], normalise: Normaliser
) -> Float[Tensor, "B N T S"]:
    """Normalise in float32. Padding gets exactly 0: pictures and alignment scores read these weights."""
    is_padding = ~is_token[:, None, None, :]
    weights = normalise(scores.float() if scores.dtype.itemsize < 4 else scores.masked_fill(is_padding, float("-inf")))
    return weights.to(scores.dtype)
