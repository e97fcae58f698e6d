from collections import Counter
from pathlib import Path

import pytest
from pydantic import ValidationError

from regard.data.corpus import load_corpus
from regard.data.reverse import Reverse
from regard.errors import RegardError
from tiny_runs import make_run


def test_targets_are_reversed_and_aligned() -> None:
    corpus = Reverse(letters=3, min_length=2, max_length=5, train=50, validation=7, test=9).load()
    assert {name: len(split) for name, split in corpus.splits.items()} == {"train": 50, "validation": 7, "test": 9}
    assert corpus.unit == "character"
    for split in corpus.splits.values():
        assert split.links is not None
        for source, target, links in zip(split.sources, split.targets, split.links, strict=True):
            assert set(source) <= set("abc")
            assert 2 <= len(source) <= 5
            assert target == source[::-1]
            assert len(links) == len(source)
            assert all(i + j == len(source) - 1 and source[i] == target[j] for i, j in links)


def test_no_string_occurs_twice() -> None:
    corpus = Reverse().load()
    strings = [string for split in corpus.splits.values() for string in split.sources]
    assert len(strings) == 12_000 == len(set(strings))


def test_lengths_are_even_where_there_are_enough_strings() -> None:
    sources = Reverse(train=100_000, min_length=3, max_length=12).load()["train"].sources
    counts = Counter(map(len, sources))
    assert counts[3] <= 4**3
    assert max(counts.values()) / min(counts[length] for length in range(8, 13)) < 1.05
    letters = Counter("".join(sources))
    assert set(letters) == set("abcd")
    assert max(letters.values()) / min(letters.values()) < 1.01


def test_the_seed_decides() -> None:
    assert Reverse(seed=3).load().sha256 == Reverse(seed=3).load().sha256
    assert Reverse(seed=3).load().sha256 != Reverse(seed=4).load().sha256


def test_the_whole_space_can_be_used_but_no_more() -> None:
    corpus = Reverse(letters=2, max_length=3, train=10, validation=3, test=1).load()
    assert len({string for split in corpus.splits.values() for string in split.sources}) == 2 + 4 + 8
    with pytest.raises(RegardError) as caught:
        Reverse(letters=2, max_length=3, train=10, validation=3, test=2).load()
    assert str(caught.value) == (
        "data: got 15 strings in all, want at most 14: so many different ones there are of 2 letters and "
        "length 1 to 3. Ask for longer or fewer."
    )


def test_very_long_strings_are_drawn_too() -> None:
    corpus = Reverse(letters=26, min_length=40, max_length=40, train=5, validation=1, test=1).load()
    assert {len(source) for source in corpus["train"].sources} == {40}


def test_lengths_must_be_a_range() -> None:
    with pytest.raises(ValidationError, match="min_length: got 9, want at most max_length = 8\\."):
        Reverse(min_length=9, max_length=8)
    with pytest.raises(ValidationError, match="less than or equal to 26"):
        Reverse(letters=27)


@pytest.mark.parametrize("kind", ["word", "subword"])
def test_what_is_aligned_by_letters_is_scored_without_the_alignment_of_other_tokens(kind: str, tmp_path: Path) -> None:
    data = Reverse(train=20, validation=5, test=5)
    assert load_corpus(data, tokens="character")["test"].links is not None
    corpus = load_corpus(data, tokens=kind)
    assert all(split.links is None for split in corpus.splits.values())
    assert corpus.sha256 == load_corpus(data).sha256
    assert corpus.notes == (
        f"reverse: gold alignments link characters, so attention between tokens of kind '{kind}' is not scored against "
        "them; tokenizer.kind=character is.",
    )
    run = make_run(tmp_path / "run", "reverse", f"tokenizer.kind={kind}", "tokenizer.vocabulary=12")
    evaluation = run.evaluations()["test-greedy"]
    assert "token_accuracy" in evaluation["scores"]
    assert "attention_accuracy" not in evaluation["scores"]
    assert set(evaluation["by_length"]["token_accuracy"]) == {"up to 5", "6-10"}
