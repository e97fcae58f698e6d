"""The peers, each in its own environment and driven by its own commands.

OpenNMT-py 3.5 wants torch below 2.3 and NumPy below 2: `make peers` gives it both, and then nothing else is needed.
(With a current torch it cannot load the checkpoint it has just written.) JoeyNMT 2.3 runs on the torch that regard runs
on, with importlib_metadata, which it needs and does not ask for, and without its plateau schedule, which crashes there.
Both read pieces set apart by spaces, as words, since the corpus is cut beforehand, and both load their data before the
first step.
"""

import json
import re
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.pieces import BATCH, DROPOUT, JOEYNMT, OPENNMT, Pieces, Sizes
from benchmarks.turns import SideFailed, at_most, end, environment, start

STEPS_A_REPORT = 2
WARM_UP = 3
"""Reports that are passed over: start-up and the first steps."""
NEVER = 10**6


@dataclass(frozen=True)
class Peer(ABC):
    """A toolkit: the Python that has it, the data, and a folder of its own to write into."""

    python: str
    pieces: Pieces
    threads: int
    patience: float
    """Seconds that it may take to start, and to decode."""

    name: ClassVar[str]
    sizes: ClassVar[Sizes]
    report: ClassVar[re.Pattern[str]]
    """Finds target tokens a second in its training log."""
    parameters: ClassVar[re.Pattern[str]]
    """Finds the number of parameters there."""

    @abstractmethod
    def training(self) -> list[str]:
        """Return the command that trains."""

    @property
    def folder(self) -> Path:
        """Where the peer writes."""
        return self.pieces.folder / self.name

    def train(self, seconds: float) -> tuple[float, int]:
        """Train for some seconds after the warm-up; return target tokens a second and the number of parameters.

        The peer says how fast the last steps were, our clock how long they took.
        """
        reports, tokens, passed, parameters, last = 0, 0.0, 0.0, 0, time.perf_counter()
        with closing(self.follow(self.training(), seconds=self.patience + seconds)) as lines:
            for line in lines:
                if found := self.parameters.search(line):
                    parameters = int(found[1])
                if not (found := self.report.search(line)):
                    continue
                now, reports = time.perf_counter(), reports + 1
                if reports > WARM_UP:
                    tokens, passed = tokens + float(found[1]) * (now - last), passed + now - last
                if passed >= seconds:
                    return tokens / passed, parameters
                last = now
        raise SideFailed(f"its training ended or was ended after {reports} reports; see {self.folder}.log")

    def run(self, command: Sequence[str]) -> list[str]:
        """Run a command to its end; return its lines."""
        return list(self.follow(command, seconds=self.patience))

    def follow(self, command: Sequence[str], *, seconds: float) -> Generator[str, None, None]:
        """Run a command and give its lines as they come, until nobody asks for more."""
        env = {key: value for key, value in environment(self.threads).items() if key != "PYTHONPATH"}
        process = start(command, env, stderr=subprocess.STDOUT)
        assert process.stdout is not None
        with self.folder.with_suffix(".log").open("w", encoding="utf-8") as log:
            try:
                with at_most(process, seconds):
                    for line in process.stdout:
                        log.write(line)
                        yield line
                    if process.wait():
                        raise SideFailed(f"`{' '.join(command)}` ended with {process.returncode}; see {log.name}")
            finally:
                end(process)

    def configure(self, name: str, settings: dict[str, Any]) -> str:
        """Write settings as YAML, of which JSON is a part; return the file's name."""
        self.folder.mkdir(exist_ok=True)
        path = self.folder / f"{name}.yaml"
        path.write_text(json.dumps(settings, indent=1), encoding="utf-8")
        return str(path)


