"""Luong's "general" score."""

from torch import nn

from regard.attention.base import Normaliser, Scored
from regard.attention.normalise import softmax
from regard.exact import product
from regard.types import Float, Tensor


class Bilinear(Scored):
    """score = s' W h: one learned matrix between state and memory (Luong's general)."""

    def __init__(self, *, hidden: int, memory: int, normalise: Normaliser = softmax) -> None:
        super().__init__(context=memory, normalise=normalise)
        self.key = nn.Linear(memory, hidden, bias=False)

    def keys(self, memory: Float[Tensor, "B S M"]) -> Float[Tensor, "B S K"]:
        """Return W h."""
        keys: Tensor = self.key(memory)
        return keys

    def scores(self, queries: Float[Tensor, "B T H"], keys: Float[Tensor, "B S K"]) -> Float[Tensor, "B N T S"]:
        """Compare every state with every W h."""
        return product(queries, keys.transpose(1, 2)).unsqueeze(1)
