"""Agreement, case and word order of generated sentences, by tables written here and not by the generator's own."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, product
from random import Random

import pytest

from regard.data.scenes.clause import Clause, Nominal, Phrase, finish, write
from regard.data.scenes.lexicon import load_lexicon
from regard.data.scenes.nominals import Nominals
from regard.data.scenes.sentences import Sentences

Readings = set[tuple[str, str]]
"""Possible (case, column); the columns are m, f, n and p for the plural."""

EVERYTHING: Readings = set(product(("nom", "acc", "dat"), "mfnp"))
ARTICLES = {
    "der": "nom m, dat f",
    "die": "nom f, acc f, nom p, acc p",
    "das": "nom n, acc n",
    "den": "acc m, dat p",
    "dem": "dat m, dat n",
}
AFTER_DER = {"e": "nom m, nom f, acc f, nom n, acc n", "en": "acc m, dat m, dat f, dat n, nom p, acc p, dat p"}
LIKE_DIESER = {
    "er": "nom m, dat f",
    "e": "nom f, acc f, nom p, acc p",
    "es": "nom n, acc n",
    "en": "acc m, dat p",
    "em": "dat m, dat n",
}
LIKE_EIN = {
    "": "nom m, nom n, acc n",
    "e": "nom f, acc f, nom p, acc p",
    "en": "acc m, dat p",
    "em": "dat m, dat n",
    "er": "dat f",
}
AFTER_EIN = {"er": "nom m", "e": "nom f, acc f", "es": "nom n, acc n", "en": AFTER_DER["en"]}
CONTRACTED = {"im": "in dem", "am": "an dem", "zum": "zu dem", "zur": "zu der", "vom": "von dem"}
CONTRACTED |= {"ins": "in das", "ans": "an das"}
CASES = {"mit": "dat", "zu": "dat", "von": "dat", "nach": "dat", "durch": "acc", "um": "acc", "über": "acc"}
CASES |= dict.fromkeys(("in", "an", "auf", "unter", "neben", "vor", "hinter"), "acc dat")
WHERE_OR_WHERETO = {("in", "in"): "dat", ("in", "into"): "acc", ("auf", "onto"): "acc", ("an", "by"): "dat"}
CONJUNCTIONS = ("weil", "obwohl", "wenn", "während", "dass", "ob")
DAYS = ("Montag", "Freitag", "Sonntag", "Sommer", "Winter", "Frühling", "Abend", "Wochenende")
NUMBERS = ("zwei", "drei", "vier", "fünf")


def readings(text: str) -> Readings:
    return {(case, column) for case, column in (reading.split() for reading in text.split(", "))}


def determiner(word: str) -> tuple[Readings, dict[str, str]] | None:
    """Return what the form allows, and the endings of adjectives behind it."""
    if word in ARTICLES:
        return readings(ARTICLES[word]), AFTER_DER
    for stem in ("dies", "jed", "all"):
        if word.startswith(stem) and word[len(stem) :] in LIKE_DIESER:
            return readings(LIKE_DIESER[word[len(stem) :]]), AFTER_DER
    for stem in ("viel", "einig"):
        if word.startswith(stem) and word[len(stem) :] in ("e", "en"):
            return readings(LIKE_DIESER[word[len(stem) :]]), LIKE_DIESER
    for stem in ("ein", "kein", "mein", "unser", "sein", "ihr"):
        if word.startswith(stem) and word[len(stem) :] in LIKE_EIN:
            return readings(LIKE_EIN[word[len(stem) :]]), AFTER_EIN
    return (set(product(("nom", "acc", "dat"), "p")), LIKE_DIESER) if word in NUMBERS else None


@pytest.fixture(scope="module")
def sample() -> list[tuple[list[str], list[str], frozenset[tuple[int, int]]]]:
    grammar = Sentences(load_lexicon(), Random(11))
    return [grammar.sentence() for _ in range(6000)]


@pytest.fixture(scope="module")
def nouns() -> dict[str, Readings]:
    """What every form of a noun can be."""
    forms: dict[str, Readings] = {}
    for noun in load_lexicon().nouns.values():
        is_weak = noun.oblique != noun.singular
        forms.setdefault(noun.singular, set()).update({("nom", noun.gender)})
        oblique = noun.oblique if is_weak else noun.singular
        forms.setdefault(oblique, set()).update({("acc", noun.gender), ("dat", noun.gender)})
        if noun.plural:
            forms.setdefault(noun.plural, set()).update({("nom", "p"), ("acc", "p")})
            with_n = noun.plural if noun.plural[-1] in "ns" else noun.plural + "n"
            forms.setdefault(with_n, set()).add(("dat", "p"))
    return forms


@pytest.fixture(scope="module")
def adjectives() -> set[str]:
    return {a.stem + end for a in load_lexicon().adjectives for end in ("e", "en", "er", "es", "em")}


@pytest.fixture(scope="module")
def finite() -> dict[str, set[str]]:
    """Finite forms and the number they show."""
    forms = {"ist": {"one"}, "sind": {"many"}, "bin": {"I"}, "habe": {"I"}, "war": {"one", "I"}, "waren": {"many"}}
    forms |= {"hat": {"one"}, "haben": {"many"}, "werde": {"I"}, "gibt": {"one"}}
    for verb in load_lexicon().verbs:
        for prefix in {"", verb.prefix}:
            forms.setdefault(prefix + verb.third, set()).add("one")
            forms.setdefault(prefix + verb.infinitive, set()).add("many")
            stem = verb.infinitive[:-1] if verb.infinitive.endswith("ern") else verb.infinitive[:-2]
            first = verb.infinitive[:-3] + "le" if verb.infinitive.endswith("eln") else stem + "e"
            forms.setdefault(prefix + first, set()).add("I")
    for modal in load_lexicon().modals:
        forms.setdefault(modal.third, set()).update({"one", "I"})
        forms.setdefault(modal.infinitive, set()).add("many")
    forms["mag"] = forms["weiß"] = {"one", "I"}
    return forms


def phrases(words, nouns, adjectives) -> Iterator[tuple[int, int, str, Readings]]:
    """Yield where each noun phrase begins, where its noun is, its preposition, and the readings its forms leave."""
    for end in (i for i, word in enumerate(words) if word in nouns and i > 0):
        start, left, endings = end, nouns[words[end]], LIKE_DIESER
        while words[start - 1] in adjectives:
            start -= 1
        before = words[start - 1].lower()
        preposition, _, article = CONTRACTED.get(before, f" {before}").partition(" ")
        found = determiner(article) if words[start - 2] != "," or article not in ARTICLES else None
        if found:
            start -= 1
            left, endings = left & found[0], found[1]
        for adjective in words[start + bool(found) : end]:
            suffix = adjective[-2:] if adjective[-1] != "e" else "e"
            left = left & (readings(endings[suffix]) if suffix in endings else set())
        yield start, end, preposition or (words[start - 1].lower() if start else ""), left


def test_articles_adjectives_and_nouns_agree(sample, nouns, adjectives) -> None:
    seen = Counter()
    for german, _english, _links in sample:
        for _start, _end, preposition, left in phrases(german, nouns, adjectives):
            cases = CASES.get(preposition, "nom acc dat").split()
            kept = {reading for reading in left if reading[0] in cases}
            assert kept, (preposition, write(german))
            seen.update(kept)
    assert set(seen) == EVERYTHING
    assert min(seen.values()) > 50


def test_two_way_prepositions_show_place_or_direction(sample, nouns, adjectives) -> None:
    seen = Counter()
    for german, english, links in sample:
        for start, _end, preposition, left in phrases(german, nouns, adjectives):
            where = start if german[start].lower() in CONTRACTED else start - 1
            said = [english[j] for i, j in sorted(links) if i == where]
            case = WHERE_OR_WHERETO.get((preposition, said[0])) if said else None
            if case and any(column != "p" for _, column in left):
                assert case in {reading[0] for reading in left}, write(german)
                seen[preposition, said[0]] += 1
    assert all(seen[pair] > 20 for pair in WHERE_OR_WHERETO), seen


def test_contractions_are_always_made(sample) -> None:
    whole = {tuple(pair.split()) for pair in CONTRACTED.values()}
    for german, _english, _links in sample:
        for comma, before, after in zip(german, german[1:], german[2:], strict=False):
            is_asked = (before, after) == ("an", "das")  # denkt an das Mädchen
            assert (before, after) not in whole or comma == "," or is_asked, write(german)


def test_relative_pronouns_agree_with_the_noun_before_the_comma(sample, nouns) -> None:
    table = {"der": "m f", "die": "f p", "das": "n", "den": "m", "dem": "m n", "denen": "p"}
    seen = Counter()
    for german, english, _links in sample:
        for comma in (i for i, word in enumerate(german) if word == ","):
            first, second = german[comma + 1], german[comma + 2]
            word = first if first in table else second if first in CASES and second in table else ""
            if not word:
                continue
            about = next(german[i] for i in range(comma, -1, -1) if german[i] in nouns)
            columns = {column for case, column in nouns[about]}
            assert columns & set(table[word].split()), write(german)
            if first != word:
                assert word in ("dem", "der", "denen"), write(german)
            assert {"who", "whom", "which"} & set(english)
            seen[word] += 1
    assert all(seen[word] >= 8 for word in table), seen


def test_people_are_who_and_things_are_which(sample) -> None:
    lexicon = load_lexicon()
    people = {n for noun in lexicon.people for n in (noun.english.split()[-1], noun.english_plural.split()[-1])}
    seen = Counter()
    for _german, english, _links in sample:
        for before, word in pairwise(english):
            if word in ("who", "whom"):
                assert before in people, write(english)
                seen["who"] += 1
            elif word == "which":
                assert before not in people, write(english)
                seen["which"] += 1
    assert min(seen["who"], seen["which"]) > 100


def test_the_finite_verb_is_second_in_main_clauses(sample, nouns, finite) -> None:
    """The first constituent ends with its first noun, or is a pronoun or an adverb; a subject may be longer."""
    goes_on = {",", "und", "mit", "in", "im"}
    adverbs = {"heute", "jetzt", "gerade", "gestern", "morgen"}
    seen = Counter()
    for german, _english, _links in sample:
        first = german[0].lower()
        if german[-1] == "?" or first in CONJUNCTIONS:
            continue
        if first in ("ich", "wir", "er", "sie", "es"):
            end = 0
        elif first in adverbs:
            end = 1 if german[1] in ("Abend", "Morgen") else 0
        elif first in ("jeden", "letzte", "letzten", "nächste") or german[1] in DAYS:
            end = 1
        else:
            end = next((i for i, word in enumerate(german) if word in nouns), 1)
        following = german[end + 1]
        assert following in finite or following in goes_on, write(german)
        seen[following in finite] += 1
    assert seen[True] > 3500


def test_the_finite_verb_is_last_in_subordinate_clauses(sample, finite) -> None:
    seen = Counter()
    for german, _english, _links in sample:
        for start in (i for i, word in enumerate(german) if word.lower() in CONJUNCTIONS):
            end = next(i for i in range(start, len(german)) if german[i] in ",.")
            assert german[end - 1] in finite, write(german)
            if start == 0:
                assert german[end + 1] in finite, write(german)
            seen[german[start].lower()] += 1
    assert all(seen[word] > 40 for word in CONJUNCTIONS), seen


def test_subject_and_verb_agree_in_number(sample, nouns, adjectives, finite) -> None:
    seen = Counter()
    for german, english, _links in sample:
        found = next(phrases(german, nouns, adjectives), None)
        if not found or found[0] != 0 or german[0].lower() in CONTRACTED or german[found[1] + 1] not in finite:
            continue
        nominative = {column for case, column in found[3] if case == "nom"}
        if not nominative:
            continue
        numbers = finite[german[found[1] + 1]]
        assert ("many" in numbers and "p" in nominative) or ("one" in numbers and nominative - {"p"}), write(german)
        for word, number in (("is", "one"), ("are", "many"), ("has", "one"), ("does", "one"), ("do", "many")):
            if word in english[1:6] and "which" not in english and "who" not in english and "," not in german:
                assert number in numbers, (write(german), write(english))
                seen[number] += 1
    assert min(seen.values()) > 300


def test_english_a_and_an(sample) -> None:
    for _german, english, _links in sample:
        for article, word in pairwise(english):
            if article.lower() in ("a", "an"):
                assert (article.lower() == "an") == (word[0] in "aeiou" and word != "uniform"), write(english)


class Hand(Nominals):
    """Puts clauses together by hand."""

    def __init__(self) -> None:
        super().__init__(load_lexicon(), Random(0))

    def the(self, noun: str, case: str = "nom", **more) -> Nominal:
        return self.build(self.lexicon.nouns[noun], case, **more)

    def at(self, noun: str, preposition: str, kind: str = "places") -> Nominal:
        spots = self.lexicon.spots(f"{noun}/{preposition}", kind)
        return self.the(noun, spots[0][1].case, preposition=spots[0][1])

    def clause(self, verb: str, subject: Nominal, tense="present", **parts: Phrase) -> Clause:
        found = next(v for v in self.lexicon.verbs if v.name == verb)
        modal = next((m for m in self.lexicon.modals if m.infinitive == tense), tense)
        return Clause(found, modal, subject, (self.key(), self.key()), parts)


def linked(phrase: Phrase, mark: str = ".") -> tuple[str, str, str]:
    """Return both sentences and the links, written as a translator would read them."""
    german, english, links = finish(phrase, -1, mark)
    return write(german), write(english), " ".join(f"{german[i]}-{english[j]}" for i, j in sorted(links))


def test_both_parts_of_a_separable_verb_are_linked_to_the_english_verb() -> None:
    hand = Hand()
    clause = hand.clause("an-ziehen", hand.the("Mann"), known=hand.the("Mantel", "acc"))
    assert linked(clause.say("main")) == (
        "Der Mann zieht den Mantel an.",
        "The man is putting on the coat.",
        "Der-The Mann-man zieht-is zieht-putting zieht-on den-the Mantel-coat an-is an-putting an-on .-.",
    )


def test_auxiliary_and_participle_are_linked_to_the_past() -> None:
    hand = Hand()
    clause = hand.clause("gehen", hand.the("Fußballspieler"), "perfect", goal=hand.at("Stadt", "in", "goals"))
    assert linked(clause.say("main")) == (
        "Der Fußballspieler ist in die Stadt gegangen.",
        "The football player went into the city.",
        "Der-The Fußballspieler-football Fußballspieler-player ist-went in-into die-the Stadt-city gegangen-went .-.",
    )


def test_a_modal_has_its_infinitive_at_the_end_and_two_english_words_where_needed() -> None:
    hand = Hand()
    clause = hand.clause(
        "lesen", hand.the("Kind"), "wollen", known=hand.the("Buch", "acc"), place=hand.at("Garten", "in")
    )
    assert linked(clause.say("main", "place")) == (
        "Im Garten will das Kind das Buch lesen.",
        "The child wants to read the book in the garden.",
        "Im-in Im-the Garten-garden will-wants will-to das-The Kind-child das-the Buch-book lesen-read .-.",
    )


def test_do_belongs_to_the_verb_and_to_the_denial() -> None:
    hand = Hand()
    denied = {"not": hand.word("nicht", "not")}
    clause = hand.clause("kennen", hand.the("Frau"), known=hand.the("Junge", "acc"), **denied)
    assert linked(clause.say("main")) == (
        "Die Frau kennt den Jungen nicht.",
        "The woman does not know the boy.",
        "Die-The Frau-woman kennt-does kennt-know den-the Jungen-boy nicht-does nicht-not .-.",
    )


def test_a_question_and_a_subordinate_clause_of_the_same_event() -> None:
    hand = Hand()
    clause = hand.clause("helfen", hand.the("Tochter"), receiver=hand.the("Bär", "dat", is_plural=True))
    assert linked(clause.say("question"), "?")[:2] == (
        "Hilft die Tochter den Bären?",
        "Is the daughter helping the bears?",
    )
    assert linked(clause.say("final"))[:2] == ("Die Tochter den Bären hilft.", "The daughter is helping the bears.")
    habit = hand.clause("auf-stehen", hand.the("Hund"), "habit", often=hand.word("nie", "never"))
    assert linked(habit.say("main"))[:2] == ("Der Hund steht nie auf.", "The dog never gets up.")
    can = hand.clause("schlafen", hand.the("Katze"), "können", **{"not": hand.word("nicht", "not")})
    assert linked(can.say("main")) == (
        "Die Katze kann nicht schlafen.",
        "The cat cannot sleep.",
        "Die-The Katze-cat kann-cannot nicht-cannot schlafen-sleep .-.",
    )
