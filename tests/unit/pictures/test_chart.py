"""Curves in a terminal."""

import pytest
from rich.console import Console

from regard.pictures.chart import HEIGHT, TerminalChart
from regard.pictures.curves import Curves, Note, Series, draw_curves


def shown(figure: Curves, *, width: int = 80) -> list[str]:
    console = Console(width=width, no_color=True, legacy_windows=False)
    with console.capture() as capture:
        console.print(TerminalChart(figure))
    return capture.get().splitlines()


def lines_of(panels: dict[str, Series], *, width: int = 80) -> list[str]:
    return shown(draw_curves(panels, x_label="epoch"), width=width)


def row_of(lines: list[str], mark: str) -> list[int]:
    """Return the rows of the first panel that have a mark, without its legend."""
    return [row for row, line in enumerate(lines[1 : HEIGHT + 1]) if mark in line]


def values_of(lines: list[str]) -> list[str]:
    """Return the values at the left of the first panel."""
    return [lines[1 + row].split()[0] for row in (0, 4, 8, HEIGHT - 1)]


def test_marks_fall_with_the_values_and_stand_above_their_places() -> None:
    lines = lines_of({"loss": {"dot": [([1, 2, 3], [3.0, 2.0, 1.0])]}})
    assert lines[0].strip() == "loss"
    rows = row_of(lines, "●")
    assert len(rows) == 3
    columns = [lines[1 + row].index("●") for row in rows]
    assert [lines[HEIGHT + 1].index(place) for place in "123"] == columns
    assert lines[-1].strip() == "● dot"
    assert [line.rstrip() for line in lines] == lines


def test_values_at_the_left_are_those_of_the_rows() -> None:
    lines = lines_of({"loss": {"dot": [([1, 2], [0.0, 10.0])]}})
    top, *_, bottom = map(float, values_of(lines))
    step = (top - bottom) / (HEIGHT - 1)
    high, low = row_of(lines, "●")
    assert top - high * step == pytest.approx(10.0, abs=step / 2)
    assert top - low * step == pytest.approx(0.0, abs=step / 2)


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (2.0301, 2.0412, ["2.041", "2.037", "2.033", "2.030"]),
        (-0.00832, 0.003, ["0.003", "−0.001", "−0.005", "−0.008"]),
        (1_000_000, 1_200_000, ["1200000", "1127273", "1054545", "1000000"]),
    ],
)
def test_values_at_the_left_all_differ_and_shift_no_row(low: float, high: float, told: list[str]) -> None:
    lines = lines_of({"loss": {"dot": [([1, 2, 3], [high, low, high])]}})
    assert values_of(lines) == told
    first, _, last = (lines[1].index("●"), lines[HEIGHT].index("●"), lines[1].rindex("●"))
    assert [lines[HEIGHT + 1].index(place) for place in "13"] == [first, last]


def test_each_label_keeps_its_mark_and_the_mean_of_seeds_is_drawn() -> None:
    seeds = [([1, 2], [4.0, 2.0]), ([1, 2], [2.0, 2.0])]
    panels = {"training": {"a": seeds}, "validation": {"b": [([1, 2], [1.0, 1.0])], "a": seeds}}
    lines = lines_of(panels)
    assert [line.strip() for line in lines[-2:]] == ["● a", "■ b"]
    assert sum(line.count("●") for line in lines[:-2]) == 4  # two means in each panel
    assert "validation" in lines[HEIGHT + 3]
    lines = shown(draw_curves(panels, x_label="epoch", labels=["none", "b", "a"]))
    assert {line.strip() for line in lines[-2:]} == {"▲ a", "■ b"}


