"""Attention between two RNNs: as deep as input feeding, without its loop."""

import torch
from torch import nn

from regard.attention.base import Attention, Source
from regard.models.cells import Sequence, State
from regard.models.decoders.base import Decoded, Decoder
from regard.models.dropout import Dropout
from regard.types import Float, Int, Tensor


class Deep(Decoder):
    """RNN, attention, second RNN over [state, context]; the output layer sees both, the context and the word."""

    def __init__(
        self, embedding: nn.Embedding, attention: Attention, *, cell: str, hidden: int, layers: int, dropout: Dropout
    ) -> None:
        super().__init__(embedding, attention, dropout=dropout)
        self.lower = Sequence(cell, embedding.embedding_dim, hidden, layers=1, dropout=dropout)
        self.upper = Sequence(cell, hidden + attention.context, hidden, layers=layers, dropout=dropout)
        self.features = hidden + attention.context + embedding.embedding_dim

    @property
    def reader(self) -> Sequence:
        """The first network."""
        return self.lower

    def start(self, source: Source) -> State:
        """Both networks begin with the sentence."""
        return *self.lower.start(source.sentence), *self.upper.start(source.sentence)

    def forward(
        self,
        tokens: Int[Tensor, "B T"],
        state: State,
        source: Source,
        imposed: Float[Tensor, "B N T S"] | None = None,
    ) -> Decoded:
        """h = RNN(y); c = Attn(h); g = RNN([h, c]); features = [h + g, c, y]."""
        half = self.lower.cell.tensors
        embedded = self.embed(tokens)
        is_known = self.projections is not None
        inputs = self.projected(tokens) if is_known else embedded
        below, lower = self.lower(inputs, state[:half], are_projected=is_known)
        attended = self.attention(below, source, imposed)
        context = attended.context.to(below.dtype)
        above, upper = self.upper(self.dropout(torch.cat((below, context), dim=2)), state[half:])
        features = torch.cat((below + above, context, embedded.to(below.dtype)), dim=2)
        return Decoded(features, attended.weights, (*lower, *upper))
