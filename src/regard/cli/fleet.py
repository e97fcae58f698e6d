"""Trains the cells of a grid in parallel processes and shows how they get on."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import IO

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from regard.cli import INTERRUPTED
from regard.cli.terminal import console, say
from regard.config import short_names
from regard.data.tested import stored_name
from regard.errors import RegardError
from regard.run import Run
from regard.search.strategy import Strategy
from regard.training.grid import Cell

PAUSE = 0.5
"""Seconds between looks at the processes."""
LESS = ("epoch", "validation loss", "done")
"""Columns that go first where the terminal is narrow; the score is next, then the state."""


def train_cells(
    cells: list[Cell], missing: list[Cell], folder: Path, *, strategy: Strategy, split: str, jobs: int | None = None
) -> dict[Path, str]:
    """Train and score what is missing of a directory; return the cells that failed and why."""
    if not missing:
        return {}
    say(f"{len(cells)} runs in {folder}: {len(cells) - len(missing)} there, {len(missing)} to do")
    fleet = Fleet(cells, list(missing), jobs=min(jobs or cores(), len(missing)), strategy=strategy, split=split)
    try:
        return fleet.run()
    except KeyboardInterrupt:
        say("stopped; the same command goes on from here")
        raise SystemExit(INTERRUPTED) from None


@dataclass
class Fleet:
    """Processes for cells, a few at a time; a cell that fails does not stop the others."""

    cells: list[Cell]
    """All of the grid, to be shown."""
    waiting: list[Cell]
    """Those to train or to score."""
    jobs: int
    strategy: Strategy
    split: str
    evaluation: str = field(init=False)
    """Whose score the table shows."""
    running: "dict[Cell, subprocess.Popen[bytes]]" = field(default_factory=dict)
    failed: dict[Cell, str] = field(default_factory=dict)
    _rows: dict[Cell, dict[str, str]] = field(default_factory=dict)
    """What the table says of cells that are over."""

    def __post_init__(self) -> None:
        self.evaluation = stored_name(self.split, self.strategy)

    def run(self) -> dict[Path, str]:
        """Do what is missing; return the cells that failed and why."""
        try:
            with self._shown() as live:
                while self.waiting or self.running:
                    while self.waiting and len(self.running) < self.jobs:
                        cell = self.waiting.pop(0)
                        self.running[cell] = self._start(cell)
                    time.sleep(PAUSE)
                    self._collect()
                    if live:
                        live.update(self._table())
        finally:
            self._stop()
        return {cell.path: why for cell, why in self.failed.items()}

    def _start(self, cell: Cell) -> "subprocess.Popen[bytes]":
        threads = str(max(1, cores() // self.jobs))
        is_given = any(word.startswith("train.threads=") for word in cell.overrides)
        overrides = [*cell.overrides, *([] if is_given else [f"train.threads={threads}"])]
        job = {"path": str(cell.path), "experiment": cell.experiment, "overrides": overrides}
        with _log(cell).open("wb") as log:
            return subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "regard.cli.worker",
                    json.dumps(job | {"beam": self.strategy.width, "split": self.split}),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env={**os.environ, "OMP_NUM_THREADS": threads},
                start_new_session=True,  # Ctrl-C is for this process alone, which then closes the pipes
            )

    def _collect(self) -> None:
        for cell, process in list(self.running.items()):
            if process.poll() is None:
                continue
            del self.running[cell]
            _close(process.stdin)
            if process.returncode or not _is_finished(cell):
                self.failed[cell] = _why(process.returncode, _log(cell))
                say(f"{cell.path.name}: failed: {self.failed[cell]}")
            elif not console.is_terminal:
                say(f"{cell.path.name}: done")

    def _stop(self) -> None:
        """Let every process end its step and store a checkpoint; asked twice, end them at once."""
        try:
            for process in self.running.values():
                _close(process.stdin)
            for process in self.running.values():
                process.wait()
        except KeyboardInterrupt:
            for process in self.running.values():
                process.kill()
            raise

    @contextmanager
    def _shown(self) -> Iterator[Live | None]:
        if not console.is_terminal:
            yield None
            return
        with Live(self._table(), console=console, refresh_per_second=2) as live:
            yield live

    def _table(self) -> RenderableType:
        """Show every cell, or where the terminal is too low for all those that are running or failed."""
        states = {cell: self._state(cell) for cell in self.cells}
        shown, room = list(states), max(1, console.height - 3)
        if len(shown) > room:
            order = ("training", "failed")
            shown = sorted(
                (cell for cell in shown if states[cell] in order), key=lambda cell: order.index(states[cell])
            )
        del shown[room:]
        parts: list[RenderableType] = []
        if shown:
            parts = [_fitted(_settings(self.cells), {cell: self._row(cell, states[cell]) for cell in shown})]
        if hidden := Counter(state for cell, state in states.items() if cell not in shown):
            told = ", ".join(f"{count} {state}" for state, count in hidden.items())
            parts.append(Text(told, no_wrap=True, overflow="ellipsis"))
        return Group(*parts)

    def _state(self, cell: Cell) -> str:
        places: dict[str, Container[Cell]]
        places = {"failed": self.failed, "training": self.running, "waiting": self.waiting}
        return next((state for state, place in places.items() if cell in place), "done")

    def _row(self, cell: Cell, state: str) -> dict[str, str]:
        """Return state, epoch, share, loss and score by their headings; what is over is read once."""
        if cell in self._rows:
            return self._rows[cell]
        run = Run(cell.path)
        try:
            row = _cells(state, run, self.evaluation)
        except RegardError:  # told at the end
            row = {"state": state, "score": "unreadable"}
        if state in ("done", "failed"):
            self._rows[cell] = row
        return row


def _cells(state: str, run: Run, evaluation: str) -> dict[str, str]:
    latest = run.latest()
    is_over = latest.get("event") == "ended" and latest.get("reason") in ("finished", "patience")
    share = 1.0 if is_over else latest.get("progress")
    epochs = run.epochs() if state == "done" else []
    loss = epochs[-1]["validation_nats_per_token"] if epochs else latest.get("validation_nats_per_token")
    row: dict[str, str] = {
        "state": "scoring" if is_over and state == "training" else state,
        "epoch": str(latest.get("epoch", "")),
        "done": "" if share is None else f"{share:.0%}",
        "validation loss": "" if loss is None else f"{loss:.3f}",
    }
    found = run.evaluations().get(evaluation) if state == "done" else None
    if found and (score := found["scores"][found["metric"]])["value"] is not None:
        row[score["name"]] = f"{score['value']:.2f}"
    return row


def _settings(cells: list[Cell]) -> dict[Cell, dict[str, str]]:
    """Return for each cell what tells it from others, heading -> value: what was varied, and the seed."""
    words = {cell: [word.partition("=") for word in cell.overrides] for cell in cells}
    values = {cell: {key.strip(): value.strip() for key, _, value in found} for cell, found in words.items()}
    varied = [key for key in values[cells[0]] if len({each[key] for each in values.values()}) > 1]
    names = short_names(varied or ["train.seed"])
    return {cell: {name: each[key] for key, name in names.items()} for cell, each in values.items()}


def _fitted(settings: dict[Cell, dict[str, str]], rows: dict[Cell, dict[str, str]]) -> Table:
    """Return a table with a line a row; in a narrow terminal it has fewer columns, but never less of the settings."""
    widths = _least(settings)
    if _total(widths) > console.width:
        settings = _shortened(settings)
        widths = _least(settings)
    names, others = list(widths), list(dict.fromkeys(name for row in rows.values() for name in row))
    widths |= {name: max(map(cell_len, (name, *(row.get(name, "") for row in rows.values())))) for name in others}
    scores = [name for name in others if name not in {*LESS, "state"}]
    for name in (*LESS, *scores, "state"):
        if _total(widths) > console.width:
            widths.pop(name, None)
    for name in names:  # what room is left is for the headings
        widths[name] += max(0, min(console.width - _total(widths), cell_len(name) - widths[name]))
    table = Table(box=None, padding=(0, 1, 0, 0), show_edge=False)
    for name, width in widths.items():
        table.add_column(name, no_wrap=True, width=width)
    for cell, row in rows.items():
        table.add_row(*(Text((settings[cell] | row).get(name, "")) for name in widths))
    return table


def _least(settings: dict[Cell, dict[str, str]]) -> dict[str, int]:
    """Return the width of each setting: all of its values, the beginning of its heading."""
    names = next(iter(settings.values()))
    return {name: max(map(cell_len, (name[:6], *(each[name] for each in settings.values())))) for name in names}


def _total(widths: dict[str, int]) -> int:
    return sum(widths.values()) + len(widths)


def _shortened(settings: dict[Cell, dict[str, str]]) -> dict[Cell, dict[str, str]]:
    """Leave out how all values of a setting begin, such as the folder of files: they differ at their ends."""
    values = {name: [each[name] for each in settings.values()] for name in next(iter(settings.values()))}
    shared = {
        name: sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False)))
        for name, texts in values.items()
    }
    return {
        cell: {name: text if shared[name] < 2 else f"…{text[shared[name] :]}" for name, text in each.items()}
        for cell, each in settings.items()
    }


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_finished(cell: Cell) -> bool:
    return cell.path.exists() and bool(Run.open(cell.path).description["status"] == "finished")


def _log(cell: Cell) -> Path:
    return cell.path.with_name(f"{cell.path.name}.log")


def _why(code: int, log: Path) -> str:
    if code < 0:  # its last words were about something else
        return f"ended by signal {-code} ({signal.strsignal(-code)})" + ", perhaps for want of memory" * (code == -9)
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), f"ended with code {code}")


def _close(pipe: IO[bytes] | None) -> None:
    assert pipe is not None
    pipe.close()
