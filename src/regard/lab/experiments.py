"""Four thought experiments on attention for one query: copy, average, noisy average, two heads."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import torch
from matplotlib.figure import Figure

from regard.attention.functional import attend
from regard.errors import RegardError
from regard.lab import figures
from regard.lab.noise import CLOSED_FORMS, Moments, Noise, resample, spread_ratio, spreads

BETAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SCALES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)


@dataclass(frozen=True, slots=True)
class Settings(Noise):
    """A setting within the bounds of the closed forms, how often lengths are drawn, and from which seed."""

    resamplings: int = 10_000
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse what has no closed form."""
        most = 2 * 10**7 // max(self.m, 1)
        problems = {
            "d": (self.d, 3 <= self.d <= 2048, "3 to 2048"),
            "m": (self.m, 3 <= self.m <= self.d, f"3 to d = {self.d}: orthogonal keys need as many dimensions"),
            "c": (self.c, 0 < self.c <= 1000, "a number > 0, at most 1000"),
            "beta": (self.beta, 0 < self.beta <= 100, "a variance > 0, at most 100"),
            "resamplings": (self.resamplings, 100 <= self.resamplings <= most, f"100 to {most} with m = {self.m}"),
            "seed": (self.seed, 0 <= self.seed < 2**63, "an integer from 0 to 2^63 - 1"),
        }
        for name, (got, is_good, wanted) in problems.items():
            if not is_good:
                raise RegardError(f"lab {name}: got {got:g}, want {wanted}.")


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity, measured by running the attention and from its closed form."""

    what: str
    measured: float
    closed_form: float
    error: float | None = None
    """Standard error of the measured value, where it is an estimate."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """What was tried, what came out, what it shows."""

    name: str
    settings: Settings
    rows: tuple[Row, ...]
    sentences: tuple[str, str, str]
    draw: Callable[[], Figure]

    def used(self) -> dict[str, float]:
        """Return the settings that the results depend on: without noise nothing does on what is drawn."""
        drawn = () if self.name in ("copy", "average") else ("beta", "resamplings", "seed")
        return {name: getattr(self.settings, name) for name in ("m", "d", "c", *drawn)}

    @property
    def figure(self) -> Figure:
        """The picture for the slide; drawn when asked for."""
        return self.draw()

    def to_json(self) -> dict[str, Any]:
        """Return everything but the picture."""
        rows = [asdict(row) for row in self.rows]
        return {"name": self.name, "settings": self.used(), "rows": rows, "shows": list(self.sentences)}


def missed(*, asked: int, m: int, d: int, c: float) -> float:
    """Return the weight off the target for a query that is c times the sum of the ``asked`` keys, all orthonormal."""
    return (m - asked) / (asked * math.exp(c / math.sqrt(d)) + m - asked)


def scale_for(*, asked: int, m: int, d: int, error: float) -> float:
    """Return the ``c`` at which `missed` is ``error``."""
    return math.sqrt(d) * math.log((m - asked) * (1 - error) / (asked * error))


def copy(settings: Settings) -> Experiment:
    """Point the query along one key: the output becomes that key's value."""
    rows, needed = _aim(settings, asked=1, target="v_j")
    sentences = (
        f"A query along k_j copies v_j once its score stands clear of the rest: at c = {settings.c:g} with "
        f"m = {settings.m} keys of size d = {settings.d}, {rows[0].measured:.2%} of the weight still goes elsewhere.",
        "The error falls exponentially in c / sqrt(d), so an error of 1 % needs "
        f"c = sqrt(d) ln(99 (m - 1)) = {needed:.2f}.",
        "Ten times as many keys cost only sqrt(d) ln 10 more; four times the size d doubles the c that is needed, "
        "which is what the factor 1 / sqrt(d) does.",
    )
    return Experiment("copy", settings, rows, sentences, partial(figures.copy, settings, _measure, missed, scale_for))


def average(settings: Settings) -> Experiment:
    """Point the query between two keys: the output becomes the mean of their values."""
    rows, needed = _aim(settings, asked=2, target="v_a and v_b")
    sentences = (
        f"A query between two orthonormal keys reads the mean of their values: at c = {settings.c:g}, "
        f"{1 - rows[0].measured:.2%} of the weight is shared by v_a and v_b, exactly half each.",
        f"Without the factor c the query (k_a + k_b) / |k_a + k_b| leaves {rows[1].measured:.1%} of the weight on the "
        f"other {settings.m - 2} values: far from an average of two.",
        f"An error of 1 % needs c = sqrt(d) ln(99 (m - 2) / 2) = {needed:.2f}; the limit is approached, never reached.",
    )
    return Experiment("average", settings, rows, sentences, partial(figures.average, settings, _measure, missed))


