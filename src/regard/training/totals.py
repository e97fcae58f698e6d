"""Sums of gradients, in memory that stays."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import torch

from regard.models.embedding import add_words
from regard.types import Tensor

AT_A_TIME = 2**16
"""Numbers that are added up at a time: 256 KB of sums, which with their terms are to fit a core's own cache."""


class Term(NamedTuple):
    """What is to be added to the gradient of a parameter; in any number format."""

    parameter: Tensor
    gradient: Tensor


class OfWords(NamedTuple):
    """The gradient of some rows of a table."""

    parameter: Tensor
    words: Tensor
    gradient: Tensor


class Totals:
    """Adds up gradients, each in the number format and order of its parameter.

    The memory is taken once. The optimiser writes to what it is given, so terms, which may share theirs, are no use to
    it; and taking tens of megabytes anew at every step would cost more than adding up.
    """

    def __init__(self, *, pool: ThreadPoolExecutor, workers: int) -> None:
        self._sums: dict[Tensor, Tensor] = {}
        self._tables: dict[Tensor, LookedUp] = {}
        self._pool = pool
        self._workers = workers

    def add_up(self, terms: Iterable[Term], words: Iterable[OfWords]) -> dict[Tensor, Tensor]:
        """Return the sums by parameter, good until the next are asked for; terms are added in the order given."""
        sums = self._of_whole_parameters(terms)
        for table in self._tables.values():
            table.clear()
        for one in words:
            if one.parameter in sums:
                add_words(sums[one.parameter], one.words, one.gradient)
                continue
            if one.parameter not in self._tables:
                self._tables[one.parameter] = LookedUp(one.parameter)
            self._tables[one.parameter].add(one)
        return {parameter: table.gradient for parameter, table in self._tables.items()} | sums

    def _of_whole_parameters(self, terms: Iterable[Term]) -> dict[Tensor, Tensor]:
        by_parameter: dict[Tensor, list[Tensor]] = {}
        for parameter, gradient in terms:
            by_parameter.setdefault(parameter, []).append(gradient)
        for parameter in by_parameter.keys() - self._sums.keys():
            self._sums[parameter] = torch.empty_like(parameter)
        sums = {parameter: self._sums[parameter] for parameter in by_parameter}
        pieces = [piece for parameter, total in sums.items() for piece in _pieces(total, by_parameter[parameter])]
        if self._workers == 1:
            _fill(pieces)
        else:
            shares = (pieces[number :: self._workers] for number in range(self._workers))
            list(self._pool.map(_fill, shares))
        return sums


class LookedUp:
    """The gradient of a table that is only looked up: zero but for the words of one batch.

    It stays for all batches, and may be scaled, but nothing else may be written to it. Filling it with zeros, or adding
    it up with another share's, would go over all words.
    """

    def __init__(self, parameter: Tensor) -> None:
        self.gradient = torch.zeros_like(parameter)
        self._words: list[Tensor] = []

    def add(self, of_words: OfWords) -> None:
        """Add the gradient of some words."""
        self._words.append(of_words.words.flatten())
        add_words(self.gradient, of_words.words, of_words.gradient)

    def clear(self) -> None:
        """Set to zero what was added."""
        while self._words:
            self.gradient.index_fill_(0, self._words.pop(), 0)


def _pieces(total: Tensor, terms: Sequence[Tensor]) -> Iterable[tuple[Tensor, ...]]:
    """Cut a sum and its terms into rows that belong together."""
    if not total.is_cpu or total.numel() <= AT_A_TIME:
        return [(total, *terms)]
    rows = max(1, AT_A_TIME // total[0].numel())
    return zip(*(tensor.split(rows) for tensor in (total, *terms)), strict=True)


def _fill(pieces: Iterable[tuple[Tensor, ...]]) -> None:
    for total, first, *others in pieces:
        total.copy_(first)
        for other in others:
            total.add_(other)
