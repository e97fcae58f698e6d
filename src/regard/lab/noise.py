"""Keys of random length: the weight of ``v_a`` over resamplings, measured and in closed form.

``k_i = lambda_i mu_i`` with orthonormal ``mu`` and ``lambda ~ N(1, beta)``, where beta is the variance. A query from
the clean ``mu`` scores ``c lambda / sqrt(d)``; one from the noisy keys scores ``c lambda^2 / sqrt(d)``. Every other key
scores 0, so the weights depend on two normal variables only, and their moments are integrals over a plane.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import torch

from regard.attention.functional import attend
from regard.types import Tensor

Array = np.ndarray
Query = Literal["clean", "noisy"]
HALF_WIDTH = 9.0
"""Standard deviations to each side: what lies beyond has probability 1e-19."""
POINTS = 401


@dataclass(frozen=True, slots=True)
class Noise:
    """A setting: ``m`` keys of size ``d``, variance ``beta`` of their lengths, queries scaled by ``c``."""

    m: int = 8
    d: int = 16
    beta: float = 0.1
    c: float = 20.0

    def score(self, lengths: Array, query: Query) -> Array:
        """Return the score of a key by its length."""
        return self.c / math.sqrt(self.d) * (lengths if query == "clean" else lengths**2)


@dataclass(frozen=True, slots=True)
class Moments:
    """Of the weight of ``v_a``."""

    mean: float
    spread: float
    """Standard deviation."""
    spread_error: float
    """Standard error of the spread when it is estimated from n resamplings, times the root of n."""


def one_query(noise: Noise, query: Query) -> Moments:
    """Integrate the weight of ``v_a`` for ``q = c (mu_a + mu_b)`` or ``q = c (k_a + k_b)``."""
    lengths, density = _grid(noise)
    score = noise.score(lengths, query)
    others = math.log(noise.m - 2) if noise.m > 2 else -math.inf
    total = np.logaddexp(np.logaddexp(score[:, None], score[None, :]), others)
    return _moments(np.exp(score[:, None] - total), density[:, None] * density[None, :])


def two_heads(noise: Noise, query: Query) -> Moments:
    """Integrate the weight of ``v_a`` in ``(a_1 + a_2) / 2`` for one query per key."""
    lengths, density = _grid(noise)
    chosen = np.exp(-np.logaddexp(0, math.log(noise.m - 1) - noise.score(lengths, query)))
    other = (1 - chosen) / (noise.m - 1)  # all the keys that a head does not ask for share the rest equally
    return _moments((chosen[:, None] + other[None, :]) / 2, density[:, None] * density[None, :])


CLOSED_FORMS: dict[str, Callable[[Noise], Moments]] = {
    f"{number} {query}": partial(moments, query=query)
    for number, moments in (("one", one_query), ("two", two_heads))
    for query in ("clean", "noisy")
}


def spreads(noise: Noise, count: int, seed: int) -> dict[str, tuple[float, float]]:
    """Return the spread of the weight of ``v_a`` by construction: closed form, measured."""
    draws = resample(noise, count, seed)
    return {name: (moments(noise).spread, float(draws[name].std())) for name, moments in CLOSED_FORMS.items()}


def resample(noise: Noise, count: int, seed: int) -> dict[str, Array]:
    """Draw the lengths ``count`` times and run the attention itself; weights of ``v_a`` by construction."""
    generator = torch.Generator().manual_seed(seed)
    lengths = 1 + math.sqrt(noise.beta) * torch.randn(count, noise.m, generator=generator, dtype=torch.float64)
    mu = torch.eye(noise.m, noise.d, dtype=torch.float64)

    def weight(direction: Tensor, lengths: Tensor) -> Tensor:
        keys = lengths[:, None] * mu
        return attend(noise.c * direction, keys, keys)[1][0]

    def weights(directions: Tensor) -> Array:
        at_a_time = max(1, 10**7 // (noise.m * noise.d))
        return torch.func.vmap(weight, chunk_size=at_a_time)(directions.expand(count, -1), lengths).numpy()

    a, b, noisy_a, noisy_b = mu[0], mu[1], lengths[:, :1] * mu[0], lengths[:, 1:2] * mu[1]
    return {
        "lambda": lengths[:, 0].numpy(),
        "one clean": weights(a + b),
        "one noisy": weights(noisy_a + noisy_b),
        "two clean": (weights(a) + weights(b)) / 2,
        "two noisy": (weights(noisy_a) + weights(noisy_b)) / 2,
        "two difference": (weights(a + b) + weights(a - b)) / 2,
    }


def spread_ratio(one: Array, two: Array) -> tuple[float, float]:
    """Return the ratio of two measured spreads and its standard error (delta method, both from the same draws)."""
    ratio = float(one.std() / two.std())
    influence = [(x - x.mean()) ** 2 / (2 * x.var()) for x in (one, two)]
    return ratio, ratio * float((influence[0] - influence[1]).std()) / math.sqrt(len(one))


def _grid(noise: Noise) -> tuple[Array, Array]:
    # Equal steps: for smooth functions under a Gaussian the plain sum converges exponentially, steep sigmoids included.
    z = np.linspace(-HALF_WIDTH, HALF_WIDTH, POINTS)
    density = np.exp(-(z**2) / 2)
    return 1 + math.sqrt(noise.beta) * z, density / density.sum()


def _moments(weight: Array, density: Array) -> Moments:
    mean = float((weight * density).sum())
    deviation = weight - mean
    variance = float((deviation**2 * density).sum())
    fourth = float((deviation**4 * density).sum())
    spread = math.sqrt(variance)
    return Moments(mean, spread, math.sqrt(max(fourth - variance**2, 0.0)) / (2 * spread))
