"""train --teachers through the command line: teachers, their pairs, and the pupil."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from regard.cli import main
from regard.cli.teachers import STEPS
from regard.data.corpus import load_corpus
from regard.run import Run
from tiny_runs import SCENES

SMALL = (
    *SCENES,
    "model.hidden=32",
    "model.encoder_hidden=32",
    "train.epochs=10",
    "train.batch=16",
    "train.warmup_steps=5",
)


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture(scope="module", autouse=True)
def greedy() -> Iterator[None]:
    """Let teachers that have learnt little come to the end of a sentence."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("regard.cli.teachers.BEAM", 1)
        yield


@pytest.fixture(scope="module")
def pupil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("taught") / "pupil"
    result = call("train", "scenes", *SMALL, "train.seed=5", "--teachers", "1", "--run", path)
    assert result.exit_code == 0, result.output
    return path


def test_teachers_learn_both_directions_of_the_same_split(pupil: Path) -> None:
    folder = pupil.with_name("pupil-teachers")
    runs = [Run.open(folder / f"swap-{swap}-seed-1") for swap in ("false", "true")]
    there, back = (load_corpus(run.config.data) for run in runs)
    for split in ("train", "validation", "test"):
        assert there[split].sources == back[split].targets
        assert there[split].targets == back[split].sources
    assert [run.config.train.seed for run in runs] == [1, 1]


def test_the_pupil_learns_from_the_corpus_and_from_the_teachers_pairs(pupil: Path) -> None:
    pairs = pupil.with_name("pupil-teachers") / "pairs-1.tsv"
    made = [tuple(line.split("\t")) for line in pairs.read_text(encoding="utf-8").splitlines()]
    run = Run.open(pupil)
    train = load_corpus(run.config.data)["train"]
    assert made
    assert not set(made) & set(zip(train.sources, train.targets, strict=True))
    assert any(source in train.sources for source, _ in made)
    assert any(target in train.targets for _, target in made)
    assert run.config.data.extra == str(pairs)
    assert run.config.train.seed == 5
    began = next(event for event in run.events() if event["event"] == "began")
    assert began["training_pairs"] == len(train) + len(made)
    assert run.config.train.epochs == round(STEPS * 10 * len(train) / (len(train) + len(made)))
    assert run.description["status"] == "finished"


def test_only_what_is_missing_is_done_again(pupil: Path, tmp_path: Path) -> None:
    folder = pupil.with_name("pupil-teachers")
    weights = {path: path.stat().st_mtime_ns for path in folder.glob("*/best.safetensors")}
    pairs = (folder / "pairs-1.tsv").read_bytes()
    (folder / "pairs-1.tsv").unlink()
    pupil.rename(tmp_path / "before")
    again = call("train", "scenes", *SMALL, "train.seed=5", "--teachers", "1", "--run", pupil)
    assert again.exit_code == 0
    assert " runs in " not in again.stderr  # nothing to train but the pupil
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*/best.safetensors")} == weights
    assert (folder / "pairs-1.tsv").read_bytes() == pairs
    best = "best.safetensors"
    assert (pupil / best).read_bytes() == (tmp_path / "before" / best).read_bytes()


def test_a_killed_command_goes_on_with_its_teachers(tmp_path: Path) -> None:
    path = tmp_path / "run"
    words = ["train", "scenes", *SMALL, "train.epochs=2", "--teachers", "2", "--run", str(path)]
    command = [sys.executable, "-m", "regard", *words]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    folder = tmp_path / "run-teachers"
    deadline = time.monotonic() + 120
    while not list(folder.glob("*/last.safetensors")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not path.exists()
    result = call(*words)
    assert result.exit_code == 0, result.output
    assert f"4 runs in {folder}: " in result.stderr
    states = {run.name: json.loads((run / "run.json").read_text())["status"] for run in folder.glob("swap-*-?")}
    assert list(states.values()) == ["finished"] * 4
    assert Run.open(path).description["status"] == "finished"
    assert not list(folder.glob("*.partial"))


def test_teachers_who_say_nothing_new_are_no_hindrance(pupil: Path, tmp_path: Path) -> None:
    path, folder = tmp_path / "alone", tmp_path / "alone-teachers"
    pupil.with_name("pupil-teachers").rename(folder)
    try:
        pairs = (folder / "pairs-1.tsv").read_bytes()
        (folder / "pairs-1.tsv").write_bytes(b"")
        result = call("train", "scenes", *SMALL, "--teachers", "1", "--run", path)
        assert result.exit_code == 0
        assert f"{folder / 'pairs-1.tsv'}: empty, since the teachers only say what the training data" in result.stderr
        assert Run.open(path).config.data.extra == ""
        (folder / "pairs-1.tsv").write_bytes(pairs)
    finally:
        folder.rename(pupil.with_name("pupil-teachers"))


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--teachers", "0"), "Invalid value for '--teachers': 0 is not in the range x>=1."),
        (
            ("data.extra=more.tsv", "--teachers", "1"),
            "data.extra: got '{cwd}/more.tsv' and --teachers, which make such",
        ),
        (("model.hiden=3", "--teachers", "1"), "scenes: model.hiden: unknown key. Did you mean 'hidden'?"),
    ],
)
def test_what_cannot_work_is_told_before_anything_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = call("train", "scenes", *words)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {problem.format(cwd=tmp_path)}")
    assert not list(tmp_path.iterdir())


def test_teachers_that_cannot_be_trained_are_told_once(tmp_path: Path) -> None:
    words = [word for word in SMALL if not word.startswith("model.readout")]
    result = call("train", "scenes", *words, "model.readout=9", "--teachers", "1", "--run", tmp_path / "run")
    assert result.exit_code == 1
    end = result.stderr.partition("Error: ")[2]
    assert end.startswith(
        f"{tmp_path / 'run-teachers'}: no swap-false-seed-1, swap-true-seed-1. The same command tries"
    )
    assert end.count("model.tie: got 'output'") == 1
    assert not (tmp_path / "run").exists()
