"""Clauses about visible events: a verb, who may do it, to what, where, when and how."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from regard.data.scenes import german
from regard.data.scenes.clause import COMMA, Clause, Nominal, Phrase, Slot, Tense, Word
from regard.data.scenes.english import EnglishVerb
from regard.data.scenes.lexicon import ANIMALS, PEOPLE, Modal, Noun, Place, Verb
from regard.data.scenes.nominals import BARE, EVERY, NO, THE, A, Nominals

BE = Verb("copula", "", "sein", "ist", "gewesen", "sein", EnglishVerb("be", "was", "being", (), is_stative=True))
EXIST = replace(BE, infinitive="geben", third="gibt")
HAVE = EnglishVerb("have", "had", "having", (), is_stative=True)
HAVE_TIME = Verb("phrase", "", "haben", "hat", "gehabt", "haben", HAVE)
KINDS = {
    "intransitive": 4.0,
    "motion": 3.0,
    "transitive": 11.0,
    "dative": 2.0,
    "ditransitive": 2.0,
    "prepositional": 2.5,
    "position": 1.5,
    "placing": 2.0,
}
DENIABLE = ("haben", "brauchen", "sehen", "kennen", "hören")
"""Verbs whose object may be no dog: the others say that something is not done."""
MOVABLE = ("at", "to", "for", "after", "of", "with", "about")
"""Particles that stand before a pronoun as well: looks at him, but picks him up."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much a clause may say beside what its verb needs."""

    place: float
    time: float
    manner: float
    is_plain: bool = False


LARGE = Size(place=0.45, time=0.4, manner=0.15)
MEDIUM = Size(place=0.3, time=0.15, manner=0.08)
SMALL = Size(place=0.2, time=0.0, manner=0.0, is_plain=True)


