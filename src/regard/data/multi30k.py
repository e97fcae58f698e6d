"""Multi30k: 29,000 picture captions in German, English, French and Czech (Elliott et al. 2016), found or downloaded.

The texts may be used for research and education. They are looked for, file by file, in the configured directory, in
REGARD_DATA and in the user's cache, and downloaded into the cache otherwise; a file whose sum is wrong is never used.
"""

import functools
import gzip
import hashlib
import http.client
import os
import sys
import urllib.request
from pathlib import Path
from typing import Literal

from pydantic import model_validator
from rich.console import Console
from rich.progress import Progress

from regard.config import Place
from regard.data.corpus import Corpus, LazySplits, Recipe, Split
from regard.data.words import clean
from regard.disk import write_atomically
from regard.errors import RegardError

Language = Literal["de", "en", "fr", "cs"]

COMMIT = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
BASE_URL = f"https://raw.githubusercontent.com/multi30k/dataset/{COMMIT}/data/task1/raw"
TIMEOUT_SECONDS = 30
FILES = {"train": "train", "validation": "val", "test": "test_2016_flickr"}
"""The splits that every language has, and the beginnings of their files' names."""
SHA256 = {
    "train.de": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "train.en": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.fr": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
    "train.cs": "a65adb8b32e3bc664f21ecba7a6e7f6950fd1f405e135f7c312faabdb6255077",
    "val.de": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "val.en": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.fr": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
    "val.cs": "b63226e05c4bd5dd6a42897d74b86a1b9d2c31498252c572b1ea7f7996927fcc",
    "test_2016_flickr.de": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    "test_2016_flickr.en": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2016_flickr.fr": "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
    "test_2016_flickr.cs": "200a4a74cc9560f051924abb9803be008d1908d77f747e9141aeb86dfd2797f1",
    "test_2017_flickr.de": "a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee",
    "test_2017_flickr.en": "76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074",
    "test_2017_flickr.fr": "3ba671ceb2299f3304ffafefea7a833d08632fbaf0ba18546f8a2ec2391af496",
    "test_2017_mscoco.de": "799e4854c25d601cb6cb6be29eabe5667734c61ace2f495e03e429031a0bc338",
    "test_2017_mscoco.en": "aab300bfb4427697987e02cd0aacd44bfe8aa50456231b6474c08038bbed2b58",
    "test_2017_mscoco.fr": "754f3072ba9f124569ba5258b32730fc1d214bbf8e0c6dfb2b74401676220db0",
    "test_2018_flickr.de": "ddd0130c7d97482dc5197a02141dae8dd79f20f03586c480d675c09a32daf608",
    "test_2018_flickr.en": "ef4f4844037d4c5dea75c9a8ed5fd78905967a26f67c255e230cc9780032654d",
    "test_2018_flickr.fr": "fb2b83fcceb937a4f7e3e93c1c51c22aba92f1e342391e6b5ba392b16a920501",
    "test_2018_flickr.cs": "7d0a9db904f94c554a8c58049a9f3a5357c27f46cc3d710d70cb0b4a2585b8c2",
}
"""Sums of the gzipped files of every part and language, by name without .gz."""


class Multi30k(Recipe):
    """Picture captions, 29,000 pairs to train on; German, English, French and Czech in any direction."""

    corpus: Literal["multi30k"] = "multi30k"
    source: Language = "de"
    """Language to translate from."""
    target: Language = "en"
    """Language to translate into."""
    directory: Place = ""
    """Where the .gz files are; without it REGARD_DATA and the user's cache are searched."""

    @model_validator(mode="after")
    def _languages_differ(self) -> "Multi30k":
        if self.source == self.target:
            raise ValueError(f"target: got '{self.target}', the source language too, want another.")
        return self

    def load(self) -> Corpus:
        """Read training, validation and test data; the other test sets are read when they are asked for."""
        known, read = parts(self.source, self.target), functools.cache(self.read)
        for part in FILES.values():
            read(part)
        return Corpus("multi30k", LazySplits(known, lambda split: read(known[split])))

    def _languages(self) -> tuple[str, str]:
        return self.source, self.target

    def read(self, part: str) -> Split:
        """Read one part in both languages, downloading it if need be."""
        sources, targets = (_lines(fetch(f"{part}.{side}", self.directory)) for side in (self.source, self.target))
        return Split(sources, targets)


def parts(source: str, target: str) -> dict[str, str]:
    """Return the splits that both languages have, and the beginnings of their files' names."""
    tests = {part: part for name in SHA256 if (part := name.partition(".")[0]).startswith("test")}
    known = (FILES | tests).items()
    return {split: part for split, part in known if {f"{part}.{source}", f"{part}.{target}"} <= SHA256.keys()}


def fetch(name: str, directory: str = "") -> Path:
    """Return where a file such as train.de is, downloading it into the cache if it is nowhere else."""
    return find(name, directory) or _download(name, folders(directory))


def find(name: str, directory: str = "") -> Path | None:
    """Return where a file such as train.de is, or None; a file with a wrong sum is an error."""
    for folder in folders(directory):
        path = folder / f"{name}.gz"
        if os.path.isfile(path):  # unlike Path.is_file, also False where the user may not look
            _check(_read(path), name, where=str(path))
            return path
    return None


def folders(directory: str = "") -> list[Path]:
    """Return the directories to search, in order; the last is the cache."""
    places = []
    if directory:
        configured = Path(directory)
        if not configured.is_dir():
            raise RegardError(f"data.directory: got '{directory}', which is not a directory.")
        places += [configured]
    if root := os.environ.get("REGARD_DATA"):
        place = Path(os.path.expanduser(root))  # as it is for a user who is not there
        places += [place, place / "multi30k"]
    return [*places, cache() / "multi30k"]


def cache() -> Path:
    """Return the user's cache of downloaded data."""
    if root := os.environ.get("XDG_CACHE_HOME"):
        return Path(root) / "regard"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "regard"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "regard"
    return Path.home() / ".cache" / "regard"


def _check(content: bytes, name: str, *, where: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[name]:
        raise RegardError(
            f"{where}: not used, since it is damaged or another version: its sha256 is {found}, want {SHA256[name]}."
        )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise RegardError(f"{path}: cannot read the file ({error.strerror}).") from None


def _download(name: str, searched: list[Path]) -> Path:
    url, path = f"{BASE_URL}/{name}.gz", searched[-1] / f"{name}.gz"
    try:
        content = _get(url)
    except (OSError, http.client.HTTPException) as error:
        raise RegardError(
            f"multi30k: {name}.gz is not in {' or '.join(map(str, searched))}, and cannot be downloaded from {url} "
            f"({getattr(error, 'reason', None) or error}). Put the file into one of these directories, "
            "or set REGARD_DATA to the directory that has it."
        ) from None
    _check(content, name, where=url)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    except OSError as error:
        raise RegardError(
            f"{path}: cannot write the file ({error.strerror}). Set XDG_CACHE_HOME to another directory for the cache."
        ) from None
    return path


def _get(url: str) -> bytes:
    console = Console(stderr=True)
    with (
        urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response,
        Progress(console=console, transient=True, disable=not console.is_terminal) as progress,
    ):
        size = int(response.headers.get("Content-Length") or 0)
        chunks = progress.wrap_file(response, total=size, description=url.rpartition("/")[2])
        return b"".join(iter(lambda: chunks.read(1 << 16), b""))


def _lines(path: Path) -> tuple[str, ...]:
    with gzip.open(path, "rb") as file:
        return tuple(clean(line.decode()) for line in file)
