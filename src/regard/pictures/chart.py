"""Curves in a terminal: what `curves` draws, one mark to a line, values at the left, places below."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from string import ascii_letters, digits

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.style import Style
from rich.text import Text

from regard.compare import signed
from regard.pictures.curves import MARKERS, STRONG, Curves, widened

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Ints = np.ndarray[tuple[int], np.dtype[np.int64]]
MARKS = dict(zip(MARKERS, "●■▲◆▼+×*", strict=True))
"""Marker of a figure -> that of a terminal."""
BETWEEN = "·"
SEVERAL = "#"
WIDEST = 72
HEIGHT = 12


@dataclass(frozen=True, slots=True, eq=False)
class TerminalChart:
    """A rich renderable of the strong lines of a figure of curves, its panels below each other."""

    figure: Curves

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Yield the lines of each panel, which mark is whose, and what is to be known about them."""
        panels = {axes: _strong(axes) for axes in self.figure.axes}
        limits = {axes: _limits(axes, self.figure.least_span) for axes in panels}
        values = {axes: _values(*limits[axes]) for axes in panels}
        stub = 1 + max(len(value) for each in values.values() for value in each)
        width = max(10, min(options.max_width, WIDEST) - stub)
        is_coloured = console.color_system is not None and not console.no_color
        marks = _marks([line for lines in panels.values() for line in lines], is_coloured=is_coloured)
        legend = dict(marks)
        for axes, lines in panels.items():
            cells = _cells(axes, lines, limits[axes], width, marks)
            if any(cell.plain == SEVERAL for row in cells for cell in row):
                legend["several lines"] = Text(SEVERAL)
            yield Text(axes.get_title(loc="left"), style="bold")
            for value, row in zip(values[axes], cells, strict=True):
                line = Text.assemble((value.rjust(stub - 1) + " ", "dim"), *row)
                line.rstrip()
                yield line
            yield from _places(axes, stub, width)
            yield Text(axes.get_xlabel().rjust(stub + width), style="dim")
        for label, mark in legend.items():
            yield Text.assemble(mark, " ", label)
        for note in self.figure.notes:
            if note.terminal:
                yield Text(note.terminal, style="dim")


def _strong(axes: Axes) -> list[Line2D]:
    return [line for line in axes.get_lines() if line.get_gid() == STRONG]


def _marks(lines: list[Line2D], *, is_coloured: bool) -> dict[str, Text]:
    """Return the mark of each label; without colour letters, where two labels had the same mark otherwise."""
    looks = {_label(line): (MARKS[str(line.get_marker())], Style(color=str(line.get_color()))) for line in lines}
    if not is_coloured and len({mark for mark, _ in looks.values()}) < len(looks):
        return {label: Text(letter) for label, letter in zip(looks, cycle(ascii_letters + digits + "+*"), strict=False)}
    return {label: Text(mark, style) for label, (mark, style) in looks.items()}


def _label(line: Line2D) -> str:
    return str(line.get_label())


def _points(line: Line2D) -> tuple[Floats, Floats]:
    x, y = (np.asarray(values, dtype=float) for values in line.get_data())
    return x[np.isfinite(y)], y[np.isfinite(y)]


def _limits(axes: Axes, least: float) -> tuple[float, float]:
    """Return the lowest and the highest value that are drawn in a panel, or in all that share its scale."""
    panels = axes.get_shared_y_axes().get_siblings(axes)
    values = [y for panel in panels for line in _strong(panel) for y in _points(line)[1].tolist()]
    low, high = min(values, default=0.0), max(values, default=0.0)
    return widened(low, high, max(least, 0.1 * abs(low) or 1.0) if math.isclose(low, high) else least)


def _values(low: float, high: float) -> list[str]:
    """Return what is told at the left of each row, with as many digits as tell rows apart."""
    digits = max(0, -math.floor(math.log10((high - low) / (HEIGHT - 1))))
    told = [signed(value, f".{digits}f") for value in np.linspace(high, low, HEIGHT).tolist()]
    return [value if row % 4 == 0 or row == HEIGHT - 1 else "" for row, value in enumerate(told)]


def _cells(
    axes: Axes, lines: list[Line2D], limits: tuple[float, float], width: int, marks: Mapping[str, Text]
) -> list[list[Text]]:
    """Return what stands in each cell: marks where values are, dots on the way between them, earlier lines on top."""
    cells = [[Text(" ")] * width for _ in range(HEIGHT)]
    points: dict[tuple[int, int], dict[str, Text]] = {}
    low, high = limits
    for line in reversed(lines):
        x, y = _points(line)
        mark, columns = marks[_label(line)], _columns(axes, x, width)
        rows = np.rint((high - y) / (high - low) * (HEIGHT - 1)).astype(np.int64)
        way = np.arange(columns[0], columns[-1] + 1) if len(x) else columns
        for column, row in zip(way, np.interp(way, columns, rows) if len(x) else rows, strict=True):
            cells[round(row)][column] = Text(BETWEEN, mark.style)
        for place in zip(rows.tolist(), columns.tolist(), strict=True):
            points.setdefault(place, {})[_label(line)] = mark
    for (row, column), there in points.items():
        cells[row][column] = next(iter(there.values())) if len(there) == 1 else Text(SEVERAL)
    return cells


def _columns(axes: Axes, x: Floats, width: int) -> Ints:
    left, right = axes.get_xlim()
    return np.rint((x - left) / (right - left) * (width - 1)).astype(np.int64)


def _places(axes: Axes, stub: int, width: int) -> Iterator[Text]:
    """Yield the labels of the x axis below their columns, without those that would touch the one before."""
    left, right = axes.get_xlim()
    places = [place for place in axes.get_xticks() if left <= place <= right]
    named = {tick.get_loc(): tick.label1.get_text() for tick in axes.xaxis.get_major_ticks()}
    labels = [(named.get(place) or f"{place:g}").split("\n") for place in places]
    lines, end = [""] * max(map(len, labels)), -1
    for column, label in zip(_columns(axes, np.array(places), width).tolist(), labels, strict=True):
        wide = max(map(cell_len, label))
        start = max(0, min(stub + column - wide // 2, stub + width - wide))
        if start <= end:
            continue
        end = start + wide
        for level, text in enumerate(label):
            lines[level] += " " * (start + (wide - cell_len(text)) // 2 - cell_len(lines[level])) + text
    yield from (Text(line, style="dim") for line in lines)
