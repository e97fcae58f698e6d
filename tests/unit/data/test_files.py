import gzip
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from regard.config import load_config, resolve
from regard.data.corpus import Corpus, load_corpus
from regard.data.files import Files
from regard.errors import RegardError

PAIRS = [(f"Satz {i}.", f"Sentence {i}.") for i in range(60)]


def write(path: Path, lines: list[str] | bytes, *, end: str = "\n") -> str:
    content = lines if isinstance(lines, bytes) else "".join(line + end for line in lines).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return str(path)


def table(path: Path, pairs: list[tuple[str, str]] = PAIRS) -> str:
    return write(path, [f"{source}\t{target}" for source, target in pairs])


def pairs_of(corpus: Corpus, split: str) -> list[tuple[str, str]]:
    return list(zip(corpus[split].sources, corpus[split].targets, strict=True))


def error_of(**options: Any) -> str:
    with pytest.raises(RegardError) as caught:
        Files(**options).load()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_tables_and_parallel_files_give_the_same_corpus(suffix: str, tmp_path: Path) -> None:
    one = Files(pairs=table(tmp_path / f"all.tsv{suffix}")).load()
    source = write(tmp_path / f"all.de{suffix}", [source for source, _ in PAIRS])
    target = write(tmp_path / f"all.en{suffix}", [target for _, target in PAIRS])
    two = Files(source_file=source, target_file=target).load()
    assert one.sha256 == two.sha256
    few = "3 pairs taken out of the training data, which keeps 54; too few for scores that hold:"
    assert one.notes == tuple(f"{name}: {few} data.{name}_size takes more." for name in ("validation", "test"))
    assert {name: len(split) for name, split in one.splits.items()} == {"train": 54, "validation": 3, "test": 3}
    assert sorted(pair for split in one.splits for pair in pairs_of(one, split)) == sorted(PAIRS)


def test_a_packed_file_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    packed = Path(table(tmp_path / "all.tsv.gz")).rename(tmp_path / "all.tsv")
    assert Files(pairs=str(packed)).load().sha256 == Files(pairs=table(tmp_path / "plain.tsv")).load().sha256


def test_given_splits_are_kept_as_they_are(tmp_path: Path) -> None:
    corpus = Files(
        pairs=table(tmp_path / "train.tsv", PAIRS[:40]),
        validation_pairs=table(tmp_path / "validation.tsv", PAIRS[40:47]),
        test_source_file=write(tmp_path / "test.de", ["eins", "zwei"]),
        test_target_file=write(tmp_path / "test.en", ["one", "two"]),
    ).load()
    assert pairs_of(corpus, "train") == PAIRS[:40]
    assert pairs_of(corpus, "validation") == PAIRS[40:47]
    assert pairs_of(corpus, "test") == [("eins", "one"), ("zwei", "two")]


def test_the_split_follows_seed_and_sizes(tmp_path: Path) -> None:
    path = table(tmp_path / "all.tsv")
    sizes = {"validation_size": 5, "test_size": 7}
    corpus = Files(pairs=path, seed=2, **sizes).load()
    assert {name: len(split) for name, split in corpus.splits.items()} == {"train": 48, "validation": 5, "test": 7}
    assert Files(pairs=path, seed=2, **sizes).load().sha256 == corpus.sha256
    assert Files(pairs=path, seed=3, **sizes).load().sha256 != corpus.sha256
    assert pairs_of(corpus, "train") == [pair for pair in PAIRS if pair in pairs_of(corpus, "train")]


def test_pairs_with_one_source_stay_together(tmp_path: Path) -> None:
    pairs = [(f"Satz {i % 20}.", f"Sentence {i}.") for i in range(100)]
    corpus = Files(pairs=table(tmp_path / "all.tsv", pairs), validation_size=3, test_size=4).load()
    sources = [set(corpus[name].sources) for name in ("train", "validation", "test")]
    assert list(map(len, sources)) == [13, 3, 4]
    assert len(set().union(*sources)) == 20
    assert [len(corpus[name]) for name in ("train", "validation", "test")] == [65, 15, 20]


def test_default_sizes_are_bounded(tmp_path: Path) -> None:
    pairs = [(f"s{i}", f"t{i}") for i in range(30_000)]
    corpus = Files(pairs=table(tmp_path / "all.tsv.gz", pairs)).load()
    assert [len(corpus[name]) for name in ("train", "validation", "test")] == [28_000, 1_000, 1_000]
    taken = "1000 pairs taken out of the training data, which keeps 28000."
    assert corpus.notes == (f"validation: {taken}", f"test: {taken}")


def test_text_is_cleaned(tmp_path: Path) -> None:
    text = "\ufeffMa\u0308nner\tmen\r\n  ein\rzwei\u2028 drei\u00a0\tone  two\r\n\ufeffvier\tfour".encode()
    test = write(tmp_path / "test.tsv", text)
    corpus = Files(pairs=table(tmp_path / "all.tsv"), test_pairs=test).load()
    assert pairs_of(corpus, "test") == [("M\u00e4nner", "men"), ("ein zwei drei", "one two"), ("\ufeffvier", "four")]


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    odd = [("", "a"), ("b", " "), ("", ""), ("c " * 4, "d"), ("e", "f, g!"), ("h " * 3, "i")]
    pairs = table(tmp_path / "all.tsv", PAIRS + odd)
    with open(pairs, "a") as file:
        file.write("\n  \n")
    corpus = Files(pairs=pairs, test_pairs=table(tmp_path / "test.tsv", PAIRS[:2] + odd[:1]), max_words=3).load()
    assert corpus.notes == (
        "train: 7 of 68 pairs left out, 5 with an empty side and 2 with more than 3 words.",
        "test: 1 of 3 pairs left out, 1 with an empty side and 0 with more than 3 words.",
        "validation: 3 pairs taken out of the training data, which keeps 58; too few for scores that hold: "
        "data.validation_size takes more.",
        "test: 2 of 2 source sentences are training data too.",
    )
    assert ("h h h", "i") in pairs_of(corpus, "train") + pairs_of(corpus, "validation")
    long = error_of(pairs=table(tmp_path / "long.tsv", odd[:4]), max_words=3)
    assert long == (
        f"{tmp_path}/long.tsv: no sentence pair is left of 4 lines, 3 with an empty side and 1 with more than 3 words."
    )


