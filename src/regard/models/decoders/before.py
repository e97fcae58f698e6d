"""Attention before the RNN, from the previous state: Bahdanau's wiring."""

import torch
from torch import nn

from regard.attention.base import Attention, Source
from regard.models.cells import Loop, Stack, State
from regard.models.decoders.base import Decoded, Decoder
from regard.models.dropout import Dropout
from regard.types import Float, Int, Tensor


class Before(Decoder):
    """Attention from the previous state feeds the RNN; the output layer sees s_t (spec §4, Bahdanau)."""

    def __init__(
        self, embedding: nn.Embedding, attention: Attention, *, cell: str, hidden: int, layers: int, dropout: Dropout
    ) -> None:
        super().__init__(embedding, attention, dropout=dropout)
        self.network = Stack(
            cell, embedding.embedding_dim, hidden, fed=attention.context, layers=layers, dropout=dropout
        )
        self.features = hidden

    @property
    def reader(self) -> Stack:
        """The network."""
        return self.network

    def start(self, source: Source) -> State:
        """s_0 = sentence."""
        return self.network.start(source.sentence)

    def forward(
        self,
        tokens: Int[Tensor, "B T"],
        state: State,
        source: Source,
        imposed: Float[Tensor, "B N T S"] | None = None,
    ) -> Decoded:
        """c_t = Attn(s_{t-1}); s_t = RNN([c_t, y_{t-1}], s_{t-1})."""
        features, weights, loop = [], [], Loop(self.network)
        for t, projected in enumerate(self.projected(tokens).unbind(1)):
            query = state[0][:, -1:]
            attended = self.attention(query, source, None if imposed is None else imposed[:, :, t : t + 1])
            output, state = loop.step(projected, attended.context.squeeze(1), state)
            features.append(output)
            weights.append(attended.weights)
        return Decoded(torch.stack(features, dim=1), torch.cat(weights, dim=2), state)
