"""From a file to a report."""

import ast
import json
import re
import time
import tokenize
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regard.course.contracts import CONTRACTS
from regard.course.grade import Report
from regard.course.judge import judge
from regard.course.sandbox import Limits, Sandbox, Stopped
from regard.course.student import Raised, Student
from regard.course.wire import Message
from regard.errors import RegardError, did_you_mean

KNOWN = ("SingleQueryScaledDotProductAttention", "DotProdAttention")
HARMLESS = ("reading", "os.listdir", "os.scandir", "socket")
"""What scripts do to get at their data; they get nothing, and lose no points."""
MAGIC = re.compile(r"^([ \t]*)(?:[%!].*|[\w.]+\?{1,2}|\?{1,2}[\w.]+)[ \t]*$", re.MULTILINE)
ASSIGNED_MAGIC = re.compile(r"^([ \t]*[\w, ]+=[ \t]*)[%!].*$", re.MULTILINE)
WORDS = {"multi_head": ("multi",), "additive": ("additive", "bahdanau", "concat"), "dot_product": ("dotprod",)}


def check(path: Path, name: str | None = None, kind: str | None = None, *, limits: Limits | None = None) -> Report:
    """Grade one submission in a process of its own; whatever it does, a report comes back."""
    started = time.monotonic()
    usual = kind or "single_query"
    report = Report(path.name, name or "", usual, CONTRACTS[usual].points)
    try:
        source = read_source(path)
    except RegardError as error:
        report.blame("interface", "unreadable", text=str(error))
        return report
    with Sandbox(limits or Limits()) as sandbox:
        report.walls = sandbox.walls
        try:
            grade(sandbox.ask, source, report, name=name, kind=kind)
        except Stopped as stop:
            when = "while the class was tried" if report.judged else "while the file was imported"
            report.blame("interface", stop.code, text=stop.detail, when=when)
        except Exception as error:  # a forged reply, or our own mistake; the rest of a class is judged
            text = f"An answer makes no sense ({type(error).__name__}: {error})"
            report.blame("interface", "garbled", text=text[:200], when="while the class was tried")
    report.printed = sandbox.printed
    if sandbox.printed_bytes:
        report.remarks.append(f"It prints {sandbox.printed_bytes} bytes; results do not go through print.")
    report.seconds = time.monotonic() - started
    return report


def train(path: Path, report: Report, *, seconds: int = 600) -> None:
    """Train the homework model with a checked class, with ours and with none, and note the losses in the report."""
    if report.kind not in ("single_query", "additive") or not report.name:
        raise RegardError(f"{report.file}: --train got a {report.kind} class, want one with the homework's signature.")
    with Sandbox(Limits(seconds=seconds, megabytes=2048, train=True)) as sandbox:
        try:
            report.lesson = learn(sandbox.ask, read_source(path), report)
        except (Stopped, Raised) as error:
            report.remarks.append(f"Training stopped: {error}.")


def learn(
    ask: Callable[[Message], Message], source: str, report: Report, *, rounds: int = 9, count: int = 50
) -> dict[str, Any]:
    """Train three models for ``rounds`` times ``count`` steps; return their losses and a verdict."""
    student = Student(ask, report.name, CONTRACTS[report.kind])
    student.ask({"op": "load", "source": source, "name": report.file})
    request = {"op": "learn", "rounds": rounds, "count": count}
    classes = {"yours": report.name, "ours": "ours", "none": "none"}
    results = {label: student.ask(request | {"class": name}) for label, name in classes.items()}
    training, validation = ({label: r[key] for label, r in results.items()} for key in ("training", "validation"))
    steps = [count * (i + 1) for i in range(rounds)]
    return {"steps": steps, "training": training, "validation": validation, "verdict": verdict(validation)}


def verdict(validation: dict[str, float]) -> str:
    """Say in words where a loss lies between that of no attention and ours."""
    gain = (validation["none"] - validation["yours"]) / max(validation["none"] - validation["ours"], 1e-9)
    if not gain > 0.1:
        return "It does not learn more than a model without attention."
    return "It learns as well as ours." if gain > 0.85 else f"It learns, with {gain:.0%} of what our attention gains."


