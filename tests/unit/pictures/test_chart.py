"""Curves in a terminal."""

import pytest
from rich.console import Console

from regard.pictures.chart import HEIGHT, TerminalChart
from regard.pictures.curves import Series, draw_curves


def lines_of(panels: dict[str, Series], *, width: int = 80) -> list[str]:
    console = Console(width=width, no_color=True, legacy_windows=False)
    with console.capture() as capture:
        console.print(TerminalChart(draw_curves(panels, x_label="epoch")))
    return capture.get().splitlines()


def row_of(lines: list[str], mark: str) -> list[int]:
    """Return the rows of the first panel that have a mark, without its legend."""
    return [row for row, line in enumerate(lines[1 : HEIGHT + 1]) if mark in line]


def test_marks_fall_with_the_values_and_stand_above_their_places() -> None:
    lines = lines_of({"loss": {"dot": [([1, 2, 3], [3.0, 2.0, 1.0])]}})
    assert lines[0].strip() == "loss"
    rows = row_of(lines, "●")
    assert len(rows) == 3
    columns = [lines[1 + row].index("●") for row in rows]
    assert [lines[HEIGHT + 1].index(place) for place in "123"] == columns
    assert lines[-1].strip() == "● dot"


def test_values_at_the_left_are_those_of_the_rows() -> None:
    lines = lines_of({"loss": {"dot": [([1, 2], [0.0, 10.0])]}})
    top, bottom = float(lines[1].split()[0]), float(lines[HEIGHT].split()[0])
    step = (top - bottom) / (HEIGHT - 1)
    high, low = row_of(lines, "●")
    assert top - high * step == pytest.approx(10.0, abs=step / 2)
    assert top - low * step == pytest.approx(0.0, abs=step / 2)


def test_each_label_keeps_its_mark_and_the_mean_of_seeds_is_drawn() -> None:
    seeds = [([1, 2], [4.0, 2.0]), ([1, 2], [2.0, 2.0])]
    lines = lines_of({"training": {"a": seeds}, "validation": {"b": [([1, 2], [1.0, 1.0])], "a": seeds}})
    assert [line.strip() for line in lines[-2:]] == ["● a", "▲ b"]
    assert sum(line.count("●") for line in lines[:-2]) == 4  # two means in each panel
    assert "validation" in lines[HEIGHT + 3]


@pytest.mark.parametrize("width", [24, 40, 200])
def test_fits_the_terminal(width: int) -> None:
    short = [f"{n} to {n + 4}\nn={n}" for n in range(0, 50, 5)]
    lines = lines_of({"BLEU": {"none": [(short, list(range(10)))]}}, width=width)
    assert all(len(line.rstrip()) <= width for line in lines)
    assert any("n=0" in line for line in lines)


def test_a_single_value_is_drawn() -> None:
    assert len(row_of(lines_of({"loss": {"dot": [([3], [1.0])]}}), "●")) == 1
