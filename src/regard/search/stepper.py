"""All that a search may know of a model."""

from dataclasses import dataclass
from typing import Protocol

from regard.attention.base import Source
from regard.types import Float, Int, Tensor

State = tuple[Tensor, ...]
"""What a decoder remembers; every tensor has one row per hypothesis in its first dimension."""


@dataclass(frozen=True, slots=True)
class Step:
    """The outcome of reading one token in every row."""

    log_probs: Float[Tensor, "R V"]
    """Natural logarithms of the next token's probabilities."""
    weights: Float[Tensor, "R N S"]
    """Attention of this step, one row per head."""
    state: State


class Stepper(Protocol):
    """A model that can be asked for the next token. Rows never influence one another."""

    def start(self, source: Source) -> State:
        """Return the state before the first token, one row per row of the source."""
        ...

    def step(self, token: Int[Tensor, " R"], state: State, source: Source) -> Step:
        """Read one token per row and say what may come next."""
        ...


def select(state: State, rows: Int[Tensor, " R"]) -> State:
    """Return the given rows of a state, in the given order."""
    return tuple(tensor.index_select(0, rows) for tensor in state)