def read_source(path: Path) -> str:
    """Return the code of a Python file, in the encoding that it names, or of a notebook's code cells."""
    try:
        if path.suffix != ".ipynb":
            with tokenize.open(path) as file:
                return file.read()
        cells = json.loads(path.read_text(encoding="utf-8-sig"))["cells"]
        return "\n".join(_python("".join(cell["source"])) for cell in cells if cell["cell_type"] == "code")
    except (OSError, SyntaxError, ValueError, LookupError, TypeError, RecursionError, MemoryError) as error:
        got = "bytes that are no text" if isinstance(error, SyntaxError | UnicodeError) else type(error).__name__
        raise RegardError(f"{path}: got {got}, want a readable Python file or notebook.") from None


def _python(cell: str) -> str:
    """Return a cell without what only notebooks know; one that is no Python even then is left empty.

    Lines keep their numbers. A broken cell with a class stays: it may be the one to judge, and its mistake is told.
    """
    if _is_python(cell):
        return cell
    without = ASSIGNED_MAGIC.sub(r"\1None", MAGIC.sub(r"\1pass", cell))
    is_kept = _is_python(without) or re.search(r"^class\b", without, re.MULTILINE)
    return without if is_kept else "\n" * cell.count("\n")


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two where it is nested too deeply
        return False
    return True


def grade(
    ask: Callable[[Message], Message], source: str, report: Report, *, name: str | None = None, kind: str | None = None
) -> None:
    """Load a submission through ``ask`` and judge its class."""
    reply = ask({"op": "load", "source": source, "name": report.file})
    if "error" in reply:
        is_syntax = reply["error"]["type"] in ("SyntaxError", "IndentationError", "TabError")
        report.blame("interface", "not-python" if is_syntax else "exception", **reply["error"])
        return
    classes, note = reply["ok"]["classes"], reply["ok"]["note"]
    if note:
        place = f"{note['type']} in line {note['line']} ({note['source']})"
        report.remarks.append(f"The file as a whole stops with {place}; its definitions were judged alone.")
    try:
        report.name = choose(report.file, classes, name)
    except RegardError as error:
        report.blame("interface", "no-class", text=str(error))
        return
    report.kind = kind or guess(report.name)
    contract = CONTRACTS[report.kind]
    report.points = contract.points
    student = Student(ask, report.name, contract)
    try:
        judge(student, report, classes[report.name])
        if kind is None and report.has("not-bilinear"):
            report.remarks.append(f"It was judged as {report.kind} by its name; if it is another assignment, say --as.")
    finally:
        refused = list(dict.fromkeys(student.refused))
        harmless = [what for what in refused if what.startswith(HARMLESS)]
        report.remarks += [f"It tried what is not allowed here: {what}." for what in harmless]
        if len(refused) > len(harmless):
            report.blame("robust", "forbidden", text=", ".join(what for what in refused if what not in harmless))


def choose(file: str, classes: dict[str, Any], name: str | None) -> str:
    """Return the class to judge: the one named, the one with the assignment's name, the only (attention) class.

    A class that another one derives from is a part of that one.
    """
    if name is not None:
        if name not in classes:
            raise RegardError(f"{file}: no attention class '{name}'. {did_you_mean(name, classes)}")
        return name
    bases = {base for takes in classes.values() for base in takes["bases"]}
    known, named = [each for each in KNOWN if each in classes], [each for each in classes if "att" in each.lower()]
    derived, last = ([each for each in some if each not in bases] for some in (classes, named))
    for candidates in (known, derived, last, named):
        if len(candidates) == 1:
            return candidates[0]
    if not classes:
        raise RegardError(f"{file}: no class derives from nn.Module; want one attention class.")
    raise RegardError(f"{file}: got {len(classes)} classes ({', '.join(classes)}), want one. Name it: {file}:Class.")


def guess(name: str) -> str:
    """Return the assignment that a class's name speaks of."""
    lower = name.lower()
    found = [kind for kind, words in WORDS.items() if any(word in lower for word in words)]
    return "single_query" if not found or "single" in lower or "scaled" in lower else found[0]
