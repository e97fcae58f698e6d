"""Whether a difference is more than chance, over the sentences of a test set and over the seeds of a training."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import Generator

from regard.errors import RegardError
from regard.types import Float

RESAMPLINGS = 1_000
LEVEL = 0.95
SPLITS = 20_000
"""Up to so many ways of sharing out scores `permutation_test` tries all of them, else it draws so many."""
_CELLS = 4_000_000  # of a chunk of resamplings x segments: bounds memory
_TIE = 1e-9  # differences that are equal on paper may differ in the last digits

_POINTS = 120  # of an integral
_MANY = 300  # degrees of freedom that tell a variance well enough
_erfc = np.vectorize(math.erfc, otypes=[np.float64])

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Aggregate = Callable[[np.ndarray], np.ndarray]
Statistics = Float[np.ndarray, "_segments k"]


@dataclass(frozen=True, slots=True)
class Difference:
    """System minus baseline, and how likely chance alone makes a difference of this size, either way."""

    delta: float
    p_value: float
    interval: tuple[float, float] | None
    test: str


def bootstrap_interval(
    statistics: Statistics, aggregate: Aggregate, *, generator: Generator, resamplings: int = RESAMPLINGS
) -> tuple[float, float] | None:
    """Return the middle 95 % of the scores of corpora drawn with replacement; None when all are undefined."""
    return _middle(bootstrap_scores(statistics, aggregate, generator=generator, resamplings=resamplings))


def paired_bootstrap(
    baseline: Statistics,
    system: Statistics,
    *,
    aggregate: Aggregate,
    generator: Generator,
    resamplings: int = RESAMPLINGS,
) -> Difference:
    """Compare two systems on the same segments by drawing segments with replacement, the same ones for both."""
    delta, k = _delta(baseline, system, aggregate), baseline.shape[1]

    def gain(sums: np.ndarray) -> np.ndarray:
        return np.asarray(aggregate(sums[:, k:]) - aggregate(sums[:, :k]))

    both = np.hstack([baseline, system])
    return over_draws(delta, bootstrap_scores(both, gain, generator=generator, resamplings=resamplings))


def bootstrap_scores(
    statistics: Statistics, aggregate: Aggregate, *, generator: Generator, resamplings: int = RESAMPLINGS
) -> Float[np.ndarray, " resamplings"]:
    """Return the scores of corpora drawn with replacement; generators of one state draw the same segments.

    A single segment can be drawn in one way only, which tells nothing about others: its scores are undefined.
    """
    if len(statistics) < 2:
        return np.full(resamplings, math.nan)
    return aggregate(_bootstrap_sums(statistics, generator, resamplings))


def over_draws(delta: float, drawn: Float[np.ndarray, " resamplings"]) -> Difference:
    """Judge a difference by those of corpora drawn with replacement, the same segments for both systems."""
    # Drawn differences scatter around the measured one; were there none, they would scatter as much around 0.
    return Difference(delta, _p_value(drawn - delta, delta), _middle(drawn), "paired bootstrap")


@dataclass(frozen=True, slots=True)
class SeedNoise:
    """How far other seeds could move a difference."""

    variance: float
    """Squared standard error of the difference."""
    df: int
    """Degrees of freedom that it was estimated with."""


def seed_noise(pair: tuple[Sequence[float], Sequence[float]], groups: Sequence[Sequence[float]]) -> SeedNoise:
    """Estimate it from the seeds of all groups together, since a pair's own few tell little; never below its own.

    A pair whose two or three seeds happen to agree would otherwise look certain, and among many pairs one does.
    """
    scores, of_pair = [_scores(group) for group in groups], [_scores(values) for values in pair]
    df = sum(len(each) - 1 for each in scores)
    pooled = sum(float(each.var()) * len(each) for each in scores) / df
    own = sum(float(each.var(ddof=1)) / len(each) for each in of_pair)
    return SeedNoise(max(own, pooled * sum(1 / len(each) for each in of_pair)), df)


def over_both(
    delta: float, drawn: Float[np.ndarray, " resamplings"], *, segments: int, noise: SeedNoise | None
) -> Difference:
    """Judge a difference by its spread over segments and over seeds together: would it hold for both drawn anew?

    The squared standard errors add up. Few seeds tell theirs badly, and so do few segments: the p-value is the mean
    over all that they may be. Without noise of the one this is Student's t of the other, or of many segments the
    normal law.
    """
    test, defined, noise = "segments and seeds", drawn[~np.isnan(drawn)], noise or SeedNoise(0.0, 1)
    if len(defined) < 2:
        return Difference(delta, 1.0, None, test)
    known = float(defined.var(ddof=1)) * segments / max(1, segments - 1)  # drawing from so few makes it too small
    of_segments, of_seeds = _possible(known, segments - 1), _possible(noise.variance, noise.df)
    variances = np.add.outer(of_segments[0], of_seeds[0]).ravel()
    chances = np.multiply.outer(of_segments[1], of_seeds[1]).ravel()
    if math.sqrt(known + noise.variance) < _TIE:
        return Difference(delta, float(abs(delta) < _TIE), (delta, delta), test)

    def p_value(distance: float) -> float:
        return float(chances @ _erfc(distance / np.sqrt(2 * variances)))

    margin = _bisect(p_value, 1 - LEVEL)
    undefined = 1 - len(defined) / len(drawn)
    return Difference(delta, max(p_value(abs(delta)), undefined), (delta - margin, delta + margin), test)


def _possible(variance: float, df: int) -> tuple[Floats, Floats]:
    """Return what a variance may be, and how probable each is: an estimate times df over a chi-squared number."""
    if variance < _TIE**2 or df > _MANY:
        return np.array([variance]), np.ones(1)
    below = max(64 / df, 12 * math.sqrt(2 / df))
    logs = np.linspace(math.log(df) - below, math.log(df + 100 + 12 * math.sqrt(2 * df)), _POINTS)
    heights = df / 2 * logs - np.exp(logs) / 2
    chances = np.exp(heights - heights.max())
    return variance * df / np.exp(logs), chances / chances.sum()


def approximate_randomisation(
    baseline: Statistics,
    system: Statistics,
    *,
    aggregate: Aggregate,
    generator: Generator,
    resamplings: int = RESAMPLINGS,
) -> Difference:
    """Compare two systems on the same segments by swapping their outputs at random: a paired permutation test."""
    delta, gain = _delta(baseline, system, aggregate), system - baseline
    swaps = (generator.integers(2, size=(rows, len(gain))) for rows in _chunks(resamplings, len(gain)))
    moved = np.concatenate([swap.astype(np.float64) @ gain for swap in swaps])
    drawn = aggregate(system.sum(0) - moved) - aggregate(baseline.sum(0) + moved)
    return Difference(delta, _p_value(drawn, delta), None, "approximate randomisation")


def welch(baseline: Sequence[float], system: Sequence[float]) -> Difference:
    """Compare the scores of two systems over their seeds with Welch's t-test (unequal variances)."""
    a, b = _scores(baseline), _scores(system)
    delta, shares = float(b.mean() - a.mean()), [float(x.var(ddof=1)) / len(x) for x in (a, b)]
    error = math.sqrt(sum(shares))
    if error < _TIE:  # seeds that do not differ say nothing about others
        return Difference(delta, math.nan, None, "Welch's t")
    df = error**4 / sum(share**2 / (len(x) - 1) for share, x in zip(shares, (a, b), strict=True))
    margin = t_quantile(1 - LEVEL, df) * error
    return Difference(delta, t_two_sided(delta / error, df), (delta - margin, delta + margin), "Welch's t")


