"""regard's side of the comparison with peers: a process that trains or decodes when it is told to.

python -m benchmarks.ours FOLDER ENCODER WIRING, where FOLDER is made by `benchmarks.pieces` and ENCODER is the size of
the encoder's state; then lines on standard input: `train SECONDS`, `decode WIDTH` or `parameters`.
"""

import copy
import sys
import time
from pathlib import Path

import torch

from benchmarks.pieces import Pieces, Sizes, config_of
from benchmarks.turns import Encoded, forever
from regard.config import Config
from regard.models.build import build_model
from regard.models.packing import pack_for_search
from regard.models.seq2seq import Seq2Seq
from regard.run import Run
from regard.search.rules import Length, Rules
from regard.search.strategy import Strategy
from regard.training.trainer import Trainer
from regard.translate import Translator

WARM_UP = 3
"""Steps taken before the clock is started for the first time."""
DECODED = 100
"""Sentences decoded at a time, as by the peer."""


class Ours:
    """A model in training that can be asked to translate."""

    def __init__(self, pieces: Pieces, config: Config) -> None:
        self.pieces = pieces
        self.model = fresh_model(pieces, config)
        pairs = pieces.encoded("train")
        self.trainer = Trainer(self.model, Encoded(pairs), config.train)
        self.rate = config.train.learning_rate
        self.batches = (
            pairs.batch(rows) for rows in forever(pairs, size=config.train.batch, unit=config.train.batch_unit)
        )
        for _ in range(WARM_UP):
            self.step()

    def step(self) -> int:
        """Learn from a batch and return its target tokens."""
        return self.trainer.step(next(self.batches), self.rate)[1]

    def train(self, seconds: float) -> tuple[int, float]:
        """Train for some time; return target tokens, padding not counted, and seconds."""
        tokens, began = 0, time.perf_counter()
        while (passed := time.perf_counter() - began) < seconds:
            tokens += self.step()
        return tokens, passed

    def decode(self, width: int) -> tuple[int, float]:
        """Translate the test sentences into equally many tokens each; return tokens and seconds."""
        length = Length(offset=self.pieces.decoded_length)
        strategy = Strategy(width, rules=Rules(shortest=length, longest=length))
        text = self.pieces.tokenizers.source.text
        sentences = [text(line.split(" ")) for line in self.pieces.lines("test.source")]
        model = pack_for_search(copy.deepcopy(self.model))  # as a run does when it is opened to translate
        translator = Translator([model], self.pieces.tokenizers)
        began = time.perf_counter()
        found = list(translator.translate_all(sentences, strategy, batch=DECODED))
        passed = time.perf_counter() - began
        return sum(len(one.token_log_probs) for one in found), passed


def fresh_model(pieces: Pieces, config: Config) -> Seq2Seq:
    """Return the model before training."""
    torch.manual_seed(1)
    words = pieces.tokenizers.source.size
    return build_model(config.model, source_words=words, target_words=words)


def write_run(pieces: Pieces, config: Config, path: Path) -> None:
    """Write a run with a fresh model, for the command line to translate with."""
    run = Run.create(path, config, pieces.tokenizers, corpus_sha256="")
    run.save_weights(fresh_model(pieces, config).state_dict())


def main() -> None:
    folder, encoder, wiring = sys.argv[1:]
    ours = Ours(Pieces(Path(folder)), config_of(Sizes(int(encoder)), wiring))
    for line in sys.stdin:
        task, *rest = line.split()
        if task == "train":
            print(*ours.train(float(rest[0])), flush=True)
        elif task == "decode":
            print(*ours.decode(int(rest[0])), flush=True)
        else:
            print(sum(parameter.numel() for parameter in ours.model.parameters()), flush=True)


if __name__ == "__main__":
    main()
