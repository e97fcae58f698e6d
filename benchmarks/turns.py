"""What every benchmark needs: sides in processes of their own, a clock that bounds them, and a line for the record."""

import json
import os
import signal
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from regard.bench import machine
from regard.data.batches import EncodedPairs, Ints, plan

OUT = Path("benchmarks/out")


class SideFailed(Exception):
    """A side died, said something else than asked, or took too long."""


@dataclass(frozen=True)
class Encoded:
    """A corpus that needs no run."""

    pairs: EncodedPairs

    def epoch(self, number: int) -> EncodedPairs:
        return self.pairs

    @property
    def validation(self) -> EncodedPairs:
        return self.pairs


@dataclass(frozen=True)
class Result:
    side: str
    values: list[float]
    """One figure a round, in the unit of the comparison."""

    @property
    def median(self) -> float:
        return statistics.median(self.values)


class Side:
    """One implementation in a process of its own, so that neither profits from the other's settings."""

    def __init__(self, command: Sequence[str], *, threads: int = 0) -> None:
        self.process = start(command, environment(threads), stdin=subprocess.PIPE)

    def ask(self, question: str, *, seconds: float) -> list[str]:
        """Write a line and return the words of the line that comes back within some seconds."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        began = time.monotonic()
        with at_most(self.process, seconds):
            try:
                self.process.stdin.write(f"{question}\n")
                self.process.stdin.flush()
            except OSError:
                raise SideFailed(f"ended before it was asked to {question}") from None
            answer = self.process.stdout.readline().split()
        if not answer:
            is_late = time.monotonic() - began >= seconds
            raise SideFailed(f"gave no answer to {question} within {seconds:.0f} s" if is_late else "ended; see above")
        return answer

    def speed(self, question: str, *, seconds: float = 600) -> float:
        """Ask for work that is answered by tokens and seconds; return tokens a second."""
        tokens, passed = self.ask(question, seconds=seconds)
        return int(tokens) / float(passed)

    def close(self) -> None:
        """Let it end."""
        end(self.process)


def environment(threads: int) -> dict[str, str]:
    """Return this environment with a number of processor threads; 0 leaves the choice to torch."""
    if not threads:
        return dict(os.environ)
    return os.environ | dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))


def start(
    command: Sequence[str], env: Mapping[str, str], *, stdin: int = subprocess.DEVNULL, stderr: int | None = None
) -> "subprocess.Popen[str]":
    """Start a process that leads a group, so that its helpers can be ended with it."""
    return subprocess.Popen(
        command, env=env, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, text=True, start_new_session=True
    )


def end(process: "subprocess.Popen[str]") -> None:
    """End a process and its helpers."""
    with process:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


@contextmanager
def at_most(process: "subprocess.Popen[str]", seconds: float) -> Iterator[None]:
    """Kill a process and its helpers if the block takes longer: whoever waits for its output is released."""
    timer = threading.Timer(seconds, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def forever(pairs: EncodedPairs, *, size: int, unit: str) -> Iterator[Ints]:
    """Give batches of like length, epoch after epoch."""
    epoch = 0
    while True:
        yield from plan(pairs, np.arange(len(pairs)), size=size, unit=unit, generator=np.random.default_rng(epoch))
        epoch += 1


def record(name: str, line: Mapping[str, Any], *, threads: int = 0) -> None:
    """Add a JSON line with machine and commit."""
    OUT.mkdir(parents=True, exist_ok=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    about = {**machine(), "commit": commit} | ({"threads": threads} if threads else {})
    with (OUT / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({**line, **about}) + "\n")
