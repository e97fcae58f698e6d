"""Short phrases that translate each other, found by how often they occur in the same pairs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np

from regard.data.words import join_words, split_words

LONGEST, RIVALS = 3, 5
"""Words of a phrase, and of those that it has to be better than: "to a fence" is only a part of "next to a fence"."""
LEAST_DICE = 0.5
"""Twice the pairs that have both phrases, by the sum of those that have the one and those that have the other."""
MOST, AT_ONCE = 50_000, 2_000
"""Pairs that are looked at, for the time and the memory it takes, and those that are counted at a time."""
HAIR = 1e-9
"""What a word more counts: it decides between phrases that occur in the same pairs."""
Phrase = tuple[str, ...]
Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]


def phrase_pairs(sources: Sequence[str], targets: Sequence[str], *, least: int) -> list[tuple[str, str]]:
    """Return phrases that occur together in ``least`` pairs or more, the most frequent first.

    Each has to be the other's only best by Dice's coefficient: "Hund" occurs in the pairs that "dog" occurs in. Of
    phrases that occur in the same pairs the longest count. Of more than `MOST` pairs some are looked at, evenly spread.
    """
    spread = slice(None, None, -(-len(sources) // MOST) or 1)
    source, target = (_Phrases.of(texts[spread], least) for texts in (sources, targets))
    s, t, counts = _together(source, target)
    dice = 2 * counts / (source.counts[s] + target.counts[t])
    rank = dice + HAIR * (source.sizes[s] + target.sizes[t])
    is_best = (counts >= least) & (dice >= LEAST_DICE)
    for side, phrases in ((s, source), (t, target)):
        most = np.zeros(len(phrases.counts))
        np.maximum.at(most, side, rank)
        is_most = rank == most[side]
        is_best &= is_most & (np.bincount(side[is_most], minlength=len(most))[side] == 1)
    is_best &= np.maximum(source.sizes[s], target.sizes[t]) <= LONGEST
    found = sorted(zip(-counts[is_best], s[is_best], t[is_best], strict=True))
    return [(join_words(source.phrases[i]), join_words(target.phrases[j])) for _, i, j in found]


@dataclass(frozen=True, slots=True)
class _Phrases:
    """The phrases of one side that are frequent enough."""

    phrases: list[Phrase]
    counts: Numbers
    """How many texts have each."""
    sizes: Numbers
    """Words of each."""
    of_texts: list[Numbers]
    """Which of them each text has."""

    @classmethod
    def of(cls, texts: Sequence[str], least: int) -> "_Phrases":
        words = [split_words(text) for text in texts]
        seen = Counter(word for text in words for word in set(text))
        usual = {word for word, count in seen.items() if count >= least and word[0].isalpha()}
        of_texts = [set(_phrases(text, usual)) for text in words]
        counts = Counter(phrase for phrases in of_texts for phrase in phrases)
        frequent = sorted(phrase for phrase, count in counts.items() if count >= least)
        number = {phrase: i for i, phrase in enumerate(frequent)}
        ids = [_numbers(number[p] for p in phrases if p in number) for phrases in of_texts]
        return cls(frequent, _numbers(counts[phrase] for phrase in frequent), _numbers(map(len, frequent)), ids)


def _together(source: _Phrases, target: _Phrases) -> tuple[Numbers, Numbers, Numbers]:
    """Return which phrases occur together, and in how many texts, but for those whose coefficient is too low anyhow."""
    both, size = list(zip(source.of_texts, target.of_texts, strict=True)), len(target.counts)
    far = 2 / LEAST_DICE - 1  # the coefficient is at most twice the smaller count by the sum of both
    none: Numbers = np.empty(0, dtype=np.int64)
    parts = [(none, none)]
    for i in range(0, len(both), AT_ONCE):
        codes = [none]
        for mine, theirs in both[i : i + AT_ONCE]:
            s, t = source.counts[mine][:, None], target.counts[theirs]
            is_near = (s <= far * t) & (t <= far * s)
            codes.append((mine[:, None] * size + theirs)[is_near])
        parts.append(np.unique(np.concatenate(codes), return_counts=True))
    found, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    counts = np.zeros(len(found), dtype=np.int64)
    np.add.at(counts, place, np.concatenate([part[1] for part in parts]))
    s, t = np.divmod(found, max(size, 1))
    return s, t, counts


def _numbers(values: Iterable[int]) -> Numbers:
    return np.fromiter(values, dtype=np.int64)


def _phrases(words: Sequence[str], usual: Set[str]) -> Iterator[Phrase]:
    """Give the phrases of a text that have usual words alone; no other can be frequent."""
    for begin in range(len(words)):
        for end in range(begin + 1, min(begin + RIVALS, len(words)) + 1):
            if words[end - 1] not in usual:
                break
            yield tuple(words[begin:end])
