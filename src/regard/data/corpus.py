"""What every corpus gives: named splits of sentence pairs, a fingerprint, and gold alignments where they are known."""

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import ClassVar, Literal

from regard.config import DataConfig
from regard.errors import RegardError, did_you_mean

Unit = Literal["word", "character"]
Links = frozenset[tuple[int, int]]
"""A word alignment: pairs (source position, target position), counted from 0 in the corpus's alignment unit."""


def table_of(pairs: Iterable[tuple[str, str]]) -> str:
    """Write pairs as lines source<TAB>target."""
    return "".join(f"{source}\t{target}\n" for source, target in pairs)


@dataclass(frozen=True, slots=True)
class Split:
    """Parallel sentences; ``links[i]`` aligns ``sources[i]`` with ``targets[i]`` where the corpus knows it."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    links: tuple[Links, ...] | None = None

    def __post_init__(self) -> None:
        assert len(self.sources) == len(self.targets)
        assert self.links is None or len(self.links) == len(self.sources)

    def __len__(self) -> int:
        return len(self.sources)

    def swapped(self) -> "Split":
        """Return the pairs the other way round."""
        links = self.links and tuple(frozenset((j, i) for i, j in one) for one in self.links)
        return Split(self.targets, self.sources, links)

    @property
    def table(self) -> str:
        """The pairs as lines source<TAB>target."""
        return table_of(zip(self.sources, self.targets, strict=True))


@dataclass(frozen=True)
class Corpus:
    """Splits by name ("train", "validation", "test", ...) and what is known about them."""

    name: str
    splits: Mapping[str, Split]
    unit: Unit = "word"
    """What an alignment counts: words as `regard.data.words.split_words` cuts them, or characters."""
    notes: tuple[str, ...] = field(default=())
    """What was dropped or changed while reading, for the user to see."""

    def __getitem__(self, split: str) -> Split:
        if split not in self.splits:
            hint = f" The file of that name is ./{split}." if os.path.isfile(split) else ""
            told = did_you_mean(split, self.splits)
            raise RegardError(f"Unknown split '{split}' of corpus {self.name}. {told}{hint}")
        return self.splits[split]

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of every pair that is trained, validated or tested on; other splits may not be at hand."""
        digest = hashlib.sha256()
        for name in sorted({"train", "validation", "test"} & self.splits.keys()):
            digest.update(f"{name}\n{self.splits[name].table}".encode())
        return digest.hexdigest()


class LazySplits(Mapping[str, Split]):
    """Splits that are made when they are asked for, and kept."""

    def __init__(self, names: Collection[str], make: Callable[[str], Split]) -> None:
        self._names = names
        self._made = cache(make)

    def __getitem__(self, name: str) -> Split:
        if name not in self._names:
            raise KeyError(name)
        return self._made(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Recipe(DataConfig, ABC):
    """The options of a corpus, and how it is made from them."""

    unit: ClassVar[Unit] = "word"
    """What alignments of its sentences count."""

    @abstractmethod
    def load(self) -> Corpus:
        """Make or read the corpus, not swapped."""

    @property
    def languages(self) -> tuple[str | None, str | None]:
        """Source and target language as a model sees them; None where they are not known."""
        source, target = self._languages()
        return (target, source) if self.swap else (source, target)

    def _languages(self) -> tuple[str | None, str | None]:
        """Return the languages before they are swapped."""
        return None, None


def load_corpus(data: DataConfig, *, tokens: str = "") -> Corpus:
    """Make or read the corpus that a configuration asks for.

    Gold alignments that attention between such ``tokens`` (a `tokenizer.kind`) cannot be held against are left out.
    """
    assert isinstance(data, Recipe)
    corpus = data.load()
    if data.swap:
        splits = corpus.splits
        corpus = replace(corpus, splits=LazySplits(splits.keys(), lambda name: splits[name].swapped()))
    if corpus.unit == "word" or tokens in ("", "character"):
        return corpus
    note = (
        f"{corpus.name}: gold alignments link characters, so attention between tokens of kind '{tokens}' is not scored "
        "against them; tokenizer.kind=character is."
    )
    splits = {name: replace(split, links=None) for name, split in corpus.splits.items()}
    return replace(corpus, splits=splits, notes=(*corpus.notes, note))
