"""The four assignments: how a class is built and called, what it returns, what its score and its value should be."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from regard.course.grade import Report
from regard.course.probes import fit, judge_additive, judge_dot, judge_projected
from regard.course.student import CLOSE, Student, near

POINTS = {"interface": 2, "distribution": 3, "score": 4, "scale": 2, "value": 3, "batch": 2, "training": 2, "robust": 2}


@dataclass(frozen=True, slots=True)
class Setting:
    """Sizes, all different so that no mix-up can hide, and concessions made to a class that needs them."""

    batch: int = 4
    length: int = 6
    steps: int = 2
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


class Contract(ABC):
    """An assignment. Inside the grader queries are [B, T, H], memory [B, S, M], weights [B, N, T, S]."""

    points: ClassVar = POINTS
    setting = Setting()
    inputs: tuple[str, ...] = ("the decoder state", "the encoder outputs")

    @abstractmethod
    def arguments(self, s: Setting) -> list[int]:
        """Return what the constructor gets."""

    @abstractmethod
    def sizes(self, s: Setting) -> tuple[int, int]:
        """Return the sizes of a query and of a memory vector."""

    @abstractmethod
    def pack(self, h: Tensor, e: Tensor, s: Setting) -> list[Tensor]:
        """Lay queries and memory out as the assignment does."""

    @abstractmethod
    def shapes(self, h: Tensor, e: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the shapes of value and weights that the assignment asks for."""

    @abstractmethod
    def canonical(self, value: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return value [B, T, C] and weights [B, N, T, S]."""

    @abstractmethod
    def judge_score(self, student: Student, report: Report) -> None:
        """Judge the parts "score" and "scale"."""

    @abstractmethod
    def judge_value(self, student: Student, report: Report) -> None:
        """Judge the part "value"."""

    def rescues(self, s: Setting) -> Iterator[tuple[str, Setting]]:
        """Name what might be wrong with a class that crashes, each with a setting in which it then runs."""
        for batch in (128, 64, 32, 16, 8, 2, 1):
            yield "hardcoded-batch", replace(s, batch=batch, rows=batch)

    def alone(self, h: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
        """Return queries and memory of a batch of one sentence with the query [H] in front."""
        return h.view(1, 1, -1), e.unsqueeze(0)

    def of_first_query(self, weights: Tensor) -> Tensor:
        """Return the weights [N, S] of the query that `alone` put in front."""
        return weights[0, :, 0]

    def random(
        self, s: Setting, *, seed: int, batch: int | None = None, length: int | None = None
    ) -> tuple[Tensor, Tensor]:
        """Draw queries and memory."""
        generator = torch.Generator().manual_seed(seed)
        query, memory = self.sizes(s)
        e = torch.randn(batch or s.batch, length or s.length, memory, generator=generator)
        return torch.randn(batch or s.batch, s.steps, query, generator=generator), e


class SingleQuery(Contract):
    """``Class(enc_hid_dim, dec_hid_dim, kq_dim)(hidden [B, dec], encoder_outputs [S, B, 2 enc])`` of the homework."""

    setting = Setting(steps=1)

    def arguments(self, s: Setting) -> list[int]:
        """Return enc_hid_dim, dec_hid_dim, kq_dim."""
        return [s.enc, s.dec, s.key]

    def sizes(self, s: Setting) -> tuple[int, int]:
        """Return the size of the decoder state and of a bidirectional encoder output."""
        return s.dec, s.directions * s.enc

    def pack(self, h: Tensor, e: Tensor, s: Setting) -> list[Tensor]:
        """Return hidden [B, dec] and encoder_outputs [S, B, 2 enc]."""
        return [h[:, 0], e if s.is_batch_first else e.transpose(0, 1)]

    def shapes(self, h: Tensor, e: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return [B, 2 enc] and [B, S]."""
        return (len(e), e.shape[2]), (len(e), e.shape[1])

    def canonical(self, value: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Add the axes for one query and one head."""
        return value[:, None], weights[:, None, None]

    def rescues(self, s: Setting) -> Iterator[tuple[str, Setting]]:
        """Try what students of this homework get wrong."""
        yield "batch-first", replace(s, is_batch_first=True)
        yield from super().rescues(s)
        yield "one-direction", replace(s, directions=1)
        yield "swapped", replace(s, dec=2 * s.enc)
        yield "hardcoded-size", replace(s, dec=s.enc)
        yield "hardcoded-size", replace(s, enc=512, dec=512, key=512)

    def judge_score(self, student: Student, report: Report) -> None:
        """Two learned projections to kq_dim, a dot product, 1 / sqrt(kq_dim)."""
        sizes = {"enc_hid_dim": student.setting.enc, "2 enc_hid_dim": 2 * student.setting.enc}
        judge_projected(student, report, size=student.setting.key, others=sizes | {"dec_hid_dim": student.setting.dec})

    def judge_value(self, student: Student, report: Report) -> None:
        """The weighted mean of the encoder outputs."""
        judge_mean(student, report)


class Additive(SingleQuery):
    """``Class(enc_hid_dim, dec_hid_dim, attn_dim)``, called like `SingleQuery`; score v . tanh(W_1 h + W_2 s)."""

    points: ClassVar = {part: of + 2 * (part == "score") for part, of in POINTS.items() if part != "scale"}

    def judge_score(self, student: Student, report: Report) -> None:
        """v . tanh(W_1 h + W_2 s)."""
        judge_additive(student, report)


class DotProduct(Contract):
    """``Class(hidden_size)(query [B, T, H], context [B, S, H])`` of the practical: no scale, tanh(W_c [c ; s])."""

    def arguments(self, s: Setting) -> list[int]:
        """Return hidden_size."""
        return [s.enc]

    def sizes(self, s: Setting) -> tuple[int, int]:
        """Return the one size there is."""
        return s.enc, s.enc

    def pack(self, h: Tensor, e: Tensor, s: Setting) -> list[Tensor]:
        """Return query and context as they are."""
        return [h, e]

    def shapes(self, h: Tensor, e: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return [B, T, H] and [B, T, S]."""
        return tuple(h.shape), (*h.shape[:2], e.shape[1])

    def canonical(self, value: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Add the axis for one head."""
        return value, weights[:, None]

    def judge_score(self, student: Student, report: Report) -> None:
        """The plain dot product of the states."""
        judge_dot(student, report)

    def judge_value(self, student: Student, report: Report) -> None:
        """tanh(W_c [c ; s]) for some W_c."""
        inputs, outputs = _samples(student, scale=0.2)  # far from where tanh is flat
        memory = inputs[:, student.setting.enc :]
        report.judged.add("value")
        error = fit(inputs, outputs.clamp(-1 + 1e-6, 1 - 1e-6).atanh())
        if outputs.abs().max() <= 1 and error < CLOSE:
            return
        without_tanh = fit(inputs, outputs) < CLOSE
        without_state = fit(memory, outputs.clamp(-1 + 1e-6, 1 - 1e-6).atanh()) < CLOSE
        evidence = "; without tanh one would" if without_tanh else "; without s_t one would" if without_state else ""
        report.blame("value", "output-wrong", formula="tanh(W_c [c ; s])", error=error, evidence=evidence)


class MultiHead(Contract):
    """``Class(d_model, heads)(x [B, S, D])`` returns z [B, S, D] and the weights [B, heads, S, S] of self-attention."""

    setting = Setting(enc=6)
    inputs = ("the input",)

    def arguments(self, s: Setting) -> list[int]:
        """Return d_model and heads."""
        return [s.enc, s.heads]

    def sizes(self, s: Setting) -> tuple[int, int]:
        """Return the one size there is."""
        return s.enc, s.enc

    def pack(self, h: Tensor, e: Tensor, s: Setting) -> list[Tensor]:
        """Return the memory: it asks itself."""
        return [e]

    def shapes(self, h: Tensor, e: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return [B, S, D] and [B, heads, S, S]."""
        return tuple(e.shape), (len(e), self.setting.heads, e.shape[1], e.shape[1])

    def canonical(self, value: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return both as they are."""
        return value, weights

    def alone(self, h: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
        """Put the query at the first position of the sentence."""
        x = torch.cat([h[None], e])[None]
        return x, x

    def of_first_query(self, weights: Tensor) -> Tensor:
        """Leave out the weight of the query's own position."""
        return weights[0, :, 0, 1:]

    def judge_score(self, student: Student, report: Report) -> None:
        """A dot product of learned projections in each head, over the root of the head's size."""
        s = student.setting
        judge_projected(student, report, size=s.enc // s.heads, others={"d_model": s.enc, "heads": s.heads})

    def judge_value(self, student: Student, report: Report) -> None:
        """[Z^1, ..., Z^N] W_O for some projections."""
        inputs, outputs = _samples(student)
        report.judged.add("value")
        formula, error = "[Z^1, ..., Z^N] W_O", fit(inputs[:, student.setting.enc :], outputs)
        if error > CLOSE and self._is_scrambled(student):
            text = "The outputs are made of other positions: the heads were joined in memory order."
            report.blame("value", "view", text=text)
        elif error > CLOSE:
            report.blame("value", "output-wrong", formula=formula, error=error, evidence="")
        elif self._growth(student) < 3:
            report.blame("value", "output-missing", formula=formula, growth=self._growth(student))

    def _is_scrambled(self, student: Student) -> bool:
        """Say whether [B, N, S, size] was joined without exchanging N and S; then the first rows are all of head 1."""
        rows, outputs = [], []
        for seed in range(50, 70):
            x = self.random(student.setting, seed=seed)[1]
            value, weights = student.attend(x, x)
            first = x.shape[1] // student.setting.heads
            rows.append((weights[:, 0] @ x)[:, : first * student.setting.heads].reshape(len(x) * first, -1))
            outputs.append(value[:, :first].flatten(0, 1))
        return fit(torch.cat(rows), torch.cat(outputs)) < CLOSE

    def _growth(self, student: Student) -> float:
        """Return how the output grows when all weights double: 4 times with projections W_V and W_O."""
        same_words = torch.ones(1, student.setting.length, student.setting.enc)
        sizes = []
        for a in (0.5, 1.0):
            student.fill(constant=a)
            sizes.append(float(student.attend(same_words, same_words)[0].abs().max()))
        student.fill()
        return sizes[1] / max(sizes[0], 1e-9)


CONTRACTS: dict[str, Contract] = {
    "single_query": SingleQuery(),
    "dot_product": DotProduct(),
    "additive": Additive(),
    "multi_head": MultiHead(),
}


def judge_mean(student: Student, report: Report) -> None:
    """Judge a value that should be the mean of the memory with the student's own weights."""
    report.judged.add("value")
    h, e = student.contract.random(student.setting, seed=11)
    value, weights = student.attend(h, e)
    value, mean = value[:, 0], (weights[:, 0] @ e)[:, 0]
    if near(value, mean):
        return
    if near(value, (weights[:, 0] @ e.transpose(0, 1).reshape(e.shape))[:, 0]):
        text = "The value is made of words of other sentences: those that view(batch, src_len, -1) finds."
        report.blame("value", "view", text=text)
    elif near(value, e.mean(1)) or near(value, e.sum(1)):
        report.blame("value", "value-ignores-weights", which="mean" if near(value, e.mean(1)) else "sum")
    else:
        _judge_other_value(student, report, value, mean)


def _judge_other_value(student: Student, report: Report, value: Tensor, mean: Tensor) -> None:
    inputs, outputs = _samples(student)
    got, wanted = list(value.shape), list(mean.shape)
    if fit(inputs[:, student.setting.dec :], outputs) < CLOSE:
        size = f"; it has {got[1]} features instead of {wanted[1]}" if got != wanted else ""
        report.blame("value", "values-projected", size=size)
    elif got != wanted:
        report.blame("interface", "wrong-shape", what="The value", got=got, wanted=wanted)
    else:
        report.blame("value", "value-wrong", error=float((value - mean).abs().max()))


def _samples(student: Student, *, scale: float = 1.0) -> tuple[Tensor, Tensor]:
    """Return many rows of query, weighted memories and sums of weights (one per head), and the outputs they led to."""
    rows, outputs = [], []
    for seed in range(20, 20 + math.ceil(64 / student.setting.batch)):
        h, e = (scale * x for x in student.contract.random(student.setting, seed=seed))
        value, weights = student.attend(h, e)
        read = (weights @ e[:, None]).transpose(1, 2).flatten(2)  # [B, T, N M]
        queries = h if h.shape[1] == read.shape[1] else e
        rows.append(torch.cat([queries, read, weights.sum(-1).transpose(1, 2)], -1).flatten(0, 1))
        outputs.append(value.flatten(0, 1))
    return torch.cat(rows), torch.cat(outputs)
