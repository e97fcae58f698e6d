"""Clauses in both languages at once: word order, verb groups, and which word stands for which.

Every word carries keys; a German and an English word are linked when they share one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from regard.data.corpus import Links
from regard.data.scenes.english import PAST, PRESENT, s_form
from regard.data.scenes.german import Gender, Number, conjugate
from regard.data.scenes.lexicon import Modal, Noun, Verb

Tense = Literal["present", "habit", "perfect", "past"] | Modal
Order = Literal["main", "question", "final"]
MIDDLE = (
    "pronoun",
    "receiver",
    "time",
    "often",
    "known",
    "not",
    "manner",
    "place",
    "new",
    "about",
    "goal",
    "predicate",
)
"""The slots of the German middle field, in order: what is known comes early, what is new comes late."""
BEHIND = ("pronoun", "receiver", "known", "new", "about", "predicate", "manner", "goal", "place", "time")
"""The slots behind the English verb, in order."""
PUNCTUATION = ",.?"


class Word(NamedTuple):
    """A word and what it stands for."""

    text: str
    keys: tuple[int, ...] = ()


Words = tuple[Word, ...]
COMMA = Word(",")


@dataclass(frozen=True, slots=True)
class Phrase:
    """The same thing said in German and in English."""

    german: Words = ()
    english: Words = ()

    def __add__(self, other: "Phrase") -> "Phrase":
        return Phrase(self.german + other.german, self.english + other.english)


@dataclass(frozen=True, slots=True)
class Nominal(Phrase):
    """A phrase that can be a subject or an object."""

    noun: Noun | None = None
    number: Number = "one"
    english_number: Number = "one"
    gender: Gender = "n"
    pronoun: str = "it"
    is_known: bool = True
    is_counted: bool = False
    """Whether it says how many, so that denying the sentence would be unclear."""
    is_owned: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """A subject, a verb in a tense, and what else there is in its slots."""

    verb: Verb
    tense: Tense
    subject: Nominal
    keys: tuple[int, int]
    """Of the finite verb and of the verb that carries the meaning; they are one word in the present."""
    parts: Mapping[str, Phrase] = field(default_factory=dict)
    lead: Phrase = Phrase()
    """A conjunction, a relative pronoun or a question word."""
    tail: Phrase = Phrase()
    """A relative clause about the last thing named; German puts it behind the closing verb."""

    def say(self, order: Order, front: str = "") -> Phrase:
        """Return the clause; ``front`` names the slot that takes the subject's place before the German verb."""
        return Phrase(self.german(order, front), self.english(order, front))

    def german(self, order: Order, front: str = "") -> Words:
        """Return the German words; a main clause has its finite verb second, a subordinate one last."""
        finite, closing = self._german_verb(order)
        slots = [slot for slot in MIDDLE if slot in self.parts and slot != front]
        subject = self.subject.german
        if order == "final":
            return (*self.lead.german, *subject, *self._german_parts(slots), *closing, finite, *self.tail.german)
        if order == "main" and not front:
            return (*subject, finite, *self._german_parts(slots), *closing, *self.tail.german)
        start = self.parts[front].german if front else self.lead.german
        leans = self.subject.noun is not None and "pronoun" in slots  # Heute hilft ihm der Mann.
        middle = (*self._german_parts(slots[:leans]), *subject, *self._german_parts(slots[leans:]))
        return (*start, finite, *middle, *closing, *self.tail.german)

    def _german_parts(self, slots: list[str]) -> Words:
        return tuple(word for slot in slots for word in self.parts[slot].german)

    def _german_verb(self, order: Order) -> tuple[Word, Words]:
        verb, number, (first, second) = self.verb, self.subject.number, self.keys
        if isinstance(self.tense, Modal):
            finite = conjugate(self.tense.infinitive, self.tense.third, number)
            return Word(finite, (first,)), (Word(verb.prefix + verb.infinitive, (second,)),)
        if self.tense == "perfect":
            return Word(conjugate(verb.auxiliary, "", number), (first,)), (Word(verb.participle, (second,)),)
        if self.tense == "past":
            assert verb.infinitive == "sein"
            return Word("waren" if number == "many" else "war", self.keys), ()
        finite = conjugate(verb.infinitive, verb.third, number)
        if order == "final":
            return Word(verb.prefix + finite, self.keys), ()
        return Word(finite, self.keys), (Word(verb.prefix, self.keys),) if verb.prefix else ()

    def english(self, order: Order, front: str = "") -> Words:
        """Return the English words; only a time comes first there as well."""
        parts = {slot: part.english for slot, part in self.parts.items()}
        before = parts.pop("time") if front == "time" else ()
        denial = parts.get("not", ())
        operator, rest = self._english_verb(needs_operator=bool(denial) or order == "question")
        if denial and operator[0].text in ("can", "do", "does", "did"):  # these are there, or change, for the denial
            operator = (Word(operator[0].text, operator[0].keys + denial[0].keys),)
        if denial and operator[0].text == "can":
            operator, denial = (Word("cannot", operator[0].keys),), ()
        subject = self.subject.english
        start = (*operator, *subject) if order == "question" else (*subject, *operator)
        behind = (word for slot in BEHIND for word in parts.get(slot, ()))
        return (
            *self.lead.english,
            *before,
            *start,
            *denial,
            *parts.get("often", ()),
            *rest,
            *behind,
            *self.tail.english,
        )

    def _english_verb(self, *, needs_operator: bool) -> tuple[Words, Words]:
        """Return the operator, which changes places with the subject in a question, and the rest."""
        verb, number, (first, second) = self.verb.english, self.subject.english_number, self.keys
        particle = tuple(Word(text, (second,)) for text in verb.particle)
        do = (Word("does" if number == "one" else "do", (first,)),) if needs_operator else ()
        is_base = needs_operator or number != "one"
        if isinstance(self.tense, Modal):
            modal, *others = (Word(text, (first,)) for text in self.tense.english)
            rest = (*others, Word(verb.base, (second,)), *particle)
            if modal.text == "want":
                return do, (Word("want" if is_base else "wants", (first,)), *rest)
            return (modal,), rest
        if verb.base == "be":
            return (Word((PAST if self.tense == "past" else PRESENT)[number], self.keys),), ()
        if self.tense == "perfect":
            did, form = ((Word("did", (first,)),), verb.base) if needs_operator else ((), verb.past)
            return did, (Word(form, (second,) if did else self.keys), *particle)
        if self.tense == "habit" or verb.is_simple:
            return do, (Word(verb.base if is_base else s_form(verb.base), self.keys), *particle)
        return (Word(PRESENT[number], (first,)),), (Word(verb.ing, self.keys), *particle)


def finish(phrase: Phrase, key: int, mark: str) -> tuple[list[str], list[str], Links]:
    """Close a sentence and return its German words, its English words and their links."""
    stop = (Word(mark, (key,)),)
    german, english = _tidy(phrase.german + stop), _tidy(phrase.english + stop)
    where: dict[int, list[int]] = {}
    for position, word in enumerate(english):
        for name in word.keys:
            where.setdefault(name, []).append(position)
    links = frozenset((i, j) for i, word in enumerate(german) for name in word.keys for j in where.get(name, ()))
    return _texts(german), _texts(english), links


def _tidy(words: Words) -> Words:
    """Drop a comma before another mark."""
    return tuple(w for i, w in enumerate(words) if w.text != "," or words[i + 1].text not in PUNCTUATION)


def _texts(words: Words) -> list[str]:
    first, *others = (word.text for word in words)
    return [first[0].upper() + first[1:], *others]


def write(words: Iterable[str]) -> str:
    """Write words as text, with the marks attached to the word before.

    >>> write(["Ja", ",", "gern", "."])
    'Ja, gern.'
    """
    return "".join(word if word in PUNCTUATION else f" {word}" for word in words).lstrip()
