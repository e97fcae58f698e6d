"""What every attention mechanism takes and gives."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields

import torch
from torch import nn

from regard.types import Bool, Float, Int, Tensor

Normaliser = Callable[[Tensor], Tensor]
"""Turns scores into weights along the last dimension; a score of -inf becomes a weight of 0."""


@dataclass(frozen=True, slots=True)
class Source:
    """All that a decoder may know of a batch of encoded sentences."""

    keys: Float[Tensor, "B S K"]
    """Projected once per sentence, not once per step."""
    values: Float[Tensor, "B S C"]
    """What is read; the memory itself in most mechanisms."""
    sentence: Float[Tensor, "B H"]
    is_token: Bool[Tensor, "B S"]

    def select(self, rows: Int[Tensor, " R"]) -> "Source":
        """Return the given rows, in the given order; a row may be asked for more than once."""
        chosen: dict[int, Tensor] = {}  # keys and values may be one tensor: copy it once
        for field in fields(self):
            tensor = getattr(self, field.name)
            if id(tensor) not in chosen:
                chosen[id(tensor)] = tensor.index_select(0, rows)
        return Source(**{field.name: chosen[id(getattr(self, field.name))] for field in fields(self)})


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
        """Size C of the context that is read."""
        self.heads = heads

    def keys(self, memory: Float[Tensor, "B S M"]) -> Float[Tensor, "B S K"]:
        """Project the memory into what queries are compared with; by default it is compared as it is."""
        return memory

    def values(self, memory: Float[Tensor, "B S M"]) -> Float[Tensor, "B S C"]:
        """Project the memory into what is read; by default it is read as it is."""
        return memory

    @abstractmethod
    def weights(self, queries: Float[Tensor, "B T H"], source: Source) -> Float[Tensor, "B N T S"]:
        """Say where each query looks."""

    def read(self, weights: Float[Tensor, "B N T S"], values: Float[Tensor, "B S C"]) -> Float[Tensor, "B T C"]:
        """Average the values of a single head with its weights."""
        return weights.squeeze(1).to(values.dtype) @ values

    def forward(
        self, queries: Float[Tensor, "B T H"], source: Source, imposed: Float[Tensor, "B N T S"] | None = None
    ) -> Attended:
        """Attend from every query to the tokens of its sentence.

        Rows of ``imposed`` that are not NaN are used instead of the computed weights: "what if it had looked there?"
        """
        weights = self.weights(queries, source)
        if imposed is not None:
            weights = torch.where(imposed.isnan(), weights, imposed.to(weights.dtype))
        return Attended(self.read(weights, source.values), weights)


class Scored(Attention):
    """Attention that normalises a score for each pair of query and key."""

    def __init__(self, *, context: int, normalise: Normaliser, heads: int = 1) -> None:
        super().__init__(context=context, heads=heads)
        self.normalise = normalise

    @abstractmethod
    def scores(self, queries: Float[Tensor, "B T H"], keys: Float[Tensor, "B S K"]) -> Float[Tensor, "B N T S"]:
        """Say how well each key fits each query."""

    def weights(self, queries: Float[Tensor, "B T H"], source: Source) -> Float[Tensor, "B N T S"]:
        """Normalise the scores over the real tokens; padding gets exactly 0, which pictures and scores rely on."""
        scores = self.scores(queries, source.keys)
        scores = scores.float() if scores.dtype == torch.bfloat16 else scores
        is_padding = ~source.is_token[:, None, None, :]
        return self.normalise(scores.masked_fill(is_padding, float("-inf")))
