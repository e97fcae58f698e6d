"""Several scaled dot products side by side."""

import math

from torch import nn

from regard.attention.base import Normaliser, Scored
from regard.attention.normalise import softmax
from regard.exact import product
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

    def keys(self, memory: Float[Tensor, "B S M"]) -> Float[Tensor, "B N D S"]:
        """Return the keys of each head, scaled and laid out for products with queries."""
        return self._split(self.key(memory) * self.scale).transpose(2, 3).contiguous()

    def values(self, memory: Float[Tensor, "B S M"]) -> Float[Tensor, "B N S D"]:
        """Return the values of each head."""
        return self._split(self.value(memory)).contiguous()

    def scores(self, queries: Float[Tensor, "B T H"], keys: Float[Tensor, "B N D S"]) -> Float[Tensor, "B N T S"]:
        """Compare queries and keys within each head."""
        return product(self._split(self.query(queries)), keys)

    def read(self, weights: Float[Tensor, "B N T S"], values: Float[Tensor, "B N S D"]) -> Float[Tensor, "B T C"]:
        """Average the values within each head and join the heads with W_O."""
        read = product(weights, values)
        joined: Tensor = self.join(read.transpose(1, 2).flatten(2))
        return joined

    def _split(self, joined: Float[Tensor, "B L C"]) -> Float[Tensor, "B N L D"]:
        return joined.view(*joined.shape[:2], self.heads, -1).transpose(1, 2)
