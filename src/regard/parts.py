"""Every exchangeable part by name. A line here makes the name valid in configs, listed and contract-tested."""

from regard.registry import Registry

CORPORA = Registry(
    "corpus",
    {
        "reverse": "regard.data.reverse:Reverse",
        "scenes": "regard.data.scenes:Scenes",
        "multi30k": "regard.data.multi30k:Multi30k",
        "files": "regard.data.files:Files",
    },
)

TOKENIZERS = Registry(
    "tokenizer",
    {
        "word": "regard.data.tokenizers:WordTokenizer",
        "character": "regard.data.tokenizers:CharacterTokenizer",
        "subword": "regard.data.subword:SubwordTokenizer",
    },
)

ATTENTIONS = Registry(
    "attention",
    {
        "none": "regard.attention.none:NoAttention",
        "mean": "regard.attention.mean:Mean",
        "dot": "regard.attention.dot:Dot",
        "scaled_dot": "regard.attention.dot:ScaledDot",
        "bilinear": "regard.attention.bilinear:Bilinear",
        "additive": "regard.attention.additive:Additive",
        "multi_head": "regard.attention.multi_head:MultiHead",
    },
)

NORMALISERS = Registry(
    "normaliser",
    {
        "softmax": "regard.attention.normalise:softmax",
        "sparsemax": "regard.attention.normalise:sparsemax",
        "entmax15": "regard.attention.normalise:entmax15",
    },
)

CELLS = Registry(
    "cell",
    {
        "gru": "regard.models.cells:GRU",
        "lstm": "regard.models.cells:LSTM",
        "rnn": "regard.models.cells:RNN",
    },
)

DECODERS = Registry(
    "decoder",
    {
        "after": "regard.models.decoders.after:After",
        "attentional": "regard.models.decoders.after:Attentional",
        "before": "regard.models.decoders.before:Before",
        "feeding": "regard.models.decoders.feeding:Feeding",
        "deep": "regard.models.decoders.deep:Deep",
    },
)

SCHEDULES = Registry(
    "schedule",
    {
        "constant": "regard.training.schedule:constant",
        "linear": "regard.training.schedule:linear",
        "cosine": "regard.training.schedule:cosine",
        "inverse_sqrt": "regard.training.schedule:inverse_sqrt",
    },
)

METRICS = Registry(
    "metric",
    {
        "bleu": "regard.metrics.bleu:Bleu",
        "bleu_lc": "regard.metrics.bleu:BleuLowercase",
        "bleu_tok_lc": "regard.metrics.bleu:BleuTokenised",
        "chrf": "regard.metrics.chrf:Chrf",
        "ter": "regard.metrics.ter:Ter",
        "token_accuracy": "regard.metrics.accuracy:TokenAccuracy",
        "sentence_accuracy": "regard.metrics.accuracy:SentenceAccuracy",
        "token_error_rate": "regard.metrics.accuracy:TokenErrorRate",
        "unknown_rate": "regard.metrics.accuracy:UnknownRate",
        "nats_per_token": "regard.metrics.loss:NatsPerToken",
        "perplexity": "regard.metrics.loss:Perplexity",
        "alignment_error_rate": "regard.metrics.alignment:AlignmentErrorRate",
        "attention_accuracy": "regard.metrics.alignment:AttentionAccuracy",
        "attention_entropy": "regard.metrics.alignment:AttentionEntropy",
        "attention_spread": "regard.metrics.alignment:AttentionSpread",
    },
)

DISPLAYS = Registry(
    "display",
    {
        "Translation": "regard.pictures.notebook:translation_html",
        "Run": "regard.pictures.notebook:run_html",
        "Comparison": "regard.pictures.notebook:comparison_html",
    },
)
"""How a notebook shows a value: found here by name, since what is shown must not import what draws it."""

ALL = {
    "corpora": CORPORA,
    "tokenizers": TOKENIZERS,
    "attention": ATTENTIONS,
    "normalisers": NORMALISERS,
    "cells": CELLS,
    "decoders": DECODERS,
    "schedules": SCHEDULES,
    "metrics": METRICS,
}
