"""The corpus as a whole: splits, lengths, links, and that it is the same everywhere."""

from collections import Counter
from itertools import product
from random import Random

import pytest
from pydantic import ValidationError

from regard.data.corpus import Corpus, load_corpus
from regard.data.scenes import Scenes
from regard.data.scenes.clause import write
from regard.data.scenes.lexicon import load_lexicon
from regard.data.scenes.sentences import Sentences
from regard.data.words import split_words

SHA256 = "4768a1991abba717ae937b31585298e0fa2f9160c842f43d4906f754aa3c94a2"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Scenes().load()


def pairs(corpus: Corpus) -> list[tuple[str, str]]:
    return [pair for split in corpus.splits.values() for pair in zip(split.sources, split.targets, strict=True)]


def test_the_default_corpus_is_the_same_on_every_machine(corpus: Corpus) -> None:
    assert corpus.sha256 == SHA256
    assert (len(corpus["train"]), len(corpus["validation"]), len(corpus["test"])) == (20000, 1000, 1000)
    assert (corpus.name, corpus.unit) == ("scenes", "word")


def test_another_seed_gives_another_corpus() -> None:
    one, other = (Scenes(train=30, validation=20, test=10, seed=seed).load() for seed in (1, 2))
    assert one.sha256 != other.sha256


def test_test_and_validation_do_not_depend_on_the_size_of_train(corpus: Corpus) -> None:
    small = Scenes(train=17).load()
    assert small["test"] == corpus["test"]
    assert small["validation"] == corpus["validation"]
    assert small["train"].sources == corpus["train"].sources[:17]


def test_no_sentence_comes_twice(corpus: Corpus) -> None:
    sources = [source for source, _ in pairs(corpus)]
    assert len(set(sources)) == len(sources) == 22000


def test_sizes_must_be_positive() -> None:
    with pytest.raises(ValidationError, match="greater than 0"):
        Scenes(train=0)


def test_sentences_are_4_to_22_words_long_and_vary(corpus: Corpus) -> None:
    lengths = Counter(len(split_words(source)) for source, _ in pairs(corpus))
    assert min(lengths) >= 3
    assert max(lengths) <= 22
    assert all(lengths[length] > 200 for length in range(5, 17))
    assert 9 < sum(length * count for length, count in lengths.items()) / 22000 < 11


def test_the_generator_knows_the_words_that_the_splitter_finds() -> None:
    grammar = Sentences(load_lexicon(), Random(5))
    for _ in range(2000):
        german, english, _links = grammar.sentence()
        assert split_words(write(german)) == german
        assert split_words(write(english)) == english


def test_links_are_in_range_and_every_word_but_german_commas_has_one(corpus: Corpus) -> None:
    for split in corpus.splits.values():
        assert split.links is not None
        for source, target, links in zip(split.sources, split.targets, split.links, strict=True):
            german, english = split_words(source), split_words(target)
            assert {j for _, j in links} == set(range(len(english)))
            linked = {i for i, _ in links}
            assert linked <= set(range(len(german)))
            assert all(word == "," for i, word in enumerate(german) if i not in linked), source


def test_a_mark_is_linked_to_the_same_mark_only(corpus: Corpus) -> None:
    test = corpus["test"]
    assert test.links is not None
    for source, target, links in zip(test.sources, test.targets, test.links, strict=True):
        german, english = split_words(source), split_words(target)
        marks = [(german[i], english[j]) for i, j in links if {german[i], english[j]} & set(",.?")]
        assert marks
        assert all(one == other for one, other in marks)


def test_the_english_is_a_function_of_the_german() -> None:
    grammar = Sentences(load_lexicon(), Random(6))
    translations: dict[str, str] = {}
    for _ in range(5000):
        german, english, _links = grammar.sentence()
        assert translations.setdefault(write(german), write(english)) == write(english)


def test_words_are_seen_often_enough_to_be_learned(corpus: Corpus) -> None:
    seen = Counter(word for source in corpus["train"].sources for word in split_words(source))
    made = Counter(word for target in corpus["train"].targets for word in split_words(target))
    unknown = [s for s in corpus["test"].sources if any(word not in seen for word in split_words(s))]
    assert len(unknown) <= 10
    assert sum(word not in made for target in corpus["test"].targets for word in split_words(target)) <= 3
    content = {noun.singular for noun in load_lexicon().nouns.values()}
    assert sum(seen[word] >= 20 for word in content) > 0.95 * len(content)


def test_every_noun_can_be_described_by_a_relative_clause() -> None:
    grammar = Sentences(load_lexicon(), Random(7))
    for noun in grammar.lexicon.nouns.values():
        if noun.kind != "weather":
            grammar._relative(grammar.build(noun, "nom"), grammar.lexicon.verbs[0])


def test_there_are_tens_of_millions_of_pairs() -> None:
    """Count only: The [adjective] noun is doing the [adjective] noun, with or without a first word for the time."""
    lexicon = load_lexicon()
    ways = {noun: 1 + len({a.base for a in fitting}) for noun, fitting in lexicon.describing.items()}
    scenes = {
        (verb.name, subject, thing)
        for verb in lexicon.verbs
        if verb.kind == "transitive" and not verb.english.is_simple and "#" not in verb.marks
        for subject, thing in product(verb.subjects, verb.objects)
        if subject is not thing
    }
    times = 1 + len(lexicon.adverbs["now"])
    assert times * sum(ways[subject] * ways[thing] for _, subject, thing in scenes) > 30_000_000


def test_the_counted_pairs_are_made(corpus: Corpus) -> None:
    lexicon = load_lexicon()
    things = {form for noun in lexicon.nouns.values() for form in (noun.singular, noun.oblique)}
    stems = tuple(adjective.stem for adjective in lexicon.adjectives)
    doing = {verb.third for verb in lexicon.verbs if verb.kind == "transitive" and not verb.prefix}

    def kind(word: str) -> str:
        if word in ("der", "die", "das", "den"):
            return "the"
        return (
            "doing" if word in doing else "thing" if word in things else "adjective" if word.startswith(stems) else word
        )

    def is_counted(source: str) -> bool:
        first, *words = split_words(source)
        kinds = [kind(word) for word in (first.lower(), *words)]
        return [kind for kind in kinds if kind != "adjective"] == ["the", "thing", "doing", "the", "thing", "."]

    assert sum(map(is_counted, corpus["train"].sources)) > 50


def test_swapped_pairs_swap_their_links() -> None:
    there, back = (load_corpus(Scenes(train=40, validation=5, test=5, swap=swap)) for swap in (False, True))
    for split in there.splits:
        own, other = there[split], back[split]
        assert (own.sources, own.targets) == (other.targets, other.sources)
        assert own.links is not None
        assert other.links is not None
        assert [{(j, i) for i, j in links} for links in own.links] == [set(links) for links in other.links]
    assert there.sha256 != back.sha256
