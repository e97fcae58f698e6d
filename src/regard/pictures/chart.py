"""Curves in a terminal: what `curves` draws, one mark to a line, values at the left, places below."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.style import Style
from rich.text import Text

from regard.pictures.curves import MEAN

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Ints = np.ndarray[tuple[int], np.dtype[np.int64]]
MARKS = "●▲■◆○△□◇"
BETWEEN = "·"
WIDEST = 72
HEIGHT = 12
_STUB = 8  # cells of a value and the space after it


@dataclass(frozen=True, slots=True, eq=False)
class TerminalChart:
    """A rich renderable of the means of a figure of curves, its panels below each other."""

    figure: Figure

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Yield the lines of each panel, and which mark is whose."""
        width = max(10, min(options.max_width, WIDEST) - _STUB)
        marks: dict[str, Text] = {}
        for axes in self.figure.axes:
            lines = [line for line in axes.get_lines() if line.get_gid() == MEAN]
            for line in lines:
                look = Text(MARKS[len(marks) % len(MARKS)], Style(color=str(line.get_color())))
                marks.setdefault(str(line.get_label()), look)
            yield Text(axes.get_title(loc="left"), style="bold")
            yield from _rows(_cells(axes, lines, marks, width), axes.get_ylim())
            yield from _places(axes, width)
            yield Text(axes.get_xlabel().rjust(_STUB + width), style="dim")
        for label, mark in marks.items():
            yield Text.assemble(mark, " ", label)


def _cells(axes: Axes, lines: list[Line2D], marks: dict[str, Text], width: int) -> list[list[Text]]:
    """Return what stands in each cell: marks where values are, dots on the way between them, earlier lines on top."""
    cells = [[Text(" ")] * width for _ in range(HEIGHT)]
    low, high = axes.get_ylim()
    for line in reversed(lines):
        x, y = (np.asarray(values, dtype=float) for values in line.get_data())
        mark = marks[str(line.get_label())]
        places = _columns(axes, x, width)
        rows = np.rint((high - y) / (high - low) * (HEIGHT - 1)).astype(int).clip(0, HEIGHT - 1)
        way = np.arange(places[0], places[-1] + 1) if len(places) else places
        for column, row in zip(way, np.rint(np.interp(way, places, rows)).astype(int), strict=True):
            cells[row][column] = Text(BETWEEN, mark.style)
        for column, row in zip(places, rows, strict=True):
            cells[row][column] = mark
    return cells


def _columns(axes: Axes, x: Floats, width: int) -> Ints:
    left, right = axes.get_xlim()
    return np.rint((x - left) / (right - left) * (width - 1)).astype(np.int64)


def _rows(cells: list[list[Text]], limits: tuple[float, float]) -> Iterator[Text]:
    values = np.linspace(limits[1], limits[0], HEIGHT)
    for number, row in enumerate(cells):
        value = f"{values[number]:.3g}" if number % 4 == 0 or number == HEIGHT - 1 else ""
        yield Text.assemble((value.rjust(_STUB - 1) + " ", "dim"), *row)


def _places(axes: Axes, width: int) -> Iterator[Text]:
    """Yield the labels of the x axis below their columns, without those that would touch the one before."""
    left, right = axes.get_xlim()
    places = [place for place in axes.get_xticks() if left <= place <= right]
    columns = _STUB + _columns(axes, np.array(places), width)
    named = {tick.get_loc(): tick.label1.get_text() for tick in axes.xaxis.get_major_ticks()}
    labels = [(named.get(place) or f"{place:g}").split("\n") for place in places]
    for level in range(max(map(len, labels))):
        line = ""
        for column, label in zip(columns.tolist(), labels, strict=True):
            text = label[level] if level < len(label) else ""
            gap = column - cell_len(text) // 2 - cell_len(line)
            if text and (gap > 0 or not line):
                line += " " * gap + text
        yield Text(line, style="dim")
