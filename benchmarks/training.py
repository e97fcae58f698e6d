"""Training speed of the homework model against the loop-per-step implementation, in one run and by turns.

python -m benchmarks.training [--steps 6] [--rounds 3] [--data DIRECTORY]
"""

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from benchmarks.loop import LoopModel
from regard.config import load_config
from regard.data.batches import EncodedPairs, plan
from regard.data.corpus import Corpus, load_corpus
from regard.data.tokenizers import TokenizerPair
from regard.data.vocabulary import PAD
from regard.device import keep_freed_memory
from regard.models.build import build_model
from regard.training.trainer import Trainer

OUT = Path("benchmarks/out/training.jsonl")
Step = Callable[[], int]
"""Takes one training step and returns how many target tokens it learned from."""


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
    tokens_per_second: list[float]
    """Target tokens a second, padding not counted, one figure a round."""


def regard_side(pairs: EncodedPairs, sizes: tuple[int, int]) -> Step:
    """Train as `regard train homework` does."""
    keep_freed_memory()
    config = load_config("homework")
    torch.manual_seed(1)
    model = build_model(config.model, source_words=sizes[0], target_words=sizes[1])
    trainer = Trainer(model, Encoded(pairs), config.train)
    batches = _forever(pairs, shuffled=True)
    return lambda: _tokens(trainer.step(pairs.batch(next(batches)), 1e-3))


def _tokens(done: tuple[float, int]) -> int:
    return done[1]


def loop_side(pairs: EncodedPairs, sizes: tuple[int, int]) -> Step:
    """Train as the homework's skeleton does: random batches of 128, Adam, gradient norm 1."""
    torch.manual_seed(1)
    model = LoopModel(*sizes)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    random = np.random.default_rng(1)

    def step() -> int:
        batch = pairs.batch(random.choice(len(pairs), size=128, replace=False))
        optimizer.zero_grad()
        logits = model(batch.source.t(), batch.target_in.t())
        criterion(logits.flatten(0, 1), batch.target_out.t().flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return batch.target_tokens

    return step


SIDES = {"regard": regard_side, "loop": loop_side}


def _forever(pairs: EncodedPairs, *, shuffled: bool) -> Iterator[np.ndarray]:
    epoch = 0
    while True:
        generator = np.random.default_rng(epoch) if shuffled else None
        yield from plan(pairs, np.arange(len(pairs)), size=128, unit="sentences", generator=generator)
        epoch += 1


class Side:
    """One implementation in a process of its own, so that neither profits from the other's settings."""

    def __init__(self, name: str, data: str) -> None:
        command = [sys.executable, "-m", "benchmarks.training", "--side", name, "--data", data]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def speed(self, steps: int) -> float:
        """Let it take some steps and return its target tokens a second."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        tokens, seconds = self.process.stdout.readline().split()
        return int(tokens) / float(seconds)

    def close(self) -> None:
        """Let it end."""
        self.process.communicate()


def serve(name: str, data: str) -> None:
    """Be a side: for every number of steps read, print tokens and seconds."""
    train = corpus(data)["train"]
    pair = TokenizerPair.train(load_config("homework").tokenizer, train.sources, train.targets)
    pairs = EncodedPairs.of(pair.source.encode_all(train.sources), pair.target.encode_all(train.targets))
    step = SIDES[name](pairs, (pair.source.size, pair.target.size))
    for line in sys.stdin:
        clock = time.perf_counter()
        tokens = sum(step() for _ in range(int(line)))
        print(tokens, time.perf_counter() - clock, flush=True)


def measure(data: str, *, steps: int, rounds: int) -> list[Result]:
    """Let the sides take turns, so that whatever else the machine does hits them alike."""
    sides = {name: Side(name, data) for name in SIDES}
    speeds: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds + 1):
        for name, side in sides.items():
            speed = side.speed(steps if number else 1)
            if number:  # the first round warms up
                speeds[name].append(speed)
    for side in sides.values():
        side.close()
    return [Result(name, values) for name, values in speeds.items()]


def corpus(directory: str) -> Corpus:
    """Return Multi30k, from a directory or where it is usually found."""
    options = [f"data.directory={json.dumps(directory)}"] if directory else []
    return load_corpus(load_config("homework", options).data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", default="", help="directory of Multi30k")
    parser.add_argument("--side", choices=list(SIDES), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        serve(arguments.side, arguments.data)
        return
    results = measure(arguments.data, steps=arguments.steps, rounds=arguments.rounds)
    medians = {result.side: statistics.median(result.tokens_per_second) for result in results}
    for name, speed in medians.items():
        print(f"{name:<8} {speed:8.0f} target tokens/s")
    print(f"ratio    {medians['regard'] / medians['loop']:8.2f}")
    record(results, ratio=medians["regard"] / medians["loop"])


def record(results: list[Result], *, ratio: float) -> None:
    """Add a JSON line with machine and commit."""
    OUT.parent.mkdir(parents=True, exist_ok=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    line = {
        "what": "training homework, regard : loop per step",
        "ratio": ratio,
        "results": [asdict(result) for result in results],
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "machine": platform.processor() or platform.machine(),
        "commit": commit,
    }
    with OUT.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
