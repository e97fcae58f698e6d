"""Luong's input feeding: what was read last goes into the next step."""

import torch
from torch import nn

from regard.attention.base import Attention, Source
from regard.exact import tanh_
from regard.models.cells import Loop, Stack, State
from regard.models.decoders.base import Decoded, Decoder
from regard.models.dropout import Dropout
from regard.models.repeated import repeated
from regard.types import Float, Int, Tensor


class Feeding(Decoder):
    """The attentional vector tanh(W_c [c; s]) is concatenated to the next input (Luong's input feeding)."""

    def __init__(
        self, embedding: nn.Embedding, attention: Attention, *, cell: str, hidden: int, layers: int, dropout: Dropout
    ) -> None:
        super().__init__(embedding, attention, dropout=dropout)
        self.network = Stack(cell, embedding.embedding_dim, hidden, fed=hidden, layers=layers, dropout=dropout)
        self.joint = nn.Linear(attention.context + hidden, hidden, bias=False)
        self.features = hidden

    @property
    def reader(self) -> Stack:
        """The network."""
        return self.network

    def start(self, source: Source) -> State:
        """s_0 = sentence, and nothing has been read yet."""
        return *self.network.start(source.sentence), torch.zeros_like(source.sentence)

    def forward(
        self,
        tokens: Int[Tensor, "B T"],
        state: State,
        source: Source,
        imposed: Float[Tensor, "B N T S"] | None = None,
    ) -> Decoded:
        """s_t = RNN([y_{t-1}, s~_{t-1}], s_{t-1}); s~_t = tanh(W_c [Attn(s_t); s_t])."""
        *inner, joint = state
        remembered: State = tuple(inner)
        features, weights = [], []
        loop, with_both = Loop(self.network), repeated(self.joint)
        for t, projected in enumerate(self.projected(tokens).unbind(1)):
            output, remembered = loop.step(projected, joint, remembered)
            attended = self.attention(output[:, None], source, None if imposed is None else imposed[:, :, t : t + 1])
            joint = tanh_(with_both(torch.cat((attended.context.squeeze(1).to(output.dtype), output), dim=1)))
            features.append(joint)
            weights.append(attended.weights)
        return Decoded(torch.stack(features, dim=1), torch.cat(weights, dim=2), (*remembered, joint))
