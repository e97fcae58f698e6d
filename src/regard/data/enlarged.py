"""What is trained on where it differs from the corpus: extra pairs, sentences without a full stop, phrases."""

from collections import ChainMap
from collections.abc import MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from regard.config import DataConfig
from regard.data.corpus import Corpus, Split
from regard.data.lines import pairs_of
from regard.data.phrases import phrase_pairs
from regard.data.words import clean
from regard.errors import RegardError

STOPS = ".!?…。！？؟۔।॥ "
"""What a sentence ends with."""
OPENING = frozenset("¿¡")
"""What begins a sentence that ends so."""
Pair = tuple[str, str]


def held_out(corpus: Corpus) -> frozenset[str]:
    """Return every sentence, of either side, that is validated or tested on."""
    splits = (corpus["validation"], corpus["test"])
    return frozenset(text for split in splits for text in (*split.sources, *split.targets))


def training_data(corpus: Corpus, data: DataConfig) -> Corpus:
    """Return the corpus as it is trained on: with extra pairs, with phrases, and some pairs without their full stop.

    Nothing that is validated or tested on comes in like this.
    """
    train, notes = corpus["train"], list(corpus.notes)
    taken = held_out(corpus)
    if data.extra:
        train, dropped = _with_extra(train, data.extra, taken=taken)
        notes += dropped
    if data.bare:
        train, count = _bare(train, data.bare, taken=taken)
        notes.append(f"data.bare: {count:,} of {len(train):,} training pairs lose what ends the sentence.")
    if data.phrases:
        found = phrase_pairs(corpus["train"].sources, corpus["train"].targets, least=data.phrases)
        found = [pair for pair in found if not taken.intersection(pair)]
        times = round(len(train) / len(corpus["train"]))  # among many extra pairs they would hardly be noticed
        train = _joined(train, found * times)
        often = f", {times} times each" if times > 1 else ""
        notes.append(f"data.phrases: {len(found):,} pairs of short phrases are trained on as well{often}.")
    if train is corpus["train"]:
        return corpus
    others = cast("MutableMapping[str, Split]", corpus.splits)  # read by a ChainMap, never written
    return replace(corpus, splits=ChainMap({"train": train}, others), notes=tuple(notes))


def _with_extra(train: Split, path: str, *, taken: frozenset[str]) -> tuple[Split, list[str]]:
    """Add the pairs of a file, but for those with a side that is taken; say how many these are."""
    pairs = [(clean(source), clean(target)) for source, target in pairs_of(Path(path))]
    kept = [pair for pair in pairs if all(pair) and not taken.intersection(pair)]
    if not kept:
        raise RegardError(f"{path}: none of {len(pairs)} pairs can be trained on: empty, validated or tested on.")
    dropped = len(pairs) - len(kept)
    note = f"{path}: {dropped} of {len(pairs)} pairs left out: empty, validated or tested on."
    return _joined(train, kept), [note] if dropped else []


def _joined(train: Split, pairs: Sequence[Pair]) -> Split:
    more = [tuple(pair[side] for pair in pairs) for side in (0, 1)]
    return Split(train.sources + more[0], train.targets + more[1])


def _bare(train: Split, share: float, *, taken: frozenset[str]) -> tuple[Split, int]:
    """Take what ends the sentence off both sides of some pairs, evenly spread over those that have it; count them."""
    pairs = list(zip(train.sources, train.targets, strict=True))
    stopped = [(i, bare) for i, pair in enumerate(pairs) if (bare := _without_stop(pair)) and not taken & set(bare)]
    count = round(len(stopped) * share)
    for number in range(count):
        i, bare = stopped[(2 * number + 1) * len(stopped) // (2 * count)]
        pairs[i] = bare
    sources, targets = zip(*pairs, strict=True)
    return Split(sources, targets), count


def _without_stop(pair: Pair) -> Pair | None:
    """Return both sides without what ends the sentence, if both have it, and no mark that would lose its partner."""
    source, target = (side.rstrip(STOPS) for side in pair)
    is_whole = source and target and source != pair[0] and target != pair[1]
    return (source, target) if is_whole and not OPENING & {*source, *target} else None
