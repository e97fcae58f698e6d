"""The four assignments: how a class is built and called, what it returns, what its score and its value should be."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from torch import Tensor

from regard.course.grade import Report
from regard.course.probes import judge_additive, judge_dot, judge_projected
from regard.course.student import Shape, Student
from regard.course.values import judge_combined, judge_heads, judge_mean

POINTS = {"interface": 2, "distribution": 3, "score": 4, "scale": 2, "value": 3, "batch": 2, "training": 2, "robust": 2}


@dataclass(frozen=True, slots=True)
class Setting:
    """Sizes, all different so that no mix-up can hide, and concessions made to a class that needs them."""

    batch: int = 4
    length: int = 6
    steps: int = 1
    enc: int = 5
    dec: int = 7
    key: int = 3
    heads: int = 2
    directions: int = 2
    rows: int = 1
    """How many copies of a sentence stand for the sentence alone."""
    is_batch_first: bool = False
    is_without_grad: bool = False
    is_fresh: bool = False
    """Build the class anew before each call."""


@dataclass(frozen=True, slots=True)
class Contract:
    """An assignment. Inside the grader queries are [B, T, H], memory [B, S, M], weights [B, N, T, S]."""

    arguments: Callable[[Setting], list[int]]
    """What the constructor gets."""
    sizes: Callable[[Setting], tuple[int, int]]
    """The sizes of a query and of a memory vector."""
    pack: Callable[[Tensor, Tensor, Setting], list[Tensor]]
    """Lays queries and memory out as the assignment does."""
    shapes: Callable[[Tensor, Tensor], tuple[Shape, Shape]]
    """The shapes of value and weights, given queries and memory."""
    judge_score: Callable[[Student, Report], None]
    judge_value: Callable[[Student, Report], None]
    setting: Setting = field(default_factory=Setting)
    points: dict[str, int] = field(default_factory=POINTS.copy)
    inputs: tuple[str, ...] = ("the decoder state", "the encoder outputs")
    """One where the memory asks itself."""
    has_encoder: bool = False
    """Whether the memory comes from the homework's encoder: sequence first, two directions."""

    def rescues(self) -> Iterator[tuple[str, Setting]]:
        """Name what might be wrong with a class that crashes, each with a setting in which it then runs."""
        s = self.setting
        if self.has_encoder:
            yield "batch-first", replace(s, is_batch_first=True)
        for batch in (128, 64, 32, 16, 8, 2, 1):
            yield "hardcoded-batch", replace(s, batch=batch, rows=batch)
        if self.has_encoder:
            yield "one-direction", replace(s, directions=1)
            yield "swapped", replace(s, dec=2 * s.enc)
            yield "hardcoded-size", replace(s, dec=s.enc)
            yield "hardcoded-size", replace(s, enc=512, dec=512, key=512)


def _judge_single_query(student: Student, report: Report) -> None:
    s = student.setting
    others = {"enc_hid_dim": s.enc, "2 enc_hid_dim": 2 * s.enc, "dec_hid_dim": s.dec}
    judge_projected(student, report, size=s.key, others=others)


def _judge_multi_head(student: Student, report: Report) -> None:
    s = student.setting
    judge_projected(student, report, size=s.enc // s.heads, others={"d_model": s.enc, "heads": s.heads})


SINGLE_QUERY = Contract(
    arguments=lambda s: [s.enc, s.dec, s.key],
    sizes=lambda s: (s.dec, s.directions * s.enc),
    pack=lambda h, e, s: [h[:, 0], e if s.is_batch_first else e.transpose(0, 1)],
    shapes=lambda h, e: ((len(e), e.shape[2]), e.shape[:2]),
    judge_score=_judge_single_query,
    judge_value=judge_mean,
    has_encoder=True,
)
CONTRACTS = {
    "single_query": SINGLE_QUERY,
    "dot_product": Contract(
        arguments=lambda s: [s.enc],
        sizes=lambda s: (s.enc, s.enc),
        pack=lambda h, e, s: [h, e],
        shapes=lambda h, e: (h.shape, (*h.shape[:2], e.shape[1])),
        judge_score=judge_dot,
        judge_value=judge_combined,
        setting=Setting(steps=2),
    ),
    "additive": replace(
        SINGLE_QUERY,
        judge_score=judge_additive,
        points={part: of + 2 * (part == "score") for part, of in POINTS.items() if part != "scale"},
    ),
    "multi_head": Contract(
        arguments=lambda s: [s.enc, s.heads],
        sizes=lambda s: (s.enc, s.enc),
        pack=lambda h, e, s: [e],
        shapes=lambda h, e: (e.shape, (len(e), 2, e.shape[1], e.shape[1])),
        judge_score=_judge_multi_head,
        judge_value=judge_heads,
        setting=Setting(steps=2, enc=6),
        inputs=("the input",),
    ),
}
