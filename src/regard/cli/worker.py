"""One cell of a comparison in a process of its own: train or resume it, then evaluate it.

The process reads standard input, which stays open as long as the command that started it lives: when that one stops or
dies, the training stops after its step with a checkpoint. A lock keeps two processes from one run.
"""

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from regard.cli import INTERRUPTED, interrupt
from regard.cli.terminal import say
from regard.disk import lock
from regard.errors import RegardError


def main() -> int:
    """Read the job from the first argument, as JSON; return the exit code."""
    job: dict[str, Any] = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, interrupt)  # a shell may have told its background jobs to ignore it
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    try:
        with lock(Path(job["path"]), is_waiting=True):
            return 0 if _work(Path(job["path"]), job) else INTERRUPTED
    except RegardError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _work(path: Path, job: dict[str, Any]) -> bool:
    """Do what is missing; say whether it came to its end."""
    from regard.cli.evaluate import evaluate_run
    from regard.cli.train import resume_run, train_run
    from regard.config import load_config
    from regard.data.tested import stored_name
    from regard.run import Run
    from regard.search.strategy import Strategy

    if not path.exists():
        is_finished = train_run(load_config(job["experiment"], job["overrides"]), path) is not None
    else:
        run = Run.open(path)
        is_done = run.description["status"] == "finished" and not run.lacks_results()
        is_finished = is_done or resume_run(path)
    run, strategy = Run.open(path), Strategy(width=job["beam"])
    if is_finished and stored_name(job["split"], strategy) not in run.evaluations():
        evaluate_run(run, job["split"], [strategy])
    return is_finished


def _stop_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)  # nothing is ever sent: returns at the end of the pipe
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    sys.exit(main())
