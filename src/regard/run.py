"""A run is a directory; this is the only code that knows its file names."""

import json
import math
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from itertools import count, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import regard
from regard.config import Config, resolve
from regard.data.tokenizers import TokenizerPair
from regard.disk import WriteError, append_line, checked, read_json, replacing, telling, undisturbed, write_atomically
from regard.errors import RegardError
from regard.parts import DISPLAYS

if TYPE_CHECKING:
    from regard.models.seq2seq import Seq2Seq
    from regard.types import Tensor

FORMAT = 2
"""Raised when an older regard could not read a run any more."""

BOX = Path(regard.__file__).parent / "box"
"""Where the models are that come with the package."""
DEFAULT = "de-en"
"""The model in the box that is meant where none is named."""

NUMBER = (int, float)
DESCRIPTION = {"status": str, "corpus_sha256": str}
EPOCH = {"epoch": int, "train_nats_per_token": NUMBER, "validation_nats_per_token": NUMBER}
WHOLE = 0.95
"""Share of the usual steps that makes a whole epoch: word pieces cut at random make it a little shorter or longer."""
SEEN = {
    "epoch": int,
    "entropy_nats": NUMBER,
    "sentences": [{"source": list, "target": list, "weights": list, "links": (list, type(None))}],
}
EVALUATION = {
    "split": str,
    "search": str,
    "metric": str,
    "scores": {"value": (*NUMBER, type(None)), "interval": (list, type(None)), "signature": str},
    "sentences": [{"source": str, "hypothesis": str, "reference": str}],
    "sentence_scores": dict,
}
"""What is relied on in what is read: entry -> its kind, see `regard.disk.checked`."""


