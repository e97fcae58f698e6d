"""Files: a corpus of one's own, as parallel text files or a table, plain or gzipped."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Literal, cast

from pydantic import NonNegativeInt, PositiveInt, model_validator

from regard.config import Place
from regard.data.corpus import Corpus, Recipe, Split
from regard.data.lines import pairs_of, some_lines_of
from regard.data.words import clean, split_words
from regard.errors import RegardError

Pair = tuple[str, str]
HELD_OUT = ("validation", "test")
FEW = 100
"""Pairs below which a score says little."""
PREFIXES = {"train": "", "validation": "validation_", "test": "test_"}


class Files(Recipe):
    """Your own sentence pairs: two parallel text files or a tab-separated one, plain or .gz.

    Validation and test data that are not given are taken out of the training data at random. They are drawn by source
    sentence: all pairs with the same source go to the same split, so that nothing tested on was trained on. Swapped,
    they are the same pairs, and a note says how many of what are sources then occur in the training data too.
    """

    corpus: Literal["files"] = "files"
    pairs: Place = ""
    """Training data as a file of lines source<TAB>target."""
    source_file: Place = ""
    """Training data as two files: the source sentences, one a line."""
    target_file: Place = ""
    """Training data as two files: the target sentences, one a line."""
    validation_pairs: Place = ""
    """Validation data, like `pairs`."""
    validation_source_file: Place = ""
    """Validation data, like `source_file`."""
    validation_target_file: Place = ""
    """Validation data, like `target_file`."""
    test_pairs: Place = ""
    """Test data, like `pairs`."""
    test_source_file: Place = ""
    """Test data, like `source_file`."""
    test_target_file: Place = ""
    """Test data, like `target_file`."""
    validation_size: NonNegativeInt = 0
    """Source sentences to validate on, if no validation data are given; 0 for 5 %, but no more than 1,000."""
    test_size: NonNegativeInt = 0
    """Source sentences to test on, if no test data are given; 0 for 5 %, but no more than 1,000."""
    max_words: PositiveInt = 200
    """Pairs with more words on either side are left out, and counted."""
    seed: NonNegativeInt = 1
    """Seed of the choice of validation and test data."""

    @model_validator(mode="after")
    def _files_fit(self) -> "Files":
        for split, prefix in PREFIXES.items():
            pairs, *sides = self._paths(split)
            keys = f"{prefix}pairs, or {prefix}source_file and {prefix}target_file"
            if bool(sides[0]) != bool(sides[1]) or (pairs and any(sides)):
                raise ValueError(f"{split} data: want either {keys}.")
            if split == "train" and not (pairs or any(sides)):
                raise ValueError(f"{split} data: none given, want {keys}.")
            if split != "train" and (pairs or any(sides)) and getattr(self, f"{split}_size"):
                raise ValueError(
                    f"{split}_size: got {getattr(self, f'{split}_size')} and files, want one or the other."
                )
        return self

    def load(self) -> Corpus:
        """Read the given files, then take what is not given out of the training data."""
        read = {split: self._read(split) for split in PREFIXES if any(self._paths(split))}
        notes = [note for split, pairs in read.items() for note in pairs.notes(split, self.max_words)]
        splits = {split: pairs.kept for split, pairs in read.items()}
        missing = [split for split in HELD_OUT if split not in splits]
        if missing:
            splits |= self._draw(splits["train"], missing)
            notes += [_taken(split, splits) for split in missing]
        notes += _overlaps(
            splits, [split for split in HELD_OUT if self.swap or split not in missing], is_swapped=self.swap
        )
        ordered = {split: Split(*map(tuple, zip(*splits[split], strict=True))) for split in PREFIXES}
        return Corpus("files", ordered, notes=tuple(notes))

    def _paths(self, split: str) -> tuple[str, str, str]:
        prefix = PREFIXES[split]
        pairs, source, target = (getattr(self, f"{prefix}{key}") for key in ("pairs", "source_file", "target_file"))
        return pairs, source, target

    def _read(self, split: str) -> "_Read":
        table, source, target = self._paths(split)
        read = _Read()
        for pair in pairs_of(Path(table)) if table else _parallel(Path(source), Path(target)):
            read.add(pair, self.max_words)
        if not read.kept:
            raise RegardError(
                f"{table or source}: no sentence pair is left of {read.total} lines, {read.dropped(self.max_words)}"
            )
        return read

    def _draw(self, pairs: list[Pair], missing: list[str]) -> dict[str, list[Pair]]:
        """Share pairs out between training data and what is missing, by source sentence."""
        sources = list(dict.fromkeys(source for source, _ in pairs))
        share = max(1, min(1000, len(sources) // 20))
        sizes = {split: getattr(self, f"{split}_size") or share for split in missing}
        if sum(sizes.values()) >= len(sources):
            raise RegardError(
                f"data: got {len(sources)} different source sentences, want more than {sum(sizes.values())}, since "
                f"{' and '.join(f'{size} for {split}' for split, size in sizes.items())} are taken out of them."
            )
        drawn = iter(random.Random(self.seed).sample(sources, sum(sizes.values())))
        split_of = {next(drawn): split for split, size in sizes.items() for _ in range(size)}
        shares: dict[str, list[Pair]] = {split: [] for split in ("train", *missing)}
        for pair in pairs:
            shares[split_of.get(pair[0], "train")].append(pair)
        return shares


def _taken(split: str, splits: dict[str, list[Pair]]) -> str:
    """Say how many pairs a split was given out of the training data, and whether they are few."""
    size = len(splits[split])
    told = f"{split}: {size} pairs taken out of the training data, which keeps {len(splits['train'])}"
    return told + (f"; too few for scores that hold: data.{split}_size takes more." if size < FEW else ".")


@dataclass
class _Read:
    """The pairs of a split that were kept, and how many were not."""

    kept: list[Pair] = field(default_factory=list)
    empty: int = 0
    long: int = 0

    @property
    def total(self) -> int:
        return len(self.kept) + self.empty + self.long

    def add(self, pair: Pair, max_words: int) -> None:
        source, target = map(clean, pair)
        if not source or not target:
            self.empty += 1
        elif _is_long(source, max_words) or _is_long(target, max_words):
            self.long += 1
        else:
            self.kept.append((source, target))

    def dropped(self, max_words: int) -> str:
        return f"{self.empty} with an empty side and {self.long} with more than {max_words} words."

    def notes(self, split: str, max_words: int) -> list[str]:
        dropped = self.total - len(self.kept)
        return [f"{split}: {dropped} of {self.total} pairs left out, {self.dropped(max_words)}"] if dropped else []


def _is_long(text: str, max_words: int) -> bool:
    return len(text) > max_words and len(split_words(text)) > max_words


def _overlaps(splits: dict[str, list[Pair]], held_out: Iterable[str], *, is_swapped: bool) -> list[str]:
    """Say how many sentences that a model is to translate it was trained on."""
    trained = {pair[is_swapped] for pair in splits["train"]}
    counts = {split: sum(pair[is_swapped] in trained for pair in splits[split]) for split in held_out}
    return [
        f"{split}: {count} of {len(splits[split])} source sentences are training data too."
        for split, count in counts.items()
        if count
    ]


def _parallel(source: Path, target: Path) -> Iterator[Pair]:
    sizes = [0, 0]
    for pair in zip_longest(some_lines_of(source), some_lines_of(target)):
        sizes = [size + (line is not None) for size, line in zip(sizes, pair, strict=True)]
        if None not in pair:
            yield cast(Pair, pair)
    if sizes[0] != sizes[1]:
        raise RegardError(
            f"{source} has {sizes[0]} lines and {target} has {sizes[1]}, want as many in both: "
            "a line of one translates the same line of the other."
        )