def permutation_test(baseline: Sequence[float], system: Sequence[float], *, generator: Generator) -> Difference:
    """Compare the scores of two systems over their seeds by sharing them out anew: in all ways, or in many drawn ones.

    Exact, it cannot go below 2 / (number of ways): 0.1 for three seeds against three, 0.0079 for five against five.
    """
    a, b = _scores(baseline), _scores(system)
    pool, size, delta = np.concatenate([a, b]), len(b), float(b.mean() - a.mean())
    is_exact = math.comb(len(pool), size) <= SPLITS
    if is_exact:
        shares = pool[np.array(list(combinations(range(len(pool)), size)))]
    else:
        shares = generator.permuted(np.tile(pool, (SPLITS, 1)), axis=1)[:, :size]
    drawn = shares.mean(1) - (pool.sum() - shares.sum(1)) / len(a)
    p_value = float(_is_as_large(drawn, delta).mean()) if is_exact else _p_value(drawn, delta)
    return Difference(delta, p_value, None, f"{'exact' if is_exact else 'drawn'} permutation")


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct the p-values of several comparisons, so that a false alarm among all is as rare as in a single one.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    values, order = np.asarray(p_values, dtype=np.float64), np.argsort(p_values, kind="stable")
    corrected = np.empty(len(values))
    corrected[order] = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)).clip(max=1)
    return [float(p) for p in corrected]


