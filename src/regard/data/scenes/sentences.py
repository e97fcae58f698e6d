"""Whole sentences: statements, questions, subordinate, relative and coordinate clauses."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from regard.data.corpus import Links
from regard.data.scenes import german
from regard.data.scenes.clause import COMMA, Clause, Nominal, Phrase, Slot, Tense, Word, finish
from regard.data.scenes.events import BE, EXIST, HAVE_TIME, MEDIUM, SMALL, Events
from regard.data.scenes.lexicon import Adjective, Modal, Noun, Place, Verb
from regard.data.scenes.nominals import BARE, MANY, NO, NUMBERS, SOME, THE, A

Sentence = tuple[list[str], list[str], Links]
SCENERY = "landmark vehicle furniture pet farm wild container plant instrument town"
COLD = (("kalt", "cold"), ("warm", "warm"), ("dunkel", "dark"), ("heiß", "hot"))
STATES = ("müde", "hungrig", "durstig", "glücklich", "traurig", "krank")
BURDENS = ("müde", "hungrig", "durstig", "krank")


class Sentences(Events):
    """Draws sentences."""

    def sentence(self) -> Sentence:
        """Draw one sentence: German words, English words, links."""
        kinds: dict[Callable[[], Phrase], float] = {
            self._statement: 46.0,
            self._described: 12.0,
            self._predicate: 8.0,
            self._existence: 4.0,
            self._subordinate: 15.0,
            self._reported: 4.0,
            self._coordinate: 4.0,
        }
        if self.happens(0.07):
            return finish(self._question(), key=self.key(), mark="?")
        return finish(self.weigh(kinds)(), key=self.key())

    def _statement(self) -> Phrase:
        return self._main(self.event(self.verb()))

    def _main(self, clause: Clause) -> Phrase:
        return clause.say("main", self._front(clause))

    def _front(self, clause: Clause) -> Slot | None:
        """Draw what stands before the verb; an object only where its form shows that it is none of the subject."""
        parts, draw = clause.parts, self._random()
        if draw < 0.4 and "time" in parts:
            return "time"
        if draw < 0.25 and "place" in parts and "not" not in parts:
            return "place"
        known = parts.get("known")
        is_free = clause.subject.noun is not None and "pronoun" not in parts
        if draw > 0.92 and is_free and isinstance(known, Nominal) and known.gender == "m" and "not" not in parts:
            return "known"
        return None

    def _described(self) -> Phrase:
        """Draw a statement with a relative clause about its subject or its object."""
        clause = self.event(self.verb(), size=SMALL)
        if clause.subject.noun and self.happens(0.5):
            relative = self._relative(clause.subject)
            inner = Phrase((COMMA, *relative.german, COMMA), relative.english)
            told = clause.subject + inner
            return self._main(replace(clause, subject=replace(clause.subject, german=told.german, english=told.english)))
        last = next((p for s, p in clause.parts.items() if s in ("known", "new", "about")), None)
        if not isinstance(last, Nominal) or not {"manner", "goal", "place", "time"}.isdisjoint(clause.parts):
            return self._main(clause)
        relative = self._relative(last)
        return replace(clause, tail=Phrase((COMMA, *relative.german), relative.english)).say("main")

    @cached_property
    def _uses(self) -> dict[tuple[Noun, str], list[tuple[Verb, Place | None]]]:
        """For every noun the verbs it can be subject, object, helped one or place of."""
        uses: dict[tuple[Noun, str], list[tuple[Verb, Place | None]]] = {}
        names = {"transitive": "acc", "dative": "dat"}
        for verb in self.lexicon.verbs:
            if verb.kind in ("weather", "clausal"):
                continue
            for noun in self._selected[verb, "subjects"]:
                uses.setdefault((noun, "nom"), []).append((verb, None))
            for noun in self._selected[verb, "objects"] if verb.kind in names else ():
                uses.setdefault((noun, names[verb.kind]), []).append((verb, None))
            for place in self.lexicon.places(verb.fields.get("places", "")) if verb.kind == "intransitive" else ():
                uses.setdefault((place[0], "place"), []).append((verb, place))
        return uses

    def _relative(self, about: Nominal) -> Phrase:
        """Draw a relative clause, without its commas."""
        noun = about.noun
        assert noun
        roles = {"nom": 5.0, "acc": 2.5, "dat": 1.5, "place": 3.0}
        role = self.weigh({role: weight for role, weight in roles.items() if (noun, role) in self._uses})
        verb, place = self.pick(self._uses[noun, role])
        tense: Tense = "perfect" if self.happens(0.2) else "present"
        key = self.key()
        case: german.Case = "dat" if role == "place" else role  # type: ignore[assignment]
        form = Word(german.relative(case, about.gender), (key,))
        which = ("who" if case == "nom" else "whom") if noun.is_person else "which"
        lead = Phrase((form,), (Word(which, (key,)),))
        if role == "nom":
            subject = replace(about, german=lead.german, english=lead.english)
            return self.event(verb, subject=subject, tense=tense, size=SMALL).say("final")
        if place:
            other = self.key()
            spot = place[1]
            lead = Phrase((Word(spot.preposition, (other,)),), tuple(Word(t, (other,)) for t in spot.english)) + lead
            return self.event(verb, tense=tense, size=SMALL, without=("place",), lead=lead).say("final")
        return self.event(verb, tense=tense, size=SMALL, without=("object",), lead=lead).say("final")

    def _predicate(self) -> Phrase:
        noun = self.pick([n for n, fitting in self.lexicon.describing.items() if fitting])
        subject = self.noun_phrase([noun], "nom", role="subject", plain=True)
        return self._main(self._is(subject, self.pick(self.lexicon.describing[noun])))

    def _is(self, subject: Nominal, adjective: Adjective, lead: Phrase | None = None, tense: Tense | None = None) -> Clause:
        """Return that something is as the adjective says."""
        predicate = self._word(adjective.base, adjective.english)
        parts: dict[Slot, Phrase] = {}
        if self.happens(0.3):
            predicate = self.adverb(self.pick(self.lexicon.adverbs["degree"])) + predicate
        if self.happens(0.15) and not subject.is_quantified:
            parts["not"] = self._word("nicht", "not")
        tense = tense or ("past" if self.happens(0.25) else "present")
        return Clause(BE, tense, subject, (self.key(), self.key()), parts | {"predicate": predicate}, lead or Phrase())

    def _existence(self) -> Phrase:
        """Draw: Im Park gibt es einen See."""
        place = self.place(*self.pick(self.lexicon.places("room town outdoor nature")))
        noun = self.pick([n for n in self.lexicon.select(SCENERY)])
        determiner = self.weigh({A: 5.0, NO: 1.5, MANY: 1.5, SOME: 1.0, BARE: 1.0, self.pick(NUMBERS): 2.0})
        what = self.build(noun, "acc", determiner=determiner, plural=determiner.singular is None or determiner is BARE)
        there = self._word("es", "there")
        subject = Nominal(german=there.german, english=there.english, english_who=what.who)
        clause = Clause(EXIST, "present", subject, (self.key(), self.key()), {"place": place, "new": what})
        return clause.say("main", "place" if self.happens(0.7) else None)

    def _subordinate(self) -> Phrase:
        """Draw a statement with a reason, a condition or something at the same time."""
        kind = self.weigh({"weil": 4.0, "obwohl": 2.0, "wenn": 3.0, "während": 3.0})
        english = {"weil": "because", "obwohl": "although", "wenn": "when", "während": "while"}[kind]
        verb = self.pick([v for v in (self.verb() for _ in range(9)) if not v.english.is_stative])
        tense: Tense | Modal = "habit" if kind == "wenn" else "present"
        main = self.event(verb, tense=tense, size=MEDIUM)
        if kind == "wenn":
            main = replace(main, parts={slot: part for slot, part in main.parts.items() if slot not in ("often", "time")})
        lead = self._word(kind, english)
        side = {"weil": self._why, "obwohl": self._though, "wenn": self._if, "während": self._meanwhile}[kind](main, lead)
        return self._join(main, side)

    def _join(self, main: Clause, side: Clause) -> Phrase:
        """Put the clause behind the main clause, or before it: then the main clause begins with its verb."""
        said = side.say("final")
        names = main.subject.noun is not None and side.subject.noun is None and side.subject.pronoun == main.subject.pronoun
        if names or self.happens(0.5):
            return self._main(main) + Phrase((COMMA,)) + said
        comma = Word(",", (self.key(),))
        whole = main.say("question")
        told = replace(main, lead=Phrase()).say("main")
        return said + Phrase((comma, *whole.german), (comma, *told.english))

    def _why(self, main: Clause, lead: Phrase) -> Clause:
        reasons = self.lexicon.tables["reasons"].get(main.verb.name, "").split()
        things = [p for s, p in main.parts.items() if s in ("known", "new") and isinstance(p, Nominal)]
        for about in self._shuffled([main.subject, *things]):
            if about.noun is None or about is not main.subject and about.gender == main.subject.gender:
                continue
            fitting = [a for a in self.lexicon.describing[about.noun] if a.base in reasons]
            if fitting:
                return self._is(self.refer(about), self.pick(fitting), lead, "present")
        return self._has_time(main, lead) if main.subject.pronoun != "it" else self._weather(lead, "present")

    def _though(self, main: Clause, lead: Phrase) -> Clause:
        return self._weather(lead, "present") if self.happens(0.4) else self._state(main, BURDENS, lead)

    def _if(self, main: Clause, lead: Phrase) -> Clause:
        return self._weather(lead, "habit") if self.happens(0.4) else self._state(main, STATES, lead)

    def _meanwhile(self, main: Clause, lead: Phrase) -> Clause:
        verb = self.pick([v for v in (self.verb() for _ in range(9)) if not v.english.is_stative])
        return self.event(verb, tense="present", size=SMALL, lead=lead)

    def _state(self, main: Clause, states: tuple[str, ...], lead: Phrase) -> Clause:
        noun = main.subject.noun or self.lexicon.nouns["Frau"]
        fitting = [a for a in self.lexicon.describing[noun] if a.base in states]
        if not fitting:
            return self._weather(lead, main.tense)
        return self._is(self.refer(main.subject), self.pick(fitting), lead, "present")

    def _has_time(self, main: Clause, lead: Phrase) -> Clause:
        return Clause(
            HAVE_TIME, "present", self.refer(main.subject), (self.key(), self.key()), {"new": self._word("Zeit", "time")}, lead
        )

    def _weather(self, lead: Phrase, tense: Tense | Modal) -> Clause:
        verb = self.pick([v for v in self.lexicon.verbs if v.kind == "weather"])
        nouns = self._selected[verb, "subjects"]
        it = self._word("es", "it")
        nobody = Nominal(it.german, it.english)
        if self.happens(0.3):
            cold = self._word(*self.pick(COLD))
            return Clause(BE, "present", nobody, (self.key(), self.key()), {"predicate": cold}, lead)
        subject = self.build(nouns[0], "nom", determiner=THE, plural=False, plain=True) if nouns else nobody
        return Clause(verb, tense, subject, (self.key(), self.key()), {}, lead)

    def _shuffled(self, items: list[Nominal]) -> list[Nominal]:
        return items[::-1] if self.happens(0.5) else items

    def _reported(self) -> Phrase:
        """Draw: Die Frau sieht, dass der Hund schläft."""
        verb = self.pick([v for v in self.lexicon.verbs if v.kind == "clausal"])
        conjunction, english = verb.fields["follows"].split(" = ")
        lead = self._word(conjunction, english)
        main = Clause(verb, "present", self.subject(verb), (self.key(), self.key()))
        told = self.event(self.verb(), size=SMALL, lead=lead).say("final")
        return main.say("main") + Phrase((COMMA,)) + told

    def _coordinate(self) -> Phrase:
        one, other = (self.event(self.verb(), tense="present", size=SMALL) for _ in "12")
        if self.happens(0.5):
            return self._main(one) + self._word("und", "and") + self._main(other)
        comma = Word(",", (self.key(),))
        return self._main(one) + Phrase((comma,), (comma,)) + self._word("aber", "but") + self._main(other)

    def _question(self) -> Phrase:
        """Draw a question, with or without a question word."""
        kind = self.weigh({"": 4.0, "wo": 2.0, "warum": 1.0, "wer": 1.5, "was": 1.5})
        if kind == "wer":
            return self._who()
        verb = self.pick([v for v in (self.verb() for _ in range(40)) if _answers(v, kind)])
        lead = self._word(kind, {"wo": "where", "warum": "why", "was": "what"}[kind]) if kind else None
        without = {"wo": ("place",), "was": ("object",)}.get(kind, ())
        return self.event(verb, size=SMALL, without=without, lead=lead).say("question")

    def _who(self) -> Phrase:
        verb = self.pick([v for v in (self.verb() for _ in range(40)) if v.fields["subjects"].startswith("adult")])
        who = self._word("wer", "who")
        return self.event(verb, subject=Nominal(who.german, who.english, pronoun="he"), size=SMALL).say("main")


def _answers(verb: Verb, kind: str) -> bool:
    if kind == "wo":
        return verb.kind == "intransitive" and bool(verb.fields["places"])
    return kind != "was" or verb.kind == "transitive" and not verb.fields["objects"].startswith("adult")
