"""train --teachers through the command line: teachers, their pairs, and the pupil."""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from regard.cli import INTERRUPTED, main
from regard.cli.teachers import STEPS
from regard.data.corpus import load_corpus
from regard.data.scenes import Scenes
from regard.run import Run
from regard.training.grid import Cell
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


@pytest.fixture
def taught(pupil: Path, tmp_path: Path) -> Path:
    """A place for another pupil, with a copy of the teachers beside it."""
    shutil.copytree(pupil.with_name("pupil-teachers"), tmp_path / "run-teachers")
    return tmp_path / "run"


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
    made = read(pairs)
    run = Run.open(pupil)
    train = load_corpus(run.config.data)["train"]
    assert made
    assert len(set(made)) == len(made)
    assert not set(made) & set(zip(train.sources, train.targets, strict=True))
    assert any(source in train.sources for source, _ in made)
    assert any(target in train.targets for _, target in made)
    assert run.config.data.extra == str(pairs)
    assert run.config.train.seed == 5
    began = next(event for event in run.events() if event["event"] == "began")
    assert began["training_pairs"] == len(train) + len(made)
    assert run.config.train.epochs == round(STEPS * 10 * len(train) / (len(train) + len(made)))
    assert run.description["status"] == "finished"


def test_only_what_is_missing_is_done_again(pupil: Path, taught: Path) -> None:
    folder = taught.with_name("run-teachers")
    made = {path: path.stat().st_mtime_ns for path in folder.glob("*/translations.tsv")}
    assert len(made) == 2
    again = call("train", "scenes", *SMALL, "train.seed=5", "--teachers", "1", "--run", taught)
    assert again.exit_code == 0
    assert " runs in " not in again.stderr  # nothing to train but the pupil
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*/translations.tsv")} == made
    best = "best.safetensors"
    assert (taught / best).read_bytes() == (pupil / best).read_bytes()


