"""Finds out what a score is from weights alone, whatever the layers are called and however they are stored.

Log weights of one sentence are its scores up to a constant. With unit steps of state and memory they give the matrix A
of ``score = h A e + u e``; with all weight matrices set to one number a, A is ``a^2 d / tau`` everywhere. This gives
the divisor tau, and how A grows with a says how many learned matrices stand between the two states. No input is ever
zero: a class may take a vector of zeros for padding.
"""

import math

import torch
from torch import Tensor

from regard.course.grade import Report
from regard.course.student import Student, near

CLOSE = 5e-3
NONLINEAR = {"tanh", "relu", "sigmoid", "gelu", "linalg_vector_norm", "norm", "silu", "elu"}


def judge_projected(student: Student, report: Report, *, size: int, others: dict[str, int]) -> None:
    """Judge a scaled dot product of two learned projections."""
    found = _bilinear(student, report)
    if found is None:
        return
    rank = int(torch.linalg.matrix_rank(found[0][0], rtol=1e-3))
    small, large = (_constant(student, a) for a in (0.5, 1.0))
    if not student.weights["is_plain"] or abs(small) < 1e-3 or not math.isfinite(large):
        report.judged.add("scale")
        report.remarks.append("The scale could not be measured: the weights are stored in an unusual way.")
        return
    growth = large / small
    if abs(growth - 1) < 0.05:
        text = "Doubling all weights changes no score: none of them stands between the two states."
        report.blame("score", "no-projection", text=text)
    elif abs(growth - 4) > 0.05:
        report.blame("score", "half-projection", growth=growth)
    else:
        if rank != size and student.takes_key_size:
            report.blame("score", "projection-size", rank=rank, d=size)
        _judge_scale(report, divisor=rank / large, d=rank, others=others)


def _judge_scale(report: Report, *, divisor: float, d: int, others: dict[str, int]) -> None:
    root = math.sqrt(d)
    divisor = _without_sign(report, divisor)
    codes = {root: "", 1.0: "scale-missing", float(d): "scale-by-d", 1 / root: "scale-inverted"}
    code = next((code for wanted, code in codes.items() if _is(divisor, wanted)), "scale-wrong-size")
    names = [f" = sqrt({name})" for name, size in others.items() if _is(divisor, math.sqrt(size))]
    names += [f" = {name}" for name, size in others.items() if _is(divisor, size)]
    if code:
        which = "".join(names[:1])
        report.blame("scale", code, divisor=divisor, d=d, root=root, factor=root / divisor, which=which)


def _without_sign(report: Report, factor: float) -> float:
    report.judged.add("scale")
    if factor < 0:
        report.blame("scale", "wrong-sign")
    return abs(factor)


def judge_dot(student: Student, report: Report) -> None:
    """Judge a plain dot product: A is the identity, u is zero, and no scale."""
    found = _bilinear(student, report)
    if found is None:
        return
    a, u = found[0][0], found[1]
    factor = float(a.diagonal().mean())
    if not near(a, factor * torch.eye(len(a)), CLOSE) or u.abs().max() > CLOSE:
        report.blame("score", "projection-unwanted")
        return
    factor = _without_sign(report, factor)
    if not _is(factor, 1):
        report.blame("scale", "scale-unwanted", divisor=1 / factor)


def judge_additive(student: Student, report: Report) -> None:
    """Judge v . tanh(W_1 h + W_2 s): with every weight at a, it is K a tanh(a (sum h + sum e + biases)) + constant."""
    h, e = _draw(student, 34)
    if _is_scrambled(student, report):
        return
    if near(student.log_weights(h, e), student.log_weights(h + 1, e), CLOSE):
        report.blame("score", "query-ignored")
        return
    heights = []
    for a in (0.3, 0.6):
        student.fill(constant=a, bias=a)
        heights.append(_height_of_tanh(student, a))
    student.fill()
    if None in heights:
        report.blame("score", "not-additive", evidence=_evidence(student))
    elif heights[0] and heights[1] and abs(heights[1] / heights[0] - 2) > 0.1:
        report.blame("score", "no-v", growth=heights[1] / heights[0])


