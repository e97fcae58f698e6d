"""Noun phrases and prepositional phrases, drawn at random."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import Literal, TypeVar

from regard.data.scenes import german
from regard.data.scenes.clause import Nominal, Phrase, Word, Words
from regard.data.scenes.english import OBJECTIVE, POSSESSIVE, indefinite
from regard.data.scenes.german import Case, Declension, Gender
from regard.data.scenes.lexicon import Adjective, Lexicon, Noun, Spot

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Determiner:
    """A determiner, the number it goes with, and the adjective endings it asks for."""

    stem: str
    goes_like: Literal["der", "strong", "ein", "fixed"]
    adjectives: Declension
    singular: str | None
    plural: str | None
    is_known: bool = False
    is_quantified: bool = False

    def form(self, case: Case, gender: Gender) -> str:
        """Return the German form; the bare noun has none."""
        if self.goes_like == "der":
            return german.definite(case, gender)
        return self.stem if self.goes_like == "fixed" else self.stem + german.ending(self.goes_like, case, gender)


def _many(stem: str, english: str) -> Determiner:
    return Determiner(stem, "strong", "strong", None, english, is_quantified=True)


def _number(stem: str, english: str) -> Determiner:
    return Determiner(stem, "fixed", "strong", None, english, is_quantified=True)


THE = Determiner("", "der", "weak", "the", "the", is_known=True)
A = Determiner("ein", "ein", "mixed", "a", None)
BARE = Determiner("", "fixed", "strong", "", "")
THIS = Determiner("dies", "strong", "weak", "this", "these", is_known=True)
EVERY = Determiner("jed", "strong", "weak", "every", None, is_known=True, is_quantified=True)
ALL = Determiner("all", "strong", "weak", None, "all the", is_known=True, is_quantified=True)
NO = Determiner("kein", "ein", "mixed", "no", "no", is_quantified=True)
MANY, SOME = _many("viel", "many"), _many("einig", "some")
NUMBERS = (_number("zwei", "two"), _number("drei", "three"), _number("vier", "four"), _number("fünf", "five"))
MY = Determiner("mein", "ein", "mixed", "my", "my", is_known=True)
OUR = Determiner("unser", "ein", "mixed", "our", "our", is_known=True)


def possessive(owner: Nominal) -> Determiner:
    """Return his, her, its or their: German looks at the owner's gender, English at what the owner is."""
    english = POSSESSIVE[owner.pronoun]
    stem = {"I": "mein", "we": "unser"}.get(owner.pronoun) or ("sein" if owner.gender in "mn" else "ihr")
    return Determiner(stem, "ein", "mixed", english, english, is_known=True)


