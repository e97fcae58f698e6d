"""Training speed of the homework model against the loop-per-step implementation, in one run and by turns.

python -m benchmarks.training [--steps 12] [--rounds 4] [--data DIRECTORY]
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import torch
from torch import nn

from benchmarks.loop import LoopModel
from benchmarks.turns import Encoded, Result, Side, forever, record
from regard.config import load_config
from regard.data.batches import EncodedPairs
from regard.data.corpus import Corpus, load_corpus
from regard.data.tokenizers import TokenizerPair
from regard.data.vocabulary import PAD
from regard.models.build import build_model
from regard.training.trainer import Trainer

Step = Callable[[], int]
"""Takes one training step and returns how many target tokens it learned from."""


def regard_side(pairs: EncodedPairs, sizes: tuple[int, int]) -> Step:
    """Train as `regard train homework` does."""
    config = load_config("homework")
    torch.manual_seed(1)
    model = build_model(config.model, source_words=sizes[0], target_words=sizes[1])
    trainer = Trainer(model, Encoded(pairs), config.train)
    batches = forever(pairs, size=128, unit="sentences")
    return lambda: trainer.step(pairs.batch(next(batches)), 1e-3)[1]


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
    command = [sys.executable, "-m", "benchmarks.training", "--data", data, "--side"]
    sides = {name: Side([*command, name]) for name in SIDES}
    speeds: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds + 1):
        for name, side in sides.items():
            speed = side.speed(str(steps if number else 1))
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
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--data", default="", help="directory of Multi30k")
    parser.add_argument("--side", choices=list(SIDES), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        serve(arguments.side, arguments.data)
        return
    results = measure(arguments.data, steps=arguments.steps, rounds=arguments.rounds)
    for result in results:
        print(f"{result.side:<8} {result.median:8.0f} target tokens/s")
    ratio = results[0].median / results[1].median
    print(f"ratio    {ratio:8.2f}")
    what = "training homework, regard : loop per step, target tokens/s"
    record("training", {"what": what, "ratio": ratio, "results": [asdict(result) for result in results]})


if __name__ == "__main__":
    main()