def test_the_same_teachers_teach_either_direction(pupil: Path, taught: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(taught.parent)
    words = ["data.swap=true", "train.minutes=0.02", "train.seed=7"]
    teachers = taught.with_name("run-teachers")
    for run in teachers.glob("swap-*-1"):
        change(run, train={"minutes": 0.02, "epochs": 0})
    result = call("train", "scenes", *without_epochs(), *words, "--teachers", "1", "--run", "run")
    assert result.exit_code == 0, result.output
    assert " runs in " not in result.stderr
    config = Run.open(taught).config
    assert config.data.swap
    assert config.train.epochs == 0  # time decides
    assert config.data.extra == str(teachers / "pairs-swap-1.tsv")  # absolute: found from anywhere
    there = read(pupil.with_name("pupil-teachers") / "pairs-1.tsv")
    assert {(target, source) for source, target in there} == set(read(teachers / "pairs-swap-1.tsv"))
    assert call("evaluate", taught).exit_code == 0


def test_what_is_held_out_is_no_lesson(taught: Path) -> None:
    folder = taught.with_name("run-teachers")
    corpus = load_corpus(Run.open(folder / "swap-false-seed-1").config.data)
    lines = [f"Neu.\t{corpus['test'].targets[0]}\n", f"{corpus['validation'].sources[0]}\tNew.\n", "Neu.\tNew.\n"]
    (folder / "swap-false-seed-1" / "translations.tsv").write_text("".join(lines), encoding="utf-8")
    (folder / "swap-true-seed-1" / "translations.tsv").write_bytes(b"")
    result = call("train", "scenes", *SMALL, "--teachers", "1", "--run", taught)
    assert result.exit_code == 0
    assert read(folder / "pairs-1.tsv") == [("Neu.", "New.")]
    assert f"150 pairs, and 1 of the teachers in {folder / 'pairs-1.tsv'}: 17 epochs" in result.stderr


def test_teachers_who_say_nothing_new_are_no_hindrance(taught: Path) -> None:
    folder = taught.with_name("run-teachers")
    for made in folder.glob("*/translations.tsv"):
        made.write_bytes(b"")
    result = call("train", "scenes", *SMALL, "--teachers", "1", "--run", taught)
    assert result.exit_code == 0
    assert f"{folder}: no translation that is new and has an end; training goes on without." in result.stderr
    assert Run.open(taught).config.data.extra == ""
    assert Run.open(taught).config.train.epochs == 10


def test_damaged_translations_are_told_with_what_to_do(taught: Path) -> None:
    made = taught.with_name("run-teachers") / "swap-true-seed-1" / "translations.tsv"
    made.write_text("no tab\n", encoding="utf-8")
    result = call("train", "scenes", *SMALL, "--teachers", "1", "--run", taught)
    assert result.exit_code == 1
    problem = f"{made}, line 1: no tab, want two columns: source<TAB>target. Remove it: the same command makes it anew."
    assert result.stderr == f"Error: {problem}\n"
    assert not taught.exists()


def test_teachers_of_data_that_have_changed_are_refused(tmp_path: Path) -> None:
    data = load_corpus(Scenes(train=150, validation=20, test=25))["train"]
    table, path = tmp_path / "pairs.tsv", tmp_path / "run"
    table.write_text(data.table, encoding="utf-8")
    own = [word for word in SMALL if not word.startswith("data.")]
    words = ["train", "scenes", *own, "data.corpus=files", f"data.pairs={table}", "--teachers", "1", "--run", str(path)]
    assert call(*words, "train.epochs=1").exit_code == 0
    path.rename(tmp_path / "before")
    table.write_text(data.table.partition("\n")[2], encoding="utf-8")
    (tmp_path / "run-teachers" / "swap-true-seed-1" / "run.json").unlink()  # not to be trained before it is noticed
    result = call(*words, "train.epochs=1")
    assert result.exit_code == 1
    begin = f"Error: {tmp_path / 'run-teachers' / 'swap-false-seed-1'}: the corpus has changed since this run was"
    assert result.stderr.startswith(begin)


def test_killed_at_any_time_the_same_command_goes_on(tmp_path: Path) -> None:
    path, folder = tmp_path / "run", tmp_path / "run-teachers"
    long = ["data.train=600", "train.epochs=8"]  # each part is to be under way when it is stopped
    words = ["train", "scenes", *SMALL, *long, "--teachers", "1", "--run", str(path)]
    kill(words, signal.SIGKILL, when=lambda: bool(list(folder.glob("*/last.safetensors"))))
    assert not path.exists()
    first = folder / "swap-false-seed-1" / "translations.tsv"
    stopped = kill(words, signal.SIGINT, when=first.exists)
    assert (stopped.returncode, path.exists()) == (INTERRUPTED, False), stopped.stderr
    assert stopped.stderr.endswith("stopped; the same command goes on from here\n")
    before = first.stat().st_mtime_ns
    (folder / "swap-true-seed-1" / ".translations.tsv.1.partial").touch()
    stopped = kill(words, signal.SIGINT, when=(path / "log.jsonl").exists)
    assert stopped.returncode == INTERRUPTED, stopped.stderr
    assert first.stat().st_mtime_ns == before
    assert not list(folder.glob("*/.*.partial"))
    result = call(*words)
    problem = f"{path}: is there and not finished. `regard resume {path}` goes on with it."
    assert (result.exit_code, result.stderr) == (1, f"Error: {problem}\n")
    assert call("resume", path).exit_code == 0
    assert Run.open(path).description["status"] == "finished"


def test_without_a_name_an_unfinished_pupil_is_not_begun_anew(taught: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(taught.parent)
    runs = taught.parent / "runs"
    runs.mkdir()
    for name in ("scenes", "scenes-2"):
        shutil.copytree(taught.with_name("run-teachers") / "swap-false-seed-1", runs / name)
    (runs / "scenes-2-teachers").mkdir()
    Run(runs / "scenes").describe(status="training")  # not a pupil
    assert call("train", "scenes", *SMALL, "train.epochs=1", "--teachers", "1").exit_code == 0
    Run(runs / "scenes-2").describe(status="interrupted")
    result = call("train", "scenes", *SMALL, "--teachers", "1")
    problem = "runs/scenes-2: is there and not finished. `regard resume runs/scenes-2` goes on with it."
    assert (result.exit_code, result.stderr) == (1, f"Error: {problem}\n")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--teachers", "0"), "Invalid value for '--teachers': 0 is not in the range x>=1."),
        (
            ("data.extra=more.tsv", "--teachers", "1"),
            "data.extra: got '{cwd}/more.tsv' and --teachers, which make such",
        ),
        (("model.hiden=3", "--teachers", "1"), "scenes: model.hiden: unknown key. Did you mean 'hidden'?"),
        (("model.readout=9", "--teachers", "1"), "model.tie: got 'output', but the output layer sees 9 numbers"),
        (("data.corpus=files", "data.pairs=no.tsv", "--teachers", "1"), "{cwd}/no.tsv: cannot read the file"),
        (("--teachers", "1", "--run", "no/.."), "no/..: exists already."),
    ],
)
def test_what_cannot_work_is_one_line_before_anything_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = call("train", "scenes", *words)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {problem.format(cwd=tmp_path)}")
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_place_that_is_taken_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "run-teachers").mkdir()
    (tmp_path / "run-teachers" / "run.json").touch()
    for name, problem in (
        ("link", "link: exists already. Choose another directory, or remove it."),
        ("run", "run-teachers: is a run, but teachers are to be kept there. Choose another --run."),
    ):
        result = call("train", "scenes", *SMALL, "--teachers", "1", "--run", tmp_path / name)
        assert (result.exit_code, result.stderr) == (1, f"Error: {tmp_path}/{problem}\n")


def test_teachers_that_fail_are_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(cells: list[Cell], *_: object, **__: object) -> dict[Path, str]:
        return {cell.path: "No room." for cell in cells}

    monkeypatch.setattr("regard.cli.teachers.train_cells", fail)
    result = call("train", "scenes", *SMALL, "--teachers", "1", "--run", tmp_path / "run")
    problem = "no swap-false-seed-1, swap-true-seed-1; the same command tries again. No room."
    assert (result.exit_code, result.stderr) == (1, f"Error: {tmp_path / 'run-teachers'}: {problem}\n")
    assert not (tmp_path / "run").exists()


def read(path: Path) -> list[tuple[str, str]]:
    pairs = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return [(source, target) for source, target in pairs]


def without_epochs() -> list[str]:
    return [word for word in SMALL if not word.startswith("train.epochs=")]


def change(run: Path, **sections: dict[str, object]) -> None:
    """Let a run have been made with other settings."""
    config = json.loads((run / "config.json").read_text())
    for section, values in sections.items():
        config[section] |= values
    (run / "config.json").write_text(json.dumps(config))


def kill(words: list[str], how: signal.Signals, *, when: Callable[[], bool]) -> "subprocess.CompletedProcess[str]":
    """Run a command until something has happened."""
    command = [sys.executable, "-m", "regard", *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    deadline = time.monotonic() + 120
    while not when():
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(how)
    _, told = process.communicate(timeout=60)
    return subprocess.CompletedProcess(command, process.returncode, stderr=told)
