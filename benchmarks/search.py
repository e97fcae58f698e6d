"""Speed of greedy search and of beams on the homework model, in one run and by turns, on Multi30k's test sentences.

python -m benchmarks.search [--run RUN] [--sentences 1000] [--rounds 3] [--widths 1 5 50] [--data DIRECTORY]
"""

import argparse
import statistics
import time
from dataclasses import asdict, dataclass

import torch

from benchmarks.training import corpus
from benchmarks.turns import record
from regard.config import load_config
from regard.data.tokenizers import TokenizerPair
from regard.data.words import split_words
from regard.models.build import build_model
from regard.models.packing import pack_for_search
from regard.search.strategy import Strategy
from regard.translate import Translator, load

LATENCY = Strategy(width=5)
WORDS, REPEATS = 12, 20
"""Latency: words of the sentence that is translated alone, and how often."""


@dataclass(frozen=True)
class Result:
    search: str
    seconds: list[float]
    """Wall clock for all sentences, one figure a round."""
    cpu_seconds: list[float]


def translator(run: str, data: str) -> Translator:
    """Load a run, or build the homework model with random weights: its sentences then end where the limit is."""
    if run:
        return load(run)
    config, train = load_config("homework"), corpus(data)["train"]
    pair = TokenizerPair.train(config.tokenizer, train.sources, train.targets)
    torch.manual_seed(1)
    model = build_model(config.model, source_words=pair.source.size, target_words=pair.target.size)
    return Translator([pack_for_search(model)], pair)


def measure(model: Translator, lines: list[str], *, widths: list[int], rounds: int) -> list[Result]:
    """Let the widths take turns, so that whatever else the machine does hits them alike."""
    strategies = [Strategy(width=width) for width in widths]
    results = [Result(str(strategy), [], []) for strategy in strategies]
    for number in range(rounds + 1):
        for strategy, result in zip(strategies, results, strict=True):
            chosen = lines if number else lines[:64]  # the first round warms up
            clock, cpu = time.perf_counter(), time.process_time()
            assert sum(1 for _ in model.translate_all(chosen, strategy)) == len(chosen)
            if number:
                result.seconds.append(time.perf_counter() - clock)
                result.cpu_seconds.append(time.process_time() - cpu)
    return results


def latency(model: Translator, lines: list[str]) -> list[float]:
    """Translate one sentence of usual length alone, again and again; return milliseconds."""
    sentence = next(line for line in lines if len(split_words(line)) == WORDS)
    times = []
    for _ in range(REPEATS + 2):
        clock = time.perf_counter()
        model.translate(sentence, LATENCY)
        times.append(1000 * (time.perf_counter() - clock))
    return times[2:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", default="", help="trained run; default: random weights")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--widths", type=int, nargs="+", default=[1, 5, 50])
    parser.add_argument("--data", default="", help="directory of Multi30k")
    arguments = parser.parse_args()
    model = translator(arguments.run, arguments.data)
    lines = list(corpus(arguments.data)["test"].sources[: arguments.sentences])
    results = measure(model, lines, widths=arguments.widths, rounds=arguments.rounds)
    alone = latency(model, lines)
    first = results[0]
    for result in results:
        # Of each round by itself: neighbours in time share what else the machine did.
        ratio = statistics.median(a / b for a, b in zip(result.cpu_seconds, first.cpu_seconds, strict=True))
        wall, cpu = (statistics.median(x) for x in (result.seconds, result.cpu_seconds))
        print(f"{result.search:<16} {wall:8.2f} s {cpu:8.2f} s of processor  {ratio:6.2f} x {first.search}")
    print(f"{WORDS} words alone, {LATENCY}: median {statistics.median(alone):.1f} ms")
    line = {
        "what": f"search {arguments.run or 'homework'}, {len(lines)} sentences",
        "weights": "trained" if arguments.run else "random",
        "results": [asdict(result) for result in results],
        "latency_milliseconds": alone,
    }
    record("search", line)


if __name__ == "__main__":
    main()