class Events(Nominals):
    """Draws clauses."""

    @cached_property
    def _by_kind(self) -> dict[str, list[Verb]]:
        return {kind: [verb for verb in self.lexicon.verbs if verb.kind == kind] for kind in KINDS}

    @cached_property
    def _selected(self) -> dict[tuple[Verb, str], tuple[Noun, ...]]:
        named = [(v, name) for v in self.lexicon.verbs for name in v.fields if name in ("subjects", "objects", "receivers")]
        return {(v, name): self.lexicon.select(v.fields[name].replace("es", "", v.kind == "weather")) for v, name in named}

    def verb(self) -> Verb:
        """Draw a verb of any kind that makes a scene."""
        return self.pick(self._by_kind[self.weigh(KINDS)])

    def subject(self, verb: Verb, *, is_plain: bool = False) -> Nominal:
        """Draw somebody or something that may do it."""
        nouns = self._selected[verb, "subjects"]
        if nouns[0].is_person and self.happens(0.09):
            return self.somebody()
        if nouns[0].is_person and not is_plain and self.happens(0.05):
            return self._both(nouns)
        return self.noun_phrase(nouns, "nom", role="subject", plain=is_plain and self.happens(0.6))

    def _both(self, nouns: Sequence[Noun]) -> Nominal:
        one, other = (self.build(self.pick(nouns), "nom", determiner=self.pick((THE, THE, A)), plural=False, plain=True) for _ in "12")
        if one.noun is other.noun:
            return one
        key = self.key()
        both = one + Phrase((Word("und", (key,)),), (Word("and", (key,)),)) + other
        return replace(one, german=both.german, english=both.english, who="many", english_who="many", gender="p", pronoun="they")

    def tense(self, verb: Verb) -> Tense | Modal:
        """Draw a tense or a modal verb."""
        if verb.english.is_stative:
            return self.weigh({"present": 8.0, "perfect": 1.5})
        chosen = self.weigh({"present": 5.0, "habit": 1.3, "perfect": 2.6, "modal": 1.8})
        return self.pick(self.lexicon.modals) if chosen == "modal" else chosen  # type: ignore[return-value]

    def event(
        self,
        verb: Verb,
        *,
        subject: Nominal | None = None,
        tense: Tense | Modal | None = None,
        size: Size = LARGE,
        without: Sequence[str] = (),
        lead: Phrase | None = None,
    ) -> Clause:
        """Draw a clause; ``without`` names slots that are taken by something else."""
        tense = tense or self.tense(verb)
        subject = subject or self.subject(verb, is_plain=size.is_plain)
        parts: dict[Slot, Phrase] = {}
        if "objects" in verb.fields and "object" not in without:
            parts |= self._objects(verb, subject, size)
        if "place" not in without:
            parts |= self._where(verb, subject, size)
        if "manner" in verb.fields and verb.fields["manner"] and self.happens(size.manner):
            manner = self.pick(verb.fields["manner"].split())
            parts["manner"] = self.adverb((manner, dict(self.lexicon.adverbs["manner"])[manner]))
        parts |= self._when(verb, tense, size)
        if self._can_deny(tense, subject, parts) and self.happens(0.1):
            parts["not"] = self._word("nicht", "not")
        return Clause(verb, tense, subject, (self.key(), self.key()), parts, lead or Phrase())

    def _objects(self, verb: Verb, subject: Nominal, size: Size) -> dict[Slot, Phrase]:
        nouns = self._selected[verb, "objects"]
        plain = size.is_plain and self.happens(0.6)
        owner = subject if subject.noun is None or subject.noun.kind in PEOPLE + ANIMALS else None
        if verb.kind == "prepositional":
            return {"about": self._about(verb, nouns, owner, plain)}
        if verb.kind == "dative":
            return self._person("dat", verb, nouns, owner, plain)
        if verb.kind == "ditransitive":
            found = self._person("dat", verb, self._selected[verb, "receivers"], owner, plain)
            return found | self._thing(self.noun_phrase(nouns, "acc", owner=owner, plain=plain))
        if verb.infinitive in DENIABLE and self.happens(0.12):
            noun = self.pick(nouns)
            return {"new": self.build(noun, "acc", determiner=NO, plural=bool(noun.plural) and self.happens(0.3))}
        return self._person("acc", verb, nouns, owner, plain)

    def _person(self, case: german.Case, verb: Verb, nouns: Sequence[Noun], owner: Nominal | None, plain: bool) -> dict[Slot, Phrase]:
        """Return an object, or a pronoun where a person may stand and the English verb lets it."""
        movable = all(text in MOVABLE for text in verb.english.particle)
        if nouns[0].is_person and movable and self.happens(0.1):
            return {"pronoun": self._me(case, owner)}
        thing = self.noun_phrase(nouns, case, owner=owner, plain=plain)
        return {"receiver": thing} if case == "dat" else self._thing(thing)

    def _thing(self, thing: Nominal) -> dict[Slot, Phrase]:
        return {"known" if thing.is_known else "new": thing}

    def _me(self, case: german.Case, owner: Nominal | None) -> Nominal:
        """Draw an object pronoun; accusative sie could be her or them, so it is left out."""
        known = {"I": "I", "we": "many", "he": "one", "she": "one", "they": "many"}
        names = ["I", "we", "he"] if case == "acc" else ["I", "we", "he", "she", "they"]
        name = self.pick([n for n in names if not owner or n != owner.pronoun and {n, owner.pronoun} != {"I", "we"}])
        gender: german.Gender = {"he": "m", "she": "f"}.get(name, "p")  # type: ignore[assignment]
        number = known[name]
        return self.refer(Nominal(who=number, english_who=number, gender=gender, pronoun=name), case)  # type: ignore[arg-type]

    def _about(self, verb: Verb, nouns: Sequence[Noun], owner: Nominal | None, plain: bool) -> Nominal:
        assert verb.about
        noun = self.pick(nouns)
        determiner = self.determiner("object", noun, owner)
        plural = self._number(determiner, noun, "object")
        case = verb.about.case
        return self.build(noun, case, determiner=determiner, plural=plural, plain=plain, preposition=verb.about)

    def _where(self, verb: Verb, subject: Nominal, size: Size) -> dict[Slot, Phrase]:
        slot: Slot = "goal" if verb.fields.get("goals") else "place"
        selection = verb.fields.get("goals") or verb.fields.get("places", "")
        if not selection or not (selection.startswith("!") or self.happens(size.place)):
            return {}
        spots = self.lexicon.goals(selection) if slot == "goal" else self.lexicon.places(selection, subject.noun)
        return {slot: self.place(*self.pick(spots))} if spots else {}

    def _when(self, verb: Verb, tense: Tense | Modal, size: Size) -> dict[Slot, Phrase]:
        adverbs = self.lexicon.adverbs
        if tense == "habit":
            often = size.time == 0 or self.happens(0.5)
            return {"often": self.adverb(self.pick(adverbs["often"]))} if often else {"time": self.adverb(self.pick(adverbs["habit"]))}
        if verb.english.is_stative or not self.happens(size.time):
            return {}
        kind = {"present": "now", "perfect": "past"}.get(tense, "future") if isinstance(tense, str) else "future"
        return {"time": self.adverb(self.pick(adverbs[kind]))}

    def _can_deny(self, tense: Tense | Modal, subject: Nominal, parts: dict[Slot, Phrase]) -> bool:
        must = isinstance(tense, Modal) and tense.third == "muss"
        indefinite = any(isinstance(p, Nominal) and not p.is_known for s, p in parts.items() if s in ("new", "receiver", "about"))
        return not (must or indefinite or subject.is_quantified or "often" in parts)

    def _word(self, one: str, other: str) -> Phrase:
        key = self.key()
        return Phrase((Word(one, (key,)),), tuple(Word(text, (key,)) for text in other.split()))
