"""What every corpus gives: named splits of sentence pairs, a fingerprint, and gold alignments where they are known."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from regard.config import DataConfig
from regard.errors import RegardError, did_you_mean

Links = frozenset[tuple[int, int]]
"""A word alignment: pairs (source position, target position), counted from 0 in the corpus's alignment unit."""


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

    @property
    def table(self) -> str:
        """The pairs as lines source<TAB>target."""
        return "".join(f"{source}\t{target}\n" for source, target in zip(self.sources, self.targets, strict=True))


@dataclass(frozen=True)
class Corpus:
    """Splits by name ("train", "validation", "test", ...) and what is known about them."""

    name: str
    splits: Mapping[str, Split]
    unit: Literal["word", "character"] = "word"
    """What an alignment counts: words as `regard.data.words.split_words` cuts them, or characters."""
    notes: tuple[str, ...] = field(default=())
    """What was dropped or changed while reading, for the user to see."""

    def __getitem__(self, split: str) -> Split:
        if split not in self.splits:
            raise RegardError(f"Unknown split '{split}' of corpus {self.name}. {did_you_mean(split, self.splits)}")
        return self.splits[split]

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of every pair that is trained, validated or tested on; other splits may not be at hand."""
        digest = hashlib.sha256()
        for name in sorted({"train", "validation", "test"} & self.splits.keys()):
            digest.update(f"{name}\n{self.splits[name].table}".encode())
        return digest.hexdigest()


class Recipe(DataConfig, ABC):
    """The options of a corpus, and how it is made from them."""

    @abstractmethod
    def load(self) -> Corpus:
        """Make or read the corpus."""


def load_corpus(data: DataConfig, *, tokens: str = "") -> Corpus:
    """Make or read the corpus that a configuration asks for.

    Gold alignments that attention between such ``tokens`` (a `tokenizer.kind`) cannot be held against are left out.
    """
    assert isinstance(data, Recipe)
    corpus = data.load()
    if corpus.unit == "word" or tokens in ("", "character"):
        return corpus
    note = (
        f"{corpus.name}: gold alignments link characters, so attention between tokens of kind '{tokens}' is not scored "
        "against them; tokenizer.kind=character is."
    )
    splits = {name: replace(split, links=None) for name, split in corpus.splits.items()}
    return replace(corpus, splits=splits, notes=(*corpus.notes, note))
