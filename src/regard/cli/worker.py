"""One cell of a comparison in a process of its own: train or resume it, then evaluate it.

The process reads standard input, which stays open as long as the command that started it lives: when that one stops or
dies, the training stops after its step with a checkpoint. A lock keeps two processes from one run.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from regard.cli.terminal import say
from regard.errors import RegardError


def main() -> int:
    """Read the job from the first argument, as JSON; return the exit code."""
    job: dict[str, Any] = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have told its background jobs to ignore it
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    try:
        with _lock(Path(job["path"])):
            _work(Path(job["path"]), job)
    except RegardError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _work(path: Path, job: dict[str, Any]) -> None:
    from regard.cli.evaluate import evaluate_run
    from regard.cli.train import resume_run, train_run
    from regard.config import load_config
    from regard.run import Run
    from regard.search.strategy import Strategy

    if not path.exists():
        train_run(load_config(job["experiment"], job["overrides"]), path)
    elif Run.open(path).description["status"] != "finished":
        resume_run(path)
    run, strategy = Run.open(path), Strategy(width=job["beam"])
    if run.description["status"] == "finished" and f"{job['split']}-{strategy}" not in run.evaluations():
        evaluate_run(run, job["split"], [strategy])


def _stop_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)  # nothing is ever sent: returns at the end of the pipe
    os.kill(os.getpid(), signal.SIGINT)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # Windows: two comparisons of one directory at a time are the user's to avoid
        yield
        return
    with path.with_name(f".{path.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main())
