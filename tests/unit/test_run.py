"""A run directory: whole or not there, never overwritten, never pickled."""

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

import pytest
import safetensors
import torch

from regard.config import load_config
from regard.data.tokenizers import TokenizerPair
from regard.errors import RegardError
from regard.models.build import build_model
from regard.run import Run, free_path

CONFIG = load_config("reverse", ["model.hidden=6", "model.encoder_hidden=6", "model.embedding=4"])


def make(path: Path) -> Run:
    pair = TokenizerPair.train(CONFIG.tokenizer, ["abcd"], ["dcba"])
    return Run.create(path, CONFIG, pair, corpus_sha256="0" * 64)


def weights(run: Run) -> dict[str, torch.Tensor]:
    pair = run.tokenizers
    model = build_model(CONFIG.model, source_words=pair.source.size, target_words=pair.target.size)
    return {name: p.detach() for name, p in model.named_parameters()}


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    run = make(tmp_path / "deep" / "run")
    again = Run.open(run.path)
    assert again.config == CONFIG
    assert again.tokenizers.source.encode("abcd") == run.tokenizers.source.encode("abcd")
    assert again.description["seed"] == CONFIG.train.seed
    kept = weights(run)
    run.save_weights(kept, "best", epoch="3")
    stored, metadata = again.load_weights("best")
    assert metadata == {"epoch": "3"}
    modes = {(run.path / name).stat().st_mode & 0o444 for name in ("best.safetensors", "config.json")}
    assert modes == {run.path.stat().st_mode & 0o444}
    assert all(torch.equal(stored[name], kept[name]) for name in kept)
    assert all(torch.equal(p, kept[n]) for n, p in again.model().named_parameters())


def test_a_run_says_where_it_is(tmp_path: Path) -> None:
    assert repr(Run(tmp_path / "one")) == f"Run({str(tmp_path / 'one')!r})"


def test_a_run_holds_nothing_that_could_run_code(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    run.save_weights(weights(run), "best")
    run.save_evaluation("test-greedy", {"scores": {}})
    run.log({"event": "began"})
    files = {path.suffix for path in run.path.rglob("*") if path.is_file()}
    assert files == {".json", ".jsonl", ".safetensors"}


def test_a_directory_that_exists_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    with pytest.raises(RegardError) as caught:
        make(tmp_path)
    assert str(caught.value) == f"{tmp_path}: exists already. Choose another directory, or remove it."
    assert (tmp_path / "mine.txt").read_text() == "keep me"


def test_free_path_counts_up(tmp_path: Path) -> None:
    assert free_path(tmp_path, "demo") == tmp_path / "demo"
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo-2").mkdir()
    assert free_path(tmp_path, "demo") == tmp_path / "demo-3"


def test_what_is_no_run_is_said_so(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path / "none", f"{tmp_path / 'none'}: no such run. `regard train` makes one."),
        (tmp_path, f"{tmp_path}: not a run, since it has no run.json."),
        (Path(__file__), f"{__file__}: a file, want the directory of a run."),
    ):
        with pytest.raises(RegardError) as caught:
            Run.open(path)
        assert str(caught.value) == message


def test_another_format_is_refused(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    run.describe(format=99)
    with pytest.raises(RegardError, match=r"run: format 99, but regard \d+\.\d+\.\d+ reads format 2\.$"):
        Run.open(run.path)


def test_damage_is_named(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    with pytest.raises(RegardError, match=r"best.safetensors: not there yet. `regard resume .*` goes on"):
        run.model()
    (run.path / "best.safetensors").write_bytes(b"not tensors at all")
    with pytest.raises(RegardError, match=r"best\.safetensors: damaged \("):
        run.model()
    run.save_weights({name: tensor[:1] for name, tensor in weights(run).items()}, "best")
    with pytest.raises(RegardError, match=r"best.safetensors: does not fit config.json at 'encoder.embedding.weight'"):
        run.model()
    (run.path / "run.json").write_text("{")
    with pytest.raises(RegardError, match=r"run.json: cannot be read as JSON"):
        Run.open(run.path)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("evaluations/a.json", {}, "a.json: damaged, since 'split' is missing or of the wrong kind."),
        ("evaluations/a.json", {"split": "test", "search": "greedy", "metric": "bleu", "scores": {"bleu": {}}},
         "a.json, scores: damaged, since 'value' is missing or of the wrong kind."),
        ("log.jsonl", {"event": "epoch", "epoch": 1}, "log.jsonl: damaged, since 'train_nats_per_token' is missing"),
        ("attention.jsonl", {"epoch": 1}, "attention.jsonl: damaged, since 'entropy_nats' is missing"),
        ("attention.jsonl", {"epoch": 1, "entropy_nats": 0.5, "sentences": [{"source": [], "target": []}]},
         "attention.jsonl, sentences: damaged, since 'weights' is missing"),
    ],
)  # fmt: skip
def test_what_is_damaged_is_told_in_one_line(tmp_path: Path, name: str, content: object, told: str) -> None:
    run = make(tmp_path / "run")
    (run.path / "evaluations").mkdir()
    (run.path / name).write_text(json.dumps(content), encoding="utf-8")
    read = {"evaluations/a.json": run.evaluations, "log.jsonl": run.epochs, "attention.jsonl": run.attention}[name]
    with pytest.raises(RegardError) as caught:
        read()
    assert told in str(caught.value)


