"""How fast this machine trains and translates, and how much of what it could do that is."""

import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from regard.config import Config
from regard.data.batches import Batch, EncodedPairs, plan
from regard.data.vocabulary import SPECIALS
from regard.device import processor, side_by_side
from regard.errors import RegardError
from regard.models.build import build_model
from regard.models.packing import pack_for_search
from regard.models.seq2seq import Seq2Seq
from regard.search.rules import Length, Rules
from regard.search.strategy import Strategy
from regard.training.trainer import Trainer
from regard.translate import load

WORDS = 6000
"""Size of the vocabularies where the configuration does not say; about what Multi30k has."""
SENTENCES = 29_000
"""Pairs to train on, as many as Multi30k has: among fewer there are not as many of like length."""
SENTENCE = "Ein kleiner Junge in einem roten Hemd spielt mit seinem braunen Hund."
SIZES = (512, 1024, 2048)
"""Sides of the square products among which the machine's limit is looked for."""
Shape = tuple[int, ...]
AS_LONG_AS_THE_SOURCE = Rules(shortest=Length(1.0), longest=Length(1.0))
"""A fresh model does not know where a sentence ends."""


@dataclass(frozen=True, slots=True)
class Speed:
    """One measurement."""

    what: str
    value: float
    unit: str
    share_of_limit: float | None = None
    """Time that the matrix products would take at the machine's limit, by the time that passed."""


@dataclass(frozen=True, slots=True)
class RandomPairs:
    """Sentences of random words with the lengths of image captions."""

    pairs: EncodedPairs

    @classmethod
    def draw(cls, sentences: int, words: int, generator: np.random.Generator) -> "RandomPairs":
        """Draw sentences of about 13 words, give or take 4, the target near its source in length."""
        source = np.clip(generator.normal(13, 4, sentences).round(), 4, 40).astype(int)
        target = np.clip(source + generator.normal(0, 2, sentences).round(), 4, 40).astype(int)
        lines = (generator.integers(4, words, int(length)).tolist() for length in (*source, *target))
        return cls(EncodedPairs.of(list(islice(lines, sentences)), list(lines)))

    def epoch(self, number: int) -> EncodedPairs:
        """Return the same pairs in every epoch."""
        return self.pairs

    @property
    def validation(self) -> EncodedPairs:
        """Return the same pairs."""
        return self.pairs


def keep_to_threads(config: Config) -> None:
    """Measure everything with as many threads as the experiment has, if it says."""
    if config.train.threads:
        torch.set_num_threads(config.train.threads)


def machine() -> dict[str, Any]:
    """Return what a speed depends on besides the code."""
    return {"machine": processor(), "torch": torch.__version__, "threads": torch.get_num_threads()}


def machine_limit(dtype: torch.dtype = torch.float32, *, repetitions: int = 8) -> float:
    """Return the most floating-point operations a second that this machine's matrix products reach."""

    def rate(size: int) -> float:
        a, b = torch.randn(size, size).to(dtype), torch.randn(size, size).to(dtype)
        seconds = min(_seconds(lambda: a @ b) for _ in range(repetitions))
        return 2 * size**3 / seconds

    return max(rate(size) for size in SIZES)


def training(config: Config, *, seconds: float) -> tuple[Speed, Speed, Speed]:
    """Train a fresh model; return the limit, measured before and after, and the speed at first and in as long after it.

    At first a training takes memory from the system, and compiles products for every length that it meets.
    """
    trainer, batches = _fresh_training(config)
    before = machine_limit(trainer.precision)
    trainer.step(batches[0], config.train.learning_rate)
    turns = cycle(batches)
    at_first, later = (_tokens_per_second(trainer, turns, seconds=seconds) for _ in range(2))
    limit = max(before, machine_limit(trainer.precision))
    needed = _operations_per_token(trainer, batches[:8]) / limit
    name = str(trainer.precision).removeprefix("torch.")
    return (
        Speed(f"limit of matrix products, {name}", limit / 1e9, "GFLOP/s"),
        Speed("training", at_first, "target tokens/s", needed * at_first),
        Speed("training, warmed up", later, "target tokens/s", needed * later),
    )


def _tokens_per_second(trainer: Trainer, batches: Iterator[Batch], *, seconds: float) -> float:
    tokens, began = 0, time.perf_counter()
    while (passed := time.perf_counter() - began) < seconds:
        tokens += trainer.step(next(batches), trainer.config.learning_rate)[1]
    return tokens / passed


def profile(config: Config, *, steps: int = 10, most: int = 10) -> Iterator[Speed]:
    """Say what a training step of one thread spends its time on; threads that share a step are not seen."""
    threads = torch.get_num_threads()
    trainer, batches = _fresh_training(
        config.model_copy(update={"train": config.train.model_copy(update={"threads": 1})})
    )
    trainer.step(batches[0], config.train.learning_rate)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
        for batch in islice(cycle(batches), steps):
            trainer.step(batch, config.train.learning_rate)
    torch.set_num_threads(threads)
    times = Counter({event.key.removeprefix("aten::"): event.self_cpu_time_total for event in seen.key_averages()})
    for name, time_spent in times.most_common(most):
        yield Speed(name, 100 * time_spent / times.total(), "% of a training step")


