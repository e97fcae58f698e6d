"""The homework model on a small corpus of scenes, with a student's attention plugged in: does it learn?"""

from collections.abc import Iterator

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

    def __init__(self) -> None:
        self.config = load_config("scenes", SETTINGS)
        corpus = load_corpus(self.config.data)
        pair = TokenizerPair.train(self.config.tokenizer, corpus["train"].sources, corpus["train"].targets)
        self.words = {"source_words": pair.source.size, "target_words": pair.target.size}
        self.data = EncodedCorpus(corpus, pair, 0.0, 1)
        self.begin(self.known("ours"))
        self.steps(2)  # imports all that training needs, while importing is still possible

    @staticmethod
    def known(name: str) -> nn.Module:
        """Return what a student's class is compared with: "ours", and "none" for no attention."""
        return SingleQueryScaledDotProductAttention(SIZE, SIZE, SIZE) if name == "ours" else Dummy()

    def begin(self, inner: nn.Module) -> None:
        """Put an attention into a new model."""
        torch.default_generator.manual_seed(1)
        model = build_model(self.config.model, **self.words)
        model.decoder.attention = Borrowed(inner, memory=self.config.model.memory)
        self.trainer = Trainer(model, self.data, self.config.train)
        self.count = 0
        self._batches = self._endless()

    def steps(self, count: int) -> float:
        """Train on; return the mean loss in nats per token."""
        losses = []
        for _ in range(count):
            self.count += 1
            nats, tokens = self.trainer.step(next(self._batches), RATE * min(1.0, self.count / WARMUP))
            losses.append(nats / tokens)
        return sum(losses) / count

    def validate(self) -> float:
        """Return the validation loss in nats per token."""
        return self.trainer.validate()

    def _endless(self) -> Iterator[Batch]:
        pairs = self.data.epoch(1)
        for epoch in range(10**6):
            generator = np.random.default_rng(epoch)
            for rows in plan(pairs, pairs.within(100), size=BATCH, unit="sentences", generator=generator):
                yield pairs.batch(rows)
