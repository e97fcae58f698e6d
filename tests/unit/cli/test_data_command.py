from pathlib import Path

import pytest
from click.testing import CliRunner

from real_data import multi30k_folder
from regard.cli import main
from regard.data import multi30k
from regard.parts import CORPORA


@pytest.fixture(autouse=True)
def nothing_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(multi30k, "BASE_URL", "http://127.0.0.1:9")


def run(*arguments: str) -> tuple[int, list[str]]:
    result = CliRunner().invoke(main, ["data", *arguments])
    return result.exit_code, (result.stdout if result.exit_code == 0 else result.stderr).splitlines()


def test_every_corpus_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REGARD_DATA", raising=False)
    code, lines = run("list")
    assert code == 0
    assert (code, lines) == run()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == list(CORPORA)
    assert all(line[10:].strip() for line in lines)
    place = f"{tmp_path}/regard/multi30k"
    assert f"          0 of its 6 files are in {place}; `regard data fetch multi30k` downloads the others." in lines


def test_what_is_there_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = multi30k_folder()
    monkeypatch.setenv("REGARD_DATA", str(folder))
    assert f"          Its files are in {folder}." in run("list")[1]
    names = [f"{part}.{language}.gz" for part in ("train", "val", "test_2016_flickr") for language in ("en", "de")]
    assert run("fetch", "multi30k", "--source", "en", "--target", "de") == (0, [f"{folder}/{name}" for name in names])


def test_a_damaged_file_does_not_break_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    (tmp_path / "train.de.gz").write_bytes(b"x")
    assert any(f"{tmp_path}/train.de.gz: not used, since it is damaged" in line for line in run("list")[1])


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["multi30"], "Unknown corpus 'multi30'. Did you mean 'multi30k'?"),
        (["scenes"], "Corpus 'scenes' has nothing to fetch; only multi30k is downloaded."),
        (["multi30k", "--source", "xx"], "--source: got 'xx'. Choose from: cs, de, en, fr."),
        (["multi30k", "--target", "de"], "--target: got 'de', the source language too, want another."),
    ],
)
def test_bad_names_are_told_in_one_line(arguments: list[str], error: str) -> None:
    assert run("fetch", *arguments) == (1, [f"Error: {error}"])


def test_all_means_every_test_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multi30k, "fetch", lambda name: Path("somewhere") / name)
    code, lines = run("fetch", "multi30k", "--source", "fr", "--target", "cs", "--all")
    assert code == 0
    parts = ("train", "val", "test_2016_flickr", "test_2018_flickr")
    assert lines == [f"somewhere/{part}.{language}" for part in parts for language in ("fr", "cs")]
