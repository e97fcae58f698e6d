"""What a number means, in one line: ``metric:bleu|split:test|search:beam5|case:lc|tok:13a|seed:1|regard:0.1.0``."""

import re
from dataclasses import dataclass

from regard.errors import RegardError

MAY_DIFFER = frozenset({"run", "ensemble", "search", "seed", "regard"})
"""What a table compares. Scores that differ in any other key do not belong into one table."""

_MEANINGS = {
    "case": "letter case",
    "tok": "tokenisation",
    "tokens": "vocabulary",
    "version": "version of sacrebleu",
    "smooth": "smoothing",
}


@dataclass(frozen=True, slots=True)
class Signature:
    """Ordered keys and values. A key stands once; the order is for reading and does not count for comparing."""

    pairs: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what could not be read back."""
        for key, value in self.pairs:
            if not re.fullmatch(r"[a-z0-9_]+", key) or not re.fullmatch(r"[^|\n]+", value):
                raise RegardError(f"Signature: got {f'{key}:{value}'!r}, want key:value without '|'.")
        if len(dict(self.pairs)) < len(self.pairs):
            raise RegardError(f"Signature: got a key twice in '{self}', want each key once.")

    @classmethod
    def of(cls, **values: object) -> "Signature":
        """Write keys and values as they come; None leaves a key out."""
        return cls(tuple((key, str(value)) for key, value in values.items() if value is not None))

    @classmethod
    def parse(cls, text: str) -> "Signature":
        """Read what `str` has written."""
        parts = [part.partition(":") for part in text.split("|")] if text else []
        return cls(tuple((key, value) for key, _, value in parts))

    def __str__(self) -> str:
        """Write as one line."""
        return "|".join(f"{key}:{value}" for key, value in self.pairs)

    def __add__(self, other: "Signature") -> "Signature":
        """Put one after the other."""
        return Signature(self.pairs + other.pairs)

    def get(self, key: str) -> str | None:
        """Return the value of a key, if it has one."""
        return dict(self.pairs).get(key)

    def without(self, *keys: str) -> "Signature":
        """Return the signature with some keys left out."""
        return Signature(tuple(pair for pair in self.pairs if pair[0] not in keys))


def comparable(a: Signature, b: Signature) -> str | None:
    """Say why two scores must not be put into one table, or None when they may."""
    differing = [key for key in dict((*a.pairs, *b.pairs)) if key not in MAY_DIFFER and a.get(key) != b.get(key)]
    told = ((_MEANINGS.get(key, key), a.get(key) or "not given", b.get(key) or "not given") for key in differing)
    return "; ".join(f"different {meaning} ({one} and {other})" for meaning, one, other in told) or None
