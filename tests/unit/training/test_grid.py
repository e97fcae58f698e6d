import json
from pathlib import Path

import pytest

from regard.errors import RegardError
from regard.training.grid import Grid, missing_from, parse_axes, runs_of
from tiny_runs import make_run


def test_axes_are_read() -> None:
    assert parse_axes(["model.decoder=after, deep", "model.cell=gru"]) == {
        "model.decoder": ["after", "deep"],
        "model.cell": ["gru"],
    }
    for word in ("model.decoder", "model.decoder=", "model.decoder=after,after"):
        with pytest.raises(RegardError, match="with each key and value once, such as"):
            parse_axes([word])


def test_a_grid_has_every_combination_by_name(tmp_path: Path) -> None:
    grid = Grid("scenes", ("train.epochs=2",), {"model.attention": ["none", "mean"], "train.clip": ["0.5"]}, seeds=2)
    cells = grid.cells(tmp_path)
    assert [cell.path.name for cell in cells] == [
        "attention-none-clip-0.5-seed-1", "attention-mean-clip-0.5-seed-1",
        "attention-none-clip-0.5-seed-2", "attention-mean-clip-0.5-seed-2",
    ]  # fmt: skip
    config = cells[3].config
    assert (config.model.attention, config.train.clip, config.train.seed, config.train.epochs) == ("mean", 0.5, 2, 2)
    both = Grid("scenes", (), {"model.dropout": ["0.1"], "tokenizer.dropout": ["0"]}, seeds=1).cells(tmp_path)
    assert both[0].path.name == "model.dropout-0.1-tokenizer.dropout-0-train.seed-1"


def test_every_wrong_configuration_is_told_before_anything_is_trained(tmp_path: Path) -> None:
    with pytest.raises(RegardError) as caught:
        Grid("scenes", (), {"model.attention": ["nine", "mean"], "model.cell": ["gur"]}, seeds=2).cells(tmp_path)
    assert str(caught.value).splitlines() == [
        "scenes: model.cell: got 'gur'. Did you mean 'gru'?",
        "scenes: model.attention: got 'nine'. Did you mean 'none'?",
    ]
    with pytest.raises(RegardError) as caught:
        Grid("scenes", ("train.seed=4",), {}, seeds=2).cells(tmp_path)
    assert str(caught.value) == "'train.seed=4': train.seed is varied already; leave it out."
    with pytest.raises(RegardError) as caught:
        Grid("scenes", (), {"train.seed": ["1", "2"]}, seeds=2).cells(tmp_path)
    told = "got it as an axis, want --seeds N, which trains with the seeds 1 to N."
    assert str(caught.value) == f"train.seed: {told}"


def test_a_run_of_another_experiment_is_not_taken_for_a_cell(tmp_path: Path) -> None:
    overrides = ("data.max_length=20", "data.train=40")
    (cell,) = Grid("reverse", overrides, {}, seeds=1).cells(tmp_path)
    assert not cell.is_trained()
    run = make_run(cell.path, "reverse", is_evaluated=False)
    with pytest.raises(RegardError) as caught:
        cell.is_trained()
    told = "has data.max_length=6, but 20 is asked for."
    assert str(caught.value) == f"{cell.path}: {told} Choose another directory with --dir, or remove this one."
    assert [each.path for each in runs_of(run.path)] == [run.path]
    assert missing_from(run.path) == []


def test_what_a_comparison_lacks_is_known(tmp_path: Path) -> None:
    grid = Grid("reverse", (), {}, seeds=2)
    first, second = (cell.path for cell in grid.cells(tmp_path))
    run = make_run(first, "reverse", is_evaluated=False)
    grid.save(tmp_path)
    assert json.loads((tmp_path / "comparison.json").read_text())["seeds"] == 2
    assert [each.path for each in runs_of(tmp_path)] == [first]
    assert missing_from(tmp_path) == [second]
    run.describe(status="interrupted")
    assert runs_of(tmp_path) == []
    assert missing_from(tmp_path) == [first, second]
