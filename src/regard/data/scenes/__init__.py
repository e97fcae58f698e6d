"""German sentences about visible scenes with their English, from a grammar of our own; nothing to download.

The words are in ``lexicon.toml``, their forms in ``german`` and ``english``; ``nominals``, ``events`` and ``sentences``
draw phrases, clauses and sentences; ``clause`` puts them in order in both languages and links them.

The English is a function of the German: the present is progressive unless the verb is one of knowing or having or the
sentence says how often, Perfekt is simple past, a place comes last whether German has it first or not, and sie, sein
and ihr are translated by what they refer to, which is the subject where it can be.

Gold links, between words as `regard.data.words.split_words` cuts them:

- A word is linked to all words that translate it: Fußballspieler to football and player, neben to next and to, alle to
  all and the; im to in and the.
- Articles, possessives and numerals are linked to their counterparts, kein to no, pronouns to pronouns.
- A finite verb that carries the meaning, and a separable prefix, are linked to the whole English verb: sieht and an to
  is, looking and at. With an auxiliary, hat and gesehen are both linked to saw; in questions and denials hat is linked
  to did, gesehen to see. A modal is linked to its English with its to, the infinitive to the English infinitive.
- nicht is linked to not and to the do that English adds for it, which is linked to the finite verb as well; cannot to
  both kann and nicht. es gibt: es to there, gibt to is.
- A preposition that a verb asks for is linked to the English one: wartet auf, is waiting for.
- Marks are linked to marks. German commas that English does not write have no link; every other word has one.
"""

from random import Random
from typing import Literal

from pydantic import NonNegativeInt, PositiveInt

from regard.data.corpus import Corpus, Links, Recipe, Split
from regard.data.scenes.clause import write
from regard.data.scenes.lexicon import load_lexicon
from regard.data.scenes.sentences import Sentences

LONGEST = 22
"""Words and marks of the longest German sentence."""


class Scenes(Recipe):
    """German to English sentences about people, animals and things, made from a grammar, with gold word alignments."""

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

    def _languages(self) -> tuple[str, str]:
        return "de", "en"

    def load(self) -> Corpus:
        """Make the corpus: no sentence comes twice, and test and validation are the same for every size of train."""
        grammar = Sentences(load_lexicon(), Random(self.seed))
        seen: set[str] = set()
        test = _draw(grammar, self.test, seen)
        validation = _draw(grammar, self.validation, seen)
        train = _draw(grammar, self.train, seen)
        return Corpus("scenes", {"train": train, "validation": validation, "test": test})


def _draw(grammar: Sentences, size: int, seen: set[str]) -> Split:
    pairs: list[tuple[str, str, Links]] = []
    while len(pairs) < size:
        german, english, links = grammar.sentence()
        source = write(german)
        if len(german) <= LONGEST and source not in seen:
            seen.add(source)
            pairs.append((source, write(english), links))
    sources, targets, aligned = zip(*pairs, strict=True)
    return Split(sources, targets, aligned)
