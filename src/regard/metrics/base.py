"""A metric is a row of numbers for each segment, and what their sum over the segments means.

All else follows from these two: the score of a corpus, of its long sentences alone, of 1,000 resamplings of it, and
whether two systems differ. No sentence is ever looked at twice.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, ClassVar, Generic, Literal, TypeVarTuple

import numpy as np

from regard.errors import RegardError
from regard.metrics.signature import Signature
from regard.metrics.significance import bootstrap_interval
from regard.types import Float, Int

UNDEFINED = "–"
"""What a table shows where there is no number."""
Unit = Literal["%", "nats", ""]
Values = TypeVarTuple("Values")
Numbers = Sequence[int | float]


@dataclass(frozen=True, slots=True)
class Score:
    """A number and all that is needed to know what it means. NaN: nothing in the data could be counted."""

    name: str
    value: float
    unit: Unit
    higher_is_better: bool | None
    """None where neither is."""
    signature: str
    interval: tuple[float, float] | None
    """Bounds of the middle 95 % of the resamplings."""
    segments: int
    """How many segments were scored."""

    def __str__(self) -> str:
        """Write for people; the number never goes without its signature."""
        value = "undefined" if math.isnan(self.value) else f"{self.value:.2f}{self.unit and ' '}{self.unit}"
        interval = f" [{self.interval[0]:.2f}, {self.interval[1]:.2f}]" if self.interval else ""
        return f"{self.name} {value}{interval} {self.signature}"

    @property
    def number(self) -> str:
        """The value in a table: two decimals, or a dash where it is undefined."""
        return UNDEFINED if math.isnan(self.value) else f"{self.value:.2f}"

    @property
    def range(self) -> str:
        """The interval in a table, or a dash where there is none."""
        return "{:.2f} to {:.2f}".format(*self.interval) if self.interval else UNDEFINED

    def cells(self) -> list[str]:
        """Return a row of a table: name, value, interval and signature."""
        value = self.number if self.number == UNDEFINED else f"{self.number} {self.unit}".rstrip()
        return [self.name, value, self.range, self.signature]

    def to_json(self) -> dict[str, Any]:
        """Return plain values; null stands for an undefined score."""
        return asdict(self) | {"value": None if math.isnan(self.value) else self.value}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Score":
        """Read what `to_json` has written."""
        value, interval = values["value"], values["interval"]
        plain = {"value": math.nan if value is None else value, "interval": interval and tuple(interval)}
        return cls(**{**values, **plain})


class Metric(ABC, Generic[*Values]):
    """Statistics of each segment, and what their sum means. `Values` are the types of what `segment` takes."""

    name: ClassVar[str]
    unit: ClassVar[Unit]
    higher_is_better: ClassVar[bool | None]
    takes: ClassVar[tuple[str, ...]]
    """Names of the columns that `statistics` is given, in their order."""
    depends_on_tokens: ClassVar[bool] = False
    """Whether the value depends on how a model cuts text into tokens: its vocabulary then belongs to the signature."""
    family: ClassVar[str] = ""
    """What other metrics measure too, in another way: forms of one family never stand in one table."""

    @classmethod
    def depends_on_search(cls) -> bool:
        """Whether translations are judged, not how the model reads the references: the search is in the signature."""
        return any(column.startswith("hypothesis") for column in cls.takes)

    @abstractmethod
    def segment(self, *values: *Values) -> Numbers:
        """Return the statistics of one segment; always the same number of them."""

    @abstractmethod
    def aggregate(self, sums: Float[np.ndarray, "rows k"]) -> Float[np.ndarray, " rows"]:
        """Turn each row of summed statistics into a value."""

    def signature(self) -> Signature:
        """Say how the value is computed."""
        return Signature.of(metric=self.name)

    def each(self, statistics: Float[np.ndarray, "segments k"]) -> Float[np.ndarray, " segments"]:
        """Return the value of every segment by itself."""
        return self.aggregate(statistics)

    def statistics(self, *columns: Sequence[Any]) -> Float[np.ndarray, "segments k"]:
        """Return the statistics of every segment."""
        assert len(columns) == len(self.takes), f"{self.name} takes {self.takes}"
        if len({len(column) for column in columns}) > 1:
            sizes = ", ".join(f"{len(column)} {name}" for column, name in zip(columns, self.takes, strict=True))
            raise RegardError(f"{self.name}: got columns of different length ({sizes}), want one value per segment.")
        self._check_count(len(columns[0]))
        return np.array([self._checked(i, values) for i, values in enumerate(zip(*columns, strict=True), 1)])

    def score(
        self,
        statistics: Float[np.ndarray, "segments k"],
        *,
        context: Signature | None = None,
        generator: np.random.Generator | None = None,
    ) -> Score:
        """Score a corpus, or any of its rows; with a generator also the interval.

        The context says what was scored: ``split``, ``corpus``, ``seed`` and so on; ``tokens``, the vocabulary, and
        ``search`` are left out of the signature of a metric that does not depend on them.
        """
        self._check_count(len(statistics))
        matters = {"tokens": self.depends_on_tokens, "search": self.depends_on_search()}
        told = (context or Signature()).without(*(key for key, does in matters.items() if not does))
        return Score(
            name=self.name,
            value=float(self.aggregate(statistics.sum(0, keepdims=True))[0]),
            unit=self.unit,
            higher_is_better=self.higher_is_better,
            signature=str(self.signature() + told),
            interval=bootstrap_interval(statistics, self.aggregate, generator=generator) if generator else None,
            segments=len(statistics),
        )

    def score_buckets(
        self,
        statistics: Float[np.ndarray, "segments k"],
        rows: Mapping[str, Int[np.ndarray, " rows"]],
        *,
        context: Signature | None = None,
        generator: np.random.Generator | None = None,
    ) -> dict[str, Score]:
        """Score each of `buckets` that has segments; its label goes into the signature under ``bucket``."""
        context = context or Signature()
        return {
            label: self.score(statistics[chosen], context=context + Signature.of(bucket=label), generator=generator)
            for label, chosen in rows.items()
            if len(chosen)
        }

    def _check_count(self, segments: int) -> None:
        if not segments:
            raise RegardError(f"{self.name}: got 0 segments, want at least 1.")

    def _checked(self, number: int, values: tuple[*Values]) -> Float[np.ndarray, " k"]:
        try:
            statistics = np.array(self.segment(*values), dtype=np.float64)
        except RegardError as error:
            raise RegardError(f"{self.name}, segment {number}: {error}") from None
        if not np.isfinite(statistics).all():
            raise RegardError(f"{self.name}, segment {number}: got {statistics.tolist()}, want finite numbers.")
        return statistics


class Ratio(Metric[*Values]):
    """The sum of the first statistic over the sum of the second."""

    empty: ClassVar[float] = math.nan
    """The ratio when nothing was counted."""

    def aggregate(self, sums: Float[np.ndarray, "rows 2"]) -> Float[np.ndarray, " rows"]:
        """Divide the sums."""
        quotient = np.divide(sums[:, 0], sums[:, 1], out=np.full(len(sums), self.empty), where=sums[:, 1] > 0)
        return np.asarray(100 * quotient if self.unit == "%" else quotient)


def buckets(lengths: Sequence[int], edges: Sequence[int]) -> dict[str, Int[np.ndarray, " rows"]]:
    """Sort segments by length: label -> rows. An edge is the greatest length of its bucket.

    >>> {label: rows.tolist() for label, rows in buckets([3, 12, 5, 40], [5, 10, 20]).items()}
    {'up to 5': [0, 2], '6-10': [], '11-20': [1], 'over 20': [3]}
    """
    if not edges or any(low >= high for low, high in pairwise(edges)):
        raise RegardError(f"Length buckets: got the edges {list(edges)}, want at least one, in rising order.")
    first = f"up to {edges[0]}" if edges[0] else "0"
    inner = [f"{low + 1}-{high}" if low + 1 < high else f"{high}" for low, high in pairwise(edges)]
    which = np.searchsorted(edges, lengths)
    return {label: np.flatnonzero(which == i) for i, label in enumerate([first, *inner, f"over {edges[-1]}"])}