def _fresh_training(config: Config) -> tuple[Trainer, list[Batch]]:
    torch.set_num_threads(config.train.threads or torch.get_num_threads())
    data = RandomPairs.draw(SENTENCES, _words(config), np.random.default_rng(1))
    rows = plan(
        data.pairs,
        np.arange(SENTENCES),
        size=config.train.batch,
        unit=config.train.batch_unit,
        generator=np.random.default_rng(1),
    )
    return Trainer(_fresh_model(config), data, config.train), [data.pairs.batch(chosen) for chosen in rows]


def _operations_per_token(trainer: Trainer, batches: list[Batch]) -> float:
    """Count the floating-point operations of all matrix products, forward and backward, for each target token."""
    with FlopCounterMode(display=False, custom_mapping=_uncounted()) as counter:
        for batch in batches:
            trainer.shares.part(batch, number=0, step=0)
    return float(counter.get_total_flops()) / sum(batch.target_tokens for batch in batches)


def _uncounted() -> dict[Any, Callable[..., int]]:
    """Return the products that torch does not count: those added in place, by the loss, and those of oneDNN's LSTM."""
    aten = torch.ops.aten
    return {
        aten.addmm_: _addmm,
        aten.mkldnn_rnn_layer: _lstm,
        aten.mkldnn_rnn_layer_backward: lambda *shapes, **others: 2 * _lstm(*shapes, **others),
    }


def _addmm(into: Shape, left: Shape, right: Shape, **_: object) -> int:
    return 2 * left[0] * left[1] * right[1]


def _lstm(inputs: Shape, weights: Shape, recurrent: Shape, *_: object, **__: object) -> int:
    return 2 * inputs[0] * inputs[1] * weights[0] * (weights[1] + recurrent[1])


def decoding(config: Config, *, width: int, sentences: int, batch: int) -> Speed:
    """Translate random sentences into as many words with a fresh model."""
    strategy = Strategy(width, rules=AS_LONG_AS_THE_SOURCE)
    pairs = RandomPairs.draw(sentences, _words(config), np.random.default_rng(2)).pairs
    model = _fresh_model(config, for_search=True)

    def tokens(rows: np.ndarray[Any, Any]) -> int:
        chosen = pairs.batch(rows)
        with torch.inference_mode():
            found = strategy(model, model.encode(chosen.source, chosen.is_source), numbers=rows.tolist())
        return sum(len(hypotheses[0].tokens) for hypotheses in found)

    batches = plan(pairs, np.arange(sentences), size=batch, unit="sentences")
    tokens(batches[0])  # what is met first is compiled first
    began = time.perf_counter()
    total = sum(side_by_side(tokens, batches))
    return Speed(f"{_name(width)}, batches of {batch}", total / (time.perf_counter() - began), "target tokens/s")


def latency(config: Config, *, width: int, tokens: int = 12, repetitions: int = 30) -> Speed:
    """Translate one sentence into as many tokens as it has; the median of some repetitions."""
    strategy = Strategy(width, rules=AS_LONG_AS_THE_SOURCE)
    model = _fresh_model(config, for_search=True)
    source = torch.from_numpy(np.random.default_rng(3).integers(4, _words(config), (1, tokens)))
    is_token = torch.ones_like(source, dtype=torch.bool)

    def translate() -> None:
        with torch.inference_mode():
            strategy(model, model.encode(source, is_token), numbers=[0])

    translate()
    return Speed(
        f"{_name(width)}, one sentence of {tokens} tokens",
        1000 * statistics.median(_seconds(translate) for _ in range(repetitions)),
        "ms",
    )


def sentence(*, width: int, repetitions: int = 30) -> Speed:
    """Translate a real sentence with the model in the box, from text to text; the median of some repetitions."""
    translator, strategy = load(), Strategy(width)
    translator.translate(SENTENCE, strategy)
    times = [_seconds(lambda: translator.translate(SENTENCE, strategy)) for _ in range(repetitions)]
    what = f"{_name(width)}, a sentence of {len(SENTENCE.split())} words"
    return Speed(f"{what}, model in the box", 1000 * statistics.median(times), "ms")


def start_up() -> Speed:
    """Translate a sentence with the model in the box in a fresh process."""
    command = [sys.executable, "-c", "from regard.cli import main; main()", "translate"]
    text = SENTENCE.encode()
    seconds = min(
        _seconds(lambda: subprocess.run(command, check=True, input=text, stdout=subprocess.DEVNULL)) for _ in range(3)
    )
    return Speed("regard translate, one sentence", seconds, "s")


def _words(config: Config) -> int:
    words = config.tokenizer.vocabulary if config.tokenizer.kind == "subword" else WORDS
    if words <= len(SPECIALS):
        raise RegardError(f"tokenizer.vocabulary: got {words}, want more than the {len(SPECIALS)} special pieces.")
    return words


def _fresh_model(config: Config, *, for_search: bool = False) -> Seq2Seq:
    torch.manual_seed(1)
    model = build_model(config.model, source_words=_words(config), target_words=_words(config))
    return pack_for_search(model.eval()) if for_search else model


def _name(width: int) -> str:
    return "greedy" if width == 1 else f"beam {width}"


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
