"""Files written whole or not at all, by one process at a time; a full disk or a damaged file is told in one line."""

import errno
import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from regard.errors import RegardError

try:
    import fcntl
except ImportError:  # Windows: two trainings of one run at a time are the user's to avoid
    fcntl = None  # type: ignore[assignment]


TRIES = 100
"""How often to make a file in a directory that goes away."""


class WriteError(RegardError):
    """A file could not be written; what was there before still is."""


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Tell what keeps this file or directory from being written."""
    try:
        yield
    except OSError as error:
        raise WriteError(f"{path}: cannot be written ({error.strerror or error}).") from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a name to write to; what is there at the end takes the place of ``path`` in one step."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Do as `replacing` for a place that a user has named, which may be more than a file.

    A link stays, and the file that it names is replaced. Pipes and devices, standard output among them, are written to.
    """
    is_special = path.exists() and not path.is_file()
    if is_special or path.absolute().is_relative_to("/dev") or path.absolute().is_relative_to("/proc"):
        yield path
        return
    place = Path(os.path.realpath(path))
    if place.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    with replacing(place) as partial:
        yield partial


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as partial:
        partial.write_bytes(content)


def read_json(path: Path) -> dict[str, Any]:
    """Read an object, or tell why there is none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RegardError(f"{path}: cannot be read as JSON ({error}).") from None
    if not isinstance(value, dict):
        raise RegardError(f"{path}: want a JSON object.")
    return value


def checked(where: str, record: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse a record without these entries; each is of a type, or a list or mapping of records in their turn."""
    for key, kind in wanted.items():
        plain = type(kind) if isinstance(kind, list | dict) else kind
        if not isinstance(record, dict) or not isinstance(record.get(key, ...), plain):
            raise RegardError(f"{where}: damaged, since '{key}' is missing or of the wrong kind.")
        if plain is not kind:
            rows, inner = (record[key], kind[0]) if plain is list else (record[key].values(), kind)
            for row in rows:
                checked(f"{where}, {key}", row, inner)
    return dict(record)


@contextmanager
def lock(path: Path, *, is_waiting: bool = False) -> Iterator[None]:
    """Keep a run, which need not be there yet, to this process; wait for another one's end, or refuse."""
    if fcntl is None:
        yield
        return
    name = path.resolve().with_name(f".{path.resolve().name}.lock")
    how = fcntl.LOCK_EX | (0 if is_waiting else fcntl.LOCK_NB)
    made = [folder for folder in name.parents if not folder.exists()]
    with telling(path), ExitStack() as stack:
        tries = 0
        while True:
            name.parent.mkdir(parents=True, exist_ok=True)
            try:
                file = stack.enter_context(name.open("w"))
            except FileNotFoundError:  # another process has just removed the empty directory that it had made
                tries += 1
                if tries < TRIES:
                    continue
                raise  # a place where nothing can be made, such as /proc
            try:
                fcntl.flock(file, how)
            except BlockingIOError:
                told = "another process is training this run; let it end, or stop it first."
                raise RegardError(f"{path}: {told}") from None
            with suppress(FileNotFoundError):  # whoever had it has removed it at its end
                if os.path.samestat(os.fstat(file.fileno()), name.stat()):
                    break
        held = stack.pop_all()
    with held:
        try:
            yield
        finally:
            name.unlink(missing_ok=True)
            with suppress(OSError):  # not empty: the run is there
                for folder in made:
                    folder.rmdir()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let Ctrl-C wait until a moment is over: a library that it stops half-way may tell of something else instead."""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[Any, Any]] = []
    signal.signal(signal.SIGINT, lambda *signalled: came.append(signalled))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(*came[0])


def append_line(path: Path, line: str) -> None:
    """Add a line to a file, or leave the file as it is: half a line would spoil the next one too."""
    with path.open("ab", buffering=0) as file:
        size, content = file.seek(0, os.SEEK_END), f"{line}\n".encode()
        try:
            while content:
                content = content[file.write(content) :]
        except OSError:
            with suppress(OSError):
                file.truncate(size)
            raise
