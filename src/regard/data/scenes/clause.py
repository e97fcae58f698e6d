"""Clauses in both languages at once: word order, verb groups, and which word stands for which.

Every word carries keys; a German and an English word are linked when they share one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from regard.data.corpus import Links
from regard.data.scenes.english import BE, s_form
from regard.data.scenes.german import conjugate
from regard.data.scenes.lexicon import Modal, Noun, Verb

Tense = Literal["present", "habit", "perfect", "past"]
Order = Literal["main", "question", "final"]
Slot = Literal[
    "pronoun", "receiver", "time", "often", "known", "not", "manner", "place", "new", "about", "goal", "predicate"
]
MIDDLE: tuple[Slot, ...] = (
    *("pronoun", "receiver", "time", "often", "known", "not", "manner", "place", "new", "about", "goal", "predicate"),
)
"""The German middle field: what is known comes early, what is new comes late."""
BEHIND: tuple[Slot, ...] = (
    *("pronoun", "receiver", "known", "new", "about", "predicate", "manner", "goal", "place", "time"),
)
"""What follows the English verb."""
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
    who: Literal["I", "one", "many"] = "one"
    english_who: Literal["I", "one", "many"] = "one"
    gender: Literal["m", "f", "n", "p"] = "n"
    pronoun: str = "it"
    is_known: bool = True
    is_quantified: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """A subject, a verb in a tense, and what else there is in its slots."""

    verb: Verb
    tense: Tense | Modal
    subject: Nominal
    keys: tuple[int, int]
    """Of the finite verb and of the verb that carries the meaning; they are one word in the present."""
    parts: Mapping[Slot, Phrase] = field(default_factory=dict)
    lead: Phrase = field(default_factory=Phrase)
    """A conjunction, a relative pronoun or a question word."""
    tail: Phrase = field(default_factory=Phrase)
    """A relative clause about the last thing named; German puts it behind the closing verb."""

    def say(self, order: Order, front: Slot | None = None) -> Phrase:
        """Return the clause; ``front`` stands before the German verb of a main clause in place of the subject."""
        return Phrase(self._german(order, front), self._english(order, front))

    def _german(self, order: Order, front: Slot | None) -> Words:
        finite, closing = self._german_verb(order)
        middle = _join(self.parts[slot].german for slot in MIDDLE if slot in self.parts and slot != front)
        subject, lead, tail = self.subject.german, self.lead.german, self.tail.german
        if order == "final":
            return (*lead, *subject, *middle, *closing, finite, *tail)
        if order == "question":
            return (*lead, finite, *subject, *middle, *closing, *tail)
        if front is None:
            return (*lead, *subject, finite, *middle, *closing, *tail)
        pronoun = self.parts["pronoun"].german if "pronoun" in self.parts and front != "pronoun" else ()
        if pronoun and self.subject.noun:  # Heute hilft ihm der Mann: the pronoun leans on the verb
            return (*self.parts[front].german, finite, *pronoun, *subject, *middle[len(pronoun) :], *closing, *tail)
        return (*lead, *self.parts[front].german, finite, *subject, *middle, *closing, *tail)

    def _german_verb(self, order: Order) -> tuple[Word, Words]:
        verb, who, (first, second) = self.verb, self.subject.who, self.keys
        if isinstance(self.tense, Modal):
            finite = conjugate(self.tense.infinitive, self.tense.third, who)
            return Word(finite, (first,)), (Word(verb.prefix + verb.infinitive, (second,)),)
        if self.tense == "perfect":
            return Word(conjugate(verb.auxiliary, "", who), (first,)), (Word(verb.participle, (second,)),)
        if self.tense == "past":
            assert verb.infinitive == "sein"
            return Word("waren" if who == "many" else "war", self.keys), ()
        finite = conjugate(verb.infinitive, verb.third, who)
        if order == "final":
            return Word(verb.prefix + finite, self.keys), ()
        return Word(finite, self.keys), (Word(verb.prefix, self.keys),) if verb.prefix else ()

    def _english(self, order: Order, front: Slot | None) -> Words:
        before = self.parts["time"].english if front == "time" else ()
        behind = [slot for slot in BEHIND if slot in self.parts and not (slot == front == "time")]
        denial = self.parts["not"].english if "not" in self.parts else ()
        operator, rest = self._english_verb(needs_operator=bool(denial) or order == "question")
        if denial and operator[-1].text == "can":
            operator, denial = (Word("cannot", operator[-1].keys + denial[0].keys),), ()
        elif denial and operator[-1].text in ("do", "does", "did"):
            operator = (Word(operator[-1].text, operator[-1].keys + denial[0].keys),)
        often = self.parts["often"].english if "often" in self.parts else ()
        subject = self.subject.english
        start = (*operator, *subject) if order == "question" else (*subject, *operator)
        behind_words = _join(self.parts[slot].english for slot in behind)
        return (*self.lead.english, *before, *start, *denial, *often, *rest, *behind_words, *self.tail.english)

    def _english_verb(self, *, needs_operator: bool) -> tuple[Words, Words]:
        verb, who, (first, second) = self.verb.english, self.subject.english_who, self.keys
        particle = tuple(Word(text, (second,)) for text in verb.particle)
        if isinstance(self.tense, Modal):
            return self._english_modal(self.tense, (Word(verb.base, (second,)), *particle), needs_operator)
        if verb.base == "be":
            return (Word(BE["past" if self.tense in ("past", "perfect") else "present"][who], self.keys),), ()
        if self.tense == "perfect":
            if needs_operator:
                return (Word("did", (first,)),), (Word(verb.base, (second,)), *particle)
            return (), (Word(verb.past, self.keys), *particle)
        if self.tense == "habit" or verb.is_stative:
            form = verb.base if needs_operator or who != "one" else s_form(verb.base)
            return _do(who, first) if needs_operator else (), (Word(form, self.keys), *particle)
        return (Word(BE["present"][who], (first,)),), (Word(verb.ing, self.keys), *particle)

    def _english_modal(self, modal: Modal, verb: Words, needs_operator: bool) -> tuple[Words, Words]:
        first, *others = (Word(text, (self.keys[0],)) for text in modal.english)
        if modal.english[0] != "want":
            return (first,), (*others, *verb)
        who = self.subject.english_who
        if needs_operator:
            return _do(who, self.keys[0]), (first, *others, *verb)
        return (), (first._replace(text="wants" if who == "one" else "want"), *others, *verb)


def _do(who: str, key: int) -> Words:
    return (Word("does" if who == "one" else "do", (key,)),)


def _join(groups: Iterable[Words]) -> Words:
    return tuple(word for group in groups for word in group)


def finish(phrase: Phrase, *, key: int, mark: str = ".") -> tuple[list[str], list[str], Links]:
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
    follow = (*words[1:], Word(""))
    return tuple(w for w, after in zip(words, follow, strict=True) if w.text != "," or after.text not in PUNCTUATION)


def _texts(words: Words) -> list[str]:
    first, *others = (word.text for word in words)
    return [first[0].upper() + first[1:], *others]


def write(words: Iterable[str]) -> str:
    """Write words as text, with the marks attached to the word before.

    >>> write(["Ja", ",", "gern", "."])
    'Ja, gern.'
    """
    return "".join(word if word in PUNCTUATION else f" {word}" for word in words).lstrip()
