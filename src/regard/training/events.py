"""What happens in a training, for whoever shows it, stores it or draws it."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened; ``kind`` names it in the log."""

    kind: ClassVar[str]

    def record(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {"event": self.kind, **asdict(self)}


@dataclass(frozen=True, slots=True)
class Began(Event):
    """Training begins, or goes on after an interruption."""

    kind: ClassVar[str] = "began"
    step: int
    epoch: int
    parameters: int
    training_pairs: int
    left_out: int
    """Training pairs that were empty or too long."""
    steps_per_epoch: int
    device: str
    precision: str
    threads: int


@dataclass(frozen=True, slots=True)
class Stepped(Event):
    """One step was taken."""

    kind: ClassVar[str] = "step"
    step: int
    epoch: int
    progress: float
    """Share of the training that is done, 0 to 1."""
    nats_per_token: float
    learning_rate: float
    target_tokens: int
    tokens_per_second: float
    """Target tokens a second in this epoch so far."""
    seconds: float
    """Time since training began, interruptions not counted."""


@dataclass(frozen=True, slots=True)
class EpochEnded(Event):
    """All training pairs were seen once more, and the model was validated."""

    kind: ClassVar[str] = "epoch"
    epoch: int
    step: int
    train_nats_per_token: float
    validation_nats_per_token: float
    is_best: bool
    learning_rate: float
    tokens_per_second: float
    """Target tokens a second in this epoch, without the validation."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Ended(Event):
    """Training is over, for now or for good."""

    kind: ClassVar[str] = "ended"
    reason: str
    """finished, patience, interrupted or diverged."""
    epoch: int
    """The epoch it ended in."""
    step: int
    seconds: float
