"""What is trained on where it differs from the corpus."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.config import DataConfig, load_config
from regard.data.corpus import Corpus, Split, load_corpus
from regard.data.enlarged import STOPS, training_data
from regard.errors import RegardError

PAIRS = [
    ("Ein Hund rennt.", "A dog runs."),
    ("Ja !", "Yes!"),
    ("Ein Hund", "A dog"),
    ("Wer ist das?!", "Who is that?"),
    ("...", "..."),
    ("一只狗。", "A dog."),
    ("Noch einer.", "One more"),
    ("Ein A.", "An A."),
]
STOPPED = [0, 1, 3, 5, 7]


@pytest.fixture
def corpus() -> Corpus:
    sources, targets = zip(*PAIRS, strict=True)
    train, other = Split(sources, targets), Split(("x.",), ("y.",))
    return Corpus("pairs", {"train": train, "validation": other, "test": other})


def bare(share: float) -> DataConfig:
    return DataConfig(corpus="reverse", bare=share)


def test_without_options_it_is_the_corpus(corpus: Corpus) -> None:
    assert training_data(corpus, bare(0.0)) is corpus


@pytest.mark.parametrize(("share", "count"), [(0.1, 0), (0.2, 1), (0.4, 2), (0.6, 3), (0.99, 5)])
def test_some_pairs_lose_what_ends_the_sentence_on_both_sides(corpus: Corpus, share: float, count: int) -> None:
    made = training_data(corpus, bare(share))
    after = list(zip(made["train"].sources, made["train"].targets, strict=True))
    changed = [i for i, pair in enumerate(after) if pair != PAIRS[i]]
    assert len(changed) == count
    assert set(changed) <= set(STOPPED)
    known = {0: ("Ein Hund rennt", "A dog runs"), 1: ("Ja", "Yes"), 3: ("Wer ist das", "Who is that")}
    known |= {5: ("一只狗", "A dog"), 7: ("Ein A", "An A")}
    assert [after[i] for i in changed] == [known[i] for i in changed]
    assert made["validation"] is corpus["validation"]
    assert made["test"] is corpus["test"]


def test_they_are_evenly_spread(corpus: Corpus) -> None:
    texts = tuple(f"{i}." for i in range(100))
    made = training_data(replace(corpus, splits={**corpus.splits, "train": Split(texts, texts)}), bare(0.05))
    assert [i for i, text in enumerate(made["train"].sources) if not text.endswith(".")] == [10, 30, 50, 70, 90]
    assert made.notes == ("data.bare: 5 of 100 training pairs lose what ends the sentence.",)


@pytest.mark.parametrize("end", STOPS.strip())
def test_marks_of_many_scripts_end_a_sentence(corpus: Corpus, end: str) -> None:
    texts = ("a" + end,) * 10
    made = training_data(replace(corpus, splits={**corpus.splits, "train": Split(texts, texts)}), bare(0.5))
    assert sorted(made["train"].sources) == ["a"] * 5 + ["a" + end] * 5


def test_a_mark_keeps_its_partner(corpus: Corpus) -> None:
    train = Split(("¿Qué es?", "Es eso."), ("What is it?", "It is that."))
    made = training_data(replace(corpus, splits={**corpus.splits, "train": train}), bare(0.99))["train"]
    assert made.sources == ("¿Qué es?", "Es eso")


def test_nothing_that_is_validated_or_tested_on_is_trained_on(corpus: Corpus) -> None:
    sources = tuple(f"Satz {word}." for word in "ab" * 5)
    targets = tuple(f"Sentence {word}." for word in "ab" * 5)
    held = {"validation": Split(("Satz a",), ("Not so.",)), "test": Split(("Nicht so.",), ("Sentence",))}
    data = DataConfig(corpus="reverse", bare=0.99, phrases=2)
    splits = {**corpus.splits, "train": Split(sources, targets)}
    free, tied = (training_data(replace(corpus, splits={**splits, **more}), data)["train"] for more in ({}, held))
    assert {"Satz a", "Satz"} <= set(free.sources)
    assert {"Sentence a", "Sentence"} <= set(free.targets)
    taken = {"Satz a", "Sentence"}
    assert not taken & {*tied.sources, *tied.targets}
    assert "Satz b" in tied.sources
    assert tied.sources.count("Satz a.") == 5


def test_both_keys_are_for_every_corpus() -> None:
    assert load_config("multi30k", ["data.corpus=scenes"]).data.bare == load_config("multi30k").data.bare > 0
    assert load_config("multi30k", ["data.corpus=scenes"]).data.phrases == load_config("multi30k").data.phrases > 0
    assert load_config("multi30k", ["data.corpus=scenes", "data.phrases=3"]).data.phrases == 3


@pytest.mark.parametrize("value", ["1", "true"])
def test_what_occurs_once_is_no_phrase(value: str) -> None:
    with pytest.raises(RegardError) as caught:
        load_config("scenes", [f"data.phrases={value}"])
    assert (
        str(caught.value) == "scenes: data.phrases: got 1, want 0 for none, or 2 or more: what occurs once is chance."
    )


def test_extra_pairs_lose_it_too(corpus: Corpus, tmp_path: Path) -> None:
    extra = tmp_path / "extra.tsv"
    extra.write_text("".join(f"Satz {i}.\tSentence {i}.\n" for i in range(95)), encoding="utf-8")
    made = training_data(corpus, DataConfig(corpus="reverse", extra=str(extra), bare=0.1))["train"]
    assert sum(source.startswith("Satz") and not source.endswith(".") for source in made.sources) == 10
    for source, target in zip(made.sources, made.targets, strict=True):
        if source.startswith("Satz"):
            assert source.replace("Satz", "Sentence") == target


def test_phrases_of_the_corpus_are_trained_on(corpus: Corpus, tmp_path: Path) -> None:
    extra = tmp_path / "extra.tsv"
    extra.write_text("Ein Haus.\tA house.\n" * 9, encoding="utf-8")
    without = training_data(corpus, DataConfig(corpus="reverse", extra=str(extra), bare=0.4))["train"]
    whole = training_data(corpus, DataConfig(corpus="reverse", extra=str(extra), bare=0.4, phrases=2))
    made = whole["train"]
    assert made.sources[: len(without)] == without.sources
    phrases = list(zip(made.sources[len(without) :], made.targets[len(without) :], strict=True))
    found = set(phrases)
    assert len(phrases) == 2 * len(found)  # 17 pairs instead of 8
    assert whole.notes[-1] == "data.phrases: 2 pairs of short phrases are trained on as well, 2 times each."
    assert found == {("Ein Hund", "A dog"), ("Ein", "A")}
    assert not [pair for pair in found if "Haus" in pair[0]]


def test_alignments_of_shortened_sentences_are_not_kept() -> None:
    config = load_config("scenes", ["data.train=20", "data.bare=0.5"]).data
    corpus = load_corpus(config)
    assert corpus["train"].links is not None
    assert training_data(corpus, config)["train"].links is None
