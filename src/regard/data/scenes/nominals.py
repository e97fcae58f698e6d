"""Noun phrases, pronouns and adverbials, drawn at random."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import TypeVar

from regard.data.scenes.clause import Nominal, Phrase, Word
from regard.data.scenes.english import OBJECTIVE, POSSESSIVE, indefinite
from regard.data.scenes.german import (
    CONTRACTION,
    DEFINITE,
    ENDING,
    PRONOUN,
    RELATIVE,
    SPEAKER,
    Case,
    Gender,
    Number,
    dative_plural,
)
from regard.data.scenes.lexicon import Adjective, Entry, Lexicon, Noun, Place, Spot

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, eq=False)
class Determiner:
    """A determiner: how it and the adjectives behind it decline, and its English in the numbers it goes with."""

    stem: str
    declines: str
    adjectives: str
    singular: str | None
    plural: str | None
    is_known: bool = False
    is_counted: bool = False


THE = Determiner("d", "der", "weak", "the", "the", is_known=True)
A = Determiner("ein", "ein", "mixed", "a", None)
BARE = Determiner("", "fixed", "strong", None, "")
SUBSTANCE = Determiner("", "fixed", "strong", "", None)
THIS = Determiner("dies", "strong", "weak", "this", "these", is_known=True)
EVERY = Determiner("jed", "strong", "weak", "every", None, is_known=True, is_counted=True)
ALL = Determiner("all", "strong", "weak", None, "all the", is_known=True, is_counted=True)
NO = Determiner("kein", "ein", "mixed", "no", "no", is_counted=True)
MANY = Determiner("viel", "strong", "strong", None, "many", is_counted=True)
SOME = Determiner("einig", "strong", "strong", None, "some", is_counted=True)
NUMBERS = tuple(
    Determiner(stem, "fixed", "strong", None, english, is_counted=True)
    for stem, english in (("zwei", "two"), ("drei", "three"), ("vier", "four"), ("fünf", "five"))
)
COUNTED = NUMBERS[0]
"""Stands for any number until one is drawn."""
OWNED = ("mein", "unser", "sein", "ihr")
OWN = {
    (stem, name): Determiner(stem, "ein", "mixed", english, english, is_known=True)
    for name, english in POSSESSIVE.items()
    for stem in OWNED
}
MINE = OWN["mein", "I"]
"""Stands for the owner's possessive if there is an owner."""

SUBJECT = {THE: 5.0, A: 2.8, THIS: 0.5, COUNTED: 0.6, SOME: 0.25, MANY: 0.25, ALL: 0.3, EVERY: 0.2, NO: 0.15, MINE: 1.2}
TOLD = {THE: 5.0, A: 2.0, THIS: 0.3, COUNTED: 0.4, MINE: 1.0}
"""Subjects of clauses that are part of a longer sentence."""
TOPIC = {THE: 6.0, THIS: 1.0, ALL: 0.5, MINE: 1.5}
"""Subjects of which a quality is told."""
OBJECT = {THE: 4.5, A: 3.0, BARE: 1.2, THIS: 0.4, COUNTED: 0.6, SOME: 0.3, MANY: 0.3, MINE: 1.5}
SINGLE = {THE: 3.0, A: 3.5, MINE: 2.5}
SEVERAL = {THE: 3.0, COUNTED: 4.0, MANY: 1.0, THIS: 0.6}
PLACE = {THE: 9.0, A: 1.6, THIS: 0.3}
LOOKS = {THE: 3.0, A: 5.0}
"""Of what somebody wears."""


