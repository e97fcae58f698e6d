"""What runs are tested on: a part of their corpus, by its name, or pairs of one's own, by their file."""

import hashlib
import os
import re
from pathlib import Path

from regard.config import DataConfig
from regard.data.corpus import Corpus, Recipe, Split, load_corpus
from regard.data.lines import pairs_of
from regard.data.words import clean
from regard.errors import RegardError

LONGEST = 40
"""Letters of a file's name that its evaluations are called by."""


def is_own(split: str) -> bool:
    """Say whether a file is meant: it has a dot or a folder in its name, and parts of a corpus have not."""
    return bool(re.search(r"[./\\]", split))


def load_tested(data: DataConfig, split: str, *, tokens: str = "") -> Corpus:
    """Return a corpus with the part that is to be tested on; beside pairs of one's own nothing else need be there."""
    if not is_own(split):
        return load_corpus(data, tokens=tokens)
    assert isinstance(data, Recipe)
    return Corpus("own", {split: own_pairs(split)}, unit=data.unit)


def own_pairs(path: str) -> Split:
    """Read pairs of one's own; every line counts but empty ones, so that a score is of the whole file."""
    place = os.path.expanduser(path)
    if os.path.exists(place) and not os.path.isfile(place):
        raise RegardError(f"{path}: not a file, want one: it is read more than once.")
    pairs = []
    for number, pair in enumerate(pairs_of(Path(path)), start=1):
        source, target = map(clean, pair)
        if source and target:
            pairs.append((source, target))
        elif source or target:
            side = "target" if source else "source"
            raise RegardError(f"{path}, line {number}: the {side} is empty, want a sentence and its translation.")
    if not pairs:
        raise RegardError(f"{path}: all lines are empty, want lines source<TAB>target.")
    return Split(*map(tuple, zip(*pairs, strict=True)))


def name_of(split: str) -> str:
    """Return what signatures and stored evaluations call a part; pairs of one's own go by their content too."""
    return named(split, own_pairs(split)) if is_own(split) else split


def named(split: str, pairs: Split) -> str:
    """Return the name of pairs that have been read."""
    if not is_own(split):
        return split
    stem = re.sub(r"\W+", "_", Path(split).name.partition(".")[0]).strip("_")[:LONGEST] or "pairs"
    return f"{stem}-{hashlib.sha256(pairs.table.encode()).hexdigest()[:8]}"


def stored_name(split: str, search: object) -> str:
    """Return the name that an evaluation of a part is stored by."""
    return f"{name_of(split)}-{search}"
