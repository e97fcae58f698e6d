from pathlib import Path

import pytest

from regard.errors import RegardError
from regard.models.build import check_model
from regard.training.grid import Grid, parse_axes
from tiny_runs import make_run


def test_axes_are_read() -> None:
    assert parse_axes(["model.decoder=after, deep", "model.cell=gru"]) == {
        "model.decoder": ["after", "deep"],
        "model.cell": ["gru"],
    }
    for word in ("model.decoder", "model.decoder=", "model.decoder=after,after"):
        with pytest.raises(RegardError, match="with each key and value once, such as"):
            parse_axes([word])
    with pytest.raises(RegardError) as caught:
        parse_axes(["model.attention=dot", "model.attention=none"])
    told = "varied twice, want all its values in one place, such as model.attention=VALUE,VALUE."
    assert str(caught.value) == f"model.attention: {told}"


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
        "scenes: model.attention: got 'nine'. Did you mean 'none'? "
        "(2 of 4 runs, such as attention-nine-cell-gur-seed-1)",
    ]
    with pytest.raises(RegardError) as caught:
        Grid("scenes", ("train.seed=4",), {}, seeds=2).cells(tmp_path)
    assert str(caught.value) == "'train.seed=4': train.seed is varied already; leave it out."
    with pytest.raises(RegardError) as caught:
        Grid("scenes", (), {"train.seed": ["1", "2"]}, seeds=2).cells(tmp_path)
    told = "got it as an axis, want --seeds N, which trains with the seeds 1 to N."
    assert str(caught.value) == f"train.seed: {told}"


def test_values_that_look_the_same_in_a_file_name_have_runs_of_their_own(tmp_path: Path) -> None:
    values = ["x/a.tsv", "x_a.tsv", "x-a.tsv", "y/b.tsv"]
    cells = Grid("multi30k", ("data.corpus=files",), {"data.pairs": values}, seeds=1).cells(tmp_path)
    names = [cell.path.name for cell in cells]
    assert len(set(names)) == 4
    assert (names[1], names[3]) == ("pairs-x_a.tsv-seed-1", "pairs-y_b.tsv-seed-1")
    other = Grid("multi30k", ("data.corpus=files",), {"data.pairs": values[::-1]}, seeds=1).cells(tmp_path)
    assert [cell.path.name for cell in other] == names[::-1]


def test_two_ways_to_write_a_value_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RegardError) as caught:
        Grid("scenes", (), {"model.dropout": ["0.1", "0.10"]}, seeds=1).cells(tmp_path)
    told = "have the same settings; leave one of the values out."
    assert str(caught.value) == f"dropout-0.1-seed-1 and dropout-0.10-seed-1: {told}"


def test_a_model_that_cannot_be_built_is_told_before_anything_is_trained(tmp_path: Path) -> None:
    axes = {"model.attention": ["none", "multi_head"]}
    with pytest.raises(RegardError) as caught:
        Grid("scenes", ("model.embedding=48", "model.readout=0"), axes, seeds=2).cells(tmp_path, check_model)
    lines = str(caught.value).splitlines()
    assert len(lines) == 2
    assert all(line.startswith("model.tie: got 'output', but the output layer sees ") for line in lines)
    assert lines[0].endswith(" (2 of 4 runs, such as attention-none-seed-1)")


def test_a_run_of_another_experiment_is_not_taken_for_a_cell(tmp_path: Path) -> None:
    overrides = ("data.max_length=20", "data.train=40")
    (cell,) = Grid("reverse", overrides, {}, seeds=1).cells(tmp_path)
    assert not cell.is_trained()
    run = make_run(cell.path, "reverse", is_evaluated=False)
    with pytest.raises(RegardError) as caught:
        cell.is_trained()
    told = "has data.max_length=6, but 20 is asked for."
    assert str(caught.value) == f"{cell.path}: {told} Choose another directory, or remove this one."
    assert Grid.load(run.path) is None
    (run.path / "run.json").write_text("{", encoding="utf-8")
    assert not cell.is_trained()  # whoever is to train it tells why it cannot


def test_a_grid_is_read_back_with_all_its_runs(tmp_path: Path) -> None:
    grid = Grid("reverse", ("train.epochs=2",), {"model.cell": ["gru", "lstm"]}, seeds=1)
    grid.save(tmp_path)
    assert Grid.load(tmp_path) == grid
    more = tmp_path / "more"
    more.mkdir()
    (more / "run.json").write_text("{}", encoding="utf-8")
    assert grid.paths(tmp_path) == [more, tmp_path / "cell-gru-seed-1", tmp_path / "cell-lstm-seed-1"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"format": 1, "exp', "cannot be read as JSON ("),
        ('{"format": 99}', "format 99, want 1; the command that made this directory writes it anew."),
        ('{"format": 1}', "damaged, since 'experiment' is missing or of the wrong kind."),
        ('{"format": 1, "experiment": "a", "overrides": [], "axes": {"b": 1}, "seeds": 1}', "'b' is missing or of the"),
    ],
)
def test_a_damaged_comparison_is_told_in_one_line(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "comparison.json").write_text(content, encoding="utf-8")
    with pytest.raises(RegardError, match=r"comparison.json") as caught:
        Grid.load(tmp_path)
    assert told in str(caught.value)