def _bilinear(student: Student, report: Report) -> tuple[Tensor, Tensor] | None:
    """Return A [N, H, M] and u [N, M] of ``score = h A e + u e``; blame a score that is nothing of the kind."""
    query, word = _origin(student)
    rises = _rises(student, torch.cat([query[None], query + torch.eye(len(query))]))
    a = rises[:, 1:] - rises[:, :1]
    u = rises[:, 0] - query @ a
    drawn = [_draw(student, seed) for seed in (31, 32)]
    seen = torch.cat([_centred(student.log_weights(h, e)) for h, e in drawn], -1)
    foretold = torch.cat([_centred(torch.einsum("h,nhm,sm->ns", h, a, e) + u @ e.T) for h, e in drawn], -1)
    factor = float((seen * foretold).sum() / (foretold**2).sum())
    if not rises.isfinite().all():
        report.blame("score", "not-bilinear", evidence="")
    elif _is_scrambled(student, report):
        pass
    elif near(seen, foretold, CLOSE) and a.abs().max() > CLOSE:
        return a, u
    elif near(seen, foretold, CLOSE):
        if not report.has("leak"):  # a sentence alone may have nothing left to compare
            report.blame("score", "query-ignored")
    elif near(seen, factor * foretold, CLOSE):
        report.blame("scale", "scale-by-length", factor=factor, short=len(drawn[0][1]), long=len(word) + 1)
    else:
        report.blame("score", "not-bilinear", evidence=_evidence(student))
    return None


def _rises(student: Student, queries: Tensor) -> Tensor:
    """Return how a word's score rises with a unit step along each of its features: [N, Q, M] for queries [Q, H]."""
    _, word = _origin(student)
    words = torch.cat([word[None], word + torch.eye(len(word))])
    scores = torch.stack([student.log_weights(h, words) for h in queries], dim=1)
    return scores[:, :, 1:] - scores[:, :, :1]


def _is_scrambled(student: Student, report: Report) -> bool:
    """Blame scores of two words that change with a third, as they do when words are scrambled."""
    h, e = _draw(student, 33)
    other = e.clone()
    other[-1] += 1
    before, after = (student.log_weights(h, x)[:, :-1] for x in (e, other))
    if not before.isfinite().all() or near(before - before[:, :1], after - after[:, :1], CLOSE):
        return False
    report.blame("score", "view", text="The score of a word depends on the other words of its sentence.")
    return True


def _height_of_tanh(student: Student, a: float) -> float | None:
    """Return K a, or None if no number of biases makes the scores follow tanh."""
    query, memory = student.contract.sizes(student.setting)
    sums = torch.linspace(-3, 3, 8)
    e = sums[:, None].expand(-1, memory) / memory
    for biases in range(3):
        heights = []
        for shift in (-1.0, 0.5, 1.5):
            scores = _centred(student.log_weights(torch.full((query,), shift / query), e)[0])
            curve = _centred(torch.tanh(a * (sums + shift) + a * biases))
            height = float((curve @ scores) / (curve @ curve))
            heights += [height] if near(height * curve, scores, CLOSE) else []
        if len(heights) == 3 and max(heights) - min(heights) < 0.02 * max(map(abs, heights)):
            return heights[0]
    return None


def _constant(student: Student, a: float) -> float:
    """Return the entries of A when every matrix is a and every bias 0."""
    student.fill(constant=a)
    query, _ = _origin(student)
    before, after = _rises(student, torch.stack([query, query + torch.eye(len(query))[0]]))[0, :, 0]
    student.fill()
    return float(after - before)


def _draw(student: Student, seed: int) -> tuple[Tensor, Tensor]:
    h, e = student.draw(seed=seed, batch=1)
    return h[0, 0], e[0]


def _origin(student: Student) -> tuple[Tensor, Tensor]:
    """Return a state and a word to take steps from: not zero, but so near that a step decides."""
    h, e = _draw(student, 30)
    return h / len(h), e[0] / len(e[0])


def _evidence(student: Student) -> str:
    h, e = student.draw(seed=0)
    used = NONLINEAR & set(student.call(h, e, trace=True).trace["names"])
    return f" (it calls {', '.join(sorted(used))})" if used else ""


def _centred(scores: Tensor) -> Tensor:
    return scores - scores.mean(-1, keepdim=True)


def _is(value: float, wanted: float) -> bool:
    return abs(value - wanted) < 0.01 * abs(wanted)
