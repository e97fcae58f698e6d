"""All that a search may know of a model."""

from typing import Any, Protocol, TypeVar, runtime_checkable

from regard.models.seq2seq import Step
from regard.types import Bool, Float, Int, Tensor

State = tuple[Any, ...]
"""What a decoder remembers: tensors with one row per hypothesis in their first dimension, or tuples of such."""

Same = TypeVar("Same")


@runtime_checkable
class Encoded(Protocol):
    """Encoded sentences, of which a search reads the lengths only."""

    @property
    def is_token(self) -> Bool[Tensor, "B S"]:
        """True on real tokens."""

    def select(self: Same, rows: Int[Tensor, " R"]) -> Same:
        """Return the given rows, in the given order; a row may be asked for more than once."""


E = TypeVar("E", bound=Encoded)
E_contra = TypeVar("E_contra", bound=Encoded, contravariant=True)


@runtime_checkable
class Stepper(Protocol[E_contra]):
    """A model that can be asked for the next token. Rows never influence one another."""

    def start(self, source: E_contra) -> State:
        """Return the state before the first token, one row per row of the source."""

    def step(
        self,
        token: Int[Tensor, " R"],
        state: State,
        source: E_contra,
        imposed: Float[Tensor, "R N S"] | None = None,
    ) -> Step:
        """Read one token per row and say what may come next; ``imposed`` replaces attention where it is not NaN."""


def select(state: State, rows: Int[Tensor, " R"]) -> State:
    """Return the given rows of a state, in the given order."""
    return tuple(select(part, rows) if isinstance(part, tuple) else part.index_select(0, rows) for part in state)