class Nominals:
    """Draws noun phrases; from the same generator it always draws the same ones."""

    def __init__(self, lexicon: Lexicon, rng: Random) -> None:
        self.lexicon = lexicon
        self.random = rng.random
        self.key = count().__next__
        self._owned = frozenset(lexicon.select("owned"))
        self.kin = frozenset(lexicon.select("kin heir"))
        self._ground = frozenset(lexicon.select("ground"))

    def pick(self, items: Sequence[Item]) -> Item:
        """Draw one item; of all that Random offers, only ``random()`` is promised to stay as it is."""
        return items[int(self.random() * len(items))]

    def weigh(self, weights: dict[Item, float]) -> Item:
        """Draw one item by weight."""
        mark = self.random() * sum(weights.values())
        for item, weight in weights.items():
            mark -= weight
            if mark < 0:
                return item
        return next(reversed(weights))  # rounding

    def word(self, german: str, english: str) -> Phrase:
        """Return a word and its English, all of it linked."""
        keys = (self.key(),)
        return Phrase((Word(german, keys),), tuple([Word(text, keys) for text in english.split()]))

    def adverb(self, entry: Entry) -> Phrase:
        """Return an adverbial, linked word by word; _ joins words that are linked together."""
        german, english = entry
        words = (self.word(g, e.replace("_", " ")) for g, e in zip(german.split(), english.split(), strict=True))
        return sum(words, Phrase())

    def noun_phrase(
        self,
        nouns: Sequence[Noun],
        case: Case,
        weights: dict[Determiner, float],
        *,
        owner: Nominal | None = None,
        preposition: Spot | None = None,
        is_plain: bool = False,
    ) -> Nominal:
        """Draw a noun with determiner and adjectives."""
        while (noun := self.pick(nouns)) is (owner.noun if owner else None) and len(nouns) > 1:
            pass
        determiner = self._determiner(noun, weights, owner)
        is_plural = determiner.singular is None or (
            bool(noun.plural)
            and determiner.plural is not None
            and self.random() < self._plural_chance(noun, determiner, weights, owner)
        )
        adjectives = () if is_plain else self._adjectives(noun)
        return self.build(noun, case, determiner, is_plural=is_plural, adjectives=adjectives, preposition=preposition)

    def _plural_chance(
        self, noun: Noun, determiner: Determiner, weights: dict[Determiner, float], owner: Nominal | None
    ) -> float:
        if noun.kind == "pair" or weights is SEVERAL or _is_one_each(weights, owner):
            return 1.0
        if noun in self._ground or weights in (SINGLE, LOOKS) or (noun.kind == "parent" and determiner.stem in OWNED):
            return 0.0
        return 0.12 if weights is PLACE else 0.3

    def _determiner(self, noun: Noun, weights: dict[Determiner, float], owner: Nominal | None) -> Determiner:
        if not noun.plural:
            return self.weigh({THE: 5.0, SUBSTANCE: 6.0 * (BARE in weights), THIS: 0.4})
        drawn = self.weigh(weights)
        if noun in self._ground:
            return drawn if drawn in (THE, A, THIS) else THE
        if noun in self.kin and (drawn in (A, BARE) or (owner and self.random() < 0.5)):
            drawn = MINE  # a brother is somebody's brother
        if drawn is MINE:
            is_stranger = noun in self.lexicon.haunts and owner is not None and owner.noun in self.lexicon.animals
            return self._possessive(noun, owner) if noun in self._owned and not is_stranger else THE
        if drawn is A and (noun.kind == "pair" or _is_one_each(weights, owner)):
            return THE if weights in (SUBJECT, TOLD) else BARE
        return self.pick(NUMBERS) if drawn is COUNTED else drawn

    def _possessive(self, noun: Noun, owner: Nominal | None) -> Determiner:
        """Return a possessive: German looks at the owner's gender, English at what the owner is."""
        name = owner.pronoun if owner else self.pick(("I", "I", "I" if noun.kind in ("garment", "pair") else "we"))
        stem = {"I": "mein", "we": "unser"}.get(name) or ("sein" if owner and owner.gender in "mn" else "ihr")
        return OWN[stem, name]

    def _adjectives(self, noun: Noun) -> tuple[Adjective, ...]:
        fitting = self.lexicon.describing[noun]
        if not fitting or self.random() > 0.42:
            return ()
        first = self.pick(fitting)
        second = self.pick(fitting)
        return (first, second) if second.is_colour and not first.is_colour else (first,)

    def build(
        self,
        noun: Noun,
        case: Case,
        determiner: Determiner = THE,
        *,
        is_plural: bool = False,
        adjectives: Sequence[Adjective] = (),
        preposition: Spot | None = None,
    ) -> Nominal:
        """Put a noun phrase together, behind a preposition if there is one."""
        gender: Gender = "p" if is_plural else noun.gender
        ending = ENDING[determiner.adjectives][case, gender]
        head = noun.plural if is_plural else noun.singular if case == "nom" else noun.oblique
        head = dative_plural(head) if is_plural and case == "dat" else head
        named = self.word(head, noun.english_plural if is_plural else noun.english)
        for adjective in reversed(adjectives):
            named = self.word(adjective.stem + ending, adjective.english) + named
        whole = self._opening(preposition, determiner, case, gender, named.english[0].text) + named
        number: Number = "many" if is_plural else "one"
        return Nominal(
            *(whole.german, whole.english, noun, number, number, gender, "they" if is_plural else noun.pronoun),
            is_known=determiner.is_known,
            is_counted=determiner.is_counted,
            is_owned=determiner.stem in OWNED,
        )

    def _opening(self, spot: Spot | None, determiner: Determiner, case: Case, gender: Gender, following: str) -> Phrase:
        """Return preposition and determiner, in one word where German contracts them."""
        form = determiner.stem
        if determiner.declines != "fixed":
            form = DEFINITE[case, gender] if determiner is THE else form + ENDING[determiner.declines][case, gender]
        english = (determiner.plural if gender == "p" else determiner.singular) or ""
        article = self.word(form, indefinite(following) if determiner is A else english) if form else Phrase()
        if spot is None:
            return article
        preposition = self.word(spot.preposition, spot.english)
        contracted = CONTRACTION.get((spot.preposition, form)) if spot.contracts else None
        if not contracted:
            return preposition + article
        keys = preposition.german[0].keys + article.german[0].keys
        return Phrase((Word(contracted, keys),), preposition.english + article.english)

    def place(self, places: Sequence[Place]) -> Nominal:
        """Draw a prepositional phrase of place or direction."""
        noun, spot = self.pick(places)
        return self.noun_phrase([noun], spot.case, PLACE, preposition=spot)

    def refer(self, to: Nominal, case: Case = "nom") -> Nominal:
        """Return the pronoun for somebody or something."""
        german = SPEAKER[to.pronoun][case] if to.pronoun in SPEAKER else PRONOUN[case, to.gender]
        said = self.word(german, to.pronoun if case == "nom" else OBJECTIVE[to.pronoun])
        return replace(to, german=said.german, english=said.english, noun=None, is_known=True)

    def somebody(self, names: Sequence[str], case: Case = "nom") -> Nominal:
        """Draw a personal pronoun, given in English, that stands for nobody named."""
        name = self.pick(names)
        gender: Gender = "m" if name == "he" else "f" if name == "she" else "p"
        number: Number = "I" if name == "I" else "many" if name in ("we", "they") else "one"
        return self.refer(Nominal((), (), None, number, number, gender, name), case)

    def which(self, about: Nominal, case: Case) -> Phrase:
        """Return the relative pronoun for something named."""
        is_person = about.noun in self.lexicon.people
        english = ("who" if case == "nom" else "whom") if is_person else "which"
        return self.word(RELATIVE[case, about.gender], english)


def _is_one_each(weights: dict[Determiner, float], owner: Nominal | None) -> bool:
    """Say whether several people do it to one thing each: they put on their hats."""
    return weights is SINGLE and owner is not None and owner.number == "many"
