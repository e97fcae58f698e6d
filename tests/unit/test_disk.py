"""Files are written whole or not at all; what keeps one from being written is told in one line."""

import errno
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from regard.config import load_config
from regard.data.tokenizers import TokenizerPair
from regard.disk import WriteError, append_line, lock, telling, write_atomically, writing
from regard.errors import RegardError
from regard.run import Run
from regard.training.session import Session
from tiny_runs import REVERSE

CONFIG = load_config("reverse", REVERSE)


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """Let the system refuse to write more, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_is_replaced_whole_or_kept(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"before")
    with no_file_larger_than(1000), pytest.raises(WriteError) as caught, telling(path):
        write_atomically(path, b"x" * 2000)
    assert str(caught.value) == f"{path}: cannot be written (File too large)."
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    link, file = tmp_path / "link", tmp_path / "elsewhere" / "file"
    file.parent.mkdir()
    link.symlink_to(file)
    for content in (b"first, when there is no file yet", b"second"):
        with writing(link) as place:
            place.write_bytes(content)
        assert link.is_symlink()
        assert file.read_bytes() == content
    assert os.listdir(file.parent) == ["file"]


def test_a_link_to_itself_stays(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(WriteError, match="Too many levels of symbolic links"), telling(link), writing(link):
        pytest.fail("there is nothing to write to")
    assert link.is_symlink()


def test_a_file_of_a_run_takes_the_place_of_a_link(tmp_path: Path) -> None:
    link, file = tmp_path / "link", tmp_path / "of another run"
    file.write_bytes(b"kept")
    link.symlink_to(file)
    write_atomically(link, b"new")
    assert (link.read_bytes(), file.read_bytes()) == (b"new", b"kept")


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with writing(pipe) as place:
            place.write_bytes(b"content")
        assert os.read(end, 100) == b"content"
    finally:
        os.close(end)
    assert pipe.is_fifo()


def test_standard_output_is_written_to_wherever_it_goes(tmp_path: Path) -> None:
    code = "from pathlib import Path; from regard.pictures.files import write; write(Path('/dev/stdout'), b'content')"
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", code], check=True, stdout=out)
    assert os.listdir(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"content"


def test_a_line_is_added_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append_line(path, "one")
    with no_file_larger_than(10), pytest.raises(OSError, match="File too large"):
        append_line(path, "a line that is too long")
    append_line(path, "two")
    assert path.read_bytes() == b"one\ntwo\n"


def test_a_lock_keeps_others_out_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "very" / "deep" / "run"
    with lock(run), pytest.raises(RegardError) as caught, lock(run):
        pytest.fail("two at a time")
    assert str(caught.value) == f"{run}: another process is training this run; let it end, or stop it first."
    assert os.listdir(tmp_path) == []
    with lock(run):
        run.mkdir()
    monkeypatch.chdir(run)
    with lock(Path()), pytest.raises(RegardError), lock(run):
        pytest.fail("two at a time")
    assert os.listdir(run.parent) == ["run"]


def test_where_nothing_can_be_made_a_lock_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"

    def nowhere(self: Path, *_: object) -> None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self))

    monkeypatch.setattr(Path, "open", nowhere)
    with (
        pytest.raises(WriteError, match=re.escape(f"{run}: cannot be written (No such file or directory).")),
        lock(run),
    ):
        pass


def test_who_waits_for_a_lock_gets_it_when_it_is_free(tmp_path: Path) -> None:
    told: list[str] = []

    def work(name: str) -> None:
        with lock(tmp_path / "run", is_waiting=True):
            told.append(name)
            time.sleep(0.02)
            told.append(name)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, "abcd"))
    assert sorted(told) == list("aabbccdd")
    assert told[::2] == told[1::2]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_log_on_a_full_disk_is_named(tmp_path: Path) -> None:
    pair = TokenizerPair.train(CONFIG.tokenizer, ["abcd"], ["dcba"])
    run = Run.create(tmp_path / "run", CONFIG, pair, corpus_sha256="0" * 64)
    (run.path / "log.jsonl").symlink_to("/dev/full")
    with pytest.raises(WriteError) as caught:
        run.log({"event": "began"})
    assert str(caught.value) == f"{run.path / 'log.jsonl'}: cannot be written (No space left on device)."


def test_a_run_that_cannot_be_made_leaves_nothing_behind(tmp_path: Path) -> None:
    pair = TokenizerPair.train(CONFIG.tokenizer, ["abcd"], ["dcba"])
    (tmp_path / "file").write_text("in the way")
    path = tmp_path / "file" / "run"
    with pytest.raises(WriteError) as caught:
        Run.create(path, CONFIG, pair, corpus_sha256="0" * 64)
    assert str(caught.value) == f"{path}: cannot be written (File exists)."
    path = tmp_path / "run"
    with no_file_larger_than(100), pytest.raises(WriteError) as caught:
        Run.create(path, CONFIG, pair, corpus_sha256="0" * 64)
    assert str(caught.value) == f"{path}: cannot be written (File too large)."
    assert os.listdir(tmp_path) == ["file"]


def test_a_full_disk_ends_training_in_one_line_and_keeps_the_last_checkpoint(tmp_path: Path) -> None:
    whole = Session.begin(CONFIG, tmp_path / "whole")
    for _ in whole.fit():
        pass
    session = Session.begin(CONFIG, tmp_path / "run")
    path = session.run.path
    events = session.fit()
    next(event for event in events if event.kind == "epoch")
    before = (path / "last.safetensors").read_bytes()
    with no_file_larger_than(20_000), pytest.raises(RegardError) as caught:
        list(events)
    assert str(caught.value) == (
        f"{path / 'last.safetensors'}: cannot be written (File too large (os error 27)). "
        f"Put that right; then `regard resume {path}` goes on."
    )
    assert (path / "last.safetensors").read_bytes() == before
    assert not list(path.glob(".*"))
    for _ in Session.resume(Run.open(path)).fit():
        pass
    ended, wanted = Run.open(path).load_weights("last")[0], whole.run.load_weights("last")[0]
    assert all(torch.equal(ended[key], wanted[key]) for key in wanted)
