"""Finds out what a score is from weights alone, whatever the layers are called and however they are stored.

Log weights of one sentence are its scores up to a constant. With basis vectors for state and memory they give the
matrix A of ``score = h A e + u e``; with all weight matrices set to one number a, A is ``a^2 d / tau`` everywhere. This
gives the divisor tau, and how A grows with a says how many learned matrices stand between the two states.
"""

import math

import torch
from torch import Tensor

from regard.course.grade import Report
from regard.course.student import Student

CLOSE = 5e-3
NONLINEAR = {"tanh", "relu", "sigmoid", "gelu", "linalg_vector_norm", "norm", "silu", "elu"}


def recover(student: Student) -> tuple[Tensor, Tensor]:
    """Return A [N, H, M] and u [N, M] of ``score = h A e + u e``."""
    size, memory = student.contract.sizes(student.setting)
    e = torch.cat([torch.zeros(1, memory), torch.eye(memory)])

    def relative(h: Tensor) -> Tensor:
        scores = student.log_weights(h, e)
        return scores[:, 1:] - scores[:, :1]

    u = relative(torch.zeros(size))
    return torch.stack([relative(row) - u for row in torch.eye(size)], dim=1), u


def is_bilinear(student: Student, a: Tensor, u: Tensor) -> bool:
    """Say whether A and u foretell the weights of random sentences."""
    for seed in (31, 32):
        h, e = _draw(student, seed)
        foretold = torch.einsum("h,nhm,sm->ns", h, a, e) + u @ e.T
        if not _same(student.log_weights(h, e).log_softmax(-1), foretold.log_softmax(-1)):
            return False
    return True


def depends_on_neighbours(student: Student) -> bool:
    """Say whether the scores of two words change with a third, as they do when words are scrambled."""
    h, e = _draw(student, 33)
    other = e.clone()
    other[-1] += 1
    before, after = (student.log_weights(h, x)[:, :-1] for x in (e, other))
    return bool(before.isfinite().all()) and not _same(before - before[:, :1], after - after[:, :1])


def judge_projected(student: Student, report: Report, *, size: int, others: dict[str, int]) -> None:
    """Judge a scaled dot product of two learned projections."""
    report.judged |= {"score", "scale"}
    a, u = recover(student)
    if not _is_dot_product(student, report, a, u):
        report.judged.discard("scale")
        return
    rank = int(torch.linalg.matrix_rank(a[0], rtol=1e-3))
    growth = _growth(student, outside=True) if student.describe()["is_plain"] else None
    if growth is None:
        report.remarks.append("The scale could not be measured: the weights are stored in an unusual way.")
        return
    if abs(growth - 4) > 0.05:
        report.judged.discard("scale")
        text = "Doubling all weights changes no score: none of them stands between the two states."
        if abs(growth - 1) < 0.05:
            report.blame("score", "no-projection", text=text)
        else:
            report.blame("score", "half-projection", growth=growth)
        return
    if rank != size and student.takes_key_size:
        report.blame("score", "projection-size", rank=rank, d=size)
    _judge_scale(report, divisor=rank / _constant(student, 1.0, outside=True), d=rank, others=others)


def _is_dot_product(student: Student, report: Report, a: Tensor, u: Tensor) -> bool:
    if not (a.isfinite().all() and u.isfinite().all()):
        report.blame("score", "not-bilinear", evidence="")
    elif depends_on_neighbours(student):
        report.blame("score", "view", text="The score of a word depends on the other words of its sentence.")
    elif not is_bilinear(student, a, u):
        report.blame("score", "not-bilinear", evidence=_evidence(student))
    elif a.abs().max() < CLOSE:
        report.blame("score", "query-ignored")
    else:
        return True
    return False


def _judge_scale(report: Report, *, divisor: float, d: int, others: dict[str, int]) -> None:
    root = math.sqrt(d)
    facts = {"divisor": divisor, "d": d, "root": root, "factor": root / divisor}
    if _is(divisor, root):
        return
    if _is(divisor, 1):
        report.blame("scale", "scale-missing", **facts)
    elif _is(divisor, d):
        report.blame("scale", "scale-by-d", **facts)
    elif _is(divisor, 1 / root):
        report.blame("scale", "scale-inverted", **facts)
    else:
        names = [f" = sqrt({name})" for name, size in others.items() if _is(divisor, math.sqrt(size))]
        names += [f" = {name}" for name, size in others.items() if _is(divisor, size)]
        report.blame("scale", "scale-wrong-size", **facts, which="".join(names[:1]))


