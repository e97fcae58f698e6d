"""Whole sentences: statements, questions, subordinate, relative and coordinate clauses."""

from dataclasses import replace
from functools import cached_property

from regard.data.corpus import Links
from regard.data.scenes.clause import COMMA, Clause, Nominal, Phrase, Tense, Word, finish
from regard.data.scenes.english import EnglishVerb
from regard.data.scenes.events import LARGE, MEDIUM, SMALL, Events
from regard.data.scenes.lexicon import Adjective, Noun, Place, Verb
from regard.data.scenes.nominals import BARE, MANY, NO, NUMBERS, SOME, SUBSTANCE, TOLD, TOPIC, A

BE = Verb("be", "", "sein", "ist", "gewesen", "sein", EnglishVerb.parse("be**, was, being"))
EXIST = replace(BE, infinitive="geben", third="gibt")
HAVE = Verb("have", "", "haben", "hat", "gehabt", "haben", EnglishVerb.parse("have**, had"))
CONJUNCTIONS = {("weil", "because"): 4.0, ("obwohl", "although"): 2.0, ("wenn", "when"): 3.0, ("während", "while"): 3.0}
WEATHER = (("kalt", "cold"), ("warm", "warm"), ("dunkel", "dark"), ("heiß", "hot"))
STATES = ("müde", "krank", "hungrig", "durstig", "traurig", "glücklich")
BURDENS = ("müde", "krank", "hungrig", "durstig")
NEVER_TOO = ("lecker", "frisch", "schön", "sauber", "nett", "reif", "gemütlich", "bequem", "glücklich", "freundlich")
QUESTIONS = {("", ""): 4.0, ("wo", "where"): 2.0, ("warum", "why"): 1.0, ("was", "what"): 1.5, ("wer", "who"): 1.5}
THERE = {A: 5.0, NO: 1.5, MANY: 1.5, SOME: 1.0, BARE: 1.0, NUMBERS[0]: 1.0, NUMBERS[1]: 1.0}


