"""Which sentences are worth a look, and which words were found."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from regard.data.words import split_words
from regard.metrics.base import buckets

COUNT = 3
SEED = 1
EDGES = (0, 4, 19, 99, 999)
"""Greatest numbers of times a word was seen in training."""
Value = float | None
Shares = dict[str, tuple[float, int]]
"""Bucket -> percent, and of how many words."""


def choose(rows: Sequence[Mapping[str, Any]], scores: Sequence[Value]) -> dict[str, list[int]]:
    """Pick the best, the worst, the longest and random sentences, each sentence once; of equals the longer ones."""
    usable = [i for i, value in enumerate(scores) if value is not None]
    lengths = [len(row["source"]) for row in rows]
    score = {i: value for i, value in enumerate(scores) if value is not None}
    drawn = np.random.default_rng(SEED).permutation(usable).tolist() if usable else []
    orders = {
        "best": sorted(usable, key=lambda i: (-score[i], -lengths[i], i)),
        "worst": sorted(usable, key=lambda i: (score[i], -lengths[i], i)),
        "longest": sorted(usable, key=lambda i: (-lengths[i], i)),
        "random": drawn,
    }
    chosen: dict[str, list[int]] = {}
    for kind, order in orders.items():
        taken = {i for indices in chosen.values() for i in indices}
        chosen[kind] = [i for i in order if i not in taken][:COUNT]
    return {kind: indices for kind, indices in chosen.items() if indices}


def differing(one: Sequence[Value], other: Sequence[Value], *, count: int = COUNT) -> list[int]:
    """Return the sentences whose scores by two models are furthest apart, the furthest first."""
    gaps = {i: abs(a - b) for i, (a, b) in enumerate(zip(one, other, strict=True)) if a is not None and b is not None}
    return [i for i in sorted(gaps, key=lambda i: (-gaps[i], i)) if gaps[i] > 0][:count]


def by_frequency(training: Sequence[str], rows: Sequence[Mapping[str, Any]], is_lower: bool) -> Shares:
    """Return the share of reference words found in the translation, and of how many, by how often training had them.

    A word that the reference has twice must be in the translation twice to count twice.
    """
    seen = Counter(word for text in training for word in _words(text, is_lower))
    times, is_found = [], []
    for row in rows:
        left = Counter(_words(row["hypothesis"], is_lower))
        for word in _words(row["reference"], is_lower):
            times.append(seen[word])
            is_found.append(left[word] > 0)
            left[word] -= 1
    found = np.array(is_found, dtype=float)
    return {label: (100 * float(found[i].mean()), len(i)) for label, i in buckets(times, EDGES).items() if len(i)}


def _words(text: str, is_lower: bool) -> list[str]:
    return split_words(text.lower() if is_lower else text)
