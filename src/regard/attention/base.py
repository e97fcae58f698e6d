"""What every attention mechanism takes and gives."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

import torch
from torch import nn

from regard.exact import on_grid, product
from regard.types import Bool, Float, Int, Tensor

Normaliser = Callable[[Tensor], Tensor]
"""Turns scores into weights along the last dimension; a score of -inf becomes a weight of 0."""


@dataclass(frozen=True, slots=True)
class Source:
    """All that a decoder may know of a batch of encoded sentences."""

    keys: Float[Tensor, "B *K"]
    """Projected once per sentence, not once per step, and laid out as the mechanism likes."""
    values: Float[Tensor, "B *C"]
    """What is read, likewise; the memory itself in most mechanisms."""
    sentence: Float[Tensor, "R H"]
    is_token: Bool[Tensor, "R S"]
    words: Float[Tensor, "B S E"] | None = None
    """What each source word means, where the output layer is to see it too."""
    copies: int = 1
    """How many rows R, next to each other, share a row B of keys and values: the hypotheses of a sentence in a beam."""

    def select(self, rows: Int[Tensor, " _"]) -> "Source":
        """Return the given rows, in the given order; a row may be asked for more than once."""
        distinct, counts = torch.unique_consecutive(rows, return_counts=True)
        is_even = len(counts) > 0 and bool((counts == counts[0]).all())
        shared = (distinct if is_even else rows) // self.copies
        keys = self.keys.index_select(0, shared)
        values = keys if self.values is self.keys else self.values.index_select(0, shared)
        sentence, is_token = (tensor.index_select(0, rows) for tensor in (self.sentence, self.is_token))
        words = None if self.words is None else self.words.index_select(0, shared)
        return Source(keys, values, sentence, is_token, words, copies=int(counts[0]) if is_even else 1)

    def on_grid(self, *, is_of_keys: bool) -> "Source":
        """Return the same for products whose sums are exact, with keys or without."""
        keys = on_grid(self.keys) if is_of_keys else self.keys
        values = keys if self.values is self.keys else on_grid(self.values)
        words = None if self.words is None else on_grid(self.words)
        return replace(self, keys=keys, values=values, words=words)

    def without_copies(self) -> "Source":
        """Return the same with a single row for those that share keys and values."""
        if self.copies == 1:
            return self
        sentence, is_token = self.sentence[:: self.copies], self.is_token[:: self.copies]
        return Source(self.keys, self.values, sentence, is_token, self.words)


@dataclass(frozen=True, slots=True)
class Attended:
    """What was read, and from where."""

    context: Float[Tensor, "B T C"]
    weights: Float[Tensor, "B N T S"]
    """Each row sums to 1 and is exactly 0 off the real tokens."""


class Attention(nn.Module, ABC):
    """Where to look, for all queries at once. Keeps nothing between calls."""

    multiplies_keys = True
    """Whether queries are compared with keys by products."""

    def __init__(self, *, context: int, heads: int = 1) -> None:
        super().__init__()
        self.context = context
        """Size C of the context that is read."""
        self.heads = heads

    def keys(self, memory: Float[Tensor, "B S M"]) -> Float[Tensor, "B *K"]:
        """Project the memory into what queries are compared with; by default it is compared as it is."""
        return memory

    def values(self, memory: Float[Tensor, "B S M"]) -> Float[Tensor, "B *C"]:
        """Project the memory into what is read; by default it is read as it is."""
        return memory

    @abstractmethod
    def weights(self, queries: Float[Tensor, "B T H"], source: Source) -> Float[Tensor, "B N T S"]:
        """Say where each query looks."""

    def read(self, weights: Float[Tensor, "B N T S"], values: Float[Tensor, "B *C"]) -> Float[Tensor, "B T C"]:
        """Average the values of a single head with its weights."""
        return product(weights.squeeze(1), values)

    def forward(
        self, queries: Float[Tensor, "B T H"], source: Source, imposed: Float[Tensor, "B N T S"] | None = None
    ) -> Attended:
        """Attend from every query to the tokens of its sentence.

        Rows of ``imposed`` that are not NaN are used instead of the computed weights: "what if it had looked there?"
        """
        rows, steps, size = queries.shape
        weights = self.weights(queries.reshape(-1, source.copies * steps, size), source.without_copies())
        if imposed is not None:
            given = steps_together(imposed, source.copies)
            weights = torch.where(given.isnan(), weights, given.to(weights.dtype))
        context = self.read(weights, source.values).reshape(rows, steps, self.context)
        return Attended(context, _one_by_one(weights, source.copies))


def mean_of_heads(weights: Float[Tensor, "B N *any"]) -> Float[Tensor, "B *any"]:
    """Average over the heads, added up one after the other: torch's order depends on the padding."""
    return reduce(torch.add, weights.unbind(1)) / weights.shape[1]


def steps_together(weights: Float[Tensor, "R N T S"], copies: int) -> Float[Tensor, "B N WT S"]:
    """Put the steps of rows that share keys into one row."""
    _, heads, steps, size = weights.shape
    return weights.view(-1, copies, heads, steps, size).transpose(1, 2).reshape(-1, heads, copies * steps, size)


def _one_by_one(weights: Float[Tensor, "B N WT S"], copies: int) -> Float[Tensor, "R N T S"]:
    """Undo `steps_together`."""
    _, heads, together, size = weights.shape
    steps = together // copies
    return weights.view(-1, heads, copies, steps, size).transpose(1, 2).reshape(-1, heads, steps, size)


class Scored(Attention):
    """Attention that normalises a score for each pair of query and key."""

    def __init__(self, *, context: int, normalise: Normaliser, heads: int = 1) -> None:
        super().__init__(context=context, heads=heads)
        self.normalise = normalise

    @abstractmethod
    def scores(self, queries: Float[Tensor, "B T H"], keys: Float[Tensor, "B *K"]) -> Float[Tensor, "B N T S"]:
        """Say how well each key fits each query."""

    def weights(self, queries: Float[Tensor, "B T H"], source: Source) -> Float[Tensor, "B N T S"]:
        """Normalise the scores over the real tokens; padding gets exactly 0, which pictures and scores rely on."""
        scores = self.scores(queries, source.keys)
        scores = scores.float() if scores.dtype == torch.bfloat16 else scores
        is_padding = ~source.is_token[:, None, None, :]
        return self.normalise(scores.masked_fill(is_padding, float("-inf")))
