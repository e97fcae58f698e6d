"""German sentences about visible scenes with their English, from a grammar of our own; nothing to download."""

from random import Random
from typing import Literal

from pydantic import NonNegativeInt, PositiveInt

from regard.data.corpus import Corpus, Links, Recipe, Split
from regard.data.scenes.clause import write
from regard.data.scenes.lexicon import load_lexicon
from regard.data.scenes.sentences import Sentences


class Scenes(Recipe):
    """German to English, made from a grammar: scenes with people, animals and things, with gold word alignments."""

    corpus: Literal["scenes"] = "scenes"
    """Name of the corpus."""
    train: PositiveInt = 20000
    """Pairs to train on."""
    validation: PositiveInt = 1000
    """Pairs to choose the best weights by."""
    test: PositiveInt = 1000
    """Pairs to measure on."""
    seed: NonNegativeInt = 1
    """Seed of the sentences."""

    def load(self) -> Corpus:
        """Make the corpus. No sentence is drawn twice; test and validation do not depend on the size of train."""
        grammar = Sentences(load_lexicon(), Random(self.seed))
        seen: set[str] = set()
        sizes = {"test": self.test, "validation": self.validation, "train": self.train}
        splits = {name: _draw(grammar, size, seen) for name, size in sizes.items()}
        return Corpus("scenes", {name: splits[name] for name in ("train", "validation", "test")})


def _draw(grammar: Sentences, size: int, seen: set[str]) -> Split:
    sources: list[str] = []
    targets: list[str] = []
    links: list[Links] = []
    while len(sources) < size:
        german, english, linked = grammar.sentence()
        source = write(german)
        if source in seen or len(german) > MAXIMUM:
            continue
        seen.add(source)
        sources.append(source)
        targets.append(write(english))
        links.append(linked)
    return Split(tuple(sources), tuple(targets), tuple(links))


MAXIMUM = 22
