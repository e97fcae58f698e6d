"""Lines of text from outside, decoded with care."""

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from regard.errors import RegardError

GZIP = b"\x1f\x8b"


def lines_of(path: Path) -> Iterator[str]:
    """Give the lines of a UTF-8 file, plain or .gz, one by one."""
    try:
        with open_bytes(Path(os.path.expanduser(path))) as file:  # as it is for a user who is not there
            yield from decoded(file, str(path))
    except OSError as error:
        raise RegardError(f"{path}: cannot read the file ({error.strerror or error}).") from None


def pairs_of(path: Path) -> Iterator[tuple[str, str]]:
    """Give the pairs of a file of lines source<TAB>target; an empty line is an empty pair."""
    for number, line in enumerate(some_lines_of(path), start=1):
        columns = line.split("\t") if line.strip() else ["", ""]
        if len(columns) != 2:
            problem = "no tab" if len(columns) == 1 else f"{len(columns)} columns"
            raise RegardError(f"{path}, line {number}: {problem}, want two columns: source<TAB>target.")
        yield columns[0], columns[1]


def some_lines_of(path: Path) -> Iterator[str]:
    """Give the lines of a file that has some."""
    is_empty = True
    for line in lines_of(path):
        is_empty = False
        yield line
    if is_empty:
        raise RegardError(f"{path}: the file is empty.")


def open_bytes(path: Path) -> BinaryIO:
    """Open a file, unpacking it if its name ends in .gz or it begins as such files do."""
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" or _is_packed(path) else path.open("rb")


def _is_packed(path: Path) -> bool:
    if not path.is_file():  # what comes through a pipe cannot be read twice
        return False
    with path.open("rb") as file:
        return file.read(len(GZIP)) == GZIP


def decoded(file: BinaryIO, where: str) -> Iterator[str]:
    """Decode line by line; only a line feed ends a line, and a byte-order mark or carriage return falls away."""
    number = 0
    try:
        for number, line in enumerate(file, start=1):
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x}"
        raise RegardError(f"{where}, line {number}: not UTF-8 ({byte}). Convert the file to UTF-8.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RegardError(f"{where}: broken gzip file after line {number} ({error}).") from None
