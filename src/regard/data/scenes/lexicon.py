"""The words, read from ``lexicon.toml``; its head explains how to write one."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources

from regard.data.scenes.english import EnglishVerb, s_form
from regard.data.scenes.german import Case, Gender

PEOPLE = ("adult", "child")
ANIMALS = ("pet", "farm", "wild")
FIELDS = {
    "intransitive": ("subjects", "places", "manner"),
    "motion": ("subjects", "goals", "manner"),
    "transitive": ("subjects", "objects", "places", "manner"),
    "dative": ("subjects", "objects", "places", "manner"),
    "ditransitive": ("subjects", "receivers", "objects"),
    "prepositional": ("subjects", "objects", "places", "manner"),
    "position": ("subjects", "places"),
    "placing": ("subjects", "objects", "goals", "manner"),
    "weather": ("subjects",),
    "clausal": ("subjects", "follows"),
}


@dataclass(frozen=True, slots=True)
class Spot:
    """A preposition with its case and its English."""

    preposition: str
    case: Case
    english: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun in both languages; a mass noun has no plural."""

    kind: str
    gender: Gender
    singular: str
    oblique: str
    plural: str
    english: tuple[str, ...]
    english_plural: tuple[str, ...]
    pronoun: str
    places: tuple[Spot, ...]
    goals: tuple[Spot, ...]

    @property
    def is_person(self) -> bool:
        """Whether English says who."""
        return self.kind in PEOPLE


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A verb in both languages with the selections of its frame."""

    kind: str
    prefix: str
    infinitive: str
    third: str
    participle: str
    auxiliary: str
    english: EnglishVerb
    about: Spot | None = None
    fields: dict[str, str] = field(default_factory=dict)

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
    """A modal verb; ``english`` is an auxiliary ("can"), or ends in "to"."""

    infinitive: str
    third: str
    english: tuple[str, ...]


Place = tuple[Noun, Spot]


class Lexicon:
    """All words, and the selections verbs and adjectives make among them."""

    def __init__(self, text: str) -> None:
        tree = tomllib.loads(text)
        self.tables = {name: dict(_entries(body)) for name, body in tree["tables"].items()}
        self.adverbs = {kind: tuple(_entries(body)) for kind, body in tree["adverbs"].items()}
        self.haunts: dict[str, str] = tree["haunts"]
        self.classes = {
            kind: tuple(self._noun(kind, *entry) for entry in _entries(body)) for kind, body in tree["nouns"].items()
        }
        self.nouns = {noun.singular: noun for nouns in self.classes.values() for noun in nouns}
        self.verbs = tuple(self._verb(k, *entry) for k, body in tree["verbs"].items() for entry in _entries(body))
        self.adjectives = tuple(
            self._adjective(k, *entry) for k, body in tree["adjectives"].items() for entry in _entries(body)
        )
        self.modals = tuple(
            Modal(infinitive, third, tuple(english.split()))
            for infinitive, (third, english) in (
                (name, map(str.strip, forms.split("="))) for name, forms in self.tables["modals"].items()
            )
        )

    def select(self, selection: str) -> tuple[Noun, ...]:
        """Return the nouns that class names and single nouns name."""
        return tuple(noun for name in selection.split() for noun in self._named(name))

    def places(self, selection: str, subject: Noun | None = None) -> tuple[Place, ...]:
        """Return where a verb's subject may be; `*` is where it is found anyway."""
        haunts = self.haunts.get(subject.kind if subject else "adult", "")
        return self._spots(selection.replace("*", haunts), at="places")

    def goals(self, selection: str) -> tuple[Place, ...]:
        """Return where a verb's subject or object may go."""
        return self._spots(selection, at="goals")

    @cached_property
    def describing(self) -> dict[Noun, tuple[Adjective, ...]]:
        """The adjectives of every noun."""
        nouns = self.nouns.values()
        return {noun: tuple(a for a in self.adjectives if noun in a.nouns) for noun in nouns}

    def _named(self, name: str) -> tuple[Noun, ...]:
        return self.classes[name] if name in self.classes else (self.nouns[name],)

    def _spots(self, selection: str, *, at: str) -> tuple[Place, ...]:
        found = []
        for name, _, wanted in (part.partition("/") for part in selection.replace("!", "").split()):
            spots = [(noun, spot) for noun in self._named(name) for spot in getattr(noun, at)]
            found += [place for place in spots if not wanted or place[1].preposition in wanted.split("+")]
        return tuple(found)

    def _noun(self, kind: str, german: str, rest: str) -> Noun:
        english, places, goals = _fields(rest, 3)
        head, _, plural = (part.strip() for part in german.partition(","))
        article, singular, *weak = head.split()
        one, _, many = (part.strip() for part in english.partition(","))
        gender: Gender = {"der": "m", "die": "f", "das": "n"}[article]  # type: ignore[assignment]
        given = {"m": "he", "f": "she"}.get(gender, "it") if kind in PEOPLE else "it"
        return Noun(
            kind=kind,
            gender=gender,
            singular=singular,
            oblique=singular + "".join(weak).removeprefix("-"),
            plural=plural,
            english=tuple(one.split()),
            english_plural=tuple((many or s_form(one)).split()) if plural else (),
            pronoun=self.tables["pronouns"].get(singular, given),
            places=tuple(self._spot(text, 0) for text in places.split()),
            goals=tuple(self._spot(text, 1) for text in goals.split()),
        )

    def _spot(self, text: str, column: int) -> Spot:
        preposition, _, given = text.partition("=")
        case, *english = self.tables["prepositions"][preposition].split("|")[column].split()
        return Spot(preposition, case, (given,) if given else tuple(english))  # type: ignore[arg-type]

    def _verb(self, kind: str, german: str, rest: str) -> Verb:
        english, *values = _fields(rest, 1 + len(FIELDS[kind]))
        forms, _, about = (part.strip() for part in german.partition("+"))
        english, _, preposition = (part.strip() for part in english.partition("+"))
        infinitive, third, participle = (part.strip() for part in forms.split(","))
        prefix, _, base = infinitive.rpartition("-")
        name, _, case = about.partition("/")
        return Verb(
            kind=kind,
            prefix=prefix,
            infinitive=base,
            third=third,
            participle=participle.removeprefix("ist "),
            auxiliary="sein" if participle.startswith("ist ") else "haben",
            english=EnglishVerb.parse(english),
            about=Spot(name, case, (preposition,)) if about else None,  # type: ignore[arg-type]
            fields=dict(zip(FIELDS[kind], values, strict=True)),
        )

    def _adjective(self, kind: str, german: str, rest: str) -> Adjective:
        english, selection = _fields(rest, 2)
        base, _, stem = german.partition("/")
        return Adjective(base, stem or base, english, kind == "colour", frozenset(self.select(selection)))


def _entries(body: str) -> Iterator[tuple[str, str]]:
    for line in body.strip().splitlines():
        left, _, right = line.partition("=")
        yield left.strip(), right.strip()


def _fields(text: str, count: int) -> list[str]:
    fields = [field.strip() for field in text.split("|")]
    assert len(fields) <= count, text
    return fields + [""] * (count - len(fields))


@cache
def load_lexicon() -> Lexicon:
    """Read the lexicon of the package."""
    return Lexicon((resources.files(__package__) / "lexicon.toml").read_text(encoding="utf-8"))
