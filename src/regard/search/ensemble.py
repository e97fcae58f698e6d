"""Several models that speak as one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Generic

import torch

from regard.errors import RegardError
from regard.models.seq2seq import Step
from regard.search.stepper import E, State, Stepper
from regard.types import Bool, Float, Int, Tensor


@dataclass(frozen=True, slots=True)
class Sources(Generic[E]):
    """The same sentences as each model encoded them."""

    parts: tuple[E, ...]

    @property
    def is_token(self) -> Bool[Tensor, "B S"]:
        """True on real tokens, as the first model sees them."""
        return self.parts[0].is_token

    def select(self, rows: Int[Tensor, " R"]) -> "Sources[E]":
        """Return the given rows, in the given order."""
        return Sources(tuple(part.select(rows) for part in self.parts))


class Ensemble(Generic[E]):
    """A stepper that gives the mean probability of several models with the same target vocabulary.

    Attention is the mean over the models, or the first one's where shapes differ.
    """

    def __init__(self, models: Sequence[Stepper[E]]) -> None:
        if not models:
            raise RegardError("ensemble: got no models, want at least 1.")
        self.models = tuple(models)

    def start(self, source: Sources[E]) -> State:
        """Return the states of all models before the first token."""
        return tuple(model.start(part) for model, part in zip(self.models, source.parts, strict=True))

    def step(
        self,
        token: Int[Tensor, " R"],
        state: State,
        source: Sources[E],
        imposed: Float[Tensor, "R N S"] | None = None,
    ) -> Step:
        """Read one token per row in every model and average what they say."""
        members = zip(self.models, state, source.parts, strict=True)
        steps = [model.step(token, own, part, imposed) for model, own, part in members]
        sizes = [step.log_probs.shape[1] for step in steps]
        if len(set(sizes)) > 1:
            got = " and ".join(map(str, sizes))
            raise RegardError(f"ensemble: got vocabularies of {got} words, want the same vocabulary in every run.")
        log_probs = mean_log_probs([step.log_probs for step in steps])
        return Step(log_probs, mean_weights([step.weights for step in steps]), tuple(step.state for step in steps))


def mean_log_probs(log_probs: Sequence[Float[Tensor, "*shape"]]) -> Float[Tensor, "*shape"]:
    """Return the logarithm of the mean of probabilities, added up one after the other: torch's order may differ."""
    if len(log_probs) == 1:
        return log_probs[0]
    largest = reduce(torch.maximum, log_probs)
    largest = largest.masked_fill(largest == -math.inf, 0.0)
    total = reduce(torch.add, ((each - largest).exp() for each in log_probs))
    return largest + total.log() - math.log(len(log_probs))


def mean_weights(weights: Sequence[Tensor]) -> Tensor:
    """Return the mean attention, or the first one's where the numbers of heads differ."""
    is_alike = all(other.shape == weights[0].shape for other in weights)
    return reduce(torch.add, weights) / len(weights) if is_alike else weights[0]