def test_no_two_labels_have_the_same_mark_and_colour_and_without_colour_the_same_mark() -> None:
    series: Series = {f"group {n}": [([1, 2], [4.0 + n, 2.0 * n])] for n in range(64)}
    figure = draw_curves({"loss": series}, x_label="epoch")
    console = Console(width=80, color_system="truecolor", force_terminal=True, no_color=False, legacy_windows=False)
    with console.capture() as capture:
        console.print(TerminalChart(figure))
    coloured = [line.partition(" group")[0] for line in capture.get().splitlines() if " group" in line]
    plain = [line.partition(" group")[0] for line in shown(figure) if " group" in line]
    assert len(set(coloured)) == len(set(plain)) == 64
    assert plain[:3] == ["a", "b", "c"]
    assert all("\x1b[38;2;" in mark for mark in coloured)
    assert "● group 0" in shown(draw_curves({"loss": dict(list(series.items())[:8])}, x_label="epoch"))


def test_only_what_is_drawn_stretches_the_axis() -> None:
    series = {"one": [([1, 2], [20.0, 30.0])], "two": [([1, 2], [24.0, 0.0]), ([1, 2], [26.0, 50.0])]}
    lines = shown(draw_curves({"BLEU": series}, x_label="beam", bars={"one": [(0.0, 60.0)] * 2}))
    assert values_of(lines)[0] == "30.0"
    assert values_of(lines)[-1] == "20.0"
    panels = {"training": {"a": [([1, 2], [4.0, 3.0])]}, "validation": {"a": [([1, 2], [6.0, 5.0])]}}
    lines = shown(draw_curves(panels, x_label="epoch", is_same_scale=True))
    assert values_of(lines) == values_of(lines[HEIGHT + 3 :]) == ["6.0", "4.9", "3.8", "3.0"]
    lines = shown(draw_curves({"entropy": {"a": [([1, 2], [2.0, 2.1])]}}, x_label="epoch", least_span=0.5))
    assert values_of(lines)[-1] == "1.80"


def test_points_of_several_lines_in_a_cell_have_a_mark_that_is_explained() -> None:
    lines = lines_of({"loss": {"a": [([1, 2], [4.0, 1.0])], "b": [([1, 2], [4.0, 2.0])]}})
    assert lines[1].count("#") == 1
    assert [line.strip() for line in lines[-3:]] == ["● a", "■ b", "# several lines"]
    apart = lines_of({"loss": {"a": [([1, 2], [4.0, 1.0])], "b": [([1, 2], [3.0, 2.0])]}})
    assert not any("#" in line for line in apart)


def test_seeds_that_share_no_place_are_drawn_one_by_one() -> None:
    lines = lines_of({"loss": {"dot": [([0.4], [3.0]), ([0.6], [2.0])]}})
    assert row_of(lines, "●") == [0, HEIGHT - 1]
    assert lines[HEIGHT + 1].split() == ["0", "1"]
    assert lines[-1].strip() == "dot: each seed by itself, since they share no epoch"


def test_notes_are_told_in_words_that_are_true_of_a_terminal() -> None:
    seeds = [([1, 2], [4.0, 2.0]), ([1, 2], [2.0, 2.0])]
    notes = [Note("grey: few", "few: 1-5"), Note("bars", "")]
    lines = shown(draw_curves({"loss": {"dot": seeds}}, x_label="epoch", notes=notes))
    assert [line.strip() for line in lines[-3:]] == ["● dot", "line: mean over 2 seeds", "few: 1-5"]


@pytest.mark.parametrize("width", [24, 40, 200])
def test_fits_the_terminal_and_leaves_places_out_wholly(width: int) -> None:
    short = [f"{n} to {n + 4}\nn={n}" for n in range(0, 50, 5)]
    lines = lines_of({"BLEU": {"none": [(short, list(range(10)))]}}, width=width)
    assert all(len(line.rstrip()) <= width for line in lines)
    places, counts = lines[HEIGHT + 1 : HEIGHT + 3]
    assert places.split(" to ")[0].strip() == "0"
    assert places.count(" to ") == counts.count("n=")
    assert all(f"{n.removeprefix('n=')} to " in places for n in counts.split())


def test_a_single_value_is_drawn() -> None:
    assert len(row_of(lines_of({"loss": {"dot": [([3], [1.0])]}}), "●")) == 1
