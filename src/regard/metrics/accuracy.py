"""Metrics that look at tokens one by one: how many are right, how many sentences, how many are unknown."""

from collections.abc import Hashable, Sequence

import numpy as np

from regard.data.tokenizers import UNKNOWN
from regard.metrics.base import Numbers, Ratio
from regard.types import Float

Tokens = Sequence[Hashable]
"""Words, pieces or ids; a string is a sequence of characters."""


class OfTokens(Ratio[Tokens, Tokens]):
    """A share found by comparing the tokens of a translation with those of its reference."""

    unit = "%"
    takes = ("hypothesis_tokens", "reference_tokens")
    depends_on_tokens = True


class TokenAccuracy(OfTokens):
    """Share of positions with the reference's token, of the longer of the two: a missing or surplus token is wrong."""

    name = "token_accuracy"
    higher_is_better = True
    empty = 1.0

    def segment(self, hypothesis: Tokens, reference: Tokens) -> Numbers:
        """Count the right positions, and the positions of the longer one."""
        right = sum(h == r for h, r in zip(hypothesis, reference, strict=False))
        return [right, max(len(hypothesis), len(reference))]


class SentenceAccuracy(OfTokens):
    """Share of sentences that equal the reference token by token ("exact match")."""

    name = "sentence_accuracy"
    higher_is_better = True

    def segment(self, hypothesis: Tokens, reference: Tokens) -> Numbers:
        """Count the sentence if it is right, and in any case."""
        return [list(hypothesis) == list(reference), 1]


class TokenErrorRate(OfTokens):
    """Tokens to insert, delete or replace, per token of the reference."""

    name = "token_error_rate"
    higher_is_better = False
    empty = 0.0

    def segment(self, hypothesis: Tokens, reference: Tokens) -> Numbers:
        """Count the edits and the reference's tokens."""
        return [edit_distance(hypothesis, reference), len(reference)]

    def aggregate(self, sums: Float[np.ndarray, "rows 2"]) -> Float[np.ndarray, " rows"]:
        """Divide edits by tokens; against empty references any edit means 100 %, as in TER."""
        return np.where((sums[:, 1] == 0) & (sums[:, 0] > 0), 100.0, super().aggregate(sums))


class UnknownRate(Ratio[Tokens]):
    """Share of the tokens of a translation that are the unknown word."""

    name = "unknown_rate"
    unit = "%"
    higher_is_better = False
    takes = ("hypothesis_tokens",)
    depends_on_tokens = True
    empty = 0.0

    def __init__(self, unknown: Hashable = UNKNOWN) -> None:
        self.unknown = unknown

    def segment(self, tokens: Tokens) -> Numbers:
        """Count the unknown tokens, and all."""
        return [sum(token == self.unknown for token in tokens), len(tokens)]


def edit_distance(a: Tokens, b: Tokens) -> int:
    """Return the least number of insertions, deletions and replacements that turn one into the other."""
    numbers: dict[Hashable, int] = {}
    ids_a, ids_b = (np.array([numbers.setdefault(token, len(numbers)) for token in x], dtype=int) for x in (a, b))
    columns = row = np.arange(len(b) + 1)
    for i, token in enumerate(ids_a, 1):
        step = np.minimum(row[1:] + 1, row[:-1] + (ids_b != token))
        # A run of insertions costs 1 each: the least of (value - column) so far, plus the column.
        row = np.minimum.accumulate(np.concatenate([[i], step]) - columns) + columns
    return int(row[-1])