class Sentences(Events):
    """Draws sentences."""

    def sentence(self) -> tuple[list[str], list[str], Links]:
        """Draw one sentence: its German words, its English words and their links."""
        if self.random() < 0.07:
            return finish(self._question(), self.key(), "?")
        kinds = {
            self._statement: 46.0,
            self._described: 13.0,
            self._quality: 7.0,
            self._existence: 4.0,
            self._subordinate: 15.0,
            self._reported: 4.0,
            self._coordinate: 4.0,
        }
        return finish(self.weigh(kinds)(), self.key(), ".")

    def _statement(self) -> Phrase:
        return self._main(self.event(self.verb()))

    def _main(self, clause: Clause) -> Phrase:
        """Say a main clause, with the subject or something else before the verb.

        Only an object whose form shows that it is not the subject may stand there.
        """
        parts, draw = clause.parts, self.random()
        known = parts.get("known")
        if draw < 0.4 and "time" in parts:
            return clause.say("main", "time")
        if "not" in parts or "pronoun" in parts or clause.subject.noun is None:
            return clause.say("main")
        if draw < 0.25 and "place" in parts:
            return clause.say("main", "place")
        if draw > 0.9 and isinstance(known, Nominal) and known.gender == "m" and not known.is_owned:
            return clause.say("main", "known")
        return clause.say("main")

    def _described(self) -> Phrase:
        """Draw a statement with a relative clause about its subject or its object."""
        verb = self.verb()
        subject = self.subject(verb, SMALL)
        tense = self.tense(verb, subject)
        clause = self.event(verb, subject=subject, tense="present" if tense == "habit" else tense, size=SMALL)
        if subject.noun and not subject.is_owned and self.random() < 0.5:
            told = self._relative(subject, verb)
            whole = subject + Phrase((COMMA, *told.german, COMMA), told.english)
            return replace(clause, subject=replace(subject, german=whole.german, english=whole.english)).say("main")
        things = [part for slot, part in clause.parts.items() if slot in ("known", "new", "about")]
        is_last = {"manner", "goal", "place", "time"}.isdisjoint(clause.parts)
        if is_last and things and isinstance(things[0], Nominal) and not things[0].is_owned:
            told = self._relative(things[0], verb)
            clause = replace(clause, tail=Phrase((COMMA, *told.german), told.english))
        return clause.say("main")

    @cached_property
    def _uses(self) -> dict[tuple[Noun, str], list[tuple[Verb, Place | None]]]:
        """The verbs that a noun can be the subject, the object, the helped one or the place of."""
        uses: dict[tuple[Noun, str], list[tuple[Verb, Place | None]]] = {}
        for verb in (verb for verb in self.lexicon.verbs if verb.kind not in ("weather", "clausal")):
            found: list[tuple[Noun, str, Place | None]] = [(noun, "nom", None) for noun in verb.subjects]
            if verb.kind in ("transitive", "dative") and verb.name != "gehören":
                found += [(noun, "dat" if verb.kind == "dative" else "acc", None) for noun in verb.objects]
            if verb.kind == "intransitive":
                found += [(place[0], "place", place) for place in verb.places]
            for noun, role, place in found:
                uses.setdefault((noun, role), []).append((verb, place))
        return uses

    def _relative(self, about: Nominal, besides: Verb) -> Phrase:
        """Draw a relative clause, without its commas, that need not repeat the verb of the main clause."""
        assert about.noun
        weights = {"nom": 5.0, "acc": 2.5, "dat": 1.5, "place": 3.0}
        role = self.weigh({role: weight for role, weight in weights.items() if (about.noun, role) in self._uses})
        uses = self._uses[about.noun, role]
        verb, place = self.pick([use for use in uses if use[0].name != besides.name] or uses)
        tense: Tense = "perfect" if self.random() < 0.35 and not verb.english.is_state else "present"
        if role == "nom":
            which = self.which(about, "nom")
            subject = replace(about, german=which.german, english=which.english)
            return self.event(verb, subject=subject, tense=tense, size=SMALL).say("final")
        if place:
            preposition = self.word(place[1].preposition, place[1].english)
            lead = preposition + self.which(about, "dat")
            return self.event(verb, tense=tense, size=SMALL, without="place", lead=lead).say("final")
        subject = self.subject(verb, SMALL)
        while role == "acc" and not _differ(subject, about):
            subject = self.subject(verb, SMALL)
        lead = self.which(about, "acc" if role == "acc" else "dat")
        size = (
            replace(SMALL, place=0.0) if verb.english.particle else SMALL
        )  # whom she is waving at, not: at at the door
        return self.event(verb, subject=subject, tense=tense, size=size, without="object", lead=lead).say("final")

    def _quality(self) -> Phrase:
        noun = self.pick([noun for noun, fitting in self.lexicon.describing.items() if fitting])
        subject = self.noun_phrase([noun], "nom", TOPIC, is_plain=True)
        adjective = self.pick(self.lexicon.describing[noun])
        clause = self._is(subject, adjective, Phrase())
        parts = dict(clause.parts)
        if self.random() < 0.35 and not adjective.is_colour:
            degrees = self.lexicon.adverbs["degree"][adjective.base in NEVER_TOO :]
            parts["predicate"] = self.adverb(self.pick(degrees)) + parts["predicate"]
        elif self.random() < 0.2 and not subject.is_counted:
            parts["not"] = self.word("nicht", "not")
        return replace(clause, parts=parts, tense="past" if self.random() < 0.3 else "present").say("main")

    def _is(self, subject: Nominal, adjective: Adjective, lead: Phrase) -> Clause:
        return self._be(subject, self.word(adjective.base, adjective.english), lead)

    def _be(self, subject: Nominal, predicate: Phrase, lead: Phrase) -> Clause:
        return Clause(BE, "present", subject, (self.key(), self.key()), {"predicate": predicate}, lead)

    def _existence(self) -> Phrase:
        """Draw: Im Park gibt es einen Brunnen."""
        where, what = self.pick(list(self.lexicon.tables["contents"].items()))
        ground, spot = self.pick(self.lexicon.spots(where, "places"))
        place = self.noun_phrase([ground], spot.case, TOPIC, preposition=spot)
        noun = self.pick(self.lexicon.select(what))
        determiner = self.weigh(THERE if noun.plural else {SUBSTANCE: 3.0, NO: 1.0})
        adjectives = self._adjectives(noun)
        thing = self.build(noun, "acc", determiner, is_plural=determiner.singular is None, adjectives=adjectives)
        there = self.word("es", "there")
        subject = Nominal(there.german, there.english, english_number=thing.number)
        clause = Clause(EXIST, "present", subject, (self.key(), self.key()), {"place": place, "new": thing})
        return clause.say("main", "place" if self.random() < 0.7 else "")

    def _subordinate(self) -> Phrase:
        """Draw a statement with a reason, an obstacle, a condition, or something at the same time."""
        conjunction = self.weigh(CONJUNCTIONS)
        german = conjunction[0]
        verb = self.action()
        while german == "weil" and verb.name not in self.lexicon.tables["reasons"]:
            verb = self.action()
        main = self.event(verb, tense="habit" if german == "wenn" else "present", size=MEDIUM)
        if german == "wenn":  # the condition says when
            main = replace(main, parts={s: part for s, part in main.parts.items() if s not in ("often", "time")})
        lead = self.word(*conjunction)
        if german == "während":
            side = replace(self._another(main), lead=lead)
        elif german == "obwohl":
            side = self._obstacle(main, lead)
        else:
            side = self._reason(main, lead)
        return self._join(main, side)

    def _join(self, main: Clause, side: Clause) -> Phrase:
        """Put the side clause behind, or before; then the main clause begins with its verb."""
        is_pronoun = side.subject.noun is None and side.subject.pronoun not in ("I", "we", "")
        if (is_pronoun and main.subject.noun) or self.random() < 0.5:
            return self._main(main) + Phrase((COMMA,)) + side.say("final")
        comma = (Word(",", (self.key(),)),)
        return side.say("final") + Phrase(comma, comma) + Phrase(main.german("question"), main.english("main"))

    def _reason(self, main: Clause, lead: Phrase) -> Clause:
        """Draw why: the subject or the object is so, or there is time, or the weather.

        A pronoun that could mean either means the subject.
        """
        reasons = self.lexicon.tables["reasons"].get(main.verb.name, "").split()
        things = [part for slot, part in main.parts.items() if slot in ("known", "new")]
        told = [t for t in things if isinstance(t, Nominal) and t.noun and t.gender != main.subject.gender]
        is_condition = lead.english[0].text == "when"
        for about in (main.subject,) if is_condition else (*told, main.subject):
            noun = about.noun or self.lexicon.nouns["Frau"]
            fitting = [a for a in self.lexicon.describing[noun] if a.base in reasons]
            fitting = [a for a in fitting if a.base in STATES] if about is main.subject else fitting
            if fitting:
                return self._is(self.refer(about), self.pick(fitting), lead)
        is_person = main.subject.noun is None or main.subject.noun in self.lexicon.people
        if not is_person or (is_condition and self.random() < 0.6):
            return self._weather(main, lead)
        time = {"new": self.word("Zeit", "time")}
        return Clause(HAVE, "present", self.refer(main.subject), (self.key(), self.key()), time, lead)

    def _obstacle(self, main: Clause, lead: Phrase) -> Clause:
        reasons = self.lexicon.tables["reasons"].get(main.verb.name, "").split()
        noun = main.subject.noun or self.lexicon.nouns["Frau"]
        fitting = [a for a in self.lexicon.describing[noun] if a.base in BURDENS and a.base not in reasons]
        if not fitting or self.random() < 0.4:
            return self._weather(main, lead)
        return self._is(self.refer(main.subject), self.pick(fitting), lead)

    def _weather(self, main: Clause, lead: Phrase) -> Clause:
        it = self.word("es", "it")
        nobody = Nominal(it.german, it.english, pronoun="")
        if self.random() < 0.3:
            return self._be(nobody, self.word(*self.pick(WEATHER)), lead)
        verb = self.pick([verb for verb in self.lexicon.verbs if verb.kind == "weather"])
        subject = self.build(verb.subjects[0], "nom") if verb.subjects else nobody
        return Clause(verb, main.tense, subject, (self.key(), self.key()), {}, lead)

    def _reported(self) -> Phrase:
        """Draw: Die Frau sieht, dass der Hund schläft."""
        verb = self.pick([verb for verb in self.lexicon.verbs if verb.kind == "clausal"])
        main = Clause(verb, "present", self.subject(verb, LARGE), (self.key(), self.key()))
        told = self.event(self.verb(), size=SMALL, lead=self.word(*verb.follows))
        return main.say("main") + Phrase((COMMA,)) + told.say("final")

    def _another(self, one: Clause) -> Clause:
        """Draw what somebody else is doing."""
        while (other := self.event(self.action(), tense="present", size=SMALL)).subject.noun is one.subject.noun:
            pass
        return other

    def _coordinate(self) -> Phrase:
        one = self.event(self.action(), tense="present", size=SMALL)
        other = self._another(one)
        if self.random() < 0.5:
            return one.say("main") + self.word("und", "and") + other.say("main")
        comma = (Word(",", (self.key(),)),)
        return one.say("main") + Phrase(comma, comma) + self.word("aber", "but") + other.say("main")

    def _question(self) -> Phrase:
        """Draw a question, with or without a question word."""
        asked = self.weigh(QUESTIONS)
        verb = self.verb()
        while not self._can_ask(verb, asked[0]):
            verb = self.verb()
        lead = self.word(*asked) if asked[0] else Phrase()
        if asked[0] == "wer":
            subject = Nominal(lead.german, lead.english, pronoun="he")
            return self.event(verb, subject=subject, size=SMALL).say("main")
        without = {"wo": "place", "was": "object"}.get(asked[0], "")
        subject = self.noun_phrase(verb.subjects, "nom", TOLD)
        drawn = self.tense(verb, subject)
        tense = "present" if asked[0] and drawn == "habit" else drawn
        return self.event(verb, subject=subject, tense=tense, size=SMALL, without=without, lead=lead).say("question")

    def _can_ask(self, verb: Verb, asked: str) -> bool:
        """Say whether the verb suits the question; carrying and wearing are one word in German."""
        if asked == "wo":
            return verb.kind == "intransitive" and bool(verb.places)
        if asked == "was":
            return verb.kind == "transitive" and verb.objects[0] not in self.lexicon.people and verb.name != "tragen"
        return verb.kind == "intransitive" if not asked else verb.subjects[0] in self.lexicon.people


def _differ(subject: Nominal, other: Nominal) -> bool:
    """Say whether forms or the verb's number tell the subject from an object: der Mann, den die Frau sieht."""
    is_masculine = subject.number == "one" and subject.gender == "m"
    return other.gender == "m" or is_masculine or subject.number != other.number
