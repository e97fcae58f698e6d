"""Does a sentence get the same answer alone as in a batch, for every batch size and length?"""

import torch
from torch import Tensor

from regard.course.grade import Report
from regard.course.student import Raised, Student, Unfit, near, same


def judge_batches(student: Student, report: Report) -> None:
    """Judge the part "batch"."""
    if report.has("softmax-batch", "view"):
        report.judged.discard("batch")  # sentences do meet; why is said already
    elif student.setting.rows == 1:
        _judge_company(student, report)
    for batch, length in ((1, 9), (7, 2), (2, 1)):
        if not _try_size(student, report, batch=batch if student.setting.rows == 1 else None, length=length):
            return


def _judge_company(student: Student, report: Report) -> None:
    """Compare sentences alone and in a batch; where they differ, find out why."""
    h, e = student.draw(seed=4)
    together = student.attend(h, e)
    try:
        apart = _one_by_one(student, h, e)
    except (Raised, Unfit) as failed:
        _blame_size(student, report, failed, batch=1, length=e.shape[1])
        student.adapt(rows=student.setting.batch)
        return
    scrambled = e.transpose(0, 1).reshape(e.shape)
    has_same_weights = near(together[1], apart[1])
    if same(together, apart) or (has_same_weights and near(together[0], together[1][:, 0] @ scrambled)):
        return  # or the value's part says so
    if not has_same_weights and near(together[1], _one_by_one(student, h, scrambled)[1]):
        text = "In a batch the weights are those of the words that view(batch, src_len, -1) finds."
        report.blame("batch", "view", text=text)
    elif not has_same_weights and near(together[1].flatten(), apart[1].transpose(0, -1).flatten()):
        report.blame("batch", "view", text="The weights are right, but in the memory order of [src_len, batch].")
    elif touched := _touched(student, h, e, together):
        report.blame("batch", "leak", what=" and ".join(touched))
    else:
        error = max(float((a - b).abs().max()) for a, b in zip(together, apart, strict=True))
        report.blame("batch", "batch-differs", what="The results", error=error)


def _one_by_one(student: Student, h: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
    values, weights = zip(*(student.attend(h[b : b + 1], e[b : b + 1]) for b in range(len(e))), strict=True)
    return torch.cat(values), torch.cat(weights)


def _touched(student: Student, h: Tensor, e: Tensor, together: tuple[Tensor, Tensor]) -> list[str]:
    """Change the first sentence and name what changes in the others."""
    h, e = h.clone(), e.clone()
    h[0] += 1
    e[0] = e[0].flip(0) + 1
    named = zip(("the value", "the weights"), together, student.attend(h, e), strict=True)
    return [name for name, before, after in named if not near(before[1:], after[1:])]


def _try_size(student: Student, report: Report, *, batch: int | None, length: int) -> bool:
    h, e = student.draw(seed=5, batch=batch, length=length)
    try:
        answer = student.call(h, e)
        student.read(answer, h, e)
    except (Raised, Unfit) as failed:
        _blame_size(student, report, failed, batch=len(e), length=length)
        return False
    shapes = [tuple(output.shape) for output in answer.outputs if output is not None]
    ordered = reversed(shapes) if student.layout.is_swapped else shapes
    for name, got, wanted in zip(("value", "weights"), ordered, student.contract.shapes(h, e), strict=True):
        if len(got) < len(wanted):
            what = f"the {name} has the shape {list(got)}, not {list(wanted)}"
            report.blame("batch", "squeezed", size=_size(len(e), length), what=what)
    return True


def _blame_size(student: Student, report: Report, failed: Raised | Unfit, *, batch: int, length: int) -> None:
    """Say why a size fails: 1 alone does where axes are squeezed, any other one where a number is written down."""
    size = _size(batch, length)
    if 1 in (batch, length) and _runs(student, batch=7 if batch == 1 else batch, length=max(length, 2)):
        report.blame("batch", "squeezed", size=size, what=f"it fails ({failed.told})")
    else:
        code = "hardcoded-batch" if _runs(student, batch=student.setting.batch, length=length) else "hardcoded-length"
        report.blame("batch", code, fails=f"fails with {size} ({failed.told})")


def _size(batch: int, length: int) -> str:
    return f"{batch} sentence{'s' * (batch > 1)} of {length} word{'s' * (length > 1)}"


def _runs(student: Student, *, batch: int, length: int) -> bool:
    try:
        student.attend(*student.draw(seed=5, batch=batch, length=length))
    except (Raised, Unfit):
        return False
    return True