class Run:
    """What a training leaves behind: configuration, tokenizers, log, weights, evaluations and examples."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kept: dict[str, dict[str, Any]] = {}

    @classmethod
    def create(cls, path: Path, config: Config, tokenizers: TokenizerPair, **sums: str) -> "Run":
        """Make the directory of a training that is to begin. ``sums`` are fingerprints of the data."""
        with cls._whole(path, config, tokenizers) as run:
            _write_json(run.path / "run.json", _description(config, tokenizers) | sums)
        return cls(path)

    @classmethod
    @contextmanager
    def _whole(cls, path: Path, config: Config, tokenizers: TokenizerPair) -> Iterator["Run"]:
        """Make a directory whole or not at all; refuse one that exists. What is written meanwhile goes elsewhere."""
        cls.refuse_existing(path)
        with telling(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            making = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
            try:
                making.chmod(0o755)
                _write_json(making / "config.json", config.model_dump(mode="json"))
                tokenizers.save(making)
                yield cls(making)
                making.rename(path)
            except WriteError as error:
                raise WriteError(str(error).replace(str(making), str(path))) from None
            finally:
                shutil.rmtree(making, ignore_errors=True)

    @staticmethod
    def refuse_existing(path: Path) -> None:
        """Protect what is there already."""
        if not os.path.lexists(os.path.normpath(path)):
            return
        if Run(path).is_unfinished():
            raise RegardError(f"{path}: is there and not finished. `regard resume {path}` goes on with it.")
        raise RegardError(f"{path}: exists already. Choose another directory, or remove it.")

    def is_unfinished(self) -> bool:
        """Tell whether this is a run whose training can go on."""
        return (self.path / "run.json").is_file() and self.description.get("status") not in ("finished", "diverged")

    @classmethod
    def open(cls, path: str | Path) -> "Run":
        """Open a run of this format, or a model in the box by its name; say what is wrong with anything else."""
        run = cls(BOX / path if str(path) in boxed() and not os.path.exists(path) else Path(path))
        if os.path.isfile(run.path):
            raise RegardError(f"{path}: a file, want the directory of a run.")
        if not os.path.isdir(run.path):
            raise RegardError(f"{path}: no such run. `regard train` makes one.")
        if not (run.path / "run.json").is_file():
            raise RegardError(f"{path}: not a run, since it has no run.json.")
        found = run.description.get("format")
        if found != FORMAT:
            raise RegardError(f"{path}: format {found!r}, but regard {regard.__version__} reads format {FORMAT}.")
        checked(str(run.path / "run.json"), run.description, DESCRIPTION)
        return run

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    def _repr_html_(self) -> str:
        return str(DISPLAYS["Run"](self))

    @property
    def description(self) -> dict[str, Any]:
        """Format, versions, seed, corpus and status."""
        return read_json(self.path / "run.json")

    def describe(self, **changes: Any) -> None:
        """Change entries of the description."""
        path = self.path / "run.json"
        with telling(path):
            _write_json(path, self.description | changes)

    def sweep(self) -> None:
        """Remove what killed processes have left half-written; no other one may be at work here."""
        for left in self.path.rglob(".*.partial"):
            left.unlink(missing_ok=True)
        for left in self.path.glob(f".{self.examples.name}-*"):
            shutil.rmtree(left, ignore_errors=True)

    @cached_property
    def config(self) -> Config:
        """The experiment, fully resolved."""
        return resolve(read_json(self.path / "config.json"), where=str(self.path / "config.json"))

    @cached_property
    def tokenizers(self) -> TokenizerPair:
        """The tokenizers of both sides."""
        return TokenizerPair.load(self.path, self.config.tokenizer)

    def log(self, record: Mapping[str, Any], name: str = "log") -> None:
        """Add a line to the log, or to another file of lines."""
        path = self.path / f"{name}.jsonl"
        with telling(path):
            append_line(path, json.dumps(record))

    def events(self, name: str = "log") -> Iterator[dict[str, Any]]:
        """Read the log; a last line cut short by a crash is passed over."""
        log = self.path / f"{name}.jsonl"
        yield from _objects(log.read_bytes()) if log.exists() else ()

    def latest(self) -> dict[str, Any]:
        """Return the latest value of every entry of the log, as far as its end tells, which alone is read."""
        log = self.path / "log.jsonl"
        if not log.exists():
            return {}
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 4096))
            return {key: value for event in _objects(file.read()) for key, value in event.items()}

    def epochs(self) -> list[dict[str, Any]]:
        """Return the last logged event of each epoch; one that was cut short by a crash is logged again.

        Where time was up during the last one, its epoch is a fraction: 5.1 after a tenth of the sixth.
        """
        events = [event for event in self.events() if event.get("event") in ("began", "epoch")]
        epochs = self._by_epoch("log", (event for event in events if event["event"] == "epoch"), EPOCH)
        usual = [event.get("steps_per_epoch", 0) for event in events if event["event"] == "began"]
        if epochs and usual:
            before, last = [{"step": 0}, *epochs][-2:]
            share = (last.get("step", 0) - before.get("step", 0)) / max(1, usual[-1])
            last["epoch"] -= 1 - share if 0 < share < WHOLE else 0
        return epochs

    def attention(self) -> list[dict[str, Any]]:
        """Return what `regard.training.watch` saw after each epoch, as `epochs` has them; nothing without attention."""
        ends = {math.ceil(epoch["epoch"]): epoch["epoch"] for epoch in self.epochs()}
        seen = self._by_epoch("attention", self.events("attention"), SEEN)
        return [record | {"epoch": ends.get(record["epoch"], record["epoch"])} for record in seen]

    def _by_epoch(
        self, name: str, records: Iterable[dict[str, Any]], wanted: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        whole = [checked(f"{self.path / name}.jsonl", record, wanted) for record in records]
        return list({record["epoch"]: record for record in whole}.values())

    def save_weights(self, weights: "Mapping[str, Tensor]", name: str = "best", **metadata: str) -> None:
        """Store tensors as NAME.safetensors, atomically."""
        from safetensors import SafetensorError
        from safetensors.torch import save_file

        path = self.path / f"{name}.safetensors"
        with telling(path), replacing(path) as partial:
            try:
                save_file({key: value.contiguous() for key, value in weights.items()}, partial, metadata=metadata)
            except SafetensorError as error:
                raise OSError(str(error).rpartition("error: ")[2]) from None
            partial.chmod(self.path.stat().st_mode & 0o666)  # who may read the run may read its weights

    def load_weights(self, name: str = "best") -> "tuple[dict[str, Tensor], dict[str, str]]":
        """Read NAME.safetensors: the tensors and what was noted beside them."""
        from safetensors import SafetensorError, safe_open

        path = self.path / f"{name}.safetensors"
        if not path.is_file():
            raise RegardError(f"{path}: not there yet. `regard resume {self.path}` goes on with the training.")
        try:
            with undisturbed(), safe_open(path, framework="pt") as file:
                return {key: file.get_tensor(key) for key in file.keys()}, file.metadata() or {}  # noqa: SIM118
        except SafetensorError as error:
            raise RegardError(f"{path}: damaged ({error}).") from None

    @property
    def best_epoch(self) -> str | None:
        """The epoch after which the weights were best so far; None where the file does not tell."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self.path / "best.safetensors", framework="numpy") as file:
                return (file.metadata() or {}).get("epoch")
        except (OSError, SafetensorError):
            return None

    def model(self) -> "Seq2Seq":
        """Build the model with its best weights."""
        import torch

        from regard.models.build import build_model
        from regard.models.small import restore

        weights = restore(self.load_weights("best")[0])
        pair = self.tokenizers
        model = build_model(self.config.model, source_words=pair.source.size, target_words=pair.target.size)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name not in weights or weights[name].shape != parameter.shape:
                    raise RegardError(f"{self.path / 'best.safetensors'}: does not fit config.json at '{name}'.")
                parameter.copy_(weights[name])
        return model.eval()

    @cached_property
    def size(self) -> int:
        """How many weights it has; a matrix with two uses counts once."""
        from regard.models.small import SCALE

        weights, _ = self.load_weights("best")
        return sum(tensor.numel() for name, tensor in weights.items() if not name.endswith(SCALE))

    def export(self, path: Path) -> "Run":
        """Make a small copy to give away: one byte a weight, what is needed to translate and the scores, no more."""
        from regard.models.small import restore, shrink

        weights = restore(self.load_weights("best")[0])
        data = self.config.data.model_copy(update={"extra": ""})  # a file of this machine, of no use but to train
        with Run._whole(path, self.config.model_copy(update={"data": data}), self.tokenizers) as copy:
            copy.save_weights(shrink(weights))
            _write_json(copy.path / "run.json", self.description)
            _write_json(copy.path / "scores.json", self.scores())
            if self.card:
                write_atomically(copy._card, self.card.encode())
        return Run(path)

    def scores(self) -> dict[str, Any]:
        """Return all stored scores by the name of their evaluation; a copy has those of its original."""
        own = {name: evaluation["scores"] for name, evaluation in self.evaluations().items()}
        inherited = self.path / "scores.json"  # of a copy
        return (read_json(inherited) if inherited.is_file() else {}) | own

    @property
    def is_boxed(self) -> bool:
        """Whether it came with the package, which is not to be written to."""
        return self.path.parent == BOX

    @property
    def card(self) -> str:
        """What the model is, was trained on and cannot do, as Markdown; empty where nobody wrote it."""
        return self._card.read_text(encoding="utf-8") if self._card.is_file() else ""

    @property
    def _card(self) -> Path:
        return self.path / "CARD.md"

    @property
    def can_resume(self) -> bool:
        """Whether there is a checkpoint; a copy made to give away has none."""
        return (self.path / "last.safetensors").is_file()

    @property
    def translations(self) -> Path:
        """What a teacher has made of its training data."""
        return self.path / "translations.tsv"

    @property
    def examples(self) -> Path:
        """Where attention diagrams go."""
        return self.path / "examples"

    def lacks_results(self) -> bool:
        """Tell whether the training has ended and the scores and diagrams that close it can and should be made."""
        is_shown = self.examples.is_dir() and (self.path / "evaluations" / "test-greedy.json").is_file()
        return self.description["status"] == "finished" and self.can_resume and not is_shown

    def save_evaluation(self, name: str, evaluation: Mapping[str, Any]) -> Path:
        """Store an evaluation as JSON."""
        path = self.path / "evaluations" / f"{name}.json"
        with telling(path):
            path.parent.mkdir(exist_ok=True)
            _write_json(path, evaluation)
        return path

    def keep_evaluation(self, name: str, evaluation: Mapping[str, Any]) -> None:
        """Remember an evaluation as long as this object lives, where it has no place on the disk."""
        self._kept[name] = dict(evaluation)

    def evaluations(self) -> dict[str, dict[str, Any]]:
        """Read all stored evaluations by name; those that are only remembered count as well.

        What was measured before training found better weights is passed over.
        """
        paths, epoch = sorted((self.path / "evaluations").glob("*.json")), self.best_epoch
        found = {path.stem: checked(f"{path}", read_json(path), EVALUATION) for path in paths} | self._kept
        return {name: each for name, each in found.items() if not epoch or each.get("epoch", epoch) in (epoch, None)}


