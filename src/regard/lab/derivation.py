"""A worked exercise, step by step, as text, Markdown or LaTeX."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

Format = Literal["text", "markdown", "latex"]
Value = float | list[float] | list[list[float]]

_PLAIN = (
    (r"\\(?:mathbf|mathrm|tilde)\{([^{}]*)\}", r"\1"),
    (r"\^\{\((\w+)\)\}", r"^\1"),
    (r"\^\\top", "'"),
    (r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)"),
    (r"\\(?:,|;|left|right)", " "),
    (r"\\cdot", "."),
    (r"\\[_%]", lambda found: found.group()[1:]),
    (r"\\([a-z]+)", r"\1"),
    (r"[{}$]", ""),
    (r" +", " "),
)


@dataclass(frozen=True, slots=True)
class Step:
    """A symbol, the formula it comes from (empty when it is given) and its value."""

    symbol: str
    formula: str
    value: Value

    def to_json(self) -> dict[str, Any]:
        """Return the step with a plain-text formula."""
        return {"symbol": plain(self.symbol), "formula": plain(self.formula), "value": self.value}


@dataclass(frozen=True, slots=True)
class Exercise:
    """A task, what is given and every step to the answer, with formulas in LaTeX."""

    name: str
    title: str
    task: str
    given: tuple[Step, ...]
    steps: tuple[Step, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the exercise with plain-text formulas and unrounded numbers."""
        given, steps = [entry.to_json() for entry in self.given], [entry.to_json() for entry in self.steps]
        return {"name": self.name, "title": self.title, "task": plain(self.task), "given": given, "steps": steps}


def step(symbol: str, value: Tensor, formula: str = "") -> Step:
    """State what a symbol is, and why if it is not given."""
    return Step(symbol, formula, value.tolist())


def render(exercise: Exercise, form: Format, *, with_solution: bool = True) -> str:
    """Write an exercise out; the parts are separated by empty lines."""
    steps = [*exercise.given, *(exercise.steps if with_solution else ())]
    if form == "text":
        body = [_text(entry) for entry in steps]
        return "\n\n".join([f"{exercise.title}\n{'-' * len(exercise.title)}\n{plain(exercise.task)}", *body])
    heading = f"## {exercise.title}" if form == "markdown" else f"\\subsection*{{{exercise.title}}}"
    dollars = ("$$", "$$") if form == "markdown" else (r"\[", r"\]")
    body = [f"{dollars[0]} {_latex(entry)} {dollars[1]}" for entry in steps]
    return "\n\n".join([heading, exercise.task, *body])


def plain(formula: str) -> str:
    r"""Turn a formula of this module into text.

    >>> plain(r"\\mathrm{softmax}(\\mathbf{Q}\\,\\mathbf{K}^\\top / \\sqrt{2})")
    "softmax(Q K' / sqrt(2))"
    """
    for pattern, replacement in _PLAIN:
        formula = re.sub(pattern, replacement, formula)
    return formula.strip()


def number(value: float) -> str:
    """Write a number with eight decimals, shorter where it is exact, with an exponent where it is tiny.

    >>> number(-2.25), number(0.465368826), number(9.06143069e-09)
    ('-2.25', '0.46536883', '9.06143069e-09')
    """
    if value == 0:
        return "0"
    if abs(value) < 1e-3:
        return f"{value:.8e}"
    return f"{value:.8f}".rstrip("0").rstrip(".")


def _rows(value: Value) -> Sequence[Sequence[float]]:
    if isinstance(value, float | int):
        return [[value]]
    return [row if isinstance(row, list) else [row] for row in value]


def _is_vector(value: Value) -> bool:
    return isinstance(value, list) and not isinstance(value[0], list)


def _text(entry: Step) -> str:
    head = plain(entry.symbol) + (f" = {plain(entry.formula)}" if entry.formula else "")
    if _is_vector(entry.value):
        return f"{head} = [{'  '.join(number(x) for (x,) in _rows(entry.value))}]"
    if not isinstance(entry.value, list):
        return f"{head} = {number(entry.value)}"
    return "\n".join([f"{head} =", *(f"    [ {line} ]" for line in _aligned(entry.value))])


def _aligned(value: Value) -> Iterable[str]:
    cells = [[number(x) for x in row] for row in _rows(value)]
    width = max(len(cell) for row in cells for cell in row)
    return ("  ".join(cell.rjust(width) for cell in row) for row in cells)


def _latex(entry: Step) -> str:
    head = " = ".join(part for part in (entry.symbol, entry.formula) if part)
    if not isinstance(entry.value, list):
        return f"{head} = {_latex_number(entry.value)}"
    rows = r" \\ ".join(" & ".join(_latex_number(x) for x in row) for row in _rows(entry.value))
    return f"{head} = \\begin{{bmatrix}} {rows} \\end{{bmatrix}}"


def _latex_number(value: float) -> str:
    mantissa, _, exponent = number(value).partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa
