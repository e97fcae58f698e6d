"""What a search may produce: lengths relative to the source, and what is forbidden."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import torch

from regard.data.vocabulary import EOS, PAD, UNK
from regard.errors import RegardError
from regard.types import Bool, Float, Int, Tensor

NEVER = float("-inf")
"""Log-probability of what a rule forbids. What only the model finds impossible stays above it."""
FEW = 64
"""Words among which one that is not forbidden is looked for first."""


@dataclass(frozen=True, slots=True)
class Length:
    """A target length for each sentence: ratio x source tokens + offset. Lengths count EOS."""

    ratio: float = 0.0
    offset: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.ratio < float("inf"):
            raise RegardError(f"search.ratio: got {self.ratio}, want a number >= 0.")

    @classmethod
    def parse(cls, text: str) -> "Length":
        """Read RATIOx+EXTRA, RATIOx or a number of tokens."""
        found = re.fullmatch(r"(?:(?P<ratio>[0-9]{1,6}(?:\.[0-9]+)?)x)?\+?(?P<offset>[0-9]{1,9})?", text)
        if not found or not text:
            raise RegardError(f"got '{text}', want a number of tokens such as 40, or relative to the source: 1.5x+10.")
        return cls(ratio=float(found["ratio"] or 0), offset=int(found["offset"] or 0))

    def is_always_above(self, other: "Length") -> bool:
        """Tell whether this is longer, whatever the source."""
        return self.ratio >= other.ratio and self.offset >= other.offset and self != other

    def of(self, source_lengths: Int[Tensor, " B"]) -> Int[Tensor, " B"]:
        """Return the length for each source, at least 1."""
        product = source_lengths * self.ratio + 1e-4  # 0.7 x 10 is 7, also in binary
        return (product.floor().long() + self.offset).clamp(min=1)


@runtime_checkable
class Constraint(Protocol):
    """Forbids tokens depending on what has been produced so far; EOS is not its business."""

    @property
    def reason(self) -> str:
        """Why, in a word or two, for the search tree."""

    def forbid(self, log_probs: Float[Tensor, "R V"], seen: Int[Tensor, "R L"]) -> None:
        """Set what is forbidden to -inf, in place. ``seen`` holds BOS and the tokens of each row."""


@dataclass(frozen=True, slots=True)
class NoUnknown:
    """Never produces the unknown word."""

    reason: ClassVar[str] = "unknown word"

    def forbid(self, log_probs: Float[Tensor, "R V"], seen: Int[Tensor, "R L"]) -> None:
        """Forbid UNK."""
        log_probs[:, UNK] = NEVER


@dataclass(frozen=True, slots=True)
class NoRepeat:
    """Never produces the same n tokens in a row twice."""

    n: int
    reason: ClassVar[str] = "repeated"

    def __post_init__(self) -> None:
        if self.n < 1:
            raise RegardError(f"search.no_repeat: got {self.n}, want an integer >= 1.")

    def forbid(self, log_probs: Float[Tensor, "R V"], seen: Int[Tensor, "R L"]) -> None:
        """Forbid each token that followed an earlier occurrence of the last n - 1 tokens."""
        if seen.shape[1] < self.n:
            return
        grams = seen.unfold(1, self.n, 1)
        last = seen[:, seen.shape[1] - self.n + 1 :]
        is_repeat = (grams[:, :, :-1] == last[:, None]).all(dim=2)
        # What is no repeat forbids PAD instead, which is always forbidden: one scatter, no loop over rows.
        log_probs.scatter_(1, grams[:, :, -1].masked_fill(~is_repeat, PAD), NEVER)


@dataclass(frozen=True, slots=True)
class Rules:
    """What may be produced. PAD and BOS never are; constraints are asked in the given order.

    The shortest length gives way where the rules leave no other token, and where it exceeds the longest.
    """

    longest: Length = Length(ratio=2.0, offset=10)
    shortest: Length = Length(offset=1)
    constraints: tuple[Constraint, ...] = ()


RULES = Rules()


def forbid_end(log_probs: Float[Tensor, "R V"], is_short: Bool[Tensor, " R"]) -> None:
    """Forbid EOS in the rows that are too short, unless they could say nothing else."""
    end = log_probs[:, EOS].clone()
    log_probs[:, EOS] = end.masked_fill(is_short, NEVER)
    if bool((log_probs[:, -FEW:].amax(dim=1) > NEVER).all()):  # hardly ever is a word forbidden; reading all takes time
        return
    is_stuck = log_probs.amax(dim=1) == NEVER
    log_probs[:, EOS] = torch.where(is_stuck, end, log_probs[:, EOS])


def force(log_probs: Float[Tensor, "R V"], token: Int[Tensor, " R"], log_prob: Float[Tensor, " R"]) -> None:
    """Leave nothing but the given token, at the given log-probability, in each row where it is not PAD."""
    is_forced = token != PAD
    log_probs.masked_fill_(is_forced[:, None], NEVER)
    log_probs.scatter_(1, token[:, None], log_prob.masked_fill(~is_forced, NEVER)[:, None])


def pad(sentences: Sequence[Sequence[int]], device: torch.device) -> Int[Tensor, "B T"]:
    """Return token ids as a rectangle filled up with PAD, at least one for each sentence."""
    width = max((len(sentence) for sentence in sentences), default=0) + 1
    rows = [[*sentence, *[PAD] * (width - len(sentence))] for sentence in sentences]
    return torch.tensor(rows, dtype=torch.long, device=device).view(len(rows), width)
