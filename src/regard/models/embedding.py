"""Word vectors, and which of them a batch has looked up."""

from typing import NamedTuple

from torch import nn

from regard.data.vocabulary import PAD
from regard.models.dropout import Dropout
from regard.types import Float, Int, Tensor


class Found(NamedTuple):
    """Vectors that were looked up, for which a gradient can be asked, and the words."""

    vectors: Float[Tensor, "*any E"]
    words: Int[Tensor, "*any"]


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
        vectors = nn.functional.embedding(tokens, self.weight.detach()).requires_grad_()
        self.found.append(Found(vectors, tokens))
        return vectors.view_as(vectors)  # whoever watches modules may hook their inputs, but not leaves

    def forget(self) -> list[Found]:
        """Return what was looked up, and record nothing more."""
        found, self.found = self.found or [], None
        return found

    def forward(self, tokens: Int[Tensor, "*any"]) -> Float[Tensor, "*any E"]:
        """Look the tokens up and enlarge them; in training some are dropped."""
        enlarged: Tensor = self.dropout(self.look_up(tokens) * self.gain)
        return enlarged


def add_words(table: Float[Tensor, "V E"], words: Int[Tensor, "*any"], gradient: Float[Tensor, "*any E"]) -> None:
    """Add the gradients of words that were looked up to the table's; padding learns nothing from it."""
    of_padding = table[PAD].clone()
    table.index_add_(0, words.flatten(), gradient.reshape(-1, table.shape[1]))
    table[PAD] = of_padding
