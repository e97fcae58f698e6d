"""Tries a student's class from the outside and names its mistakes by their symptoms, causes before consequences."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

import torch
from torch import Tensor

from regard.course.batches import judge_batches
from regard.course.grade import Report
from regard.course.sandbox import Stopped
from regard.course.student import Answer, Layout, Raised, Shape, Student, Unfit, near, same
from regard.course.training import judge_training
from regard.course.wire import Message

LARGE = 1000.0
DEVICE = re.compile(r"cuda|nvidia|\bmps\b|\bxpu\b", re.IGNORECASE)
PART_OF_RESCUE = {"hardcoded-batch": "batch", "swapped": "score", "no-projection": "score"}


class Finished(Exception):
    """Nothing more can be judged."""


def judge(student: Student, report: Report, takes: Message) -> None:
    """Judge every part that can be judged; ``takes`` says how many arguments the class takes."""
    with suppress(Finished):
        _read_shapes(student, report, _open(student, report, takes))
        _judge_all(student, report)


def _judge_all(student: Student, report: Report) -> None:
    contract = student.contract
    has_weights = False
    with _part(report, "robust"):
        _judge_steadiness(student, report)
    with _part(report, "distribution"):
        has_weights = _judge_distribution(student, report)
        one, two = (student.attend(*student.draw(seed=seed))[1] for seed in (1, 2))
        if near(one, two) and not near(one, torch.ones_like(one)):
            report.blame("score", "constant")
            return
    with _part(report, "batch"):
        judge_batches(student, report)
    if has_weights:
        with _part(report, "score"):
            contract.judge_score(student, report)
    if not report.has("view", "leak"):
        with _part(report, "value"):
            contract.judge_value(student, report)
    with _part(report, "training"):
        judge_training(student, report)
    with _part(report, "robust"):
        _judge_large(student, report, has_weights)
    with suppress(Raised, Unfit, Stopped):  # being slow to measure is no mistake
        _remark_loops(student, report)


@contextmanager
def _part(report: Report, part: str) -> Iterator[None]:
    """Judge a part, and blame on it what the student's code raises in it."""
    report.judged.add(part)
    try:
        yield
    except Raised as raised:
        report.blame(part, "exception", **raised.error)
    except Unfit as unfit:
        report.blame(part, "wrong-shape", **unfit.error)


def _open(student: Student, report: Report, takes: Message) -> Answer:
    contract = student.contract
    passed = {"": len(contract.arguments(contract.setting)), "forward_": len(contract.inputs)}
    student.takes_key_size = takes["most"] >= passed[""]
    report.judged.add("interface")
    for method, code in (("", "constructor"), ("forward_", "forward-arguments")):
        least, most, count = takes[f"{method}least"], takes[f"{method}most"], passed[method]
        if least > count or (method and most < count):
            report.blame("interface", code, least=least, most=most, passed=count)
            raise Finished
    try:
        return student.start(contract.setting)
    except Raised as raised:
        return _rescue(student, report, raised)


def _rescue(student: Student, report: Report, raised: Raised) -> Answer:
    """Find the conditions under which a crashing class runs: they name the mistake."""
    contract, error, told = student.contract, raised.error, raised.told
    normal = contract.setting
    if DEVICE.search(error["text"]):
        report.blame("interface", "hardcoded-device", **error)
        raise Finished
    if "requires grad" in error["text"]:
        with suppress(Raised):
            answer = student.start(replace(normal, is_without_grad=True))
            report.blame("training", "not-differentiable", text=f"{told} (line {error['line']}: {error['source']})")
            return answer
    for code, setting in contract.rescues():
        with suppress(Raised):
            answer = student.start(setting)
            has_matrix = any(len(shape) > 1 for shape in student.weights["registered"].values())
            name = code if has_matrix or code != "swapped" else "no-projection"
            same_size = "; it runs only when decoder states and encoder outputs have the same size."
            report.blame(
                PART_OF_RESCUE.get(name, "interface"),
                name,
                text=told + same_size * (code == "swapped"),
                fails=f"fails with {normal.batch} sentences ({told}) and runs with {setting.batch}",
                sizes=f"sizes {contract.arguments(normal)}",
                rescue=str(contract.arguments(setting)),
            )
            return answer
    report.blame("interface", "exception", **error)
    raise Finished


