"""What every decoder takes and gives."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import nn

from regard.attention.base import Attention, Source
from regard.models.cells import State
from regard.models.dropout import Dropout
from regard.types import Float, Int, Tensor


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

    def embed(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T E"]:
        """Look the tokens up."""
        embedded: Tensor = self.dropout(self.embedding(tokens))
        return embedded