def t_two_sided(t: float, df: float) -> float:
    """Return the probability that Student's t with `df` degrees of freedom is further from 0 than `t`."""
    return _beta_share(df / (df + t * t), df / 2, 0.5)


def t_quantile(p_value: float, df: float) -> float:
    """Return the t whose two-sided p-value is given."""
    return _bisect(lambda t: t_two_sided(t, df), p_value)


def _bisect(falling: Callable[[float], float], value: float) -> float:
    """Return where a function that falls from 1 at 0 reaches a value."""
    low, high = 0.0, 1.0
    while falling(high) > value:
        high *= 2
    while high - low > 1e-8 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > value else (low, middle)
    return high


def _beta_share(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function as a continued fraction, from its innermost term outwards."""
    if x <= 0:
        return 0.0
    if x > (a + 1) / (a + b + 2):  # beyond, the fraction of the complement is the quick one
        return 1 - _beta_share(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    fraction = 1.0
    for n in range(50 + 5 * math.isqrt(int(max(a, b))), 0, -1):
        m = n // 2
        numerator = -(a + m) * (a + b + m) if n % 2 else m * (b - m)
        fraction = 1 + numerator * x / ((a + n - 1) * (a + n)) / fraction
    return math.exp(log_front) / (a * fraction)


def _bootstrap_sums(
    statistics: Statistics, generator: Generator, resamplings: int
) -> Float[np.ndarray, "resamplings k"]:
    """Sum the statistics of corpora of the same size drawn with replacement, by how often each segment was drawn."""
    size, sums = len(statistics), []
    for rows in _chunks(resamplings, size):
        drawn = generator.integers(size, size=(rows, size)) + size * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size)
        sums.append(counts.astype(np.float64) @ statistics)
    return np.concatenate(sums)


def _chunks(resamplings: int, segments: int) -> Iterator[int]:
    step = max(1, _CELLS // segments)
    return (min(step, resamplings - start) for start in range(0, resamplings, step))


def _delta(baseline: Statistics, system: Statistics, aggregate: Aggregate) -> float:
    if len(baseline) != len(system) or not len(baseline):
        sizes = f"{len(baseline)} and {len(system)} segments"
        raise RegardError(f"Paired test: got {sizes}, want the same segments from both systems, at least 1.")
    values = aggregate(np.stack([baseline.sum(0), system.sum(0)]))
    return float(values[1] - values[0])


def _is_as_large(drawn: np.ndarray, delta: float) -> np.ndarray:
    return np.asarray(~(np.abs(drawn) < abs(delta) - _TIE))  # so that NaN, an undefined score, is never evidence


def _p_value(drawn: np.ndarray, delta: float) -> float:
    # The measured outcome counts as one of the draws: a drawn p-value is never 0.
    return float((_is_as_large(drawn, delta).sum() + 1) / (len(drawn) + 1))


def _middle(values: np.ndarray) -> tuple[float, float] | None:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _scores(values: Sequence[float]) -> Float[np.ndarray, " seeds"]:
    if len(values) < 2 or not np.isfinite(values).all():
        raise RegardError(
            f"Test over seeds: got the scores {list(values)}, want at least 2 finite ones of each system."
        )
    return np.asarray(values, dtype=np.float64)