def _read_shapes(student: Student, report: Report, answer: Answer) -> None:
    """Compare shapes; what is only laid out differently is undone, so that the rest can be judged."""
    shapes = [tuple(output.shape) for output in answer.outputs if output is not None]
    if len(shapes) != 2 or len(answer.outputs) != 2:
        form = answer.form if len(answer.outputs) == 1 else f"a {answer.form} of {len(answer.outputs)}"
        report.blame("interface", "not-a-pair", form=form)
        raise Finished
    wanted = student.contract.shapes(*student.draw(seed=0))
    is_swapped = _fits(shapes[0], wanted[1]) and _fits(shapes[1], wanted[0])
    if is_swapped:
        first, second = f"weights {list(shapes[0])}", f"value {list(shapes[1])}"
        report.blame("interface", "return-order", first=first, second=second)
        shapes.reverse()
    student.layout = Layout(
        is_swapped=is_swapped,
        is_value_transposed=_is_transposed(report, "The value", shapes[0], wanted[0]),
        are_weights_transposed=_is_transposed(report, "The weights", shapes[1], wanted[1]),
        has_other_size=_core(shapes[0])[:-1] == _core(wanted[0])[:-1] and shapes[0][-1] != wanted[0][-1],
    )


def _is_transposed(report: Report, what: str, got: Shape, wanted: Shape) -> bool:
    """Blame a wrong shape; say whether it is the transposed one."""
    facts = {"what": what, "got": list(got), "wanted": list(wanted)}
    is_transposed = _core(got) != _core(wanted) and _fits(got, wanted) and len(_core(got)) > 1
    are_weights = what == "The weights"
    if is_transposed:
        report.blame("interface", "transposed", **facts)
    elif got != wanted and _core(got) == _core(wanted):
        report.blame("interface", "kept-axis", **facts)
    elif are_weights and len(got) > len(wanted) and got[-1] not in (1, wanted[-1]):
        text = f"The weights have the shape {list(got)}: one number per feature, not one per source word."
        report.blame("distribution", "softmax-features", text=text)
        raise Finished
    elif got != wanted and (are_weights or _core(got)[:-1] != _core(wanted)[:-1]):
        report.blame("interface", "wrong-shape", **facts)
        raise Finished
    return is_transposed


def _judge_steadiness(student: Student, report: Report) -> None:
    """Judge whether the same input gives the same result. If it never does, nothing else can be compared."""
    x, y = (student.draw(seed=seed) for seed in (1, 2))
    first = student.attend(*x, seed=0)
    if not all(bool(result.isfinite().all()) for result in first):
        report.blame("interface", "not-finite")
        raise Finished
    again, _, later, used = student.attend(*x, seed=1), student.attend(*y), student.attend(*x), student.attend(*y)
    if student.call(*x).changed:
        report.blame("robust", "in-place")
    student.adapt(is_fresh=True)
    if not same(student.attend(*x, seed=0), student.attend(*x, seed=1)):
        report.blame("robust", "random")
        if not student.weights["registered"]:
            report.blame("training", "unregistered", text="The class has no parameters at all.")
        raise Finished
    if same(first, again) and same(first, later) and same(used, student.attend(*y)):
        student.adapt(is_fresh=False)
    else:
        report.blame("robust", "state")


def _judge_distribution(student: Student, report: Report) -> bool:
    """Judge whether weights are positive and sum to 1; say whether scores can be read off them."""
    h, e = student.draw(seed=3)
    answer = student.call(h, e, trace=True)
    _, weights = student.read(answer, h, e)
    softmaxes = answer.trace["softmaxes"]
    sums = weights.sum(-1)
    if weights.min() < 0 or not near(sums, torch.ones_like(sums)):
        _name_the_axis(student, report, weights, softmaxes)
        return False
    if len(softmaxes) > 1:
        _, decided = student.attend(LARGE * h, e)
        if 2 < float((decided.amax(-1) / decided.amin(-1)).max()) < 2.72:  # softmax of a one-hot vector: a ratio of e
            report.blame("score", "double-softmax", count=len(softmaxes))
            return False
    return True


