"""The lexicon against what grammars of German and English say; the tables here are written by hand."""

import pytest

from regard.data.scenes.english import EnglishVerb, indefinite, s_form
from regard.data.scenes.german import conjugate, dative_plural
from regard.data.scenes.lexicon import Lexicon, Verb, load_lexicon

MASS = """
Brot Käse Reis Suppe Fleisch Schokolade Eis Honig Gras Heu Wasser Milch Kaffee Tee Orangensaft Bier Wein Limonade
Sonne Wind
"""
WEAK = """
Polizist Student Bauer Nachbar Tourist Soldat Herr Junge Welpe Bär Löwe Affe Elefant Hase Teddybär
"""
STRONG = """
backen backt gebacken | bekommen bekommt bekommen | bieten bietet geboten | bringen bringt gebracht
denken denkt gedacht | essen isst gegessen | fahren fährt gefahren | fallen fällt gefallen | fangen fängt gefangen
finden findet gefunden | fliegen fliegt geflogen | fressen frisst gefressen | geben gibt gegeben
gehen geht gegangen | gießen gießt gegossen | haben hat gehabt | halten hält gehalten | heben hebt gehoben
helfen hilft geholfen | hängen hängt gehangen | kennen kennt gekannt | kommen kommt gekommen | laden lädt geladen
laufen läuft gelaufen | leihen leiht geliehen | lesen liest gelesen | liegen liegt gelegen | mögen mag gemocht
nehmen nimmt genommen | reiten reitet geritten | rufen ruft gerufen | scheinen scheint geschienen
schieben schiebt geschoben | schlafen schläft geschlafen | schleichen schleicht geschlichen
schließen schließt geschlossen | schneiden schneidet geschnitten | schreiben schreibt geschrieben
schwimmen schwimmt geschwommen | sehen sieht gesehen | singen singt gesungen | sitzen sitzt gesessen
sprechen spricht gesprochen | springen springt gesprungen | stehen steht gestanden | tragen trägt getragen
treffen trifft getroffen | trinken trinkt getrunken | verlieren verliert verloren | waschen wäscht gewaschen
werfen wirft geworfen | wissen weiß gewusst | ziehen zieht gezogen
"""
WITHOUT_GE = """
bestellen beobachten besuchen bewundern berühren verkaufen verstecken erzählen gehören unterrichten untersuchen
umarmen fotografieren reparieren
"""
WITH_SEIN = """
schwimmen auf-wachen auf-stehen ein-schlafen weg-laufen hin-fallen an-kommen gehen laufen springen klettern
wandern reiten fahren fliegen schleichen hüpfen rollen zurück-kommen folgen
"""
IRREGULAR = """
sleep slept | sit sat | stand stood | lie lay | sing sang | swim swam | wake woke | get got | fall fell | run ran
go went | ride rode | drive drove | fly flew | creep crept | come came | read read | write wrote | eat ate
drink drank | cut cut | buy bought | sell sold | find found | lose lost | see saw | hear heard | know knew
have had | draw drew | wear wore | hold held | throw threw | catch caught | feed fed | meet met | build built
hide hid | teach taught | put put | take took | hang hung | give gave | bring brought | send sent | tell told
lend lent | think thought | shine shone | blow blew | say said
"""
PLURALS = """
man men | woman women | gentleman gentlemen | child children | sheep sheep | goose geese | wolf wolves | mouse mice
scarf scarves | knife knives | snowman snowmen | potato potatoes | tomato tomatoes

"""


def table(text: str) -> dict[str, list[str]]:
    """Read entries between | and line ends: a word and its forms."""
    entries = (entry.split() for entry in text.replace("\n", "|").split("|"))
    return {first: forms for first, *forms in filter(None, entries)}


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return load_lexicon()


def test_there_are_more_than_400_content_words(lexicon: Lexicon) -> None:
    adverbs = {word for entries in lexicon.adverbs.values() for word, _ in entries}
    counts = len(lexicon.nouns), len({v.name for v in lexicon.verbs}), len({a.base for a in lexicon.adjectives})
    assert counts >= (250, 130, 65)
    assert sum(counts) + len(adverbs) > 450


def test_every_noun_has_a_gender_and_a_plural_unless_it_is_a_mass(lexicon: Lexicon) -> None:
    assert {noun.singular for noun in lexicon.nouns.values() if not noun.plural} == set(MASS.split())
    assert sum(map(len, lexicon.classes.values())) == len(lexicon.nouns), "a noun is written twice"
    for noun in lexicon.nouns.values():
        assert noun.gender in "mfn"
        assert noun.singular[0].isupper()
        assert bool(noun.english_plural) == bool(noun.plural)
        if noun.plural:
            assert dative_plural(noun.plural)[-1] in "ns"


def test_weak_masculines_and_only_they_have_another_form_in_the_oblique_cases(lexicon: Lexicon) -> None:
    changed = {noun.singular: noun for noun in lexicon.nouns.values() if noun.oblique != noun.singular}
    assert set(changed) == set(WEAK.split())
    for noun in changed.values():
        assert noun.gender == "m"
        assert noun.oblique == ("Herrn" if noun.singular == "Herr" else noun.plural)


