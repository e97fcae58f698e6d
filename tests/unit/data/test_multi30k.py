import gzip
import hashlib
import threading
from collections.abc import Iterator
from errno import ECONNREFUSED
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pydantic import ValidationError

from real_data import multi30k_folder
from regard.data import multi30k
from regard.data.corpus import load_corpus
from regard.data.multi30k import Multi30k
from regard.errors import RegardError

TEXTS = {
    "train.de": "Ein  Mann.\nZwei Ma\u0308nner.\u00a0\nDrei Hunde.\n",
    "train.en": "A man.\nTwo men.\nThree dogs.\n",
    "val.de": "Vier.\nFünf.\n",
    "val.en": "Four.\nFive.\n",
    "test_2016_flickr.de": "Sechs.\n",
    "test_2016_flickr.en": "Six.\n",
    "test_2017_flickr.de": "Sieben.\n",
    "test_2017_flickr.en": "Seven.\n",
}
ZIPPED = {name: gzip.compress(text.encode(), mtime=0) for name, text in TEXTS.items()}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Path]:
    """A directory that a web server offers."""
    folder = tmp_path / "web"
    folder.mkdir()
    put(folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        (folder / "port").write_text(str(server.server_address[1]))
        yield folder
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def small_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if "real" in request.node.name:
        return
    monkeypatch.delenv("REGARD_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in ZIPPED.items()}
    monkeypatch.setattr(multi30k, "SHA256", multi30k.SHA256 | sums)
    port = 9  # where nobody listens
    if "web" in request.fixturenames:
        port = int((request.getfixturevalue("web") / "port").read_text())
    monkeypatch.setattr(multi30k, "BASE_URL", f"http://127.0.0.1:{port}")


def put(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or ZIPPED:
        (folder / f"{name}.gz").write_bytes(ZIPPED[name])
    return folder


def test_lines_are_cleaned_and_parallel(tmp_path: Path) -> None:
    corpus = Multi30k(directory=str(put(tmp_path))).load()
    assert corpus["train"].sources == ("Ein Mann.", "Zwei M\u00e4nner.", "Drei Hunde.")
    assert corpus["train"].targets == ("A man.", "Two men.", "Three dogs.")
    assert corpus["validation"].sources == ("Vier.", "Fünf.")
    assert corpus["test"].targets == ("Six.",)
    assert corpus["test"] is corpus["test_2016_flickr"]
    reverse = Multi30k(source="en", target="de", directory=str(tmp_path)).load()
    assert reverse["train"].sources == corpus["train"].targets
    assert reverse.sha256 != corpus.sha256


def test_other_test_sets_are_read_when_asked_for(tmp_path: Path) -> None:
    put(tmp_path, *(name for name in ZIPPED if "2017" not in name))
    corpus = Multi30k(directory=str(tmp_path)).load()
    tests = ["test", "test_2016_flickr", "test_2017_flickr", "test_2017_mscoco", "test_2018_flickr"]
    assert list(corpus.splits) == ["train", "validation", *tests]
    before = corpus.sha256
    put(tmp_path)
    assert corpus["test_2017_flickr"].sources == ("Sieben.",)
    assert Multi30k(directory=str(tmp_path)).load().sha256 == before
    with pytest.raises(RegardError, match=r"^Unknown split 'test_2019' of corpus multi30k\. Did you mean"):
        corpus["test_2019"]


def test_czech_has_fewer_test_sets() -> None:
    assert list(multi30k.parts("cs", "fr")) == ["train", "validation", "test", "test_2016_flickr", "test_2018_flickr"]
    assert len(multi30k.SHA256) == 22


def test_languages_must_differ() -> None:
    with pytest.raises(ValidationError, match="target: got 'de', the source language too, want another"):
        Multi30k(target="de")


@pytest.mark.parametrize("below", ["", "multi30k"])
def test_places_are_searched_in_order(below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = tmp_path / "first", tmp_path / "second", tmp_path / "cache" / "regard" / "multi30k"
    monkeypatch.setenv("REGARD_DATA", str(second))
    first.mkdir()
    assert multi30k.find("val.de", str(first)) is None
    for folder in (third, second / below, first):
        put(folder, "val.de")
        assert multi30k.fetch("val.de", str(first)) == folder / "val.de.gz"


def test_missing_files_are_downloaded_once(web: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    corpus = Multi30k().load()
    assert corpus["test"].sources == ("Sechs.",)
    cache = tmp_path / "cache" / "regard" / "multi30k"
    assert {path.name for path in cache.iterdir()} == {f"{name}.gz" for name in ZIPPED if "2017" not in name}
    for path in web.iterdir():
        path.unlink()
    assert Multi30k().load().sha256 == corpus.sha256
    assert capfd.readouterr() == ("", "")


def test_offline_says_where_files_may_be_put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", "/nowhere")
    with pytest.raises(RegardError) as caught:
        Multi30k(directory=str(tmp_path)).load()
    cache = tmp_path / "cache" / "regard" / "multi30k"
    assert str(caught.value) == (
        f"multi30k: train.de.gz is not in {tmp_path} or /nowhere or /nowhere/multi30k or {cache}, and cannot be "
        f"downloaded from http://127.0.0.1:9/train.de.gz ([Errno {ECONNREFUSED}] Connection refused). "
        "Put the file into one of these directories, or set REGARD_DATA to the directory that has it."
    )
    assert not cache.exists()


def test_a_file_that_the_server_lacks_is_the_same_error(web: Path) -> None:
    (web / "val.de.gz").unlink()
    with pytest.raises(RegardError, match=r"val\.de\.gz \(File not found\)\. Put the file into one of these"):
        Multi30k().load()


def test_a_damaged_file_is_named_and_not_used(tmp_path: Path) -> None:
    damaged = put(tmp_path) / "val.en.gz"
    damaged.write_bytes(b"x")
    with pytest.raises(RegardError) as caught:
        Multi30k(directory=str(tmp_path)).load()
    found, wanted = hashlib.sha256(b"x").hexdigest(), multi30k.SHA256["val.en"]
    assert str(caught.value) == (
        f"{damaged}: not used, since it is damaged or another version: its sha256 is {found}, want {wanted}."
    )


def test_a_damaged_download_is_not_kept(web: Path, tmp_path: Path) -> None:
    (web / "train.de.gz").write_bytes(ZIPPED["train.de"][:-1])
    with pytest.raises(RegardError, match=r"^http://127\.0\.0\.1:\d+/train\.de\.gz: not used, since it is damaged"):
        Multi30k().load()
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written_is_named(web: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(RegardError) as caught:
        Multi30k().load()
    path = tmp_path / "cache" / "regard" / "multi30k" / "train.de.gz"
    assert str(caught.value) == (
        f"{path}: cannot write the file (Not a directory). Set XDG_CACHE_HOME to another directory for the cache."
    )


def test_a_directory_that_is_none_is_named() -> None:
    with pytest.raises(RegardError, match=r"^data\.directory: got '/nowhere', which is not a directory\.$"):
        Multi30k(directory="/nowhere").load()


def test_the_real_corpus_has_its_published_sizes() -> None:
    corpus = Multi30k(directory=str(multi30k_folder())).load()
    assert [len(corpus[name]) for name in ("train", "validation", "test")] == [29_000, 1_014, 1_000]
    assert corpus["train"].sources[0] == "Zwei junge weiße Männer sind im Freien in der Nähe vieler Büsche."
    assert corpus["train"].targets[0] == "Two young, White males are outside near many bushes."
    assert all(text for name in ("train", "validation", "test") for text in corpus[name].sources + corpus[name].targets)


def test_swapped_pairs_are_the_other_direction_also_of_what_is_read_later(tmp_path: Path) -> None:
    folder = put(tmp_path)
    swapped = load_corpus(Multi30k(directory=str(folder), swap=True))
    other = load_corpus(Multi30k(directory=str(folder), source="en", target="de"))
    assert Multi30k(swap=True).languages == ("en", "de") == Multi30k(source="en", target="de").languages
    (folder / "test_2017_flickr.en.gz").rename(folder / "away")
    assert "test_2017_flickr" in swapped.splits  # without reading it
    (folder / "away").rename(folder / "test_2017_flickr.en.gz")
    assert list(swapped.splits) == list(other.splits)
    assert len(swapped.splits) == len(other.splits)
    for split in ("train", "validation", "test", "test_2017_flickr"):
        assert split in swapped.splits
        assert swapped[split] == other[split]
        assert swapped[split] is swapped[split]
    assert swapped.sha256 == other.sha256
    with pytest.raises(RegardError, match="Unknown split 'tset'"):
        swapped["tset"]
