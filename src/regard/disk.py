"""Files written whole or not at all, by one process at a time; a full disk is told in one line."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from regard.errors import RegardError


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
        partial.unlink(missing_ok=True)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as partial:
        partial.write_bytes(content)


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