def unregistered(student: Student) -> list[str]:
    """Name weights that change the results but that the optimiser would not find."""
    outside: list[str] = student.describe()["outside"]
    if not outside:
        return []
    h, e = student.contract.random(student.setting, seed=35)
    student.fill(seed=2)
    student.fill(outside=False)
    with_others = student.attend(h, e)
    student.fill()
    is_same = all(_same(a, b) for a, b in zip(with_others, student.attend(h, e), strict=True))
    return [] if is_same else sorted(set(outside))


def judge_dot(student: Student, report: Report) -> None:
    """Judge a plain dot product: A is the identity, u is zero, and no scale."""
    report.judged |= {"score", "scale"}
    a, u = recover(student)
    if not _is_dot_product(student, report, a, u):
        report.judged.discard("scale")
        return
    factor = float(a[0].diagonal().mean())
    if not _same(a[0], factor * torch.eye(len(a[0]))) or u.abs().max() > CLOSE:
        report.judged.discard("scale")
        report.blame("score", "projection-unwanted")
    elif not _is(factor, 1):
        report.blame("scale", "scale-unwanted", divisor=1 / factor)


def judge_additive(student: Student, report: Report) -> None:
    """Judge v . tanh(W_1 h + W_2 s): with every weight at a, it is K a tanh(a (sum h + sum e + biases)) + constant."""
    report.judged.add("score")
    if depends_on_neighbours(student):
        report.blame("score", "view", text="The score of a word depends on the other words of its sentence.")
        return
    h, e = _draw(student, 34)
    if _same(student.log_weights(h, e), student.log_weights(h + 1, e)):
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


def _height_of_tanh(student: Student, a: float) -> float | None:
    """Return K a, or None if no number of biases makes the scores follow tanh."""
    query, memory = student.contract.sizes(student.setting)
    sums = torch.linspace(-3, 3, 7)
    e = sums[:, None].expand(-1, memory) / memory
    for biases in range(3):
        heights = []
        for shift in (-1.0, 0.0, 1.5):
            scores = student.log_weights(torch.full((query,), shift / query), e)[0]
            curve = torch.tanh(a * (sums + shift) + a * biases)
            centred, scores = curve - curve.mean(), scores - scores.mean()
            height = float((centred @ scores) / (centred @ centred))
            heights += [height] if _same(height * centred, scores) else []
        if len(heights) == 3 and max(heights) - min(heights) < 0.02 * max(map(abs, heights)):
            return heights[0]
    return None


def _growth(student: Student, *, outside: bool) -> float | None:
    """Return how much larger scores get when all weights double; None if they cannot be set."""
    small, large = (_constant(student, a, outside=outside) for a in (0.5, 1.0))
    student.fill()
    return large / small if abs(small) > 1e-3 and math.isfinite(large) else None


def _constant(student: Student, a: float, *, outside: bool) -> float:
    """Return the entries of A when every matrix is a and every bias 0."""
    student.fill(constant=a, bias=0.0, outside=outside)
    size, memory = student.contract.sizes(student.setting)
    e = torch.zeros(2, memory)
    e[1, 0] = 1
    with_query, without = (student.log_weights(h, e)[0] for h in (torch.eye(size)[0], torch.zeros(size)))
    student.fill()
    return float((with_query[1] - with_query[0]) - (without[1] - without[0]))


def _draw(student: Student, seed: int) -> tuple[Tensor, Tensor]:
    h, e = student.contract.random(student.setting, seed=seed, batch=1)
    return h[0, 0], e[0]


def _evidence(student: Student) -> str:
    h, e = student.contract.random(student.setting, seed=0)
    used = NONLINEAR & set(student.call(h, e, trace=True).trace.get("names", []))
    return f" (it calls {', '.join(sorted(used))})" if used else ""


def _same(a: Tensor, b: Tensor) -> bool:
    return bool((a - b).abs().max() < CLOSE)


def _is(value: float, wanted: float) -> bool:
    return abs(value - wanted) < 0.01 * abs(wanted)