def test_the_latest_value_of_every_entry_is_read_from_the_end_of_the_log(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    assert run.latest() == {}
    for step in range(100):
        run.log({"event": "step", "step": step, "filler": "x" * 100})
    run.log({"event": "epoch", "epoch": 1})
    assert run.latest() == {"event": "epoch", "step": 99, "epoch": 1, "filler": "x" * 100}


def test_a_log_line_cut_short_by_a_crash_is_passed_over(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    run.log({"event": "one"})
    with (run.path / "log.jsonl").open("a") as log:
        log.write('{"event": "tw')
    assert [event["event"] for event in run.events()] == ["one"]
    assert json.loads((run.path / "log.jsonl").read_text().splitlines()[0]) == {"event": "one"}


def test_ctrl_c_waits_until_weights_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make(tmp_path / "run")
    run.save_weights(weights(run), "best")
    opened = safetensors.safe_open
    names: list[str] = []

    class Stopped:
        """A file whose reading takes long enough to be stopped."""

        def __init__(self, *words: object, **options: object) -> None:
            self.file = opened(*words, **options)

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None: ...

        def keys(self) -> list[str]:
            return list(self.file.keys())

        def get_tensor(self, name: str) -> torch.Tensor:
            signal.raise_signal(signal.SIGINT)
            names.append(name)
            return self.file.get_tensor(name)

        def metadata(self) -> dict[str, str]:
            return {}

    wanted = list(run.load_weights()[0])
    monkeypatch.setattr("safetensors.safe_open", Stopped)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run.load_weights()
    assert names == wanted
    assert signal.getsignal(signal.SIGINT) is before
    with ThreadPoolExecutor(1) as pool:  # elsewhere there are no signals
        monkeypatch.undo()
        assert list(pool.submit(run.load_weights).result()[0]) == wanted


def test_a_copy_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make(tmp_path / "run")
    run.save_weights(weights(run), "best", epoch="3")
    (run.path / "CARD.md").write_text("what it cannot do", encoding="utf-8")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("safetensors.torch.save_file", full)
    with pytest.raises(RegardError) as caught:
        run.export(tmp_path / "copy")
    place = tmp_path / "copy" / "best.safetensors"
    assert str(caught.value) == f"{place}: cannot be written (No space left on device)."
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    monkeypatch.undo()
    copy = run.export(tmp_path / "copy")
    assert copy.card == "what it cannot do"
    assert copy.description == run.description


def test_what_a_killed_process_left_is_swept_away(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    before = set(run.path.rglob("*"))
    (run.path / "evaluations").mkdir()
    for left in (".last.safetensors.123.partial", "evaluations/.test-greedy.json.123.partial"):
        (run.path / left).write_bytes(b"half")
    (run.path / ".examples-abc" / "examples").mkdir(parents=True)
    run.sweep()
    assert set(run.path.rglob("*")) == before | {run.path / "evaluations"}


@pytest.mark.parametrize("key", ["status", "corpus_sha256"])
def test_a_description_without_what_is_needed_is_told(tmp_path: Path, key: str) -> None:
    run = make(tmp_path / "run")
    described = run.description
    del described[key]
    (run.path / "run.json").write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(RegardError) as caught:
        Run.open(run.path)
    place = run.path / "run.json"
    assert str(caught.value) == f"{place}: damaged, since '{key}' is missing or of the wrong kind."
