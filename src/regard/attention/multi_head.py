"""Several scaled dot products side by side."""

import math

from torch import nn

from regard.attention.base import Normaliser, Scored
from regard.attention.normalise import softmax
from regard.types import Float, Tensor


class MultiHead(Scored):
    """Several scaled dot products, each with its own queries, keys and values, joined by W_O (spec §2)."""

    def __init__(
        self, *, hidden: int, memory: int, size: int = 512, heads: int = 4, normalise: Normaliser = softmax
    ) -> None:
        super().__init__(context=size, normalise=normalise, heads=heads)
        assert size % heads == 0
        self.query = nn.Linear(hidden, size, bias=False)
        self.key = nn.Linear(memory, size, bias=False)
        self.value = nn.Linear(memory, size, bias=False)
        self.join = nn.Linear(size, size, bias=False)
        self.scale = 1 / math.sqrt(size // heads)

    def keys(self, memory: Float[Tensor, "B S M"]) -> Float[Tensor, "B S K"]:
        """Return the keys of all heads side by side."""
        keys: Tensor = self.key(memory)
        return keys

    def values(self, memory: Float[Tensor, "B S M"]) -> Float[Tensor, "B S C"]:
        """Return the values of all heads side by side."""
        values: Tensor = self.value(memory)
        return values

    def scores(self, queries: Float[Tensor, "B T H"], keys: Float[Tensor, "B S K"]) -> Float[Tensor, "B N T S"]:
        """Compare queries and keys within each head."""
        return self._split(self.query(queries) * self.scale) @ self._split(keys).transpose(2, 3)

    def read(self, weights: Float[Tensor, "B N T S"], values: Float[Tensor, "B S C"]) -> Float[Tensor, "B T C"]:
        """Average the values within each head and join the heads with W_O."""
        read = weights.to(values.dtype) @ self._split(values)
        joined: Tensor = self.join(read.transpose(1, 2).flatten(2))
        return joined

    def _split(self, joined: Float[Tensor, "B L C"]) -> Float[Tensor, "B N L D"]:
        return joined.view(*joined.shape[:2], self.heads, -1).transpose(1, 2)
