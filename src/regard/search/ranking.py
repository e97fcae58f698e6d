"""How ended hypotheses are compared, and how well an open one can still do."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from regard.errors import RegardError
from regard.exact import on_grid
from regard.types import Bool, Float, Int, Tensor

FLOOR = 1e-6
"""Least coverage of a source token: sparse attention may leave one at exactly 0, which has no logarithm."""


def _check_strength(name: str, value: float) -> None:
    if not 0 <= value < float("inf"):
        raise RegardError(f"search.{name}: got {value}, want a number >= 0.")


@runtime_checkable
class Normalisation(Protocol):
    """What a log-probability is divided by. Lengths count EOS; the divisor is positive and never falls with length."""

    def divisor(self, length: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return the divisor for hypotheses of the given lengths."""


@dataclass(frozen=True, slots=True)
class Plain:
    """No normalisation: the probability of the whole sentence, which favours short ones."""

    def divisor(self, length: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return 1."""
        return length.new_ones(length.shape)


@dataclass(frozen=True, slots=True)
class Power:
    """log P / length^alpha; with alpha = 1 the mean log-probability of a token."""

    alpha: float = 0.7
    """Between 0, which favours short sentences, and 1, which favours long ones; docs/log.md has what was measured."""

    def __post_init__(self) -> None:
        _check_strength("alpha", self.alpha)

    def divisor(self, length: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return length^alpha."""
        return length**self.alpha


@dataclass(frozen=True, slots=True)
class Gnmt:
    """log P / ((5 + length) / 6)^alpha (Wu et al. 2016, eq. 14)."""

    alpha: float = 0.6

    def __post_init__(self) -> None:
        _check_strength("alpha", self.alpha)

    def divisor(self, length: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return ((5 + length) / 6)^alpha."""
        return ((5 + length) / 6) ** self.alpha


@dataclass(frozen=True, slots=True)
class Ranking:
    """score = log P / divisor(length) + coverage * sum_i log min(1, attention received by source token i)."""

    normalisation: Normalisation = Power()
    coverage: float = 0.0
    """Strength of the coverage penalty (Wu et al. 2016, beta); heads are averaged, the step of EOS counts."""

    def __post_init__(self) -> None:
        _check_strength("coverage", self.coverage)

    def score(
        self,
        log_prob: Float[Tensor, "B W"],
        length: int,
        *,
        covered: Float[Tensor, "B W S"] | None,
        is_token: Bool[Tensor, "B S"],
    ) -> Float[Tensor, "B W"]:
        """Return the scores of hypotheses of one length; ``covered`` is the attention each source token received."""
        score = log_prob / self.normalisation.divisor(log_prob.new_tensor(float(length)))
        if covered is None:
            return score
        missing = covered.clamp(FLOOR, 1).log().masked_fill(~is_token[:, None], 0)
        return score + self.coverage * on_grid(missing).sum(dim=2).to(score.dtype)

    def bound(self, log_prob: Float[Tensor, "B W"], longest: Int[Tensor, " B"]) -> Float[Tensor, "B W"]:
        """Return a score that no continuation of an open hypothesis can exceed.

        Log-probabilities only fall, and a negative number divided by more is greater: nothing beats staying at the
        present log-probability up to the greatest length. The coverage penalty is at best 0.
        """
        return log_prob / self.normalisation.divisor(longest[:, None].to(log_prob.dtype))


RANKING = Ranking()