@dataclass(frozen=True)
class OpenNmt(Peer):
    """OpenNMT-py."""

    name = "OpenNMT-py"
    sizes = OPENNMT
    report = re.compile(r"/ *(\d+) tok/s")
    parameters = re.compile(r"\* number of parameters: (\d+)")

    def training(self, steps: int = NEVER) -> list[str]:
        """Return the command that trains for some steps and then writes a checkpoint."""
        data = self.pieces.folder
        settings = {
            "data": {"corpus": {"path_src": f"{data}/train.source", "path_tgt": f"{data}/train.target"}},
            "src_vocab": f"{data}/vocabulary",
            "tgt_vocab": f"{data}/vocabulary",
            "vocab_size_multiple": 1,
            "save_model": f"{self.folder}/model",
            "encoder_type": "brnn",
            "decoder_type": "rnn",
            "rnn_type": "GRU",
            "enc_layers": 1,
            "dec_layers": 1,
            "hidden_size": self.sizes.decoder,
            "word_vec_size": self.sizes.embedding,
            "global_attention": "general",
            "input_feed": 1,
            "dropout": [DROPOUT],
            "batch_type": "tokens",
            "batch_size": BATCH,
            "batch_size_multiple": 1,
            "normalization": "tokens",
            "bucket_size": len(self.pieces.lines("train.source")),
            "num_workers": 0,
            "optim": "adam",
            "learning_rate": 1e-3,
            "max_grad_norm": 1,
            "train_steps": steps,
            "valid_steps": NEVER,
            "save_checkpoint_steps": steps,
            "report_every": STEPS_A_REPORT,
            "seed": 1,
        }
        assert self.sizes.encoder * 2 == self.sizes.decoder  # its hidden_size is both ways together
        return [self.python, "-m", "onmt.bin.train", "-config", self.configure(f"train-{steps}", settings)]

    def write_checkpoint(self, steps: int = 4) -> None:
        """Train for a few steps, for something to decode with."""
        self.run(self.training(steps))
        (self.folder / f"model_step_{steps}.pt").replace(self.folder / "model.pt")

    def decode(self, width: int) -> float:
        """Translate the test sentences into equally many tokens each; return tokens a second, by its own clock."""
        for line in self.translate("test.source", width):
            if found := re.search(r"Tokens per second: ([\d.]+)", line):
                self.check_lengths()
                return float(found[1])
        raise SideFailed(f"it did not say how fast it translated; see {self.folder}.log")

    def start_up(self) -> float:
        """Translate one sentence; return the seconds of the whole command."""
        began = time.perf_counter()
        self.translate("one.source", 5)
        return time.perf_counter() - began

    def translate(self, name: str, width: int) -> list[str]:
        """Run its translation command."""
        length = str(self.pieces.decoded_length)
        options = {
            "-model": str(self.folder / "model.pt"),
            "-src": str(self.pieces.folder / name),
            "-output": str(self.folder / "translations"),
            "-beam_size": str(width),
            "-batch_size": "100",
            "-min_length": length,
            "-max_length": length,
            "-max_length_ratio": "0",
        }
        words = [word for option in options.items() for word in option]
        return self.run([self.python, "-m", "onmt.bin.translate", "-report_time", *words])

    def check_lengths(self) -> None:
        """See that every translation is as long as asked."""
        lines = (self.folder / "translations").read_text(encoding="utf-8").removesuffix("\n").split("\n")
        lengths = {len(line.split(" ")) for line in lines}
        if lengths != {self.pieces.decoded_length} or len(lines) != len(self.pieces.lines("test.source")):
            raise SideFailed(f"{len(lines)} translations of {lengths} tokens, want {self.pieces.decoded_length}")


@dataclass(frozen=True)
class JoeyNmt(Peer):
    """JoeyNMT."""

    name = "JoeyNMT"
    sizes = JOEYNMT
    report = re.compile(r"Tokens per Sec: +(\d+)")
    parameters = re.compile(r"Total params: (\d+)")

    def training(self) -> list[str]:
        """Return the command that trains."""
        data = self.pieces.folder
        text = {"level": "word", "max_length": 200, "voc_file": f"{data}/vocabulary"}
        embeddings = {"embedding_dim": self.sizes.embedding, "dropout": DROPOUT}
        settings = {
            "name": "peer",
            "joeynmt_version": "2.3.0",
            "model_dir": f"{self.folder}/model",
            "use_cuda": False,
            "data": {
                "train": f"{data}/train",
                "dev": f"{data}/validation",
                "dataset_type": "plain",
                "src": {"lang": "source", **text},
                "trg": {"lang": "target", **text},
            },
            "testing": {"beam_size": 1},
            "training": {
                "optimizer": "adam",
                "learning_rate": 1e-3,
                "scheduling": "exponential",  # it wants some schedule; this one is constant
                "decrease_factor": 1.0,
                "clip_grad_norm": 1.0,
                "batch_type": "token",
                "batch_size": BATCH,
                "normalization": "tokens",
                "epochs": NEVER,
                "logging_freq": STEPS_A_REPORT,
                "validation_freq": NEVER,
                "shuffle": True,
                "overwrite": True,
            },
            "model": {
                "encoder": {
                    "type": "recurrent",
                    "rnn_type": "gru",
                    "embeddings": embeddings,
                    "hidden_size": self.sizes.encoder,
                    "bidirectional": True,
                    "num_layers": 1,
                    "dropout": DROPOUT,
                },
                "decoder": {
                    "type": "recurrent",
                    "rnn_type": "gru",
                    "embeddings": embeddings,
                    "hidden_size": self.sizes.decoder,
                    "num_layers": 1,
                    "dropout": DROPOUT,
                    "hidden_dropout": DROPOUT,
                    "attention": "luong",
                    "input_feeding": True,
                    "init_hidden": "bridge",
                },
            },
        }
        return [self.python, "-m", "joeynmt", "train", self.configure("train", settings), "--skip-test"]
