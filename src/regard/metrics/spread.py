"""One quantity over the seeds of an experiment."""

import math
from dataclasses import dataclass
from statistics import fmean, variance


@dataclass(frozen=True, slots=True)
class Spread:
    """The values of one quantity over the seeds of a group."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Arithmetic mean."""
        return fmean(self.values)

    @property
    def variance(self) -> float:
        """Variance of the population the seeds are drawn from (n - 1); NaN for a single seed."""
        return variance(self.values) if len(self.values) > 1 else math.nan

    def summary(self) -> tuple[float, float, float, float, float]:
        """Return mean, variance, standard deviation, minimum and maximum."""
        return self.mean, self.variance, math.sqrt(self.variance), min(self.values), max(self.values)
