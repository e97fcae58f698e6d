"""Encoder, attention, decoder and output layer in one model."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from regard.attention.base import Source
from regard.models.cells import State
from regard.models.decoders.base import Decoded, Decoder
from regard.models.encoder import Encoder
from regard.models.lexicon import Lexicon
from regard.types import Bool, Float, Int, Tensor


@dataclass(frozen=True, slots=True)
class Step:
    """The outcome of reading one token in every row."""

    log_probs: Float[Tensor, "R V"]
    """Natural logarithms of the next token's probabilities, in a tensor of their own: a search changes it."""
    weights: Float[Tensor, "R N S"]
    """Attention of this step, one row per head."""
    state: tuple[Any, ...]
    """What to remember: tensors, or those of every model of an ensemble."""


class Seq2Seq(nn.Module):
    """A recurrent encoder-decoder: what training sees as a whole and search sees step by step."""

    def __init__(
        self,
        encoder: Encoder,
        decoder: Decoder,
        *,
        readout: nn.Module,
        output: nn.Linear,
        lexicon: Lexicon | None = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.readout = readout
        self.output = output
        self.lexicon = lexicon
        self.is_exact = False
        """Whether attention adds up exactly, and so in any batch to the same bits."""

    def encode(self, tokens: Int[Tensor, "B S"], is_token: Bool[Tensor, "B S"]) -> Source:
        """Read the source sentences."""
        memory, sentence = self.encoder(tokens, is_token)
        attention = self.decoder.attention
        words = self.lexicon.look_up(tokens) if self.lexicon else None
        source = Source(attention.keys(memory), attention.values(memory), sentence, is_token, words)
        return source.on_grid(is_of_keys=attention.multiplies_keys) if self.is_exact else source

    def decode(
        self,
        tokens: Int[Tensor, "B T"],
        state: State,
        source: Source,
        imposed: Float[Tensor, "B N T S"] | None = None,
    ) -> Decoded:
        """Read target tokens and return what the output layer is to see."""
        decoded = self.decoder(tokens, state, source, imposed)
        features = self.readout(decoded.features)
        if self.lexicon:
            features = self.lexicon(features, decoded.weights, source)
        return Decoded(features, decoded.weights, decoded.state)

    def start(self, source: Source) -> State:
        """Return the state before the first token."""
        return self.decoder.start(source)

    def step(
        self,
        token: Int[Tensor, " R"],
        state: State,
        source: Source,
        imposed: Float[Tensor, "R N S"] | None = None,
    ) -> Step:
        """Read one token per row and say what may come next."""
        decoded = self.decode(token[:, None], state, source, None if imposed is None else imposed[:, :, None])
        logits = self.output(decoded.features[:, 0]).float()
        place = None if torch.is_grad_enabled() else logits
        return Step(torch.log_softmax(logits, dim=1, out=place), decoded.weights[:, :, 0], decoded.state)
