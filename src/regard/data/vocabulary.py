"""Vocabulary: tokens by number, the four special ones first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from regard.errors import RegardError

PAD, UNK, BOS, EOS = range(4)
SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")


@dataclass(frozen=True)
class Vocabulary:
    """An immutable list of distinct tokens; text never becomes a special token, even if it reads like one."""

    tokens: tuple[str, ...]

    def __post_init__(self) -> None:
        assert self.tokens[: len(SPECIALS)] == SPECIALS
        assert len(set(self.tokens)) == len(self.tokens)

    def __len__(self) -> int:
        return len(self.tokens)

    @classmethod
    def build(cls, counts: Mapping[str, int], *, minimum_count: int = 1) -> Self:
        """Keep the tokens that are frequent enough: the most frequent first, equally frequent ones by the alphabet."""
        kept = [token for token, count in counts.items() if count >= minimum_count and token not in SPECIALS]
        return cls(SPECIALS + tuple(sorted(kept, key=lambda token: (-counts[token], token))))

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {token: i for i, token in enumerate(self.tokens) if i >= len(SPECIALS)}

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Return the number of each token, UNK for one that is not known."""
        get = self._ids.get
        return [get(token, UNK) for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the token of each number, special ones by their names."""
        return [self.tokens[i] for i in ids]

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for a file."""
        return {"tokens": list(self.tokens)}

    @classmethod
    def from_json(cls, values: Any) -> Self:
        """Read what `to_json` wrote."""
        tokens: Any = values.get("tokens") if isinstance(values, Mapping) else None
        if not _is_vocabulary(tokens):
            raise RegardError(f"Not a vocabulary: want distinct tokens that begin with {' '.join(SPECIALS)}.")
        return cls(tuple(tokens))


def _is_vocabulary(tokens: Any) -> bool:
    return (
        isinstance(tokens, Sequence)
        and all(isinstance(token, str) for token in tokens)
        and tuple(tokens[: len(SPECIALS)]) == SPECIALS
        and len(set(tokens)) == len(tokens)
    )