def _name_the_axis(student: Student, report: Report, weights: Tensor, softmaxes: list[Message]) -> None:
    s, sums = student.setting, weights.sum(-1)
    along = {run["shape"][run["axis"]] for run in softmaxes}
    runs = "; ".join(f"softmax ran along axis {run['axis']} of a {run['shape']} tensor" for run in softmaxes)
    ones = torch.ones_like
    if s.batch > 1 and weights.min() >= 0 and near(weights.sum(0), ones(weights[0])):
        rows = f"{float(sums.min()):.3f} ... {float(sums.max()):.3f}"
        report.blame("distribution", "softmax-batch", rows=rows)
    elif s.steps > 1 and weights.min() >= 0 and near(weights.sum(-2), ones(weights[:, :, 0])):
        report.blame("distribution", "softmax-queries")
    elif s.steps == 1 and near(weights.reshape(-1, s.batch).sum(0), weights.new_ones(s.batch)):
        text = "The weights sum to 1 only when they are read in the memory order of [src_len, batch]."
        report.blame("distribution", "view", text=text)
    elif along & ({s.key, s.enc, s.dec, 2 * s.enc} - {1, s.batch, s.length}):
        report.blame("distribution", "softmax-features", text=f"{runs}.")
    elif near(weights, ones(weights)):
        is_product = "scale" in report.points
        if is_product and any(run["shape"][-1] == 1 == run["shape"][run["axis"]] for run in softmaxes):
            text = f"Every weight is exactly 1, as if there were one key per sentence: {runs}."
            report.blame("distribution", "swapped", text=text)
        else:
            report.blame("distribution", "softmax-single", text=runs or "each was normalised by itself")
    elif weights.max() <= 0 and near(weights.exp().sum(-1), ones(sums)):
        report.blame("distribution", "log-softmax")
    else:
        low, high, least = (float(x) for x in (sums.min(), sums.max(), weights.min()))
        report.blame("distribution", "not-a-distribution", low=low, high=high, least=least)


def _judge_large(student: Student, report: Report, has_weights: bool) -> None:
    """Scores of a few thousand must not end in NaN."""
    h, e = student.draw(seed=7)
    factor = LARGE if len(student.contract.inputs) == 1 else 1.0
    for sign in (1, -1):
        results = student.attend(sign * LARGE * h, factor * e)
        if has_weights and not all(bool(result.isfinite().all()) for result in results):
            report.blame("robust", "overflow", factor=LARGE)


def _remark_loops(student: Student, report: Report) -> None:
    """A loop over sentences or words is right but slow: say how slow."""
    if student.setting.rows > 1:
        return

    def inputs(batch: int, length: int) -> tuple[Tensor, Tensor]:
        return student.draw(seed=8, batch=batch, length=length)

    def operations(batch: int, length: int) -> int:
        return int(student.call(*inputs(batch, length), trace=True).trace["count"])

    once = operations(4, 6)
    for what, count, doubled, small in (("sentence", 32, (8, 6), (1, 20)), ("word", 20, (4, 12), (32, 1))):
        if operations(*doubled) > 1.4 * once:
            one, many = (
                1000 * min(student.call(*inputs(*size)).seconds for _ in range(3)) for size in (small, (32, 20))
            )
            report.remarks.append(
                f"It loops over every {what} in Python: right, but slow. {count} {what}s "
                f"take {many / one:.0f} times as long as one ({many:.1f} ms against {one:.1f} ms)."
            )


def _core(shape: Shape) -> Shape:
    return tuple(size for size in shape if size != 1)


def _fits(got: Shape, wanted: Shape) -> bool:
    return sorted(_core(got)) == sorted(_core(wanted))
