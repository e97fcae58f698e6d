"""What is said of trainings that fail, and shown of all of them."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from regard.cli import fleet
from regard.cli.fleet import Fleet, _why
from regard.search.strategy import Strategy
from regard.training.grid import Cell, Grid
from tiny_runs import REVERSE, make_run


@pytest.mark.parametrize(
    ("code", "log", "why"),
    [
        (1, "epoch 1\nruns/a: the disk is full.\n\n", "runs/a: the disk is full."),
        (1, "", "ended with code 1"),
        (-9, "epoch 1  best so far\n", "ended by signal 9 (Killed), perhaps for want of memory"),
        (-15, "epoch 1  best so far\n", "ended by signal 15 (Terminated)"),
    ],
)
def test_a_failure_is_told_by_its_last_words_unless_it_was_killed(
    tmp_path: Path, code: int, log: str, why: str
) -> None:
    path = tmp_path / "cell.log"
    path.write_text(log, encoding="utf-8")
    assert _why(code, path) == why


def screen(cells: list[Cell], monkeypatch: pytest.MonkeyPatch, *, height: int = 25, **places: object) -> list[str]:
    monkeypatch.setattr(fleet, "console", Console(file=io.StringIO(), height=height, width=100))
    shown = Fleet(cells, jobs=1, strategy=Strategy(), split="test", **({"waiting": []} | places))  # type: ignore[arg-type]
    fleet.console.print(shown._table())
    assert isinstance(fleet.console.file, io.StringIO)
    return [" ".join(line.split()) for line in fleet.console.file.getvalue().splitlines()]


def test_a_finished_run_keeps_its_epoch_loss_and_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = Grid("reverse", REVERSE, {}, seeds=3).cells(tmp_path)
    run = make_run(cells[0].path, "reverse")
    make_run(cells[1].path, "reverse", is_evaluated=False)
    loss = f"{run.epochs()[-1]['validation_nats_per_token']:.3f}"
    score = f"{run.evaluations()['test-greedy']['scores']['token_accuracy']['value']:.2f}"
    assert screen(cells, monkeypatch, waiting=cells[2:], running={cells[1]: None})[1:] == [
        f"seed-1 done 2 100% {loss} {score} token_accuracy",
        f"seed-2 scoring 2 100% {loss}",
        "seed-3 waiting",
    ]
    (run.path / "evaluations" / "test-greedy.json").write_text("{}", encoding="utf-8")
    assert "damaged, since 'split' is missing" in screen(cells[:1], monkeypatch)[1]


def test_a_low_terminal_shows_what_runs_and_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = Grid("reverse", (), {}, seeds=105).cells(tmp_path)
    places = {"waiting": cells[60:], "failed": {cells[1]: "why"}, "running": {cells[50]: None, cells[51]: None}}
    assert screen(cells, monkeypatch, height=10, **places)[1:] == [
        "seed-51 training",
        "seed-52 training",
        "seed-2 failed",
        "57 done, 45 waiting",
    ]
