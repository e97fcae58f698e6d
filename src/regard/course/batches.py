"""Does a sentence get the same answer alone as in a batch, for every batch size and length?"""

import torch
from torch import Tensor

from regard.course.grade import Report
from regard.course.student import Answer, Raised, Student, Unfit, near, same

Attended = tuple[Tensor, Tensor]


def judge_batches(student: Student, report: Report) -> None:
    """Judge the part "batch"."""
    report.judged.add("batch")
    if report.has("softmax-batch", "view"):
        report.judged.discard("batch")  # sentences do meet; why is said already
    elif student.setting.rows == 1:
        _judge_company(student, report)
    for batch, length in ((1, 9), (7, 2), (2, 1)):
        is_fixed = student.setting.rows > 1
        if not _try_size(student, report, batch=student.setting.batch if is_fixed else batch, length=length):
            return


def _judge_company(student: Student, report: Report) -> None:
    """Compare sentences alone and in a batch; where they differ, find out why."""
    h, e = student.contract.random(student.setting, seed=4)
    together = student.attend(h, e)
    try:
        apart = _one_by_one(student, h, e)
    except Raised as raised:
        told = f"{raised.error['type']}: {raised.error['text'][:120]}"
        report.blame("batch", "hardcoded-batch", fails=f"fails with one sentence ({told})")
        student.adapt(rows=student.setting.batch)
        return
    scrambled = e.transpose(0, 1).reshape(e.shape)
    if same(together, apart):
        return
    if near(together[1], apart[1]):
        if near(together[0], together[1][:, 0] @ scrambled):
            return  # the value's part says so
        _blame_company(student, report, h, e, together=together, apart=apart)
    elif near(together[1], _one_by_one(student, h, scrambled)[1]):
        text = "In a batch the weights are those of the words that view(batch, src_len, -1) finds."
        report.blame("batch", "view", text=text)
    elif near(together[1].flatten(), apart[1].transpose(0, -1).flatten()):
        report.blame("batch", "view", text="The weights are right, but in the memory order of [src_len, batch].")
    else:
        _blame_company(student, report, h, e, together=together, apart=apart)


def _one_by_one(student: Student, h: Tensor, e: Tensor) -> Attended:
    rows = [student.attend(h[b : b + 1], e[b : b + 1]) for b in range(len(e))]
    return torch.cat([value for value, _ in rows]), torch.cat([weights for _, weights in rows])


def _blame_company(
    student: Student, report: Report, h: Tensor, e: Tensor, *, together: Attended, apart: Attended
) -> None:
    """Change the first sentence and look at the others."""
    other_h, other_e = h.clone(), e.clone()
    other_h[0] += 1
    other_e[0] = other_e[0].flip(0) + 1
    changed = student.attend(other_h, other_e)
    named = zip(("the value", "the weights"), together, changed, strict=True)
    touched = [name for name, before, after in named if not near(before[1:], after[1:])]
    if touched:
        report.blame("batch", "leak", what=" and ".join(touched))
    else:
        error = max(float((a - b).abs().max()) for a, b in zip(together, apart, strict=True))
        report.blame("batch", "batch-differs", what="The results", error=error)


def _try_size(student: Student, report: Report, *, batch: int, length: int) -> bool:
    s, contract = student.setting, student.contract
    h, e = contract.random(s, seed=5, batch=batch, length=length)
    told = f"with {batch} sentences of {length} words"
    try:
        answer = student.call(h, e)
        student.read(answer, h, e)
        _check_squeezed(student, report, answer, h, e)
        return True
    except Raised as raised:
        fails = f"fails {told} ({raised.error['type']}: {raised.error['text'][:100]})"
        report.blame("batch", _what_is_fixed(student, length), fails=fails)
    except Unfit as unfit:
        report.blame("batch", _what_is_fixed(student, length), fails=f"returns {unfit} {told}")
    return False


def _what_is_fixed(student: Student, length: int) -> str:
    h, e = student.contract.random(student.setting, seed=5, length=length)
    try:
        student.attend(h, e)
    except (Raised, Unfit):
        return "hardcoded-length"
    return "hardcoded-batch"


def _check_squeezed(student: Student, report: Report, answer: Answer, h: Tensor, e: Tensor) -> None:
    shapes = [tuple(output.shape) for output in answer.outputs if output is not None]
    if student.layout.is_swapped:
        shapes.reverse()
    for name, got, wanted in zip(("value", "weights"), shapes, student.contract.shapes(h, e), strict=True):
        if len(got) < len(wanted) and not report.has("squeezed"):
            report.blame("batch", "squeezed", what=f"the {name}", got=list(got), wanted=list(wanted))
