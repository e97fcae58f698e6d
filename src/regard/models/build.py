"""From a configuration to a model: the only reader of ModelConfig."""

import inspect
from functools import partial
from typing import Any

import torch
from torch import nn

from regard.attention.base import Attention
from regard.config import ModelConfig
from regard.data.vocabulary import SPECIALS
from regard.errors import RegardError
from regard.exact import tanh_
from regard.models.decoders.base import Decoder
from regard.models.dropout import Dropout, Unit
from regard.models.embedding import Embedding
from regard.models.encoder import Encoder
from regard.models.lexicon import Lexicon
from regard.models.seq2seq import Seq2Seq
from regard.parts import ATTENTIONS, DECODERS, NORMALISERS
from regard.types import Float, Tensor


def build_model(config: ModelConfig, *, source_words: int, target_words: int) -> Seq2Seq:
    """Build the model of a configuration for vocabularies of the given sizes; weights come from torch's generator."""
    unit: Unit = "feature" if config.variational else "number"
    dropout = Dropout(config.dropout, unit)
    embed = partial(Embedding, gain=config.embedding_gain, dropout=Dropout(config.word_dropout, "word"))
    target = embed(target_words, config.embedding)
    source = target if config.tie == "all" else embed(source_words, config.embedding)
    encoder = Encoder(
        source,
        cell=config.cell,
        hidden=config.encoder_hidden,
        layers=config.encoder_layers,
        bidirectional=config.bidirectional,
        sentence=config.hidden,
        dropout=dropout,
        memory_dropout=Dropout(config.memory_dropout, unit),
    )
    decoder: Decoder = DECODERS[config.decoder](
        target,
        build_attention(config),
        cell=config.cell,
        hidden=config.hidden,
        layers=config.decoder_layers,
        dropout=dropout,
    )
    features = config.readout or decoder.features
    output = nn.Linear(features, target_words)
    if config.tie != "none":
        if features != config.embedding:
            raise RegardError(
                f"model.tie: got '{config.tie}', but the output layer sees {features} numbers and an embedding has "
                f"{config.embedding}; set model.readout={config.embedding}, or model.tie=none."
            )
        output.weight = target.weight
    readout = _readout(config, decoder.features)
    lexicon = _lexicon(config, source)
    return Seq2Seq(encoder, decoder, readout=readout, output=output, lexicon=lexicon)


def check_model(config: ModelConfig) -> None:
    """Tell what keeps a model from being built, without weights, and at once where it is clear that nothing does."""
    if config.tie != "none" and config.readout != config.embedding:
        with torch.device("meta"):
            build_model(config, source_words=len(SPECIALS), target_words=len(SPECIALS))


def _lexicon(config: ModelConfig, source: Embedding) -> Lexicon | None:
    return Lexicon(source, strength=config.lexicon, is_gated=config.lexicon_gate) if config.lexicon else None


def build_attention(config: ModelConfig) -> Attention:
    """Build the attention mechanism; each takes those sizes that it has parameters for."""
    mechanism: Any = ATTENTIONS[config.attention]
    offered = {
        "hidden": config.hidden,
        "memory": config.memory,
        "size": config.attention_size,
        "heads": config.heads,
        "normalise": NORMALISERS[config.normalise],
    }
    wanted = inspect.signature(mechanism).parameters
    attention: Attention = mechanism(**{name: value for name, value in offered.items() if name in wanted})
    return attention


class Tanh(nn.Module):
    """tanh of what the layer before it has computed."""

    def forward(self, numbers: Float[Tensor, "*any E"]) -> Float[Tensor, "*any E"]:
        """Change the numbers in place where no gradient is asked for."""
        return tanh_(numbers)


def _readout(config: ModelConfig, features: int) -> nn.Module:
    layers: list[nn.Module] = [Dropout(config.feature_dropout)]
    if config.readout:
        layers += [nn.Linear(features, config.readout), Tanh(), Dropout(config.feature_dropout)]
    return nn.Sequential(*layers)
