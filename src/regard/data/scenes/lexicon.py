"""The words, read from ``lexicon.toml``; its head explains how to write one."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any, cast

from regard.data.scenes.english import EnglishVerb, s_form
from regard.data.scenes.german import Case, Gender

_FIELDS = {
    "intransitive": "subjects places manner",
    "motion": "subjects goals manner",
    "transitive": "subjects objects places manner",
    "dative": "subjects objects places manner",
    "ditransitive": "subjects receivers objects",
    "prepositional": "subjects objects places manner",
    "position": "subjects places",
    "placing": "subjects objects goals manner",
    "weather": "subjects",
    "clausal": "subjects follows",
}


@dataclass(frozen=True, slots=True)
class Spot:
    """A preposition with its case and its English."""

    preposition: str
    case: Case
    english: str
    contracts: bool = True
    """Whether it contracts with das: ans Fenster, but: denkt an das Mädchen."""


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun in both languages; a mass noun has no plural."""

    kind: str
    gender: Gender
    singular: str
    oblique: str
    plural: str
    english: str
    english_plural: str
    pronoun: str
    places: tuple[Spot, ...]
    goals: tuple[Spot, ...]


Place = tuple[Noun, Spot]
Entry = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A verb in both languages, with what it may go with."""

    kind: str
    prefix: str
    infinitive: str
    third: str
    participle: str
    auxiliary: str
    english: EnglishVerb
    about: Spot | None = None
    subjects: tuple[Noun, ...] = ()
    objects: tuple[Noun, ...] = ()
    receivers: tuple[Noun, ...] = ()
    places: tuple[Place, ...] = ()
    goals: tuple[Place, ...] = ()
    manner: tuple[Entry, ...] = ()
    follows: Entry = ("", "")
    marks: str = ""
    """``*`` at the subject's haunts, ``!`` needs a place or goal, ``~`` one object, ``#`` several, ``^`` unwanted."""

    @property
    def name(self) -> str:
        """The dictionary form, with a mark after a separable prefix."""
        return f"{self.prefix}-{self.infinitive}" if self.prefix else self.infinitive


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective, the stem its endings are put to, and the nouns it may describe."""

    base: str
    stem: str
    english: str
    is_colour: bool
    nouns: frozenset[Noun]


@dataclass(frozen=True, slots=True)
class Modal:
    """A modal verb; its English is an auxiliary ("can") or ends in "to"."""

    infinitive: str
    third: str
    english: tuple[str, ...]


class Lexicon:
    """All words, and the selections that verbs and adjectives make among them."""

    def __init__(self, text: str) -> None:
        tree = tomllib.loads(text)
        self.tables = {name: dict(_entries(body)) for name, body in tree["tables"].items()}
        self.adverbs = {kind: tuple(_entries(body)) for kind, body in tree["adverbs"].items()}
        self._groups: dict[str, str] = tree["groups"]
        self.classes = {k: tuple(self._noun(k, *e) for e in _entries(body)) for k, body in tree["nouns"].items()}
        self.nouns = {noun.singular: noun for nouns in self.classes.values() for noun in nouns}
        self.people = frozenset(self.select("person"))
        self.animals = frozenset(self.select("animal"))
        self.haunts = {
            n: self.spots(body, "places") for name, body in tree["haunts"].items() for n in self.select(name)
        }
        self.verbs = tuple(self._verb(k, *e) for k, body in tree["verbs"].items() for e in _entries(body))
        self.adjectives = tuple(
            self._adjective(k, *e) for k, body in tree["adjectives"].items() for e in _entries(body)
        )
        modals = ((name, *forms.split(" = ")) for name, forms in self.tables["modals"].items())
        self.modals = tuple(Modal(name, third, tuple(english.split())) for name, third, english in modals)

    @cached_property
    def describing(self) -> dict[Noun, tuple[Adjective, ...]]:
        """The adjectives of every noun; those that suit few nouns are there three times, to be drawn as often."""
        nouns = self.nouns.values()
        return {n: tuple(a for a in self.adjectives if n in a.nouns for _ in range(_times(a))) for n in nouns}

    def select(self, selection: str) -> tuple[Noun, ...]:
        """Return the nouns that groups, classes and single nouns name."""
        return tuple(noun for name in self._expand(selection) for noun in self._named(name))

    def spots(self, selection: str, at: str) -> tuple[Place, ...]:
        """Return nouns with their prepositions for "places" or "goals"."""
        found = []
        for name, _, wanted in (part.partition("/") for part in self._expand(selection)):
            spots = [(noun, spot) for noun in self._named(name) for spot in getattr(noun, at)]
            kept = [place for place in spots if not wanted or place[1].preposition in wanted.split("+")]
            assert kept, f"{selection}: nothing left of {name}/{wanted}"
            found += kept
        return tuple(found)

    def _expand(self, selection: str) -> list[str]:
        parts = ((self._expand(self._groups[name]) if name in self._groups else [name]) for name in selection.split())
        return [name for part in parts for name in part]

    def _named(self, name: str) -> tuple[Noun, ...]:
        return self.classes[name] if name in self.classes else (self.nouns[name],)

    def _noun(self, kind: str, german: str, rest: str) -> Noun:
        english, places, goals = _cut(rest, "|", 3)
        head, plural = _cut(german, ",", 2)
        article, singular, *weak = head.split()
        one, many = _cut(english, ",", 2)
        gender = cast(Gender, {"der": "m", "die": "f", "das": "n"}[article])
        is_person = kind in self._expand("person")
        return Noun(
            kind=kind,
            gender=gender,
            singular=singular,
            oblique=singular + "".join(weak).removeprefix("-"),
            plural=plural,
            english=one,
            english_plural=(many or s_form(one)) if plural else "",
            pronoun=self.tables["pronouns"].get(
                singular, {"m": "he", "f": "she"}.get(gender, "it") if is_person else "it"
            ),
            places=tuple(self._spot(text, 0) for text in places.split()),
            goals=tuple(self._spot(text, 1) for text in goals.split()),
        )

    def _spot(self, text: str, column: int) -> Spot:
        preposition, _, given = text.partition("=")
        case, _, english = _cut(self.tables["prepositions"][preposition], "|", 2)[column].partition(" ")
        return Spot(preposition, cast(Case, case), given or english)

    def _verb(self, kind: str, german: str, rest: str) -> Verb:
        names = _FIELDS[kind].split()
        english, *values = _cut(rest, "|", 1 + len(names))
        forms, about = _cut(german, "+", 2)
        english, said = _cut(english, "+", 2)
        infinitive, third, participle = _cut(forms, ",", 3)
        prefix, _, base = infinitive.rpartition("-")
        preposition, case = _cut(about, "/", 2)
        return Verb(
            kind=kind,
            prefix=prefix,
            infinitive=base,
            third=third,
            participle=participle.removeprefix("ist "),
            auxiliary="sein" if participle.startswith("ist ") else "haben",
            english=EnglishVerb.parse(english),
            about=Spot(preposition, cast(Case, case), said, contracts=case == "dat") if about else None,
            marks="".join(mark for mark in "*!~#^" if mark in "".join(values)),
            **{name: self._field(name, value.strip("*!~#^ ")) for name, value in zip(names, values, strict=True)},
        )

    def _field(self, name: str, value: str) -> Any:
        if name == "follows":
            return next(_entries(value))
        if name == "manner":
            return tuple((word, dict(self.adverbs["manner"])[word]) for word in value.split())
        return self.spots(value, name) if name in ("places", "goals") else self.select(value)

    def _adjective(self, kind: str, german: str, rest: str) -> Adjective:
        english, selection = _cut(rest, "|", 2)
        base, stem = _cut(german, "/", 2)
        return Adjective(base, stem or base, english, kind == "colour", frozenset(self.select(selection)))


def _times(adjective: Adjective) -> int:
    return 3 if len(adjective.nouns) < 20 else 1


def _entries(body: str) -> Iterator[Entry]:
    for line in body.strip().splitlines():
        left, _, right = line.partition("=")
        yield left.strip(), right.strip()


def _cut(text: str, mark: str, count: int) -> list[str]:
    parts = [part.strip() for part in text.split(mark)]
    assert len(parts) <= count, text
    return parts + [""] * (count - len(parts))


@cache
def load_lexicon() -> Lexicon:
    """Read the lexicon of the package."""
    return Lexicon((resources.files(__package__) / "lexicon.toml").read_text(encoding="utf-8"))
