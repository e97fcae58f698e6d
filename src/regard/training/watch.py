"""What a model looks at after each epoch, on validation sentences that stay the same through the training."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import torch

from regard.data.corpus import Corpus
from regard.data.tokenizers import TokenizerPair
from regard.metrics.alignment import AttentionEntropy
from regard.models.seq2seq import Seq2Seq
from regard.translate import Translator
from regard.translation import Translation, Words
from regard.types import Tensor

SENTENCES = 64
"""For the mean entropy: one batch, half a second of one core for the homework model, whose epochs take minutes."""
SHOWN = 3
"""Stored with all their weights, a few kB an epoch: short, middling and long ones of the above."""


class Watch:
    """Lets a model read fixed validation pairs and tells where it looked."""

    def __init__(self, corpus: Corpus, tokenizers: TokenizerPair) -> None:
        split = corpus["validation"]
        rows = [i for i, (s, t) in enumerate(zip(split.sources, split.targets, strict=True)) if s.strip() and t.strip()]
        rows.sort(key=lambda i: (len(split.sources[i]), i))
        self._rows = _evenly(rows, SENTENCES)
        self._shown = _evenly(list(range(len(self._rows))), SHOWN)
        self._split, self._unit, self._tokenizers = split, corpus.unit, tokenizers

    def look(self, model: Seq2Seq, weights: Mapping[str, Tensor]) -> dict[str, Any] | None:
        """Return the mean entropy in nats and the attention of the shown sentences; None where there is none.

        The model is copied, with the weights to keep: the training goes on as if nobody had looked.
        """
        copy = deepcopy(model).cpu()
        with torch.no_grad():
            for name, parameter in copy.named_parameters():
                parameter.copy_(weights[name])
        split = self._split
        texts = ([side[i] for i in self._rows] for side in (split.sources, split.targets))
        read = Translator([copy], self._tokenizers).score_all(*texts, batch=SENTENCES)
        if not any(translation.attention.any() for translation in read):
            return None
        measure = AttentionEntropy()
        entropy = measure.score(measure.statistics([self._words(each).attention.mean(axis=0) for each in read])).value
        return {"entropy_nats": round(entropy, 5), "sentences": [self._sentence(i, read[i]) for i in self._shown]}

    def _words(self, read: Translation) -> Words:
        """Return the attention in the unit that the corpus aligns."""
        is_joined = self._unit == "word"
        return read.words if is_joined else Words(read.source_tokens, read.tokens, read.attention)

    def _sentence(self, place: int, read: Translation) -> dict[str, Any]:
        words = self._words(read)
        links = self._split.links[self._rows[place]] if self._split.links is not None else None
        return {
            "source": words.source,
            "target": words.target,
            "texts": (read.source, read.text),
            "weights": np.round(words.attention.mean(axis=0, dtype=float), 3).tolist(),
            "links": None if links is None else sorted(links),
        }


def _evenly(rows: list[int], count: int) -> list[int]:
    count = min(count, len(rows))
    return [rows[(2 * i + 1) * len(rows) // (2 * count)] for i in range(count)]
