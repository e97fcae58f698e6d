"""Trains the cells of a grid in parallel processes and shows how they get on."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from rich.live import Live
from rich.table import Table

from regard.cli.terminal import console, say
from regard.run import Run
from regard.training.grid import Cell

PAUSE = 0.5
"""Seconds between looks at the processes."""


@dataclass
class Fleet:
    """Processes for cells, a few at a time; a cell that fails does not stop the others."""

    cells: list[Cell]
    jobs: int
    beam: int
    split: str
    running: dict[int, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)

    def run(self) -> dict[Path, str]:
        """Do what is missing; return the cells that failed and why."""
        waiting = list(range(len(self.cells)))
        try:
            with self._shown() as live:
                while waiting or self.running:
                    while waiting and len(self.running) < self.jobs:
                        self.running[waiting[0]] = self._start(self.cells[waiting[0]])
                        waiting.pop(0)
                    time.sleep(PAUSE)
                    self._collect()
                    if live:
                        live.update(self._table(set(waiting)))
        finally:
            self._stop()
        return {self.cells[index].path: why for index, why in self.failed.items()}

    def _start(self, cell: Cell) -> "subprocess.Popen[bytes]":
        threads = str(max(1, cores() // self.jobs))
        is_given = any(word.startswith("train.threads=") for word in cell.overrides)
        overrides = [*cell.overrides, *([] if is_given else [f"train.threads={threads}"])]
        job = {"path": str(cell.path), "experiment": cell.experiment, "overrides": overrides}
        with _log(cell).open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "regard.cli.worker", json.dumps(job | {"beam": self.beam, "split": self.split})],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env={**os.environ, "OMP_NUM_THREADS": threads},
                start_new_session=True,  # Ctrl-C is for this process alone, which then closes the pipes
            )

    def _collect(self) -> None:
        for index, process in list(self.running.items()):
            if process.poll() is None:
                continue
            del self.running[index]
            _close(process.stdin)
            cell = self.cells[index]
            if process.returncode or not _is_finished(cell):
                self.failed[index] = _why(process.returncode, _log(cell))
                say(f"{cell.path.name}: failed: {self.failed[index]}")
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
        with Live(self._table(set(range(len(self.cells)))), console=console, refresh_per_second=2) as live:
            yield live

    def _table(self, waiting: set[int]) -> Table:
        table = Table("run", "state", "epoch", "done", "loss", box=None)
        for index, cell in enumerate(self.cells):
            event = (Run(cell.path).last_event() if cell.path.exists() else None) or {}
            is_over = event.get("event") == "ended"
            at_work = "scoring" if is_over else "training"
            state = "failed" if index in self.failed else at_work if index in self.running else "done"
            loss = event.get("validation_nats_per_token", event.get("nats_per_token"))
            share = 1.0 if is_over else event.get("progress")
            table.add_row(
                cell.path.name,
                "waiting" if index in waiting else state,
                "" if is_over else str(event.get("epoch", "")),
                "" if share is None else f"{share:.0%}",
                "" if loss is None else f"{loss:.3f}",
            )
        return table


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