def noisy(settings: Settings) -> Experiment:
    """Give the keys random lengths: one query swings between the two values."""
    draws = resample(settings, settings.resamplings, settings.seed)
    squares = draws["lambda"] ** 2
    error = float(squares.std()) / math.sqrt(len(squares))
    rows = [Row("E[lambda^2]", float(squares.mean()), 1 + settings.beta, error)]
    for query, label in (("clean", "q = c (mu_a + mu_b)"), ("noisy", "q = c (k_a + k_b)")):
        name = f"one {query}"
        rows += _rows(f"weight of v_a, {label}", draws[name], CLOSED_FORMS[name](settings))
    sentences = (
        f"With lengths ~ N(1, {settings.beta:g}) one query no longer averages: the weight of v_a has a spread of "
        f"{rows[2].measured:.3f} around {rows[1].measured:.3f}, and a single draw may lie anywhere from v_b to v_a.",
        "The longer key wins because the score is c lambda / sqrt(d): a larger c does not bring the weights closer, "
        "it only makes the choice more decided.",
        "A query built from the noisy keys themselves scores c lambda^2 / sqrt(d) and swings more "
        f"({rows[4].measured:.3f}): lambda^2 has mean 1 + beta, not 1, and about twice the spread of lambda.",
    )
    return Experiment("noisy", settings, tuple(rows), sentences, partial(_noise_figure, settings, draws))


def heads(settings: Settings) -> Experiment:
    """Ask for each key with a query of its own and average the answers: the spread collapses."""
    draws = resample(settings, settings.resamplings, settings.seed)
    rows: list[Row] = []
    for query, label in (("clean", "q_1 = c mu_a, q_2 = c mu_b"), ("noisy", "q_1 = c k_a, q_2 = c k_b")):
        one, two = (CLOSED_FORMS[f"{number} {query}"](settings) for number in ("one", "two"))
        rows += _rows(f"weight of v_a, {label}", draws[f"two {query}"], two)
        ratio, error = spread_ratio(draws[f"one {query}"], draws[f"two {query}"])
        rows.append(Row(f"spread of one query : spread of two heads ({query})", ratio, one.spread / two.spread, error))
    wrong = draws["two difference"]
    sentences = (
        f"Two heads that each ask for one key put {rows[0].measured:.3f} on v_a, spread {rows[1].measured:.3f}, "
        f"{rows[2].measured:.2f} times less than one query (c = {settings.c:g}, beta = {settings.beta:g}, "
        f"seed {settings.seed}).",
        "Each head only needs its key to beat keys of score 0, which survives the noise; no head has to choose between "
        "a and b.",
        f"The queries mu_a + mu_b and mu_a - mu_b do not do this: they put {wrong.mean():.2f} on v_a with a spread of "
        f"{wrong.std():.2f}, because softmax weights are never negative.",
    )
    return Experiment("heads", settings, tuple(rows), sentences, partial(_noise_figure, settings, draws))


EXPERIMENTS: dict[str, Callable[[Settings], Experiment]] = {run.__name__: run for run in (copy, average, noisy, heads)}


def _aim(settings: Settings, *, asked: int, target: str) -> tuple[tuple[Row, ...], float]:
    """Return rows for a query along the sum of some keys, and the c that an error of 1 % needs."""
    sizes = {"asked": asked, "m": settings.m, "d": settings.d}
    unit, needed = 1 / math.sqrt(asked), scale_for(**sizes, error=0.01)
    low, high = 0.0, 1e4
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _measure(settings.seed, **sizes, c=middle) > 0.01 else (low, middle)
    labels = (
        (settings.c, f"weight that misses {target} at c = {settings.c:g}"),
        (unit, f"the same for a query of length 1 (c = {unit:.4g})"),
    )
    rows = [Row(what, _measure(settings.seed, **sizes, c=c), missed(**sizes, c=c)) for c, what in labels]
    return (*rows, Row("c for 1 %, found by bisection", high, needed)), needed


def _measure(seed: int, *, asked: int, m: int, d: int, c: float) -> float:
    """Run the attention on random orthonormal keys; return how far the output is from the mean of the values asked for.

    The distance is relative to where uniform attention over the other values would have ended, so it is the weight off
    the target, measured on the output.
    """
    generator = torch.Generator().manual_seed(seed)
    keys = torch.linalg.qr(torch.randn(d, m, generator=generator, dtype=torch.float64))[0].mT
    values = torch.randn(m, d, generator=generator, dtype=torch.float64)
    output, _ = attend(c * keys[:asked].sum(0), keys, values)
    target, others = values[:asked].mean(0), values[asked:].mean(0)
    return float((output - target).norm() / (others - target).norm())


def _rows(what: str, sample: Any, exact: Moments) -> list[Row]:
    root = math.sqrt(len(sample))
    return [
        Row(f"mean of the {what}", float(sample.mean()), exact.mean, exact.spread / root),
        Row(f"spread of the {what}", float(sample.std()), exact.spread, exact.spread_error / root),
    ]


def _noise_figure(settings: Settings, draws: dict[str, Any]) -> Figure:
    count, seed = min(settings.resamplings, 2000), settings.seed
    by_beta = {beta: spreads(replace(settings, beta=beta), count, seed) for beta in BETAS}
    by_scale = {c: spreads(replace(settings, c=c), count, seed) for c in SCALES}
    return figures.noise(settings, draws, by_beta=by_beta, by_scale=by_scale)
