"""The homework model on a small corpus of scenes, with a student's attention plugged in: does it learn?"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from regard.attention.base import Attended, Attention, Source
from regard.config import load_config
from regard.course.homework import Dummy, SingleQueryScaledDotProductAttention
from regard.data.batches import Batch, plan
from regard.data.corpus import load_corpus
from regard.data.tokenizers import TokenizerPair
from regard.models.build import build_model
from regard.training.session import EncodedCorpus
from regard.training.trainer import Trainer
from regard.types import Float, Tensor

SIZE, PAIRS, BATCH, RATE, WARMUP = 64, 6000, 32, 3e-3, 50
SETTINGS = [
    *(f"model.{key}={SIZE}" for key in ("embedding", "encoder_hidden", "hidden", "attention_size", "readout")),
    *(f"data.{key}={count}" for key, count in (("train", PAIRS), ("validation", 200), ("test", 1))),
    "model.attention=scaled_dot",
    "model.embedding_gain=1",
    "model.dropout=0",
    "train.precision=float32",
    "train.device=cpu",
]


class Borrowed(Attention):
    """A class with the homework's signature as an attention of regard: time steps are folded into the batch."""

    def __init__(self, inner: nn.Module, *, memory: int) -> None:
        super().__init__(context=memory)
        self.inner = inner

    def weights(self, queries: Float[Tensor, "B T H"], source: Source) -> Float[Tensor, "B N T S"]:
        """Return the weights only."""
        return self.forward(queries, source).weights

    def forward(
        self, queries: Float[Tensor, "B T H"], source: Source, imposed: Float[Tensor, "B N T S"] | None = None
    ) -> Attended:
        """Ask once for every sentence and step; the homework passes no mask."""
        assert imposed is None
        batch, steps, _ = queries.shape
        outputs = source.values.transpose(0, 1).repeat_interleave(steps, dim=1)
        value, alpha = self.inner(queries.flatten(0, 1), outputs)
        return Attended(value.view(batch, steps, -1), alpha.view(batch, 1, steps, -1))


class Lesson:
    """One corpus and several attentions in turn; each sees the same batches and starts from the same seed."""

    sizes = (SIZE, SIZE, SIZE)

    def __init__(self) -> None:
        self._config = load_config("scenes", SETTINGS)
        corpus = load_corpus(self._config.data)
        self._tokenizers = TokenizerPair.train(self._config.tokenizer, corpus["train"].sources, corpus["train"].targets)
        self._data = EncodedCorpus(corpus, self._tokenizers, 0.0, 1)
        self.learn(self.known("ours"), rounds=1, count=2)  # imports all that training needs, while it still can

    @staticmethod
    def known(name: str) -> nn.Module:
        """Return what a student's class is compared with: "ours", and "none" for no attention."""
        return SingleQueryScaledDotProductAttention(*Lesson.sizes) if name == "ours" else Dummy()

    def learn(self, inner: nn.Module, *, rounds: int, count: int) -> dict[str, Any]:
        """Train a new model for ``rounds`` times ``count`` steps; return mean losses and the validation's, in nats."""
        torch.default_generator.manual_seed(1)
        words = {"source_words": self._tokenizers.source.size, "target_words": self._tokenizers.target.size}
        model = build_model(self._config.model, **words)
        model.decoder.attention = Borrowed(inner, memory=self._config.model.memory)
        trainer = Trainer(model, self._data, self._config.train)
        losses = []
        for number, batch in enumerate(itertools.islice(self._endless(), rounds * count), 1):
            nats, tokens = trainer.step(batch, RATE * min(1.0, number / WARMUP))
            losses.append(nats / tokens)
        means = [sum(losses[i : i + count]) / count for i in range(0, len(losses), count)]
        return {"training": means, "validation": trainer.validate()}

    def _endless(self) -> Iterator[Batch]:
        pairs = self._data.epoch(1)
        for epoch in itertools.count():
            generator = np.random.default_rng(epoch)
            for rows in plan(pairs, pairs.within(100), size=BATCH, unit="sentences", generator=generator):
                yield pairs.batch(rows)
