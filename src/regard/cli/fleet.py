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
from pathlib import Path
from typing import IO

from rich.live import Live
from rich.table import Table

from regard.cli.terminal import console, say
from regard.errors import RegardError
from regard.run import Run
from regard.search.strategy import Strategy
from regard.training.grid import Cell

PAUSE = 0.5
"""Seconds between looks at the processes."""


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
    running: "dict[Cell, subprocess.Popen[bytes]]" = field(default_factory=dict)
    failed: dict[Cell, str] = field(default_factory=dict)
    _rows: dict[Cell, list[str]] = field(default_factory=dict)
    """What the table says of cells that are over."""

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
        with _log(cell).open("ab") as log:
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

    def _table(self) -> Table:
        """Show every cell, or where the terminal is too low for all those that are running or failed."""
        states = {cell: self._state(cell) for cell in self.cells}
        shown, room = list(states), max(1, console.height - 3)
        if len(shown) > room:
            order = ("training", "failed")
            shown = sorted(
                (cell for cell in shown if states[cell] in order), key=lambda cell: order.index(states[cell])
            )
        table = Table("run", "state", "epoch", "done", "validation loss", "score", box=None)
        for cell in shown[:room]:
            table.add_row(cell.path.name, *self._row(cell, states[cell]))
        if hidden := Counter(state for cell, state in states.items() if cell not in shown[:room]):
            table.add_row(", ".join(f"{count} {state}" for state, count in hidden.items()))
        return table

    def _state(self, cell: Cell) -> str:
        places: dict[str, Container[Cell]]
        places = {"failed": self.failed, "training": self.running, "waiting": self.waiting}
        return next((state for state, place in places.items() if cell in place), "done")

    def _row(self, cell: Cell, state: str) -> list[str]:
        """Return state, epoch, share, loss and score; what is over is read once."""
        if cell in self._rows:
            return self._rows[cell]
        run = Run(cell.path)
        try:
            row = _cells(state, run, f"{self.split}-{self.strategy}")
        except RegardError as error:  # told at the end
            row = [state, "", "", "", str(error).rpartition(": ")[2]]
        if state in ("done", "failed"):
            self._rows[cell] = row
        return row


def _cells(state: str, run: Run, evaluation: str) -> list[str]:
    latest = run.latest()
    is_over = latest.get("event") == "ended" and latest.get("reason") in ("finished", "patience")
    share = 1.0 if is_over else latest.get("progress")
    epochs = run.epochs() if state == "done" else []
    loss = epochs[-1]["validation_nats_per_token"] if epochs else latest.get("validation_nats_per_token")
    found = run.evaluations().get(evaluation) if state == "done" else None
    score = found["scores"][found["metric"]] if found else {"value": None}
    return [
        "scoring" if is_over and state == "training" else state,
        str(latest.get("epoch", "")),
        "" if share is None else f"{share:.0%}",
        "" if loss is None else f"{loss:.3f}",
        "" if score["value"] is None else f"{score['value']:.2f} {score['name']}",
    ]


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
