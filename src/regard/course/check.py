"""From a file to a report."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regard.course.contracts import CONTRACTS
from regard.course.grade import Report
from regard.course.judge import judge
from regard.course.sandbox import Limits, Sandbox, Stopped
from regard.course.student import Student
from regard.course.wire import Message
from regard.errors import RegardError, did_you_mean

KNOWN = ("SingleQueryScaledDotProductAttention", "DotProdAttention")
HARMLESS = ("reading", "os.listdir", "os.scandir", "socket")
"""What scripts do to get at their data; they get nothing, and lose no points."""
WORDS = {"multi_head": ("multi",), "additive": ("additive", "bahdanau", "concat"), "dot_product": ("dotprod",)}


def check(path: Path, name: str | None = None, kind: str | None = None, *, limits: Limits | None = None) -> Report:
    """Grade one submission in a process of its own; whatever it does, a report comes back."""
    source = read_source(path)
    started = time.monotonic()
    kind_or_usual = kind or "single_query"
    report = Report(path.name, name or "", kind_or_usual, CONTRACTS[kind_or_usual].points)
    with Sandbox(limits or Limits()) as sandbox:
        report.walls = sandbox.walls
        try:
            grade(sandbox.ask, source, report, name=name, kind=kind)
        except Stopped as stop:
            when = "while the class was tried" if report.judged else "while the file was imported"
            report.blame("interface", stop.code, text=stop.detail, when=when)
        except (
            KeyError,
            TypeError,
            ValueError,
            IndexError,
            RuntimeError,
        ) as error:  # a forged reply, or our own mistake
            text = f"An answer makes no sense ({type(error).__name__}: {error})"
            report.blame("interface", "garbled", text=text[:200], when="while the class was tried")
        report.printed = sandbox.output
        if sandbox.output_bytes:
            report.remarks.append(f"It prints {sandbox.output_bytes} bytes; results do not go through print.")
    report.seconds = time.monotonic() - started
    return report


def read_source(path: Path) -> str:
    """Return the code of a Python file, or of a notebook's code cells without the lines that are not Python."""
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix != ".ipynb":
            return text
        cells = [cell["source"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RegardError(f"{path}: got {type(error).__name__}, want a readable Python file or notebook.") from None
    lines = "\n".join("".join(cell) for cell in cells).splitlines()
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)


def grade(
    ask: Callable[[Message], Message], source: str, report: Report, *, name: str | None = None, kind: str | None = None
) -> None:
    """Load a submission through ``ask`` and judge its class."""
    reply = ask({"op": "load", "source": source, "name": report.file})
    if "error" in reply:
        report.blame("interface", "exception", **reply["error"], when="")
        return
    classes, note = reply["ok"]["classes"], reply["ok"]["note"]
    if note:
        report.remarks.append(
            f"The file as a whole stops with {note['type']} in line {note['line']} ({note['source']}); "
            "its definitions were judged alone."
        )
    try:
        report.name = choose(report.file, classes, name)
    except RegardError as error:
        report.blame("interface", "no-class", text=str(error))
        return
    report.kind = kind or guess(report.name)
    contract = CONTRACTS[report.kind]
    report.points = contract.points
    takes = classes[report.name]
    takes_key_size = takes["most"] >= len(contract.arguments(contract.setting))
    student = Student(ask, report.name, contract, takes_key_size=takes_key_size)
    try:
        judge(student, report, takes)
    finally:
        for what in dict.fromkeys(student.refused):
            if what.startswith(HARMLESS):
                report.remarks.append(f"It tried what is not allowed here: {what}.")
            else:
                report.blame("robust", "forbidden", text=what)


def choose(file: str, classes: dict[str, Any], name: str | None) -> str:
    """Return the class to judge: the one named, the only one, or the one with the assignment's name."""
    if name is not None:
        if name not in classes:
            raise RegardError(f"{file}: no attention class '{name}'. {did_you_mean(name, classes)}")
        return name
    known = [each for each in KNOWN if each in classes]
    if len(classes) == 1 or len(known) == 1:
        return known[0] if known else next(iter(classes))
    if not classes:
        raise RegardError(f"{file}: no class derives from nn.Module; want one attention class.")
    raise RegardError(f"{file}: got {len(classes)} classes ({', '.join(classes)}), want one. Name it: {file}:Class.")


def guess(name: str) -> str:
    """Return the assignment that a class's name speaks of."""
    lower = name.lower()
    found = [kind for kind, words in WORDS.items() if any(word in lower for word in words)]
    return "single_query" if not found or "single" in lower or "scaled" in lower else found[0]
