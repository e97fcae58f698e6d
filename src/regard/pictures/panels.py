"""Heat maps with words around them, placed to the inch: every label is measured first, so nothing is cut or overlaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import Normal, Stroke

from regard.pictures.colours import ATTENTION, INK, QUIET, luminance
from regard.pictures.fonts import Typeface, is_right_to_left, typeface, wrap

MARGIN, GAP, PAD = 0.15, 0.35, 0.07  # inches
TILT = radians(45)
BAR_WIDTH, BAR_ROOM = 0.13, 0.75
NARROWEST = 3.4
LARGE, SMALL = 12, 8  # points


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
        return self.face.measure(self.face.show(text), self.points)[0]


@dataclass(frozen=True, slots=True)
class Frame:
    """The room one panel needs around its cells, in inches."""

    panel: Panel
    width: float
    height: float
    heading: list[str]
    rows: float
    """Width of the row words; 0 when a neighbour shows them."""
    above: float
    """Height of the column words."""
    reach: float
    """How far the column words lean past the last column."""
    is_flat: bool
    is_mirrored: bool

    @property
    def left(self) -> float:
        """Room at the left that nothing else may use."""
        return self.reach if self.is_mirrored else self.rows

    @property
    def right(self) -> float:
        """Room at the right, next to the cells."""
        return self.rows if self.is_mirrored else 0.0


def draw_panels(panels: Sequence[Panel], *, title: str = "", reference: str = "", columns: int = 0) -> Figure:
    """Draw heat maps on one scale, in a grid of so many columns; words of rows once where all panels share them."""
    columns = columns or _columns(panels)
    style = _style(panels, columns, [title, reference])
    is_shared = len({panel.target for panel in panels}) == 1
    frames = [_frame(panel, style, has_rows=not is_shared or index % columns == 0) for index, panel in enumerate(panels)]
    return _compose(frames, columns, style=style, title=title, reference=reference)


def _columns(panels: Sequence[Panel]) -> int:
    longest = max(len(panel.source) for panel in panels)
    return min(len(panels), max(2, 48 // longest), 4 if len(panels) > 5 else 5)


def _style(panels: Sequence[Panel], columns: int, texts: list[str]) -> Style:
    longest = max(max(len(panel.source), len(panel.target)) for panel in panels)
    smallest, largest = (0.2, 0.55) if len(panels) == 1 else (0.16, 0.45)
    cell = min(largest, max(smallest, (7.0 if columns == 1 else 13.0 / columns) / longest))
    words = [word for panel in panels for word in (*panel.source, *panel.target, panel.title)]
    return Style(typeface([*words, *texts]), cell, max(6.0, min(11.0, 0.53 * 72 * cell)))


def _frame(panel: Panel, style: Style, *, has_rows: bool) -> Frame:
    widths = [style.width(word) for word in panel.source]
    line = style.points * 1.2 / 72
    is_flat = max(widths) <= 0.9 * style.cell
    is_mirrored = is_right_to_left(panel.source)
    ordered = widths[::-1] if is_mirrored else widths
    past = [width * cos(TILT) - (len(widths) - 1 - index) * style.cell for index, width in enumerate(ordered)]
    reach = 0.0 if is_flat else max(0.0, max(past[::-1] if is_mirrored else past) - style.cell / 2 + line)
    width = style.cell * len(panel.source)
    heading = wrap(style.face.show(panel.title), width + GAP / 2, size=style.points, face=style.face) if panel.title else []
    return Frame(
        panel=panel,
        width=width,
        height=style.cell * len(panel.target),
        heading=heading,
        rows=max(map(style.width, panel.target)) + PAD if has_rows else 0.0,
        above=line + PAD if is_flat else max(widths) * sin(TILT) + line + PAD,
        reach=reach,
        is_flat=is_flat,
        is_mirrored=is_mirrored,
    )
