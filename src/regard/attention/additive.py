"""Bahdanau's score."""

from torch import nn

from regard.attention.base import Normaliser, Scored
from regard.attention.normalise import softmax
from regard.exact import tanh_
from regard.types import Float, Tensor


class Additive(Scored):
    """score = v' tanh(W_1 h + W_2 s): a small network compares state and memory (spec §4)."""

    multiplies_keys = False

    def __init__(self, *, hidden: int, memory: int, size: int = 512, normalise: Normaliser = softmax) -> None:
        super().__init__(context=memory, normalise=normalise)
        self.query = nn.Linear(hidden, size, bias=False)
        self.key = nn.Linear(memory, size, bias=False)
        self.reduce = nn.Linear(size, 1, bias=False)

    def keys(self, memory: Float[Tensor, "B S M"]) -> Float[Tensor, "B S K"]:
        """Return W_1 h."""
        keys: Tensor = self.key(memory)
        return keys

    def scores(self, queries: Float[Tensor, "B T H"], keys: Float[Tensor, "B S K"]) -> Float[Tensor, "B N T S"]:
        """Reduce tanh(W_1 h + W_2 s) to a number with v."""
        energies = tanh_(self.query(queries)[:, :, None, :] + keys[:, None, :, :])
        scores: Tensor = self.reduce(energies).squeeze(-1)
        return scores.unsqueeze(1)
