"""Attention after the RNN: every query of a training batch is known before attention is asked."""

import torch
from torch import nn

from regard.attention.base import Attention, Source
from regard.exact import tanh_
from regard.models.cells import Sequence, State
from regard.models.decoders.base import Decoded, Decoder
from regard.models.dropout import Dropout
from regard.types import Float, Int, Tensor


class After(Decoder):
    """RNN, then attention; the output layer sees [a_i, h_i] (spec §3)."""

    def __init__(
        self, embedding: nn.Embedding, attention: Attention, *, cell: str, hidden: int, layers: int, dropout: Dropout
    ) -> None:
        super().__init__(embedding, attention, dropout=dropout)
        self.network = Sequence(cell, embedding.embedding_dim, hidden, layers=layers, dropout=dropout)
        self.features = attention.context + hidden

    @property
    def reader(self) -> Sequence:
        """The network."""
        return self.network

    def start(self, source: Source) -> State:
        """h_0 = sentence."""
        return self.network.start(source.sentence)

    def forward(
        self,
        tokens: Int[Tensor, "B T"],
        state: State,
        source: Source,
        imposed: Float[Tensor, "B N T S"] | None = None,
    ) -> Decoded:
        """h_i = RNN(embed(m_i), h_{i-1}); a_i = Attn(h_i)."""
        is_known = self.projections is not None
        inputs = self.projected(tokens) if is_known else self.embed(tokens)
        outputs, state = self.network(inputs, state, are_projected=is_known)
        attended = self.attention(outputs, source, imposed)
        return Decoded(self.combine(attended.context, outputs), attended.weights, state)

    def combine(self, context: Float[Tensor, "B T C"], outputs: Float[Tensor, "B T H"]) -> Float[Tensor, "B T F"]:
        """Put context and state side by side."""
        return torch.cat((context.to(outputs.dtype), outputs), dim=2)


class Attentional(After):
    """RNN, then attention; the output layer sees tanh(W_c [c; s]) (spec §5, Luong)."""

    def __init__(
        self, embedding: nn.Embedding, attention: Attention, *, cell: str, hidden: int, layers: int, dropout: Dropout
    ) -> None:
        super().__init__(embedding, attention, cell=cell, hidden=hidden, layers=layers, dropout=dropout)
        self.joint = nn.Linear(attention.context + hidden, hidden, bias=False)
        self.features = hidden

    def combine(self, context: Float[Tensor, "B T C"], outputs: Float[Tensor, "B T H"]) -> Float[Tensor, "B T F"]:
        """Return the attentional vector tanh(W_c [c; s])."""
        return tanh_(self.joint(super().combine(context, outputs)))
