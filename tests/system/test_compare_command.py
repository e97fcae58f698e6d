"""`regard compare`: trains what is missing, reads what is there, survives what goes wrong."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from regard.cli import main
from regard.run import Run
from regard.training.grid import Grid
from tiny_runs import REVERSE, make_run

pytestmark = pytest.mark.slow
CELLS = [f"attention-{name}-seed-{seed}" for name in ("none", "dot") for seed in (1, 2)]


def compare(*words: object) -> Result:
    return CliRunner().invoke(main, ["compare", *map(str, words)], catch_exceptions=False)


def asked(folder: Path, *more: str) -> list[str]:
    return ["reverse", *REVERSE, "--attention", "none,dot", "--seeds", "2", "--dir", str(folder), *more]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All cells of a comparison, trained and drawn elsewhere."""
    folder = tmp_path_factory.mktemp("compare") / "cells"
    for name in CELLS:
        _, attention, _, seed = name.split("-")
        make_run(folder / name, "reverse", f"model.attention={attention}", f"train.seed={seed}").examples.mkdir()
    return folder


def test_what_is_there_is_only_read(folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.glob("*/*.safetensors")}
    result = compare(*asked(folder))
    assert result.exit_code == 0
    assert result.stderr == ""
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*/*.safetensors")} == before
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["quantity", "group", "seeds", "mean", "variance", "deviation", "minimum", "maximum"]
    assert lines[1].startswith("token_accuracy ")
    assert "dot" in result.stdout
    assert compare(folder).stdout == compare(*(folder / name for name in sorted(CELLS))).stdout


def test_every_form_says_the_same(folder: Path) -> None:
    told = json.loads(compare(folder, "--json").stdout)
    means = {group["label"]: group["quantities"]["token_accuracy"]["mean"] for group in told["groups"]}
    rows = list(csv.DictReader(compare(folder, "--csv").stdout.splitlines()))
    assert {row["group"]: float(row["mean"]) for row in rows if row["quantity"] == "token_accuracy"} == means
    markdown = compare(folder, "--markdown").stdout.splitlines()
    assert markdown[1] == "|---|---|---|---|---|---|---|---|"
    assert markdown[-1] == f"- {told['verdict'][-1]}"
    latex = compare(folder, "--latex").stdout
    assert latex.startswith("\\begin{tabular}{llrrrrrr}\n\\toprule\nquantity & group")
    assert "token\\_accuracy & " in latex
    assert (
        "\\begin{tabular}{lrrrrrrr}\n\\toprule\npair & difference & p corrected & 95 \\% interval & p & p sentences"
        in latex
    )
    assert latex.endswith(f"% {told['verdict'][-1]}\n")


def test_figures_are_drawn(folder: Path, tmp_path: Path) -> None:
    result = compare(folder, "--curves", tmp_path / "c.png", "--by-length", tmp_path / "l.svg")
    assert result.stderr.splitlines() == [f"drawn in {tmp_path / 'c.png'}", f"drawn in {tmp_path / 'l.svg'}"]
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert "length of the source (characters)" in (tmp_path / "l.svg").read_text(encoding="utf-8")


def test_curves_in_the_terminal_follow_the_table_and_stay_out_of_what_programs_read(folder: Path) -> None:
    drawn = compare(folder, "--curves", "-")
    assert "training loss (nats per token)" in drawn.stdout
    assert "●" in drawn.stdout
    beside = compare(folder, "--curves", "-", "--json")
    assert json.loads(beside.stdout)
    assert "●" in beside.stderr


def test_what_is_missing_from_a_comparison_is_named(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "part")
    shutil.rmtree(tmp_path / "part" / CELLS[0])
    result = compare(tmp_path / "part")
    assert result.exit_code == 0
    told = "left out, since its training is not finished."
    assert result.stderr.splitlines()[0] == f"{tmp_path / 'part' / CELLS[0]}: {told}"


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("run.json", "{}", ": format None, but regard "),
        ("log.jsonl", '{"event": "epoch", "epoch": 1}', "/log.jsonl: damaged, since 'train_nats_per_token' is missing"),
        ("evaluations/test-greedy.json", '{"split": "te', "/evaluations/test-greedy.json: cannot be read as JSON ("),
        ("evaluations/test-greedy.json", "{}", "/evaluations/test-greedy.json: damaged, since 'split' is missing"),
    ],
)
def test_a_damaged_run_does_not_lose_the_others(
    folder: Path, tmp_path: Path, name: str, content: str, why: str
) -> None:
    there = tmp_path / "there"
    shutil.copytree(folder, there)
    (there / CELLS[3] / name).write_text(content, encoding="utf-8")
    told = f"{there / CELLS[3]}{why}"
    for words in ([there], asked(there)):
        result = compare(*words)
        assert result.exit_code == 1
        rows = [line.split()[1:3] for line in result.stdout.splitlines() if line.startswith("token_accuracy ")]
        assert sorted(rows) == [["dot", "1"], ["none", "2"]]
        head, last = result.stderr.splitlines()[-2:]
        assert head.startswith("Error: runs missing from the table: 1; ")
        assert last.startswith(told)
    report = CliRunner().invoke(main, ["report", str(there), "-o", str(tmp_path / "r.html")])
    assert report.exit_code == 1
    assert report.stderr.splitlines()[-1].startswith(told)
    assert told.replace("'", "&#x27;") in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert any(note.startswith(told) for note in json.loads(compare(there, "--json").stdout)["notes"])
    assert told in compare(there, "--markdown").stdout


def test_a_failed_value_leaves_the_names_of_the_others_and_is_in_the_report(folder: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    shutil.copytree(folder, there)
    Grid("reverse", REVERSE, {"model.attention": ["none", "dot"], "train.clip": ["1", "2"]}, seeds=2).save(there)
    for name in CELLS[:2]:
        shutil.rmtree(there / name)
    clip = Run(there / CELLS[2]).config.train.clip
    assert {group["label"] for group in json.loads(compare(there, "--json").stdout)["groups"]} == {
        f"attention=dot clip={clip}"
    }
    CliRunner().invoke(main, ["report", str(there), "-o", str(tmp_path / "r.html")])
    told = f"{there / 'attention-none-clip-1-seed-1'}: left out, since its training is not finished."
    assert told in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_copy_is_compared_and_reported_without_losses(folder: Path, tmp_path: Path) -> None:
    copy = Run.open(folder / CELLS[2]).export(tmp_path / "copy").path
    result = compare(copy, "--curves", tmp_path / "c.png")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert not [line for line in lines if "_loss_" in line]
    assert lines[-1].startswith("token_accuracy, metric:token_accuracy|split:test|")  # no number without its signature
    note = f"{copy} has no log of its training: losses of its group are left out."
    why = f"Error: {copy}: has no log of its training, which curves are drawn from."
    assert result.stderr.splitlines() == [f"evaluating {copy}", note, why]
    assert "metric:token" in compare(copy, "--markdown").stdout
    assert "metric:token" in compare(copy, "--latex").stdout
    report = CliRunner().invoke(main, ["report", str(copy), "-o", str(tmp_path / "r.html")])
    assert report.exit_code == 0
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert note in html
    assert "Learning curves" not in html


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_run_that_cannot_be_written_to_is_compared(folder: Path, tmp_path: Path) -> None:
    copy = Run.open(folder / CELLS[2]).export(tmp_path / "copy").path
    copy.chmod(0o555)
    result = compare(copy)
    assert result.exit_code == 0
    assert result.stdout.startswith("quantity ")


def test_a_model_in_the_box_is_compared_without_being_written_to(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.run.BOX", tmp_path)
    Run.open(folder / CELLS[2]).export(tmp_path / "tiny")
    before = sorted(tmp_path.rglob("*"))
    result = compare("tiny", folder / CELLS[0])
    assert result.exit_code == 0
    assert sorted(tmp_path.rglob("*")) == before
    rows = [line.split()[1] for line in result.stdout.splitlines() if line.startswith("token_accuracy ")]
    assert sorted(rows) == ["dot", "none"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--metric", "perplexity"), "metric: got 'perplexity', want one that judges translations: bleu, bleu_lc, "
         "bleu_tok_lc, chrf, ter, token_accuracy, sentence_accuracy, token_error_rate."),
        (("--metric", "bleu"), "metric: got 'bleu', want one that judges characters: token_accuracy, "
         "sentence_accuracy, token_error_rate."),
        (("--attention", "dot", "--vary", "model.attention=none"),
         "model.attention: varied twice, want all its values in one place, such as model.attention=VALUE,VALUE."),
        (("--attention", ""), "'model.attention=': want KEY=VALUE,VALUE,... with each key and value once, such as "
         "model.decoder=after,deep."),
        (("--split", "tset"), "Unknown split 'tset' of corpus reverse. Did you mean 'test'?"),
    ],
)  # fmt: skip
def test_a_mistake_trains_and_leaves_nothing(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    result = compare("reverse", "data.train=40", *words, "--dir", tmp_path / "new")
    assert result.exit_code == 1
    assert result.stderr == f"Error: {message}\n"
    assert not (tmp_path / "new").exists()


def test_a_mistyped_path_is_no_preset() -> None:
    result = compare("runs/typo1", "runs/typo2")
    assert result.exit_code == 1
    assert result.stderr == "Error: runs/typo1: no such run or experiment. `regard train` makes a run.\n"
    assert "Unknown preset 'typo1'." in compare("typo1", "typo2").stderr


def test_one_picture_that_cannot_be_drawn_does_not_lose_the_others(folder: Path, tmp_path: Path) -> None:
    result = compare(folder, "--by-beam", tmp_path / "b.svg", "--entropy", tmp_path / "e.svg")
    assert result.exit_code == 1
    assert "beam widths that all runs were evaluated with: got 1" in result.stderr
    assert (tmp_path / "e.svg").is_file()


def test_the_entropy_is_drawn_of_models_that_have_attention(folder: Path, tmp_path: Path) -> None:
    compare(folder, "--entropy", tmp_path / "e.svg")
    text = (tmp_path / "e.svg").read_text(encoding="utf-8")
    assert "entropy of attention (nats)" in text
    assert ">dot<" in text
    assert ">none<" not in text


def test_scores_by_beam_width_need_two_of_them(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(folder / CELLS[2], run)
    picture = tmp_path / "b.svg"
    shutil.rmtree(run / "evaluations")
    assert compare(run, "--by-beam", picture).stderr.splitlines()[-1] == (
        "Error: beam widths that all runs were evaluated with: got 1, want at least 2; for each run: "
        f"`regard evaluate {run} --split test --beam 1 5 10`."
    )
    assert compare(run, "--beam", "2", "--by-beam", picture).exit_code == 0
    assert "beam width (1: greedy)" in picture.read_text(encoding="utf-8")


def test_scores_by_beam_width_are_refused_before_the_training(tmp_path: Path) -> None:
    result = compare("reverse", "--seeds", "2", "--dir", tmp_path / "runs", "--by-beam", tmp_path / "b.svg")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: --by-beam: 2 of 2 runs have no scores yet")
    assert "--split test --beam 1 5 10" in result.stderr
    assert os.listdir(tmp_path) == []


def test_one_form_at_a_time(folder: Path) -> None:
    result = compare(folder, "--json", "--csv")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "Error: --json and --csv: want one of them at a time."
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("x.bmp", "got 'x.bmp', want a name that ends in .png, .svg or .pdf, or -."),
        ("no/x.png", "got 'no/x.png', but there is no directory 'no'; make it first."),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_told_before_the_training(tmp_path: Path, name: str, why: str) -> None:
    result = compare(*asked(tmp_path / "new", "--curves", name))
    assert result.exit_code == 1
    assert result.stderr == f"Error: Invalid value for '--curves': {why}\n"
    assert not (tmp_path / "new").exists()


def test_options_of_a_training_are_refused_with_runs(folder: Path) -> None:
    result = compare(folder / CELLS[0], folder / CELLS[1], "--seeds", "4")
    assert result.exit_code == 1
    assert result.stderr == "Error: --seeds: has no effect on runs that are there already.\n"


def test_diagrams_that_were_cut_off_are_drawn(folder: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    shutil.copytree(folder, there)
    shutil.rmtree(there / CELLS[1] / "examples")
    log = (there / CELLS[1] / "log.jsonl").read_bytes()
    result = compare(*asked(there))
    assert result.exit_code == 0
    assert result.stderr.splitlines()[0] == f"4 runs in {there}: 3 there, 1 to do"
    assert (there / CELLS[1] / "examples").is_dir()
    assert (there / CELLS[1] / "log.jsonl").read_bytes() == log


def test_a_missing_evaluation_is_made_and_kept(folder: Path) -> None:
    runs = [folder / name for name in CELLS[:2]]
    assert compare(*runs, "--beam", "2").stderr == "".join(f"evaluating {run}\n" for run in runs)
    assert compare(*runs, "--beam", "2").stderr == ""


def test_a_failing_run_does_not_lose_the_others(folder: Path, tmp_path: Path) -> None:
    for name in CELLS[:3]:
        (tmp_path / name).symlink_to(folder / name)
    broken = tmp_path / CELLS[3]
    broken.mkdir()
    result = compare(*asked(tmp_path))
    assert result.exit_code == 1
    rows = [line.split()[1:3] for line in result.stdout.splitlines() if line.startswith("token_accuracy ")]
    assert sorted(rows) == [["dot", "1"], ["none", "2"]]
    why = f"{broken}: not a run, since it has no run.json."
    assert result.stderr.splitlines() == [
        f"4 runs in {tmp_path}: 3 there, 1 to do",
        f"{CELLS[3]}: failed: {why}",
        "Error: runs missing from the table: 1; the same command tries again:",
        why,
    ]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill", "ctrl-c"])
def test_after_an_interruption_only_missing_work_is_done(tmp_path: Path, number: signal.Signals) -> None:
    words = ["reverse", *REVERSE, "train.epochs=70", "--seeds", "2", "--dir", str(tmp_path / "c"), "--jobs", "1"]
    command = [sys.executable, "-m", "regard", "compare", *words]
    path = tmp_path / "c" / "seed-1"
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        deadline = time.monotonic() + 120
        while not (path.exists() and len(Run(path).epochs()) >= 3):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        os.kill(process.pid, number)
        assert process.stderr is not None
        told = process.stderr.read()
    assert process.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL)
    if number == signal.SIGINT:
        assert told.splitlines()[-1] == "stopped; the same command goes on from here"
    deadline = time.monotonic() + 60
    while Run.open(path).description["status"] != "interrupted":  # the orphan ends its step and stores a checkpoint
        assert time.monotonic() < deadline
        time.sleep(0.05)
    done = len(Run(path).epochs())
    assert 3 <= done < 70
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    assert config["train"]["epochs"] == 70
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert again.stderr.splitlines()[0] == f"2 runs in {tmp_path / 'c'}: 0 there, 2 to do"
    events = [event for event in Run(path).events() if event["event"] == "epoch"]
    assert [event["epoch"] for event in events] == list(range(1, 71))
    third = subprocess.run(command, capture_output=True, text=True, check=True)
    assert third.stderr == ""
    assert third.stdout == again.stdout


def test_a_run_that_is_not_there_is_named(folder: Path) -> None:
    result = compare(folder / CELLS[0], folder / "nothing")
    assert result.stderr == f"Error: {folder / 'nothing'}: no such run. `regard train` makes one.\n"


def test_runs_and_settings_do_not_mix(folder: Path) -> None:
    result = compare(folder / CELLS[0], "--attention", "none")
    assert result.exit_code == 1
    told = "KEY=VALUE, --attention, --vary and --dir need an EXPERIMENT to train, not runs."
    assert result.stderr == f"Error: {told}\n"


def test_training_data_may_differ_where_the_test_is_the_same(tmp_path: Path) -> None:
    sizes = ["data.validation=20", "data.test=20", "train.epochs=1", "model.embedding=8", "model.encoder_hidden=8"]
    small = [
        *sizes,
        "model.hidden=8",
        "model.tie=none",
        "model.readout=0",
        "model.attention_size=8",
        "--seeds",
        "1",
        "--dir",
        str(tmp_path / "c"),
        "--jobs",
        "2",
    ]
    done = compare("scenes", "--vary", "data.train=100,150", *small)
    assert done.exit_code == 0
    assert "train=150" in done.stdout


def test_data_with_another_test_are_refused_before_the_training(tmp_path: Path) -> None:
    done = compare("reverse", "--vary", "data.train=100,150", "--seeds", "1", "--dir", str(tmp_path / "c"))
    assert done.exit_code == 1
    assert "want the same sentences for all runs" in done.stderr
    assert not (tmp_path / "c").exists()


def test_a_test_set_of_ones_own_is_read_by_every_process(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own set.tsv"
    own.write_text("abc\tcba\nab\tba\nbcd\tdcb\n", encoding="utf-8")
    there = shutil.copytree(folder, tmp_path / "cells")
    result = compare(*asked(there, "--split", str(own)))
    assert result.exit_code == 0
    stored = {path.name for path in there.glob("*/evaluations/own_set-*-greedy.json")}
    assert len(stored) == 1, "one name for all four"
    assert len(list(there.glob("*/evaluations/own_set-*-greedy.json"))) == len(CELLS)
    assert "|split:own_set-" in result.stdout
    assert compare(there, "--split", own).stdout == result.stdout
    own.unlink()
    told = f"Error: {own}: cannot read the file (No such file or directory).\n"
    assert compare(*asked(there, "--split", str(own))).stderr == told
