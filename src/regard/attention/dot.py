"""Dot products, plain and scaled."""

import math

from torch import nn

from regard.attention.base import Normaliser, Scored
from regard.attention.normalise import softmax
from regard.exact import product
from regard.types import Float, Tensor


class Dot(Scored):
    """score = s . h: state and memory compared as they are, unscaled (spec §5)."""

    def __init__(self, *, memory: int, normalise: Normaliser = softmax) -> None:
        super().__init__(context=memory, normalise=normalise)

    def scores(self, queries: Float[Tensor, "B T H"], keys: Float[Tensor, "B S K"]) -> Float[Tensor, "B N T S"]:
        """Compare every query with every key."""
        return product(queries, keys.transpose(1, 2)).unsqueeze(1)


class ScaledDot(Scored):
    """score = (W_q s) . (W_k h) / sqrt(d); the values are the memory itself (spec §3)."""

    def __init__(self, *, hidden: int, memory: int, size: int = 512, normalise: Normaliser = softmax) -> None:
        super().__init__(context=memory, normalise=normalise)
        self.query = nn.Linear(hidden, size, bias=False)
        self.key = nn.Linear(memory, size, bias=False)
        self.scale = 1 / math.sqrt(size)

    def keys(self, memory: Float[Tensor, "B S M"]) -> Float[Tensor, "B S K"]:
        """Return W_k h / sqrt(d): there are fewer keys than queries to divide."""
        keys: Tensor = self.key(memory) * self.scale
        return keys

    def scores(self, queries: Float[Tensor, "B T H"], keys: Float[Tensor, "B S K"]) -> Float[Tensor, "B N T S"]:
        """Compare W_q s with every key."""
        return product(self.query(queries), keys.transpose(1, 2)).unsqueeze(1)
