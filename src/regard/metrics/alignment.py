"""Word alignments: Pharaoh format, links read off attention, and how both agree with the truth.

A gold alignment links the source with its *reference*, so attention is judged where the model is made to say the
reference. Weights come without padding and, after `join_pieces`, without end-of-sentence: T target by S source words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regard.data.corpus import Links
from regard.data.lines import lines_of
from regard.errors import RegardError
from regard.metrics.base import Numbers, Ratio
from regard.types import Float, Tensor

Weights = Float[np.ndarray, "T S"] | Float[Tensor, "T S"]


@dataclass(frozen=True, slots=True)
class Alignment:
    """A gold alignment: links that are sure, and more that are acceptable."""

    sure: Links
    acceptable: Links = frozenset()

    @property
    def possible(self) -> Links:
        """Every link that is not wrong; the sure ones are among them."""
        return self.sure | self.acceptable

    def __str__(self) -> str:
        """Write in Pharaoh format: ``0-0 1-2`` are sure, ``0p1`` is only possible."""
        return " ".join(f"{s}{'-' if (s, t) in self.sure else 'p'}{t}" for s, t in sorted(self.possible))


def parse_pharaoh(line: str) -> Alignment:
    """Read an alignment in Pharaoh format, source before target, counted from 0."""
    links: dict[str, set[tuple[int, int]]] = {"-": set(), "p": set()}
    for word in line.split():
        match = re.fullmatch(r"([0-9]+)([-p])([0-9]+)", word)
        if not match:
            raise RegardError(f"got '{word}', want links such as 0-0 (sure) or 0p1 (possible).")
        links[match[2]].add((int(match[1]), int(match[3])))
    return Alignment(frozenset(links["-"]), frozenset(links["p"]))


def read_pharaoh(path: Path, *, sentences: int) -> tuple[Alignment, ...]:
    """Read a file with one alignment a line, as many as there are sentence pairs."""
    alignments = []
    for number, line in enumerate(lines_of(path), 1):
        try:
            alignments.append(parse_pharaoh(line))
        except RegardError as error:
            raise RegardError(f"{path}, line {number}: {error}") from None
    if len(alignments) != sentences:
        raise RegardError(f"{path}: got {len(alignments)} lines, want {sentences}, one for each sentence pair.")
    return tuple(alignments)


def strongest_links(weights: Weights) -> Links:
    """Link each target word to the source word it attends to most, the first of equals; a row of zeros has no link."""
    rows = _array(weights)
    return frozenset((int(rows[t].argmax()), t) for t in range(len(rows)) if rows[t].any())


def mutual_links(weights: Weights) -> Links:
    """Keep the strongest links whose source word is, in turn, attended to most by that target word."""
    columns = _array(weights).T
    return frozenset((s, t) for s, t in strongest_links(weights) if columns[s].argmax() == t)


def join_pieces(
    weights: Weights,
    target_words: Sequence[Sequence[int]],
    source_words: Sequence[Sequence[int]],
    *,
    shape: tuple[int, int],
) -> Float[np.ndarray, "Tw Sw"]:
    """Turn attention between pieces into attention between words.

    A source word gets the sum over its pieces, a target word the mean over its own. A piece of several words, as
    `words_of_tokens` finds them, is shared out among them; pieces of no word fall away. The shape is how many target
    and source words there are, the last of which may have no pieces.
    """
    of_target, of_source = _shares(target_words, shape[0]), _shares(source_words, shape[1])
    pieces = of_target.sum(0)
    return np.asarray((of_target / np.where(pieces, pieces, 1)).T @ _array(weights) @ of_source)


class AlignmentErrorRate(Ratio[Links, Alignment]):
    """Share of links that are wrong or missing: 1 - (|A & sure| + |A & possible|) / (|A| + |sure|)."""

    name = "alignment_error_rate"
    unit = "%"
    higher_is_better = False
    takes = ("links", "gold")
    empty = 0.0

    def segment(self, links: Links, gold: Alignment) -> Numbers:
        """Count the faults, that is the denominator less the numerator, and the denominator."""
        every = len(links) + len(gold.sure)
        return [every - len(links & gold.sure) - len(links & gold.possible), every]


class AttentionAccuracy(Ratio[Weights, Alignment]):
    """How often the strongest attention of a target word is on a source word it is linked to (possible links count).

    Target words without a gold link, and rows of zeros (attention `none`), are not counted. Where several source words
    are attended to equally the hit is shared out, so that attention `mean` scores what chance does.
    """

    name = "attention_accuracy"
    unit = "%"
    higher_is_better = True
    takes = ("weights", "gold")

    def segment(self, weights: Weights, gold: Alignment) -> Numbers:
        """Count the hits, and the target words that could have hit."""
        rows = _array(weights)
        is_linked = np.zeros(rows.shape, dtype=bool)
        for s, t in sorted(gold.possible):
            if t >= rows.shape[0] or s >= rows.shape[1]:
                sizes = f"{rows.shape[1]} source and {rows.shape[0]} target words"
                raise RegardError(f"got the gold link {s}-{t} for {sizes}, want links within the sentences.")
            is_linked[t, s] = True
        counts = is_linked.any(1) & rows.any(1)
        is_strongest = rows == rows.max(1, keepdims=True, initial=0)
        hits = (is_strongest & is_linked).sum(1)[counts] / is_strongest.sum(1)[counts]
        return [float(hits.sum()), int(counts.sum())]


class OfWeights(Ratio[Weights]):
    """A mean over the rows of attention that are not zero."""

    higher_is_better = None
    takes = ("weights",)
    depends_on_tokens = True


class AttentionEntropy(OfWeights):
    """How widely attention is spread: entropy of a row in nats, 0 on one word, ln S evenly on S; mean over rows."""

    name = "attention_entropy"
    unit = "nats"

    def segment(self, weights: Weights) -> Numbers:
        """Sum the entropies and count the rows."""
        entropies = row_entropies(weights)
        return [float(entropies.sum()), len(entropies)]


class AttentionSpread(OfWeights):
    """Entropy of attention as a share of the highest possible, ln S; one-word sources are not counted."""

    name = "attention_spread"
    unit = "%"

    def segment(self, weights: Weights) -> Numbers:
        """Sum the shares and count the rows."""
        entropies, size = row_entropies(weights), weights.shape[1]
        return [float(entropies.sum()) / np.log(size), len(entropies)] if size > 1 else [0, 0]


def row_entropies(weights: Weights) -> Float[np.ndarray, " rows"]:
    """Return the entropy, in nats, of each row that is not zero, scaled to sum to 1 first."""
    rows = _array(weights)
    rows = rows[rows.any(1)]
    shares = rows / rows.sum(1, keepdims=True)
    return np.asarray(-(shares * np.log(np.where(shares > 0, shares, 1))).sum(1))


def _array(weights: Weights) -> Float[np.ndarray, "T S"]:
    return np.asarray(weights.detach().cpu() if isinstance(weights, Tensor) else weights, dtype=np.float64)


def _shares(words: Sequence[Sequence[int]], count: int) -> Float[np.ndarray, "pieces words"]:
    shares = np.zeros((len(words), count))
    for piece, owners in enumerate(words):
        for word in owners:
            shares[piece, word] += 1 / len(owners)
    return shares