class Nominals:
    """Draws noun phrases; the same generator always draws the same ones."""

    def __init__(self, lexicon: Lexicon, rng: Random) -> None:
        self.lexicon = lexicon
        self._random = rng.random
        self.key = count().__next__

    def happens(self, chance: float) -> bool:
        """Toss a coin."""
        return self._random() < chance

    def pick(self, items: Sequence[Item]) -> Item:
        """Draw one item; only ``random()`` itself is the same in every version of Python."""
        return items[int(self._random() * len(items))]

    def weigh(self, weights: dict[Item, float]) -> Item:
        """Draw one item by weight."""
        mark = self._random() * sum(weights.values())
        for item, weight in weights.items():
            mark -= weight
            if mark < 0:
                return item
        return item

    def determiner(self, role: str, noun: Noun, owner: Nominal | None = None) -> Determiner:
        """Draw a determiner that suits the noun and its role."""
        if not noun.plural:
            return self.weigh({THE: 5.0, BARE: 0.0 if role == "subject" else 6.0, THIS: 0.5})
        if role == "place":
            return self.weigh({THE: 9.0, A: 1.6, THIS: 0.3, OUR: 0.2})
        own = possessive(owner) if owner else MY
        weights = {THE: 5.0, A: 3.4, THIS: 0.5, own: 0.7 if owner else 0.4, SOME: 0.3, MANY: 0.3, self.pick(NUMBERS): 0.6}
        if role == "subject":
            weights |= {EVERY: 0.2, ALL: 0.3, OUR: 0.3, NO: 0.15}
        else:
            weights |= {BARE: 1.2}
        return self.weigh(weights)

    def noun_phrase(
        self, nouns: Sequence[Noun], case: Case, *, role: str = "object", owner: Nominal | None = None, plain: bool = False
    ) -> Nominal:
        """Draw a noun with determiner and adjectives."""
        noun = self.pick(nouns)
        determiner = self.determiner(role, noun, owner)
        return self.build(noun, case, determiner=determiner, plural=self._number(determiner, noun, role), plain=plain)

    def _number(self, determiner: Determiner, noun: Noun, role: str) -> bool:
        if determiner.singular is None or determiner is BARE:
            return bool(noun.plural)
        return bool(noun.plural) and determiner.plural is not None and self.happens(0.06 if role == "place" else 0.25)

    def build(
        self,
        noun: Noun,
        case: Case,
        *,
        determiner: Determiner,
        plural: bool,
        plain: bool = False,
        preposition: Spot | None = None,
    ) -> Nominal:
        """Put a noun phrase together, behind a preposition if there is one."""
        gender: Gender = "p" if plural else noun.gender
        adjectives = [] if plain else self._adjectives(noun)
        keys = [self.key() for _ in adjectives]
        head = self.key()
        endings = german.ending(determiner.adjectives, case, gender)
        described = [Word(a.stem + endings, (k,)) for a, k in zip(adjectives, keys, strict=True)]
        english = [Word(a.english, (k,)) for a, k in zip(adjectives, keys, strict=True)]
        english += [Word(text, (head,)) for text in (noun.english_plural if plural else noun.english)]
        opening = self._opening(preposition, determiner, case, gender, english[0].text)
        return Nominal(
            german=(*opening.german, *described, Word(_inflect(noun, case, plural), (head,))),
            english=(*opening.english, *english),
            noun=noun,
            who="many" if plural else "one",
            english_who="many" if plural else "one",
            gender=gender,
            pronoun="they" if plural else noun.pronoun,
            is_known=determiner.is_known,
            is_quantified=determiner.is_quantified,
        )

    def _opening(
        self, preposition: Spot | None, determiner: Determiner, case: Case, gender: Gender, following: str
    ) -> Phrase:
        """Return preposition and determiner, in one word where German contracts them."""
        key = self.key()
        form = determiner.form(case, gender)
        said = determiner.plural if gender == "p" else determiner.singular
        said = indefinite(following) if determiner is A else said
        article = tuple(Word(text, (key,)) for text in (said or "").split())
        if preposition is None:
            return Phrase((Word(form, (key,)),) if form else (), article)
        other = self.key()
        english = tuple(Word(text, (other,)) for text in preposition.english) + article
        one = german.contract(preposition.preposition, form)
        if one:
            return Phrase((Word(one, (other, key)),), english)
        lead = Word(preposition.preposition, (other,))
        return Phrase((lead, Word(form, (key,))) if form else (lead,), english)

    def _adjectives(self, noun: Noun) -> list[Adjective]:
        fitting = self.lexicon.describing[noun]
        if not fitting or not self.happens(0.42):
            return []
        first = self.pick(fitting)
        colours = [a for a in fitting if a.is_colour]
        if first.is_colour or not colours or not self.happens(0.25):
            return [first]
        return [first, self.pick(colours)]

    def place(self, noun: Noun, spot: Spot) -> Phrase:
        """Return a prepositional phrase of place or direction."""
        determiner = self.determiner("place", noun)
        plural = noun.kind == "landmark" and determiner.plural is not None and self.happens(0.12)
        return self.build(noun, spot.case, determiner=determiner, plural=plural, preposition=spot)

    def adverb(self, entry: tuple[str, str]) -> Phrase:
        """Return an adverbial of the lexicon; words joined by _ are linked together."""
        groups = [(self.key(), g, e) for g, e in zip(entry[0].split(), entry[1].split(), strict=True)]
        return Phrase(
            tuple(Word(text, (key,)) for key, texts, _ in groups for text in texts.split("_")),
            tuple(Word(text, (key,)) for key, _, texts in groups for text in texts.split("_")),
        )

    def refer(self, to: Nominal, case: Case = "nom") -> Nominal:
        """Return the pronoun for something named before."""
        key = self.key()
        who = to.pronoun if to.pronoun in ("I", "we") else to.gender
        english = (to.pronoun if case == "nom" else OBJECTIVE[to.pronoun],)
        words: Words = tuple(Word(text, (key,)) for text in english)
        return replace(to, german=(Word(german.pronoun(case, who), (key,)),), english=words, noun=None, is_known=True)

    def somebody(self) -> Nominal:
        """Draw a personal subject that needs no name: ich, wir, er, sie."""
        who = self.weigh({"I": 3.0, "we": 2.0, "m": 2.0, "f": 2.0, "p": 1.5})
        english = {"m": "he", "f": "she", "p": "they"}.get(who, who)
        number: Literal["I", "one", "many"] = {"I": "I", "we": "many", "p": "many"}.get(who, "one")  # type: ignore[assignment]
        gender: Gender = who if who in "mfp" else "p"  # type: ignore[assignment]
        blank = Nominal(who=number, english_who=number, gender=gender, pronoun=english)
        return self.refer(blank)


def _inflect(noun: Noun, case: Case, plural: bool) -> str:
    if plural:
        return german.dative_plural(noun.plural) if case == "dat" else noun.plural
    return noun.singular if case == "nom" else noun.oblique