def boxed() -> list[str]:
    """Name the models that come with the package."""
    return sorted(path.parent.name for path in BOX.glob("*/run.json"))


def taken_paths(folder: Path, name: str) -> Iterator[Path]:
    """Give FOLDER/NAME, FOLDER/NAME-2 and so on, as far as they exist."""
    return takewhile(Path.exists, _paths(folder, name))


def free_path(folder: Path, name: str) -> Path:
    """Return FOLDER/NAME, or FOLDER/NAME-2 and so on if that exists."""
    return next(path for path in _paths(folder, name) if not path.exists())


def _paths(folder: Path, name: str) -> Iterator[Path]:
    yield folder / name
    yield from (folder / f"{name}-{number}" for number in count(2))


def _description(config: Config, tokenizers: TokenizerPair) -> dict[str, Any]:
    import torch

    return {
        "format": FORMAT,
        "status": "new",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "regard": regard.__version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "threads": config.train.threads or torch.get_num_threads(),
        "seed": config.train.seed,
        "corpus": config.data.corpus,
        "source_vocabulary": tokenizers.source.size,
        "target_vocabulary": tokenizers.target.size,
    }


def _commit() -> str | None:
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def _objects(lines: bytes) -> Iterator[dict[str, Any]]:
    """Read lines of JSON; what is no object was cut by a crash, or by whoever read a part only."""
    for line in lines.splitlines():
        with suppress(ValueError):
            if isinstance(found := json.loads(line), dict):
                yield found


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    write_atomically(path, (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode())
