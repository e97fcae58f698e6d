"""A worked exercise, step by step, as text, Markdown or LaTeX.

Formulas are Python: they are evaluated as they are written, so that what is shown is what was computed. ``W_Q2`` is the
W with index Q of head 2, ``X.T`` the transpose, ``cat`` joins heads.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

Format = Literal["text", "markdown", "latex"]
Value = float | list[float] | list[list[float]]

FUNCTIONS = {
    "softmax": lambda scores: scores.softmax(-1),
    "cat": lambda *heads: torch.cat(heads, -1),
    "sqrt": lambda size: size**0.5,
    "dot": torch.dot,
    "exp": torch.exp,
    "tanh": torch.tanh,
}
NAME = re.compile(r"\b([A-Za-z]+)(_\w)?(\d?)\b")
WORDS = {"softmax": r"\mathrm{softmax}", "score": r"\mathrm{score}", "sqrt": r"\sqrt", "cat": "cat", "dot": "dot"}


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
    """A task, what is given and every step to the answer; `symbols` stand in backticks in the task."""

    name: str
    title: str
    task: str
    given: tuple[Step, ...]
    steps: tuple[Step, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the exercise with plain-text formulas and unrounded numbers."""
        given, steps = [entry.to_json() for entry in self.given], [entry.to_json() for entry in self.steps]
        task = self.task.replace("`", "")
        return {"name": self.name, "title": self.title, "task": task, "given": given, "steps": steps}


def work_out(name: str, title: str, task: str, given: dict[str, Tensor], formulas: Iterable[str]) -> Exercise:
    """Evaluate formulas such as ``a = softmax(z)`` one after the other; each may use what stands before it."""
    known: dict[str, Any] = FUNCTIONS | given
    steps = []
    for line in formulas:
        symbol, _, formula = line.partition(" = ")
        known[symbol] = eval(formula, {"__builtins__": {}}, known)
        steps.append(Step(symbol, formula, known[symbol].tolist()))
    return Exercise(name, title, task, tuple(Step(n, "", value.tolist()) for n, value in given.items()), tuple(steps))


def render(exercise: Exercise, form: Format, *, with_solution: bool = True) -> str:
    """Write an exercise out; the parts are separated by empty lines."""
    steps = [*exercise.given, *(exercise.steps if with_solution else ())]
    if form == "text":
        task = exercise.task.replace("`", "")
        return "\n\n".join([f"{exercise.title}\n{'-' * len(exercise.title)}\n{task}", *map(_text, steps)])
    heading = f"## {exercise.title}" if form == "markdown" else f"\\subsection*{{{exercise.title}}}"
    task = re.sub("`(.*?)`", lambda found: f"${latex(found[1])}$", exercise.task)
    start, end = ("$$", "$$") if form == "markdown" else (r"\[", r"\]")
    return "\n\n".join([heading, task, *(f"{start} {_latex(entry)} {end}" for entry in steps)])


def plain(formula: str) -> str:
    """Turn a formula into text.

    >>> plain("softmax(Q1 @ K1.T / sqrt(2))"), plain("cat(Z1, Z2) @ W_O")
    ("softmax(Q^1 K^1' / sqrt(2))", '[Z^1, Z^2] W_O')
    """
    formula = NAME.sub(lambda found: found[1] + (found[2] or "") + (f"^{found[3]}" if found[3] else ""), formula)
    formula = re.sub(r"dot\((.*?), (.*?)\)", r"\1 . \2", formula)
    return re.sub(r"cat\((.*?)\)", r"[\1]", formula.replace(" @ ", " ").replace(".T", "'"))


def latex(formula: str) -> str:
    r"""Turn a formula into LaTeX.

    >>> print(latex("softmax(Q1 @ K1.T / sqrt(2))"))
    \mathrm{softmax}(\mathbf{Q}^{(1)}\,{\mathbf{K}^{(1)}}^\top / \sqrt{2})
    """

    def name(found: re.Match[str]) -> str:
        base, index, head = found.groups()
        symbol = WORDS.get(base) or (rf"\mathbf{{{base}}}" if len(base) == 1 else f"\\{base}")
        return symbol + (index or "") + (f"^{{({head})}}" if head else "")

    if " " in formula and not re.search(r"[@(+]", formula):
        return rf"\mathrm{{{formula}}}"
    formula = re.sub(r"(\w+)\.T", r"{\1}'", formula)
    formula = NAME.sub(name, formula).replace(" @ ", r"\,").replace("'", r"^\top")
    formula = re.sub(r"dot\((.*?), (.*?)\)", r"\1 \\cdot \2", formula)
    formula = re.sub(r"\\sqrt\((.*?)\)", r"\\sqrt{\1}", formula)
    return re.sub(r"cat\((.*)\)(?=\\,)", lambda found: "[" + found[1].replace(", ", r",\;") + "]", formula)


def number(value: float) -> str:
    """Write a number with eight decimals, shorter where it is exact, with an exponent where it is tiny.

    >>> number(-2.25), number(0.465368826), number(9.06143069e-09)
    ('-2.25', '0.46536883', '9.06143069e-09')
    """
    if 0 < abs(value) < 1e-3:
        return f"{value:.8e}"
    return f"{value + 0.0:.8f}".rstrip("0").rstrip(".")


def _rows(value: Value) -> Sequence[Sequence[float]]:
    if not isinstance(value, list):
        return [[value]]
    return [row if isinstance(row, list) else [row] for row in value]


def _text(entry: Step) -> str:
    head = plain(entry.symbol) + (f" = {plain(entry.formula)}" if entry.formula else "")
    cells = [[number(x) for x in row] for row in _rows(entry.value)]
    if not isinstance(entry.value, list):
        return f"{head} = {cells[0][0]}"
    if not isinstance(entry.value[0], list):
        return f"{head} = [{'  '.join(cell for (cell,) in cells)}]"
    width = max(len(cell) for row in cells for cell in row)
    lines = ("  ".join(cell.rjust(width) for cell in row) for row in cells)
    return "\n".join([f"{head} =", *(f"    [ {line} ]" for line in lines)])


def _latex(entry: Step) -> str:
    head = " = ".join(latex(part) for part in (entry.symbol, entry.formula) if part)
    cells = [[re.sub(r"e-0*(\d+)", r" \\times 10^{-\1}", number(x)) for x in row] for row in _rows(entry.value)]
    if not isinstance(entry.value, list):
        return f"{head} = {cells[0][0]}"
    rows = r" \\ ".join(" & ".join(row) for row in cells)
    return f"{head} = \\begin{{bmatrix}} {rows} \\end{{bmatrix}}"
