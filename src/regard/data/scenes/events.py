"""Clauses about visible events: a verb, who may do it, to what, where, when and how."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from regard.data.scenes.clause import Clause, Nominal, Phrase, Tense
from regard.data.scenes.german import Case
from regard.data.scenes.lexicon import Modal, Noun, Spot, Verb
from regard.data.scenes.nominals import LOOKS, NO, OBJECT, SEVERAL, SINGLE, SUBJECT, TOLD, Nominals

KINDS = {
    **{"intransitive": 4.0, "motion": 2.6, "transitive": 11.0, "dative": 2.0},
    **{"ditransitive": 2.0, "prepositional": 2.5, "position": 1.5, "placing": 1.8},
}
DENIABLE = ("haben", "brauchen", "sehen", "kennen", "hören")
"""Verbs with which somebody has no dog; the others say that something is not done."""
LEANING = ("", "for", "at", "to")
"""Particles that stand before a pronoun too: looks at him, but picks him up."""


@dataclass(frozen=True, slots=True)
class Size:
    """How likely a clause says more than its verb needs."""

    place: float
    time: float
    manner: float
    denial: float
    plain: float
    is_part: bool = True


LARGE = Size(place=0.45, time=0.4, manner=0.15, denial=0.12, plain=0.0, is_part=False)
MEDIUM = Size(place=0.35, time=0.15, manner=0.1, denial=0.0, plain=1.0)
SMALL = Size(place=0.25, time=0.0, manner=0.0, denial=0.05, plain=0.5)


class Events(Nominals):
    """Draws clauses."""

    @cached_property
    def _verbs(self) -> dict[str, list[Verb]]:
        return {kind: [verb for verb in self.lexicon.verbs if verb.kind == kind] for kind in KINDS}

    def verb(self) -> Verb:
        """Draw a verb that makes a scene."""
        return self.pick(self._verbs[self.weigh(KINDS)])

    def action(self) -> Verb:
        """Draw a verb of what people or animals do."""
        while (verb := self.verb()).english.is_simple or verb.subjects[0] not in self.lexicon.haunts:
            pass
        return verb

    def subject(self, verb: Verb, size: Size) -> Nominal:
        """Draw somebody or something that may do it."""
        nouns, is_person = verb.subjects, verb.subjects[0] in self.lexicon.people
        if is_person and self.random() < (0.05 if size.is_part else 0.12):
            return self.somebody(("I", "I", "I", "we", "he", "she"))
        if is_person and not size.is_part and self.random() < 0.05:
            return self._both(nouns)
        is_plain = self.random() < size.plain
        named = self.noun_phrase(nouns, "nom", TOLD if size.is_part else SUBJECT, is_plain=is_plain)
        return self._dressed(named) if is_person and not size.is_part and self.random() < 0.07 else named

    def _both(self, nouns: Sequence[Noun]) -> Nominal:
        one = self.noun_phrase(nouns, "nom", LOOKS, is_plain=True)
        other = self.noun_phrase(nouns, "nom", LOOKS, owner=one, is_plain=True)
        both = one + self.word("und", "and") + other
        return Nominal(both.german, both.english, one.noun, "many", "many", "p", "they")

    def _dressed(self, who: Nominal) -> Nominal:
        if who.number == "many" or who.is_counted or who.is_owned:
            return who
        preposition, entry = self.pick(list(self.lexicon.tables["looks"].items()))
        english, selection = entry.split(" | ")
        spot = Spot(preposition, "dat", english)
        whole = who + self.noun_phrase(self.lexicon.select(selection), "dat", LOOKS, preposition=spot)
        return replace(who, german=whole.german, english=whole.english)

    def tense(self, verb: Verb, subject: Nominal) -> Tense:
        """Draw a tense or a modal verb."""
        if verb.english.is_state:
            return "present"
        if subject.noun is not None and subject.noun not in self.lexicon.haunts:
            return self.weigh({"present": 6.0, "perfect": 1.5})
        modals = self.lexicon.modals[-1:] if "^" in verb.marks else self.lexicon.modals
        weights: dict[Tense, float] = {"present": 5.0, "habit": 1.3, "perfect": 2.6, self.pick(modals): 1.8}
        return self.weigh(weights)

    def event(
        self,
        verb: Verb,
        *,
        subject: Nominal | None = None,
        tense: Tense | None = None,
        size: Size = LARGE,
        without: str = "",
        lead: Phrase | None = None,
    ) -> Clause:
        """Draw a clause; ``without`` is what has been said elsewhere, "object" or "place"."""
        subject = subject or self.subject(verb, size)
        tense = tense or self.tense(verb, subject)
        parts = self._objects(verb, subject, tense, size) if verb.objects and without != "object" else {}
        if without != "place":
            parts |= self._where(verb, subject, size)
        if verb.manner and self.random() < size.manner and not ("new" in parts and "place" in parts):
            parts["manner"] = self.adverb(self.pick(verb.manner))
        parts |= self._when(verb, subject, tense, size)
        if self.random() < size.denial and "^" not in verb.marks and self._can_deny(tense, subject, parts):
            said = ("place",) if "!" in verb.marks else ()  # what is denied is the event, not its place or manner
            parts = {slot: part for slot, part in parts.items() if slot not in ("place", "manner") or slot in said}
            parts["not"] = self.word("nicht", "not")
        return Clause(verb, tense, subject, (self.key(), self.key()), parts, lead or Phrase())

    def _objects(self, verb: Verb, subject: Nominal, tense: Tense, size: Size) -> dict[str, Phrase]:
        """Draw what the verb is done to, by slot."""
        owner = subject if subject.noun is None or subject.noun in self.lexicon.haunts else None
        weights = SINGLE if "~" in verb.marks else SEVERAL if "#" in verb.marks else OBJECT
        is_plain = self.random() < size.plain
        if verb.name in DENIABLE and not isinstance(tense, Modal) and self.random() < 0.12:
            return {"new": self.build(self.pick([noun for noun in verb.objects if noun not in self.kin]), "acc", NO)}
        if verb.kind == "dative":
            return self._somebody(verb, verb.objects, "dat", owner)
        if verb.objects[0] in self.lexicon.people and verb.kind == "transitive" and self.random() < 0.1:
            return self._somebody(verb, verb.objects, "acc", owner)
        thing = self.noun_phrase(
            *(verb.objects, verb.about.case if verb.about else "acc", weights),
            owner=owner,
            preposition=verb.about,
            is_plain=is_plain,
        )
        receiver = self._somebody(verb, verb.receivers, "dat", owner) if verb.receivers else {}
        return receiver | {"about" if verb.about else "known" if thing.is_known else "new": thing}

    def _somebody(self, verb: Verb, nouns: Sequence[Noun], case: Case, owner: Nominal | None) -> dict[str, Phrase]:
        """Draw a person as a pronoun, or a receiver; accusative sie could be her or them, so it is left out."""
        leans = nouns[0] in self.lexicon.people and " ".join(verb.english.particle) in LEANING
        if leans and (case == "acc" or self.random() < 0.12):
            told = ("I", "we") if owner and owner.pronoun in ("I", "we") else (owner.pronoun if owner else "",)
            names = ("I", "we", "he") if case == "acc" else ("I", "we", "he", "she", "they")
            return {"pronoun": self.somebody([name for name in names if name not in told], case)}
        thing = self.noun_phrase(nouns, case, TOLD, owner=owner, is_plain=bool(verb.receivers))
        return {"receiver" if case == "dat" else "known" if thing.is_known else "new": thing}

    def _where(self, verb: Verb, subject: Nominal, size: Size) -> dict[str, Phrase]:
        if "!" not in verb.marks and self.random() > size.place:
            return {}
        if verb.goals:
            return {"goal": self.place(verb.goals)}
        places = self.lexicon.haunts[subject.noun] if "*" in verb.marks and subject.noun else verb.places
        return {"place": self.place(places)} if places else {}

    def _when(self, verb: Verb, subject: Nominal, tense: Tense, size: Size) -> dict[str, Phrase]:
        adverbs = self.lexicon.adverbs
        if tense == "habit":
            if not subject.is_counted and (size.is_part or self.random() < 0.5):  # not: nobody never does it
                return {"often": self.adverb(self.pick(adverbs["often"]))}
            is_pastime = verb.kind in ("intransitive", "motion")
            return {"time": self.adverb(self.pick(adverbs["habit"] + (adverbs["season"] if is_pastime else ())))}
        is_timeless = (
            verb.english.is_state or verb.kind == "position" or (verb.english.is_simple and tense == "present")
        )
        if is_timeless or self.random() > size.time:
            return {}
        kind = "future" if isinstance(tense, Modal) else {"present": "now", "perfect": "past"}[tense]
        return {"time": self.adverb(self.pick(adverbs[kind]))}

    def _can_deny(self, tense: Tense, subject: Nominal, parts: dict[str, Phrase]) -> bool:
        """Say whether nicht would be clear: German denies what is new with kein, and must not means something else."""
        is_must = isinstance(tense, Modal) and tense.third == "muss"
        things = [part for slot, part in parts.items() if slot not in ("known", "pronoun", "time")]
        is_new = any(isinstance(thing, Nominal) and not thing.is_known for thing in things)
        return not (is_must or is_new or subject.is_counted or tense == "habit")
