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


def screen(
    cells: list[Cell], monkeypatch: pytest.MonkeyPatch, *, height: int = 25, width: int = 100, **places: object
) -> list[str]:
    """The lines of the table, none of them wider than the terminal."""
    monkeypatch.setattr(fleet, "console", Console(file=io.StringIO(), height=height, width=width, soft_wrap=True))
    shown = Fleet(cells, jobs=1, strategy=Strategy(), split="test", **({"waiting": []} | places))  # type: ignore[arg-type]
    fleet.console.print(shown._table())
    assert isinstance(fleet.console.file, io.StringIO)
    lines = fleet.console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    return [" ".join(line.split()) for line in lines]


def test_a_finished_run_keeps_its_epoch_loss_and_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = Grid("reverse", REVERSE, {}, seeds=3).cells(tmp_path)
    run = make_run(cells[0].path, "reverse")
    make_run(cells[1].path, "reverse", is_evaluated=False)
    loss = f"{run.epochs()[-1]['validation_nats_per_token']:.3f}"
    score = f"{run.evaluations()['test-greedy']['scores']['token_accuracy']['value']:.2f}"
    assert screen(cells, monkeypatch, waiting=cells[2:], running={cells[1]: None}) == [
        "seed state epoch done validation loss token_accuracy",
        f"1 done 2 100% {loss} {score}",
        f"2 scoring 2 100% {loss}",
        "3 waiting",
    ]
    (run.path / "evaluations" / "test-greedy.json").write_text("{}", encoding="utf-8")
    assert screen(cells[:1], monkeypatch) == ["seed state score", "1 done unreadable"]


AXES = {"model.attention": ["none", "scaled_dot"], "model.decoder": ["after", "attentional"]}


def cells_of(folder: Path, axes: dict[str, list[str]]) -> list[Cell]:
    """Four cells of two seeds; the first has a score, a loss and a progress."""
    cells = Grid("reverse", REVERSE, axes, seeds=2).all_cells(folder)
    make_run(cells[0].path, "reverse")
    return cells


@pytest.mark.parametrize(
    ("width", "heading"),
    [
        (80, "attention decoder seed state epoch done validation loss token_accuracy"),
        (76, "attention decoder seed state done validation loss token_accuracy"),
        (60, "attention decoder seed state done token_accuracy"),
        (40, "attention decoder seed state"),
        (30, "attention decoder seed"),
    ],
)
def test_runs_are_told_apart_in_a_line_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, heading: str
) -> None:
    cells = cells_of(tmp_path, AXES)
    head, *rows = screen(cells, monkeypatch, width=width, waiting=cells[1:])
    assert head == heading
    asked = [(a, d, s) for s in "12" for a in AXES["model.attention"] for d in AXES["model.decoder"]]
    assert [tuple(row.split()[:3]) for row in rows] == asked


def test_long_values_lose_how_they_all_begin_and_then_their_headings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [f"/data/of/many/years/and/places/{name}.tsv" for name in ("first", "second")]
    cells = cells_of(tmp_path, {"data.extra": files, "tokenizer.minimum_count": ["1", "2"]})
    assert screen(cells, monkeypatch, width=40)[:3] == [
        "extra minimum_count seed state",
        "…first.tsv 1 1 done",
        "…first.tsv 2 1 done",
    ]
    head, *rows = screen(cells, monkeypatch, width=30)
    assert head == "extra minim… seed state"
    assert len(set(rows)) == len(cells)


def test_a_low_terminal_shows_what_runs_and_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = Grid("reverse", (), {}, seeds=105).cells(tmp_path)
    places = {"waiting": cells[60:], "failed": {cells[1]: "why"}, "running": {cells[50]: None, cells[51]: None}}
    assert screen(cells, monkeypatch, height=10, **places)[1:] == [
        "51 training",
        "52 training",
        "2 failed",
        "57 done, 45 waiting",
    ]
