"""Heat maps with words around them: every label is measured before it is placed, so nothing is cut or overlaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import Normal, Stroke

from regard.pictures.colours import ATTENTION, INK, QUIET, ink_on
from regard.pictures.fonts import Typeface, is_right_to_left, typeface, wrap

MARGIN, GAP, PAD = 0.15, 0.35, 0.07  # inches
TILT = radians(45)
BAR_WIDTH, BAR_ROOM = 0.13, 0.75
NARROWEST = 3.4
LARGE, SMALL = 12.0, 8.0  # points
LONG = 20  # words


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One heat map: words, weights, gold links (source index, target index) and a heading."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    weights: Float[np.ndarray[Any, Any], "T S"]
    links: frozenset[tuple[int, int]] | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Style:
    """What all panels of a picture share: fonts, the side of a cell in inches, the size of words in points."""

    face: Typeface
    cell: float
    points: float

    def width(self, text: str) -> float:
        """Return the width of a word in inches."""
        return self.face.measure(self.face.word(text), self.points)[0]


@dataclass(frozen=True, slots=True)
class Frame:
    """One panel and the room it needs around its cells, in inches."""

    panel: Panel
    width: float
    height: float
    heading: list[str]
    left: float
    right: float
    above: float
    """Height of the column words, which a tall panel has below as well."""
    reach: float
    """How far tilted column words lean past the right edge, over the neighbours."""
    has_rows: bool
    is_flat: bool
    is_mirrored: bool
    is_wide: bool
    """Row words at both sides."""
    is_tall: bool
    """Column words above and below."""


def draw_panels(panels: Sequence[Panel], *, title: str = "", reference: str = "") -> Figure:
    """Draw heat maps on one scale, in a grid; words of rows once where all panels share them."""
    columns = _columns(panels)
    style = _style(panels, columns, [title, reference])
    is_shared = len({panel.target for panel in panels}) == 1
    frames = [_frame(p, style, has_rows=not is_shared or _is_first(i, panels, columns)) for i, p in enumerate(panels)]
    return _compose(frames, columns, style=style, title=title, reference=reference)


def _columns(panels: Sequence[Panel]) -> int:
    longest = max(len(panel.source) for panel in panels)
    most = min(len(panels), max(2, 60 // longest), 5)
    return -(-len(panels) // -(-len(panels) // most))


def _is_first(index: int, panels: Sequence[Panel], columns: int) -> bool:
    """Tell whether the panel is the first of its row in the direction of reading."""
    if is_right_to_left(panels[index].source):
        return index % columns == columns - 1 or index == len(panels) - 1
    return index % columns == 0


def _style(panels: Sequence[Panel], columns: int, texts: list[str]) -> Style:
    longest = max(max(len(panel.source), len(panel.target)) for panel in panels)
    smallest, largest = (0.2, 0.55) if len(panels) == 1 else (0.16, 0.45)
    cell = min(largest, max(smallest, (7.0 if columns == 1 else 13.0 / columns) / longest))
    words = [word for panel in panels for word in (*panel.source, *panel.target, panel.title)]
    return Style(typeface([*words, *texts]), cell, max(6.0, min(11.0, 0.53 * 72 * cell)))


def _frame(panel: Panel, style: Style, *, has_rows: bool) -> Frame:
    lengths = [style.width(word) for word in panel.source]
    columns, line = len(lengths), style.points * 1.2 / 72
    is_flat, is_mirrored = max(lengths) <= 0.9 * style.cell, is_right_to_left(panel.source)
    is_wide, is_tall = columns > LONG, len(panel.target) > LONG
    width = style.cell * columns
    # Words above lean past the last column, words below past the first one.
    lean = [0.0 if is_flat else length * cos(TILT) + PAD for length in lengths]
    after = max(0.0, *(lean[i] - (columns - i - 0.5) * style.cell for i in range(columns)))
    before = max(0.0, *(lean[i] - (i + 0.5) * style.cell for i in range(columns)))
    rows = max(map(style.width, panel.target)) + PAD if has_rows else 0.0
    near, far = max(rows, before * is_tall), rows * is_wide
    return Frame(
        panel=panel,
        width=width,
        height=style.cell * len(panel.target),
        heading=_lines(panel.title, style.points, width=width + GAP / 2, style=style),
        left=max(far, after) if is_mirrored else near,
        right=near if is_mirrored else far,
        above=line + PAD + (0.0 if is_flat else max(lengths) * sin(TILT)),
        reach=0.0 if is_mirrored else after,
        has_rows=has_rows,
        is_flat=is_flat,
        is_mirrored=is_mirrored,
        is_wide=is_wide,
        is_tall=is_tall,
    )


def _compose(frames: list[Frame], columns: int, *, style: Style, title: str, reference: str) -> Figure:
    lefts = [max(frame.left for frame in frames[column::columns]) for column in range(columns)]
    widths = [max(frame.width + frame.right for frame in frames[column::columns]) for column in range(columns)]
    starts = [MARGIN + sum(lefts[: c + 1]) + sum(widths[:c]) + GAP * c for c in range(columns)]
    bar = starts[-1] + widths[-1] + GAP
    reached = max(starts[index % columns] + frame.width + frame.reach for index, frame in enumerate(frames))
    width = max(bar + BAR_ROOM, reached, NARROWEST) + MARGIN
    head = _lines(title, LARGE, width=width - 2 * MARGIN, style=style)
    feet = _feet([frame.panel for frame in frames], reference, width=width - 2 * MARGIN, style=style)
    tops, bottom = _tops(frames, columns, down=MARGIN + _height(head, LARGE) + PAD, line=style.points * 1.3 / 72)
    bottom = max(bottom, tops[0] + _bar_height(frames)) + PAD
    sheet = _Sheet(width, bottom + sum(_height(lines, size) + PAD for lines, size, _ in feet) + MARGIN, style)
    sheet.text(MARGIN, MARGIN, head, size=LARGE)
    for index, (frame, top) in enumerate(zip(frames, tops, strict=True)):
        cells = sheet.panel(frame, starts[index % columns], top)
    sheet.bar(cells, bar, tops[0], height=_bar_height(frames))
    for lines, size, colour in feet:
        sheet.text(MARGIN, bottom, lines, size=size, colour=colour)
        bottom += _height(lines, size) + PAD
    return sheet.figure


def _lines(text: str, size: float, *, width: float, style: Style) -> list[str]:
    return wrap(style.face.show(text), width, size=size, face=style.face) if text else []


def _height(lines: list[str], size: float) -> float:
    return len(lines) * size * 1.3 / 72


def _feet(panels: list[Panel], reference: str, *, width: float, style: Style) -> list[tuple[list[str], float, str]]:
    gold = ", outlined: gold alignment" if any(panel.links for panel in panels) else ""
    blocks = [(f"columns: source, rows: target{gold}", SMALL, QUIET)]
    blocks += [("reference", SMALL, QUIET), (reference, style.points, INK)] if reference else []
    return [(_lines(text, size, width=width, style=style), size, colour) for text, size, colour in blocks]


def _tops(frames: list[Frame], columns: int, *, down: float, line: float) -> tuple[list[float], float]:
    tops: list[float] = []
    for start in range(0, len(frames), columns):
        row = frames[start : start + columns]
        down += max(len(frame.heading) for frame in row) * line + max(frame.above for frame in row)
        tops += [down] * len(row)
        down += max(frame.height + frame.above * frame.is_tall for frame in row) + GAP * (start + columns < len(frames))
    return tops, down


def _bar_height(frames: list[Frame]) -> float:
    return max(0.9, min(2.4, frames[0].height))


class _Sheet:
    """A figure measured in inches from its top left corner."""

    def __init__(self, width: float, height: float, style: Style) -> None:
        self.figure = Figure(figsize=(width, height))
        self.size = (width, height)
        self.style = style

    def axes(self, x: float, down: float, width: float, height: float) -> Axes:
        full_width, full_height = self.size
        box = (x / full_width, 1 - (down + height) / full_height, width / full_width, height / full_height)
        return self.figure.add_axes(box)

    def text(self, x: float, down: float, lines: list[str], *, size: float, colour: str = INK) -> None:
        font = self.style.face.properties(size)
        for number, line in enumerate(lines):
            y = self.size[1] - down - number * size * 1.3 / 72
            is_rtl = is_right_to_left([line])
            self.figure.text(
                (self.size[0] - x if is_rtl else x) / self.size[0],
                y / self.size[1],
                line,
                fontproperties=font,
                color=colour,
                parse_math=False,
                va="top",
                ha="right" if is_rtl else "left",
            )

    def panel(self, frame: Frame, x: float, down: float) -> PolyCollection:
        axes = self.axes(x, down, frame.width, frame.height)
        lines = len(frame.heading) * self.style.points * 1.3 / 72
        self.text(x, down - frame.above - lines, frame.heading, size=self.style.points)
        rows, columns = frame.panel.weights.shape
        axes.set_facecolor(colormaps[ATTENTION](0.0))
        cells = _cells(axes, frame.panel.weights, side=self.style.cell)
        _rules(axes, rows, columns)
        axes.set(xlim=(columns, 0) if frame.is_mirrored else (0, columns), ylim=(rows, 0))
        _words(axes, frame, self.style)
        _numbers(axes, frame.panel, self.style)
        for source, target in sorted(frame.panel.links or ()):
            _outline(axes, source, target, side=self.style.cell)
        return cells

    def bar(self, cells: PolyCollection, x: float, down: float, *, height: float) -> None:
        axes = self.axes(x, down, BAR_WIDTH, height)
        bar = self.figure.colorbar(cells, cax=axes, ticks=[0, 0.5, 1])
        bar.outline.set_visible(False)
        axes.set_yticklabels(["0", "0.5", "1"], fontproperties=self.style.face.properties(SMALL))
        axes.tick_params(length=2, color=QUIET, labelcolor=QUIET)
        axes.set_ylabel("attention weight", fontproperties=self.style.face.properties(SMALL), color=QUIET, labelpad=3)


def _cells(axes: Axes, weights: Float[np.ndarray[Any, Any], "T S"], *, side: float) -> PolyCollection:
    # One square stamped at many places keeps a vector file small; cells that look like the ground are left out.
    rows, columns = np.nonzero(weights >= 0.002)
    half = side / 2
    cells = PolyCollection(
        [[(-half, -half), (half, -half), (half, half), (-half, half)]],
        offsets=np.column_stack([columns, rows]) + 0.5,
        offset_transform=axes.transData,
        transform=axes.figure.dpi_scale_trans,
        cmap=ATTENTION,
        norm=Normalize(0, 1),
        linewidth=0,
    )
    cells.set_array(weights[rows, columns])
    axes.add_collection(cells, autolim=False)
    return cells


def _rules(axes: Axes, rows: int, columns: int) -> None:
    for count, length, draw in ((columns, rows, axes.vlines), (rows, columns, axes.hlines)):
        # Every fifth line is stronger: the eye keeps its row in a long sentence.
        shades = [(1.0, 1.0, 1.0, 0.4 if place % 5 == 0 and count > LONG else 0.12) for place in range(1, count)]
        draw(np.arange(1, count), 0, length, colors=shades, linewidth=0.5)


def _words(axes: Axes, frame: Frame, style: Style) -> None:
    show, font, panel = style.face.word, style.face.properties(style.points), frame.panel
    start, end = ("right", "left") if frame.is_mirrored else ("left", "right")
    slant = {"rotation": -45 if frame.is_mirrored else 45, "rotation_mode": "anchor", "ha": start}
    tilt: dict[str, Any] = {} if frame.is_flat else slant
    axes.set_xticks(np.arange(len(panel.source)) + 0.5)
    axes.set_xticklabels(map(show, panel.source), fontproperties=font, parse_math=False, **tilt)
    axes.set_yticks(np.arange(len(panel.target)) + 0.5)
    rows = panel.target if frame.has_rows else ()
    axes.set_yticklabels(map(show, rows) if rows else [""] * len(panel.target), fontproperties=font, parse_math=False)
    axes.tick_params(length=0, pad=PAD * 72 * 0.6, labelcolor=INK, labeltop=True, labelbottom=frame.is_tall)
    axes.tick_params("y", **{f"label{start}": True, f"label{end}": frame.is_wide})
    for tick in axes.xaxis.get_major_ticks() if tilt else ():
        tick.label1.set(ha=end, va="top")
    for spine in axes.spines.values():
        spine.set_visible(False)


def _numbers(axes: Axes, panel: Panel, style: Style) -> None:
    if style.cell < 0.38:
        return
    font = style.face.properties(15 * style.cell)
    for (row, column), weight in np.ndenumerate(panel.weights):
        if weight >= 0.005:
            text = f"{weight:.2f}".lstrip("0") if weight < 0.995 else "1"
            ink = ink_on(colormaps[ATTENTION](weight))
            axes.text(column + 0.5, row + 0.5, text, fontproperties=font, color=ink, ha="center", va="center")


def _outline(axes: Axes, source: int, target: int, *, side: float) -> None:
    # White with a dark rim is seen on every colour of the scale, in print as well.
    line = min(1.6, max(0.9, 4 * side))
    box = Rectangle((source + 0.06, target + 0.06), 0.88, 0.88, fill=False, edgecolor="white", linewidth=line)
    box.set_path_effects([Stroke(linewidth=line + 1.2, foreground="black"), Normal()])
    axes.add_patch(box)