def test_suffixes_that_decide_the_gender(lexicon: Lexicon) -> None:
    suffixes = {"erin": "f", "ung": "f", "chen": "n", "rei": "f", "zimmer": "n", "zeug": "n", "wagen": "m"}
    exceptions = {"Kuchen", "Pfannkuchen", "Drachen"}
    for suffix, gender in suffixes.items():
        found = [n for n in lexicon.nouns.values() if n.singular.endswith(suffix) and n.singular not in exceptions]
        assert found
        assert all(noun.gender == gender for noun in found), suffix


def test_german_verbs_have_their_forms(lexicon: Lexicon) -> None:
    strong = table(STRONG)
    for verb in lexicon.verbs:
        third, participle = regular(verb) if verb.infinitive not in strong else strong[verb.infinitive]
        if verb.infinitive == "hängen" and verb.prefix:  # to hang something up is regular
            participle = "gehängt"
        assert (verb.third, verb.participle) == (third, verb.prefix + participle), verb.name
    assert set(strong) <= {verb.infinitive for verb in lexicon.verbs}


def regular(verb: Verb) -> tuple[str, str]:
    stem = verb.infinitive[:-1] if verb.infinitive.endswith(("eln", "ern")) else verb.infinitive[:-2]
    third = stem + ("et" if stem.endswith(("t", "d", "chn", "ffn", "gn")) else "t")
    return third, third if verb.infinitive in WITHOUT_GE.split() else f"ge{third}"


def test_verbs_of_motion_and_change_take_sein(lexicon: Lexicon) -> None:
    assert {verb.name for verb in lexicon.verbs if verb.auxiliary == "sein"} == set(WITH_SEIN.split())


def test_english_verbs_have_their_forms(lexicon: Lexicon) -> None:
    irregular = table(IRREGULAR)
    for english in (verb.english for verb in lexicon.verbs):
        base = english.base
        assert english.past == irregular.get(base, [regular_past(base)])[0], base
        doubled = base in ("sit", "swim", "get", "run", "cut", "hop", "hug", "put")
        stem = "ly" if base == "lie" else base.removesuffix("e") + base[-1] * doubled
        if not english.is_simple:
            assert english.ing == stem + "ing", base


def regular_past(base: str) -> str:
    if base in ("hop", "hug"):
        return base + base[-1] + "ed"
    if base in ("cry", "study", "carry", "tidy"):
        return base[:-1] + "ied"
    return base + ("d" if base.endswith("e") else "ed")


def test_english_plurals(lexicon: Lexicon) -> None:
    irregular = table(PLURALS)
    for noun in (noun for noun in lexicon.nouns.values() if noun.plural):
        *first, last = noun.english.split()
        *others, plural = noun.english_plural.split()
        assert first == others
        if last in irregular:
            assert [plural] == irregular[last]
        elif last.endswith("y") and last[-2] not in "aeo":
            assert plural == last[:-1] + "ies"
        elif last.endswith(("ch", "sh", "s", "x")):
            assert plural == last + "es"
        else:
            assert plural == last + "s"


@pytest.mark.parametrize(("word", "form"), [("go", "goes"), ("have", "has"), ("watch", "watches"), ("cry", "cries")])
def test_third_person(word: str, form: str) -> None:
    assert s_form(word) == form


@pytest.mark.parametrize(
    ("word", "article"), [("apple", "an"), ("old", "an"), ("uniform", "a"), ("umbrella", "an"), ("hut", "a")]
)
def test_indefinite_article(word: str, article: str) -> None:
    assert indefinite(word) == article


@pytest.mark.parametrize(
    ("infinitive", "third", "forms"),
    [
        ("lesen", "liest", "lese liest lesen"),
        ("arbeiten", "arbeitet", "arbeite arbeitet arbeiten"),
        ("lächeln", "lächelt", "lächle lächelt lächeln"),
        ("wandern", "wandert", "wandere wandert wandern"),
        ("können", "kann", "kann kann können"),
        ("möchten", "möchte", "möchte möchte möchten"),
        ("werden", "wird", "werde wird werden"),
        ("wissen", "weiß", "weiß weiß wissen"),
        ("haben", "hat", "habe hat haben"),
        ("sein", "ist", "bin ist sind"),
    ],
)
def test_present_tense(infinitive: str, third: str, forms: str) -> None:
    assert [conjugate(infinitive, third, number) for number in ("I", "one", "many")] == forms.split()


def test_compounds_that_become_two_words(lexicon: Lexicon) -> None:
    two = {noun.singular: noun.english for noun in lexicon.nouns.values() if " " in noun.english}
    assert len(two) >= 15
    assert two["Fußballspieler"] == "football player"
    assert lexicon.nouns["Polizist"].english_plural == "police officers"


def test_a_verb_is_read_with_its_particle() -> None:
    verb = EnglishVerb.parse("pick up*")
    assert verb == EnglishVerb("pick", "picked", "picking", ("up",), is_simple=True, is_state=False)
