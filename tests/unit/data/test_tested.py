"""What runs are tested on: parts of their corpus, or files of one's own."""

import os
from pathlib import Path

import pytest

from regard.config import load_config
from regard.data.corpus import Split
from regard.data.tested import is_own, load_tested, name_of, own_pairs, stored_name
from regard.errors import RegardError


def write(path: Path, text: str) -> str:
    path.write_bytes(text.encode())
    return str(path)


@pytest.mark.parametrize(
    ("split", "wanted"),
    [("test", False), ("test_2017_flickr", False), ("own.tsv", True), ("./own", True), ("a\\own", True)],
)
def test_a_dot_or_a_folder_makes_it_a_file(split: str, wanted: bool) -> None:
    assert is_own(split) is wanted


def test_pairs_are_cleaned_and_empty_lines_do_not_count(tmp_path: Path) -> None:
    path = write(tmp_path / "own.tsv", "\ufeffEin  Hund.\tA dog.\r\n\r\nZwei.\tTwo. \n\n")
    assert own_pairs(path) == Split(("Ein Hund.", "Zwei."), ("A dog.", "Two."))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a\tb\nc\t\n", ", line 2: the target is empty, want a sentence and its translation."),
        ("a\tb\n\tc\n", ", line 2: the source is empty, want a sentence and its translation."),
        ("a\tb\nc\n", ", line 2: no tab, want two columns: source<TAB>target."),
        ("\n \n", ": all lines are empty, want lines source<TAB>target."),
        ("", ": the file is empty."),
    ],
)
def test_what_is_wrong_with_a_file_is_told_by_its_line(tmp_path: Path, text: str, wanted: str) -> None:
    path = write(tmp_path / "own.tsv", text)
    with pytest.raises(RegardError) as error:
        own_pairs(path)
    assert str(error.value) == f"{path}{wanted}"


def test_a_file_goes_by_name_and_content(tmp_path: Path) -> None:
    one = name_of(write(tmp_path / "news test.v2.tsv", "a\tb\n"))
    assert one.startswith("news_test-")
    assert name_of(write(tmp_path / "news test.tsv", "a\tb\r\n\n")) == one, "the same pairs under another name"
    other = name_of(write(tmp_path / "news test.tsv", "a\tc\n"))
    assert other != one
    assert name_of(write(tmp_path / ".tsv", "a\tb\n")).startswith("pairs-")
    assert name_of("test") == "test"
    assert stored_name("test", "greedy") == "test-greedy"


def test_a_file_needs_nothing_of_the_corpus(tmp_path: Path) -> None:
    path = write(tmp_path / "own.tsv", "abc\tcba\n")
    gone = load_config("multi30k", ["data.corpus=files", f"data.pairs={tmp_path / 'gone.tsv'}"])
    assert load_tested(gone.data, path)[path] == Split(("abc",), ("cba",))
    assert load_tested(gone.data, path).unit == "word"
    assert load_tested(load_config("reverse").data, path).unit == "character"


def test_what_can_be_read_once_only_is_refused(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "own.fifo")
    for place in (pipe, tmp_path):
        with pytest.raises(RegardError) as error:
            own_pairs(str(place))
        assert str(error.value) == f"{place}: not a file, want one: it is read more than once."


def test_a_long_name_is_cut(tmp_path: Path) -> None:
    assert len(name_of(write(tmp_path / f"{'n' * 200}.tsv", "a\tb\n"))) == 40 + len("-12345678")


def test_a_home_is_found_after_an_equals_sign_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "own.tsv", "a\tb\n")
    assert own_pairs("~/own.tsv") == Split(("a",), ("b",))


def test_a_file_that_looks_like_a_part_is_hinted_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "plain", "a\tb\n")
    told = r"^Unknown split 'plain' of corpus reverse\. .* The file of that name is \./plain\.$"
    with pytest.raises(RegardError, match=told):
        load_tested(load_config("reverse").data, "plain")["plain"]
