"""Finds out how a result was made from the student's own weights."""

import math

import torch
from torch import Tensor

from regard.course.grade import Report
from regard.course.student import CLOSE, Student, near


def judge_mean(student: Student, report: Report) -> None:
    """Judge a value that should be the mean of the memory with the student's own weights."""
    h, e = student.draw(seed=11)
    value, weights = student.attend(h, e)
    value, mean = value[:, 0], (weights[:, 0] @ e)[:, 0]
    got, wanted = list(value.shape), list(mean.shape)
    factor = float((value * mean).sum() / (mean**2).sum()) if got == wanted else 0.0
    if near(value, mean):
        return
    if near(value, (weights[:, 0] @ e.transpose(0, 1).reshape(e.shape))[:, 0]):
        text = "The value is made of words of other sentences: those that view(batch, src_len, -1) finds."
        report.blame("value", "view", text=text)
    elif near(value, e.mean(1)) or near(value, e.sum(1)):
        report.blame("value", "value-ignores-weights", which="mean" if near(value, e.mean(1)) else "sum")
    elif near(value, factor * mean):
        report.blame("value", "value-scaled", factor=factor)
    elif _left(*_samples(student, skip=student.setting.dec)) < CLOSE:
        size = f"; it has {got[1]} features instead of {wanted[1]}" if got != wanted else ""
        report.blame("value", "values-projected", size=size)
    elif got != wanted:
        report.blame("interface", "wrong-shape", what="The value", got=got, wanted=wanted)
    else:
        report.blame("value", "value-wrong", error=float((value - mean).abs().max()))


def judge_combined(student: Student, report: Report) -> None:
    """Judge a value that should be tanh(W_c [c ; s]) for some W_c."""
    inputs, outputs = _samples(student, scale=0.2)  # far from where tanh is flat
    before, size = outputs.clamp(-1 + 1e-6, 1 - 1e-6).atanh(), student.setting.enc
    error = _left(inputs, before)
    is_right = outputs.abs().max() <= 1 and error < CLOSE
    others = {"s_t": (inputs[:, size:], before), "c_t": (inputs[:, :size], before)}
    if not is_right:
        others["tanh"] = (inputs, outputs)
    missing = [name for name, (x, y) in others.items() if _left(x, y) < CLOSE]
    if missing or not is_right:
        text = (
            f"A matrix makes it so without {missing[0]}" if missing else f"No matrix makes it so: {error:.3f} is left"
        )
        report.blame("value", "output-wrong", formula="tanh(W_c [c ; s])", text=text)


def judge_heads(student: Student, report: Report) -> None:
    """Judge a value that should be [Z^1, ..., Z^N] W_O for some projections."""
    formula, error = "[Z^1, ..., Z^N] W_O", _left(*_samples(student, skip=student.setting.enc))
    if error > CLOSE and _is_scrambled(student):
        text = "The outputs are made of other positions: the heads were joined in memory order."
        report.blame("value", "view", text=text)
    elif error > CLOSE:
        report.blame("value", "output-wrong", formula=formula, text=f"No matrix makes it so: {error:.3f} is left")
    elif (growth := _growth(student)) < 3:
        report.blame("value", "output-missing", formula=formula, growth=growth)


def _is_scrambled(student: Student) -> bool:
    """Say whether [B, N, S, size] was joined without exchanging N and S; then the first rows are all of head 1."""
    rows, outputs = [], []
    for seed in range(50, 70):
        _, x = student.draw(seed=seed)
        value, weights = student.attend(x, x)
        first = x.shape[1] // student.setting.heads
        rows.append((weights[:, 0] @ x)[:, : first * student.setting.heads].reshape(len(x) * first, -1))
        outputs.append(value[:, :first].flatten(0, 1))
    return _left(torch.cat(rows), torch.cat(outputs)) < CLOSE


def _growth(student: Student) -> float:
    """Return how the output grows when all weights double: 4 times with projections W_V and W_O."""
    same_words = torch.ones(1, student.setting.length, student.setting.enc)
    sizes = []
    for a in (0.5, 1.0):
        student.fill(constant=a)
        sizes.append(float(student.attend(same_words, same_words)[0].abs().max()))
    student.fill()
    return sizes[1] / max(sizes[0], 1e-9)


def _samples(student: Student, *, scale: float = 1.0, skip: int = 0) -> tuple[Tensor, Tensor]:
    """Return many rows of query, weighted memories and sums of weights (one per head), and the outputs they led to.

    The first ``skip`` numbers of each row, which are those of the query, are left out.
    """
    rows, outputs = [], []
    for seed in range(20, 20 + math.ceil(64 / student.setting.batch)):
        h, e = (scale * x for x in student.draw(seed=seed))
        value, weights = student.attend(h, e)
        read = (weights @ e[:, None]).transpose(1, 2).flatten(2)  # [B, T, N M]
        queries = h if h.shape[1] == read.shape[1] else e
        rows.append(torch.cat([queries, read, weights.sum(-1).transpose(1, 2)], -1).flatten(0, 1)[:, skip:])
        outputs.append(value.flatten(0, 1))
    return torch.cat(rows), torch.cat(outputs)


def _left(x: Tensor, y: Tensor) -> float:
    """Return what is left of y, at most, when the best linear function of x is taken away."""
    x = torch.cat([x, torch.ones(len(x), 1)], dim=1).double()
    solution = torch.linalg.lstsq(x, y.double(), driver="gelsd").solution
    return float((x @ solution - y).abs().max())
