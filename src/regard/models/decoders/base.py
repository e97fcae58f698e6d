"""What every decoder takes and gives."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import nn

from regard.attention.base import Attention, Source
from regard.models.cells import Sequence, Stack, State
from regard.models.dropout import Dropout
from regard.types import Float, Int, Tensor

AT_ONCE = 512
"""Words whose projections are computed at a time."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a decoder made of some target tokens."""

    features: Float[Tensor, "B T F"]
    """What the output layer sees."""
    weights: Float[Tensor, "B N T S"]
    state: State


class Decoder(nn.Module, ABC):
    """Reads target tokens from a state: all of a batch in training, one per row in search."""

    features: int
    """Size F of what the output layer sees."""

    def __init__(self, embedding: nn.Embedding, attention: Attention, *, dropout: Dropout) -> None:
        super().__init__()
        self.embedding = embedding
        self.attention = attention
        self.dropout = dropout
        self.projections: Tensor | None = None
        """What the first layer makes of every word of the vocabulary, once `prepare_projections` was called."""

    @property
    def reader(self) -> Sequence | Stack | None:
        """Return the network that reads the words, if it reads nothing else before them."""
        return None

    @abstractmethod
    def start(self, source: Source) -> State:
        """Return the state before the first token."""

    @abstractmethod
    def forward(
        self,
        tokens: Int[Tensor, "B T"],
        state: State,
        source: Source,
        imposed: Float[Tensor, "B N T S"] | None = None,
    ) -> Decoded:
        """Read the tokens; ``imposed`` replaces attention weights where it is not NaN."""

    @torch.no_grad()
    def prepare_projections(self) -> None:
        """Look up from now on what the first layer makes of a word; a search reads the same words again and again."""
        assert self.reader is not None
        assert not self.training
        words = torch.arange(self.embedding.num_embeddings).split(AT_ONCE)
        self.projections = torch.cat([self.reader.first(self.embed(some[None]))[0] for some in words])

    def projected(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T GH"]:
        """Return what the first layer makes of the tokens; a network that is read as a whole does not tell."""
        if self.projections is not None:
            return nn.functional.embedding(tokens, self.projections)
        assert self.reader is not None
        projected: Tensor = self.reader.first(self.embed(tokens))
        return projected

    def embed(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T E"]:
        """Look the tokens up."""
        embedded: Tensor = self.dropout(self.embedding(tokens))
        return embedded
