"""Phrases that translate each other."""

import os
import subprocess
import sys

import pytest

from regard.config import load_config
from regard.data import phrases
from regard.data.corpus import load_corpus
from regard.data.phrases import phrase_pairs

NOUNS = {"Hund": "dog", "Mann": "man", "Frau": "woman", "Kind": "child"}
VERBS = {"rennt": "runs", "schläft": "sleeps", "liest": "reads"}
SOURCES = [f"Das ist: {one} {noun} {verb}." for one in ("ein", "mein") for noun in NOUNS for verb in VERBS]
TARGETS = [f"This is: {one} {n} {verb}." for one in ("a", "my") for n in NOUNS.values() for verb in VERBS.values()]


def test_words_and_phrases_find_each_other() -> None:
    pairs = dict(phrase_pairs(SOURCES, TARGETS, least=3))
    assert {source: pairs[source] for source in NOUNS | VERBS} == NOUNS | VERBS
    assert pairs["ein Hund"] == "a dog"
    assert "ein Hund rennt" not in pairs  # in one pair
    assert dict(phrase_pairs(SOURCES, TARGETS, least=1))["ein Hund rennt"] == "a dog runs"


def test_the_most_frequent_come_first_as_text_is_set() -> None:
    pairs = phrase_pairs(["O'Neill kommt"] * 4 + ["Anna geht", "Anna steht"], ["Mr O'Neill"] * 4 + ["Ann"] * 2, least=2)
    assert pairs == [("O'Neill kommt", "Mr O'Neill"), ("Anna", "Ann")]


def test_scripts_without_spaces_have_none() -> None:
    assert phrase_pairs(["Ein Hund"] * 2, ["一只狗"] * 2, least=2) == [("Ein Hund", "一只狗")]


def test_nothing_goes_over_a_punctuation_mark() -> None:
    found = phrase_pairs(SOURCES, TARGETS, least=2)
    assert ("Das ist", "This is") in found
    assert not [phrase for pair in found for phrase in pair if ":" in phrase or "is a" in phrase or "ist ein" in phrase]


@pytest.mark.parametrize(
    ("pairs", "least", "found"),
    [
        ([("A", "x")] * 5 + [("A", "y")] * 4 + [("B", "y")] * 9, 6, [("B", "y")]),  # A and y are the other's best
        ([("A", "x")] * 5 + [("C", "x")], 6, []),  # x is frequent enough, they are not together
        ([("A", "x")] * 5 + [("C", "x")], 5, [("A", "x")]),
        ([("A", "x")] * 4 + [("A", "1")] * 2 + [("1", "x")] * 2, 6, []),  # both are, they are not together
        ([("A", "x")] * 3 + [("C", "x")] * 4, 3, [("C", "x")]),
        ([("A", "x")] * 3 + [("A", "z")] * 4, 3, [("A", "z")]),
        ([("A", "x")] * 3 + [("A", "1")] * 4, 3, [("A", "x")]),  # 2 * 3 / (7 + 3) = 0.6
        ([("A", "x")] * 3 + [("A", "1")] * 7, 3, []),  # 2 * 3 / (10 + 3) = 0.46
        ([("A", "x")] * 2 + [("A", "y")] * 2, 2, []),  # which of the two?
        ([("A", "x")] * 4 + [("A", "y")] * 2, 2, [("A", "x")]),
        ([("A A", "x")] * 2 + [("B", "x x")], 2, [("A A", "x")]),  # twice in a sentence is once
        ([("ab", "x"), ("ab", "y"), ("cd", "x"), ("cd", "z")], 2, []),
        ([("1", "x")] * 3, 2, []),
        ([("A 1", "1")] * 3 + [("1", "x")] * 3, 2, []),
        ([], 2, []),
    ],
)
def test_each_is_the_only_best_of_the_other(
    pairs: list[tuple[str, str]], least: int, found: list[tuple[str, str]]
) -> None:
    sources, targets = ([pair[side] for pair in pairs] for side in (0, 1))
    assert phrase_pairs(sources, targets, least=least) == found


def test_of_phrases_in_the_same_pairs_the_longest_count() -> None:
    sources = ["Das Eis schmilzt", "Ein Eis bitte", "Mein Eis fiel"]
    targets = ["The ice cream melts", "An ice cream please", "My ice cream fell"]
    assert phrase_pairs(sources, targets, least=3) == [("Eis", "ice cream")]


def test_a_part_of_a_longer_phrase_is_no_translation() -> None:
    sources = ["da neben dem Zaun", "hier neben dem Zaun", "neben dem Haus"]
    targets = ["there next to the fence", "here next to the fence", "next to the house"]
    both = ("neben dem", "next to the")
    assert phrase_pairs(sources, targets, least=2) == [both]  # "next to the fence" has four words
    shorter = [target.replace("next to the", "by the") for target in targets]
    assert phrase_pairs(sources, shorter, least=2) == [("neben dem", "by the"), ("neben dem Zaun", "by the fence")]


def test_many_pairs_are_counted_in_parts_and_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = phrase_pairs(SOURCES * 4, TARGETS * 4, least=8)
    monkeypatch.setattr(phrases, "AT_ONCE", 7)
    assert phrase_pairs(SOURCES * 4, TARGETS * 4, least=8) == whole
    monkeypatch.setattr(phrases, "MOST", 60)
    every_other = phrase_pairs((SOURCES * 4)[::2], (TARGETS * 4)[::2], least=8)
    assert phrase_pairs(SOURCES * 4, TARGETS * 4, least=8) == every_other
    assert every_other != whole


def test_what_is_found_does_not_depend_on_the_order_of_hashes() -> None:
    code = (
        "from regard.config import load_config; from regard.data.corpus import load_corpus\n"
        "from regard.data.phrases import phrase_pairs\n"
        "data = load_corpus(load_config('scenes', ['data.train=300']).data)['train']\n"
        "print(phrase_pairs(data.sources, data.targets, least=5))"
    )
    command = [sys.executable, "-X", "utf8", "-c", code]
    found = {
        subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    data = load_corpus(load_config("scenes", ["data.train=300"]).data)["train"]
    assert found.pop().decode().strip() == str(phrase_pairs(data.sources, data.targets, least=5))
