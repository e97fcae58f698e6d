"""How long it takes from a cold start to a BLEU: whole trainings from the command line, each under a time budget.

python -m benchmarks.quality [EXPERIMENT KEY=VALUE ...] [--target 31.5] [--minutes 1.5 2.5 4] [--beam 5]

Budgets are tried in order until the target is passed. The clock covers all of `regard train`: start of Python, learning
of subwords, training, and the scores and diagrams at the end.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.turns import record

SCORE = "bleu_lc"


@dataclass(frozen=True)
class Result:
    minutes: float
    """The budget."""
    seconds: float
    """From the start of the command to its end."""
    bleu: float
    """Lower-cased, on the test set."""


def measure(experiment: list[str], minutes: float, *, beam: int, data: str) -> Result:
    """Train once in a new process and score the run."""
    regard = [sys.executable, "-m", "regard"]
    env = {**os.environ, **({"REGARD_DATA": data} if data else {})}
    with tempfile.TemporaryDirectory() as folder:
        run = str(Path(folder) / "run")
        clock = time.perf_counter()
        subprocess.run(
            [*regard, "train", *experiment, f"train.minutes={minutes}", "--run", run],
            check=True,
            env=env,
            stdout=subprocess.DEVNULL,
        )
        seconds = time.perf_counter() - clock
        scored = subprocess.run(
            [*regard, "evaluate", run, "--beam", str(beam), "--json"],
            check=True,
            env=env,
            capture_output=True,
            text=True,
        )
    return Result(minutes, seconds, _bleu(scored.stdout))


def _bleu(told: str) -> float:
    (evaluation,) = json.loads(told)
    return float(evaluation["scores"][SCORE]["value"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", nargs="*", default=["multi30k-quick"])
    parser.add_argument("--target", type=float, default=31.5)
    parser.add_argument("--minutes", type=float, nargs="+", default=[1.5, 2.5, 4])
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--data", default="", help="directory of Multi30k")
    arguments = parser.parse_args()
    results: list[Result] = []
    target, beam = arguments.target, arguments.beam
    for minutes in sorted(arguments.minutes):
        result = measure(arguments.experiment, minutes, beam=beam, data=arguments.data)
        results.append(result)
        print(f"budget {minutes:5.1f} min: {result.seconds:6.0f} s in all, {SCORE} {result.bleu:.2f} (beam {beam})")
        if result.bleu >= target:
            break
    last = results[-1]
    print(f"{target} passed after {last.seconds:.0f} s" if last.bleu >= target else f"{target} not reached")
    line = {"what": f"time to {target}", "experiment": arguments.experiment, "beam": beam}
    record("quality", {**line, "results": [asdict(result) for result in results]})


if __name__ == "__main__":
    main()
