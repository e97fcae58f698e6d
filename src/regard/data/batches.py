"""Encoded sentences as flat arrays, and batches of like length cut from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from regard.data.vocabulary import BOS, EOS, PAD
from regard.types import Bool, Int, Tensor

Ints = npt.NDArray[np.int64]
ROWS = 16
"""Batches that are counted in tokens are cut to a multiple of so many sentences, those of fewer than twice as many to a
multiple of a quarter of it, and only those of fewer than that to any number.

Libraries compile a matrix product for every size that they meet, which can take as long as the product itself, and do
not keep all of them: the fewer sizes, the less there is to compile.
"""


@dataclass(frozen=True, slots=True)
class Flat:
    """Sentences of token ids, one after the other: sentence i is ``ids[starts[i]:starts[i + 1]]``."""

    ids: npt.NDArray[np.int32]
    starts: Ints

    @classmethod
    def of(cls, sentences: Sequence[Sequence[int]]) -> "Flat":
        """Lay sentences end to end."""
        starts = np.zeros(len(sentences) + 1, dtype=np.int64)
        np.cumsum([len(s) for s in sentences], out=starts[1:])
        ids = np.fromiter((i for s in sentences for i in s), dtype=np.int32, count=int(starts[-1]))
        return cls(ids, starts)

    @property
    def lengths(self) -> Ints:
        """Tokens of every sentence."""
        return np.diff(self.starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def padded(self, rows: Ints) -> tuple[Int[Tensor, "B S"], Bool[Tensor, "B S"]]:
        """Return the given sentences as a rectangle, and where it holds tokens."""
        lengths = self.lengths[rows]
        columns = np.arange(max(int(lengths.max(initial=0)), 1))
        is_token = columns < lengths[:, None]
        ids = np.full(is_token.shape, PAD, dtype=np.int64)
        ids[is_token] = self.ids[(self.starts[rows][:, None] + columns)[is_token]]
        return torch.from_numpy(ids), torch.from_numpy(is_token)


@dataclass(frozen=True, slots=True)
class Batch:
    """Pairs of sentences as rectangles. A target is read as BOS w1 .. wn and predicted as w1 .. wn EOS."""

    rows: Ints
    """Which pairs these are."""
    source: Int[Tensor, "B S"]
    is_source: Bool[Tensor, "B S"]
    target_in: Int[Tensor, "B T"]
    target_out: Int[Tensor, "B T"]
    is_target: Bool[Tensor, "B T"]

    @property
    def target_tokens(self) -> int:
        """Tokens to predict, EOS included."""
        return int(self.is_target.sum())

    def to(self, device: torch.device) -> "Batch":
        """Move the rectangles."""
        return Batch(self.rows, *(rectangle.to(device) for rectangle in self._rectangles))

    def share(self, number: int, shares: int) -> "Batch":
        """Return every ``shares``-th pair, beginning with pair ``number``."""
        return Batch(self.rows[number::shares], *(rectangle[number::shares] for rectangle in self._rectangles))

    @property
    def _rectangles(self) -> tuple[Tensor, ...]:
        return self.source, self.is_source, self.target_in, self.target_out, self.is_target


@dataclass(frozen=True, slots=True)
class EncodedPairs:
    """A split as token ids."""

    source: Flat
    target: Flat

    @classmethod
    def of(cls, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> "EncodedPairs":
        """Encode token ids without BOS and EOS."""
        assert len(sources) == len(targets)
        return cls(Flat.of(sources), Flat.of([[*target, EOS] for target in targets]))

    def __len__(self) -> int:
        return len(self.source)

    def within(self, max_length: int) -> Ints:
        """Return the pairs with 1 to max_length source tokens and at most max_length target tokens."""
        source, target = self.source.lengths, self.target.lengths - 1
        return np.flatnonzero((source >= 1) & (source <= max_length) & (target <= max_length))

    def batch(self, rows: Ints) -> Batch:
        """Cut out one batch."""
        source, is_source = self.source.padded(rows)
        target_out, is_target = self.target.padded(rows)
        target_in = torch.full_like(target_out, BOS)
        target_in[:, 1:] = target_out[:, :-1].masked_fill(target_out[:, :-1] == EOS, PAD)
        return Batch(rows, source, is_source, target_in, target_out, is_target)


def plan(
    pairs: EncodedPairs, rows: Ints, *, size: int, unit: str, generator: np.random.Generator | None = None
) -> list[Ints]:
    """Group pairs of like length into batches of ``size`` sentences, or at most ``size`` tokens of the longer side.

    With a generator, ties are broken and the batches ordered at random; without one, the order is by length.
    """
    rows = rows if generator is None else generator.permutation(rows)
    source, target = pairs.source.lengths[rows], pairs.target.lengths[rows]
    order = np.lexsort((source, target))
    rows, longer = rows[order], np.maximum(source, target)[order]
    batches = [rows[a:b] for a, b in _cuts(longer, size=size, unit=unit)]
    if generator is None:
        return batches
    return [batches[i] for i in generator.permutation(len(batches))]


def _cuts(lengths: Ints, *, size: int, unit: str) -> Iterator[tuple[int, int]]:
    first = 0
    while first < len(lengths):
        ahead = lengths[first : first + size]
        numbers = np.arange(1, len(ahead) + 1)
        costs = numbers if unit == "sentences" else numbers * np.maximum.accumulate(ahead)
        count = max(1, int(np.searchsorted(costs, size, side="right")))
        if unit == "tokens" and count >= ROWS and first + count < len(lengths):
            count -= count % (ROWS if count >= 2 * ROWS else ROWS // 4)
        yield first, first + count
        first += count
