"""Word vectors, and which of them a batch has looked up."""

from typing import NamedTuple

from torch import nn

from regard.models.dropout import Dropout
from regard.types import Float, Int, Tensor

PAD = 0


class Found(NamedTuple):
    """Words that were looked up, and their vectors, for which a gradient can be asked."""

    words: Int[Tensor, "*any"]
    vectors: Float[Tensor, "*any E"]


class Embedding(nn.Embedding):
    """Word vectors of length about 1, so that the table can also be the output layer; what is looked up is enlarged."""

    def __init__(self, words: int, size: int, *, gain: float, dropout: Dropout) -> None:
        super().__init__(words, size, padding_idx=PAD)
        nn.init.normal_(self.weight, std=size**-0.5)
        self.gain = gain
        self.dropout = dropout
        self.found: list[Found] | None = None
        """Where a list is given, what is looked up is put there, and has a gradient instead of the table.

        A batch looks up a few hundred words; a gradient of the whole table, most of it zeros, for every time that
        something is looked up would be many times as large.
        """

    def look_up(self, tokens: Int[Tensor, "*any"]) -> Float[Tensor, "*any E"]:
        """Return the vectors as they are in the table."""
        if self.found is None:
            return super().forward(tokens)
        found = Found(tokens, nn.functional.embedding(tokens, self.weight.detach()).requires_grad_())
        self.found.append(found)
        return found.vectors.view_as(found.vectors)  # whoever watches modules may hook their inputs, but not leaves

    def forward(self, tokens: Int[Tensor, "*any"]) -> Float[Tensor, "*any E"]:
        """Look the tokens up; in training some are not found."""
        found: Tensor = self.dropout(self.look_up(tokens) * self.gain)
        return found