def test_swapped_the_same_pairs_are_held_out_and_known_sources_are_counted(tmp_path: Path) -> None:
    pairs = table(tmp_path / "all.tsv", [(f"s{i}", f"t{i % 7}") for i in range(60)])
    plain, swapped = (load_corpus(Files(pairs=pairs, swap=swap)) for swap in (False, True))
    for split in ("train", "validation", "test"):
        assert pairs_of(swapped, split) == [(target, source) for source, target in pairs_of(plain, split)]
    assert not any("training data too" in note for note in plain.notes)
    assert swapped.notes[-2:] == tuple(
        f"{split}: 3 of 3 source sentences are training data too." for split in ("validation", "test")
    )


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"a\tb\n\xff\n", ", line 2: not UTF-8 (byte 0xff). Convert the file to UTF-8."),
        ("a\tb\nä".encode("latin-1"), ", line 2: not UTF-8 (byte 0xe4). Convert the file to UTF-8."),
        (b"a\tb\nc d\n", ", line 2: no tab, want two columns: source<TAB>target."),
        (b"a\tb\nc\td\te\n", ", line 2: 3 columns, want two columns: source<TAB>target."),
        (b"", ": the file is empty."),
    ],
)
@pytest.mark.parametrize("name", ["all.tsv", "all.tsv.gz"])
def test_what_is_wrong_with_a_table_is_told(name: str, content: bytes, error: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, content)
    assert error_of(pairs=path) == f"{path}{error}"


def test_too_few_sentences_to_share_out_are_told(tmp_path: Path) -> None:
    assert error_of(pairs=table(tmp_path / "all.tsv", PAIRS[:2])) == (
        "data: got 2 different source sentences, want more than 2, "
        "since 1 for validation and 1 for test are taken out of them."
    )


def test_unequal_files_are_told_with_their_sizes(tmp_path: Path) -> None:
    de, en = write(tmp_path / "a.de", ["1", "2", "3"]), write(tmp_path / "a.en", ["1", "2", "3", "4", "5"])
    reason = "want as many in both: a line of one translates the same line of the other."
    assert error_of(source_file=de, target_file=en) == f"{de} has 3 lines and {en} has 5, {reason}"
    assert error_of(source_file=en, target_file=de) == f"{en} has 5 lines and {de} has 3, {reason}"


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    assert (
        error_of(pairs=f"{tmp_path}/no.tsv") == f"{tmp_path}/no.tsv: cannot read the file (No such file or directory)."
    )
    assert error_of(pairs=str(tmp_path)) == f"{tmp_path}: cannot read the file (Is a directory)."
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(b"a\tb\n")
    assert error_of(pairs=str(path)) == f"{path}: broken gzip file after line 0 (Not a gzipped file (b'a\\t'))."
    zipped = gzip.compress(b"a\tb\n" * 9, mtime=0)
    path.write_bytes(zipped[:-9])
    ended = "Compressed file ended before the end-of-stream marker was reached"
    assert error_of(pairs=str(path)).endswith(f"({ended}).")
    path.write_bytes(zipped[:12] + b"\xff\xff" + zipped[14:])
    assert error_of(pairs=str(path)).startswith(f"{path}: broken gzip file after line ")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({}, "train data: none given, want pairs, or source_file and target_file."),
        ({"source_file": "a"}, "train data: want either pairs, or source_file and target_file."),
        ({"pairs": "a", "target_file": "b"}, "train data: want either pairs, or source_file and target_file."),
        (
            {"pairs": "a", "test_source_file": "b"},
            "test data: want either test_pairs, or test_source_file and test_target_file.",
        ),
        (
            {"pairs": "a", "validation_pairs": "b", "validation_size": 5},
            "validation_size: got 5 and files, want one or the other.",
        ),
    ],
)
def test_options_that_do_not_fit_are_told(options: dict[str, Any], error: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Files(**options)
    assert caught.value.errors()[0]["msg"] == f"Value error, {error}"


def test_a_run_finds_its_data_from_another_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "train.tsv", PAIRS[:40])
    table(tmp_path / "home" / "test.tsv", PAIRS[40:])
    given = load_config("scenes", ["data.corpus=files", "data.pairs=train.tsv", "data.test_pairs=~/test.tsv"])
    stored = given.model_dump(mode="json")
    assert stored["data"]["pairs"] == str(tmp_path / "train.tsv")
    assert stored["data"]["test_pairs"] == str(tmp_path / "home" / "test.tsv")
    assert stored["data"]["validation_pairs"] == ""
    before = load_corpus(given.data).sha256
    monkeypatch.chdir("/")
    assert load_corpus(resolve(stored, where="config.json").data).sha256 == before


def test_the_directory_of_multi30k_is_kept_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config("homework", ["data.directory=texts"]).model_dump()["data"]["directory"] == f"{tmp_path}/texts"
