"""Can the class be trained: do gradients get through, and would the optimiser find every weight?"""

import torch
from torch import Tensor

from regard.course.grade import Report
from regard.course.probes import unregistered
from regard.course.student import Answer, Student

STEP = 3e-3


def judge_training(student: Student, report: Report) -> None:
    """Judge the part "training"."""
    report.judged.add("training")
    if student.setting.is_without_grad:
        return
    hidden = unregistered(student)
    if hidden:
        text = f"They change the results but are not among the parameters: {', '.join(hidden[:4])}."
        report.blame("training", "unregistered", text=text)
    elif not student.describe()["parameters"] and not report.has("no-projection"):
        report.blame("training", "unregistered", text="The class has no parameters at all.")
    _compare_gradients(student, report)


def _compare_gradients(student: Student, report: Report) -> None:
    """Compare autograd with small steps along one random direction for each input and each weight."""
    generator = torch.Generator().manual_seed(6)
    inputs = student.contract.pack(*student.contract.random(student.setting, seed=6), student.setting)
    outputs = [output for output in _call(student, inputs).outputs if output is not None]
    cotangents = [torch.randn(output.shape, generator=generator) for output in outputs]
    by_input, by_weight = student.gradient(inputs, cotangents)

    def loss(moved: list[Tensor]) -> float:
        found = (output for output in _call(student, moved).outputs if output is not None)
        return float(sum((t.double() * c).sum() for t, c in zip(found, cotangents, strict=True)))

    for index, name in enumerate(student.contract.inputs):
        step = STEP * torch.randn(inputs[index].shape, generator=generator)
        up, down = (loss([x + sign * step if i == index else x for i, x in enumerate(inputs)]) for sign in (1, -1))
        _compare(report, name, by_input[index], step, (up - down) / 2)
    if student.setting.is_fresh or not student.describe()["is_plain"]:
        return  # weights are set anew before each call, or are not the ones that are used
    for index, weight in enumerate(student.describe()["parameters"]):
        step = STEP * torch.randn(weight["shape"], generator=generator)
        student.nudge(index, step)
        up = loss(inputs)
        student.nudge(index, -2 * step)
        down = loss(inputs)
        student.nudge(index, step)
        _compare(report, f"the weight {weight['name']}", by_weight[index], step, (up - down) / 2)


def _call(student: Student, inputs: list[Tensor]) -> Answer:
    if student.setting.is_fresh:
        student.renew()
    return student.raw(inputs)


def _compare(report: Report, name: str, gradient: Tensor | None, step: Tensor, change: float) -> None:
    autograd = 0.0 if gradient is None else float((gradient * step).sum())
    if abs(autograd - change) <= 0.03 * max(abs(autograd), abs(change)) + 2e-5:
        return
    told = "no gradient at all" if gradient is None else f"a slope of {autograd / STEP:.3f}"
    text = f"For {name} autograd finds {told}; a small step shows {change / STEP:.3f}."
    report.blame("training", "not-differentiable", text=text)
