"""Can the class be trained: do gradients get through, and would the optimiser find every weight?"""

import torch
from torch import Tensor

from regard.course.grade import Report
from regard.course.student import Student, same

STEP = 3e-3


def judge_training(student: Student, report: Report) -> None:
    """Judge the part "training"."""
    if student.setting.is_without_grad:
        return
    hidden = unregistered(student)
    if hidden:
        text = f"They change the results but are not among the parameters: {', '.join(hidden[:4])}."
        report.blame("training", "unregistered", text=text)
    elif not student.weights["registered"] and not report.has("no-projection"):
        report.blame("training", "unregistered", text="The class has no parameters at all.")
    _compare_gradients(student, report)


def unregistered(student: Student) -> list[str]:
    """Name weights that change the results but that the optimiser would not find."""
    if not student.weights["outside"]:
        return []
    h, e = student.draw(seed=35)
    student.fill(seed=2)
    student.fill(outside=False)
    with_others = student.attend(h, e)
    student.fill()
    return [] if same(with_others, student.attend(h, e)) else sorted(set(student.weights["outside"]))


def _compare_gradients(student: Student, report: Report) -> None:
    """Compare autograd with small steps along one random direction for each input and each weight."""
    generator, contract = torch.Generator().manual_seed(6), student.contract
    h, e = student.draw(seed=6)
    inputs = dict(zip(reversed(contract.inputs), (e, h), strict=False))
    # Weights that are set anew before each call, or are not the ones that are used, cannot be moved.
    can_move = student.weights["is_plain"] and not student.setting.is_fresh
    weights: dict[str, list[int]] = student.weights["registered"] if can_move else {}
    outputs = [output for output in student.call(h, e).outputs if output is not None]
    cotangents = [torch.randn(output.shape, generator=generator) for output in outputs]

    def loss(name: str, step: Tensor) -> float:
        moved = [x + step if name in inputs and x is inputs[name] else x for x in (h, e)]
        found = student.call(moved[0], moved[1], moves={name: step} if name in weights else {}).outputs
        pairs = zip((output for output in found if output is not None), cotangents, strict=True)
        return float(sum((output.double() * cotangent).sum() for output, cotangent in pairs))

    gradients = student.gradient(h, e, cotangents)
    for i, (name, gradient) in enumerate(zip([*contract.inputs, *weights], gradients, strict=False)):
        way = torch.randn(inputs[name].shape if name in inputs else weights[name], generator=generator)
        seen, closer = ((loss(name, s * way) - loss(name, -s * way)) / (2 * s) for s in (STEP, STEP / 2))
        packed = contract.pack(way, way, student.setting)[i] if name in inputs else way
        slope = 0.0 if gradient is None else float((gradient * packed).sum())
        is_smooth = gradient is None or _agree(seen, closer)
        if is_smooth and not _agree(slope, seen):
            told = "no gradient at all" if gradient is None else f"a slope of {slope:.3f}"
            leaf = name if name in inputs else f"the weight {name}"
            text = f"For {leaf} autograd finds {told}; a small step shows {seen:.3f}."
            report.blame("training", "not-differentiable", text=text)


def _agree(a: float, b: float) -> bool:
    return abs(a - b) <= 0.03 * max(abs(a), abs(b)) + 7e-3
