"""Beam search as a tree: steps from left to right, the best expansion of a step on top, the winning path in colour.

A long search is folded into bands of steps, each of which begins with the words that it goes on from.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Curve

from regard.errors import RegardError
from regard.pictures.colours import FAINT, INK, QUIET, SERIES
from regard.pictures.fonts import Typeface, typeface, wrap
from regard.search.tree import BEAM_FULL, KEPT, Expansion, Tree

ROW, GAP, MARGIN, PAD, BETWEEN = 0.44, 0.48, 0.15, 0.06, 0.3  # inches
WORD, SMALL, LARGE = 10.0, 7.5, 12.0  # points
START = -1
BAND = 12  # steps
KEY = (
    "under a word: probability · log-probability of the path, at the end its score.  "
    "Thick orange: the winner.  Dashed grey: thrown away."
)
CUT_SHORT = "  Steps after the winner's end are not drawn."


@dataclass(frozen=True, slots=True)
class Node:
    """One expansion of a search: a token after its parent's tokens."""

    id: int
    parent: int | None
    step: int
    text: str
    log_prob: float
    """Natural logarithm of the token's probability after its parent."""
    total: float
    """The same for all tokens of the path, which expansions are ranked by."""
    rank: int
    """Place among the expansions of its step, 0 = best."""
    is_kept: bool
    reason: str = ""
    """Why it was not kept, or that it is finished; empty = nothing to say."""
    is_on_best_path: bool = False


@dataclass(frozen=True, slots=True)
class _Spot:
    node: Node
    label: str
    detail: str
    x: float
    down: float
    width: float
    column_end: float


def nodes_of(tree: Tree, texts: Callable[[int], str], *, best: Sequence[int]) -> list[Node]:
    """Turn a recorded search into nodes; ``texts`` names a token, ``best`` are the tokens of the winner."""
    path: set[int | None] = set()
    last = next((e for e in reversed(tree.expansions) if e.is_kept and tree.tokens(e) == tuple(best)), None)
    while last is not None:
        path.add(last.id)
        last = tree.expansions[last.parent] if last.parent is not None else None
    start = Node(START, None, 0, "", 0.0, 0.0, 0, is_kept=True, is_on_best_path=bool(path))
    return [start, *(_node(each, texts(each.token), is_best=each.id in path) for each in tree.expansions)]


def best_of(tree: Tree, score: float) -> tuple[int, ...]:
    """Return the tokens of the hypothesis that ended with this score."""
    ended = [(abs(each.score - score), each.id) for each in tree.expansions if each.score is not None]
    return tree.tokens(tree.expansions[min(ended)[1]])


def _node(each: Expansion, text: str, *, is_best: bool) -> Node:
    # A full beam is the usual fate, which the dashes show; an ending is worth its normalised score.
    reason = "" if each.fate in {KEPT, BEAM_FULL} else each.fate
    reason += f" {each.score:.2f}".replace("-", "−") if each.score is not None else ""
    parent = START if each.parent is None else each.parent
    return Node(each.id, parent, each.step, text, each.log_prob, each.total, each.rank, each.is_kept, reason, is_best)


def draw_tree(nodes: Sequence[Node], *, title: str = "", pruned: int = 3) -> Figure:
    """Draw a search up to the winner's end: all kept expansions, and of those thrown away the best few of each step."""
    if not nodes:
        raise RegardError("beam tree: got no expansions, want at least one; record the search first.")
    face = typeface([title, *(word for node in nodes for word in (node.text, node.reason))])
    columns = columns_of(nodes, pruned=pruned)
    end = max((i for i, column in enumerate(columns) if any(n.is_on_best_path for n in column)), default=len(columns))
    key = KEY + CUT_SHORT * (end + 1 < len(columns))
    bands, down = [], 0.0
    for band in _bands(columns[: end + 1]):
        bands.append(_spots(band, face, top=down))
        down += ROW * max(map(len, band)) + BETWEEN
    ends = [spot.x + spot.width for spots in bands for spot in spots.values()]
    width = max(face.measure(key, SMALL)[0] + MARGIN, *ends) + MARGIN
    head = wrap(face.show(title), width - 2 * MARGIN, size=LARGE, face=face) if title else []
    return _paint(bands, face, head=head, key=key, size=(width, down))


def _bands(columns: list[list[Node]]) -> list[list[list[Node]]]:
    """Fold the steps into bands of like length, each after the column of those that its first step goes on from."""
    steps = len(columns) - 1
    size = max(1, -(-steps // max(1, -(-steps // BAND))))
    bands = []
    for first in range(1, max(2, steps + 1), size):
        parents = {node.parent for column in columns[first : first + 1] for node in column}
        begun = [node for node in columns[first - 1] if node.id in parents or first == 1]
        bands.append([begun, *columns[first : first + size]])
    return bands


def columns_of(nodes: Sequence[Node], *, pruned: int) -> list[list[Node]]:
    """Return the nodes of each step in the order of drawing: all kept ones, then the best few of the others."""
    steps: dict[int, list[Node]] = {}
    for node in sorted(nodes, key=lambda node: (node.step, not node.is_kept, node.rank, node.id)):
        steps.setdefault(node.step, []).append(node)
    return [_shown(step, pruned) for step in steps.values()]


def _shown(step: list[Node], pruned: int) -> list[Node]:
    lost = [node for node in step if not node.is_kept and not node.is_on_best_path]
    return [node for node in step if node not in lost[pruned:]]


def _spots(band: list[list[Node]], face: Typeface, *, top: float) -> dict[int, _Spot]:
    spots: dict[int, _Spot] = {}
    x = MARGIN
    for number, column in enumerate(band):
        texts = [_texts(node, face, is_repeated=number == 0) for node in column]
        widths = [max(face.measure(word, WORD)[0], face.measure(detail, SMALL)[0]) for word, detail in texts]
        for row, (node, (word, detail)) in enumerate(zip(column, texts, strict=True)):
            spots[node.id] = _Spot(node, word, detail, x, top + ROW * (row + 0.5), widths[row], x + max(widths))
        x += max(widths) + GAP
    return spots


def _texts(node: Node, face: Typeface, *, is_repeated: bool) -> tuple[str, str]:
    if node.step == 0:
        return "start", ""
    return (f"… {face.word(node.text)}", "") if is_repeated else (face.word(node.text), _detail(node, face))


def percent(share: float) -> str:
    """Write a probability as the page does: what is small still differs from nothing."""
    digits = 2 if share < 0.001 else 1 if share < 0.0995 else 0
    return "< 0.01 %" if share < 0.0001 else f"{100 * share:.{digits}f} %"


def _detail(node: Node, face: Typeface) -> str:
    numbers = f"{percent(math.exp(node.log_prob))} · {node.total:.2f}".replace("-", "−")
    return f"{numbers} · {face.show(node.reason)}" if node.reason else numbers


def _colour(node: Node) -> str:
    return SERIES[1] if node.is_on_best_path else INK if node.is_kept else QUIET


def _paint(
    bands: list[dict[int, _Spot]], face: Typeface, *, head: list[str], key: str, size: tuple[float, float]
) -> Figure:
    line, (width, tree) = LARGE * 1.3 / 72, size
    top, foot = MARGIN + line * len(head), SMALL * 1.3 / 72 + MARGIN
    figure = Figure(figsize=(width, top + tree + foot))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(tree + foot, -top))
    axes.set_axis_off()
    common: dict[str, Any] = {"parse_math": False, "ha": "left"}
    word, small = face.properties(WORD), face.properties(SMALL)
    for spots in bands:
        for spot in spots.values():
            parent = spots.get(spot.node.parent) if spot.node.parent is not None else None
            if parent:
                axes.add_patch(_link(parent, spot))
            colour = _colour(spot.node)
            axes.text(spot.x, spot.down, spot.label, fontproperties=word, color=colour, va="bottom", **common)
            axes.text(spot.x, spot.down + 0.02, spot.detail, fontproperties=small, color=colour, va="top", **common)
    for number, text in enumerate(head):
        place = MARGIN - top + line * number
        axes.text(MARGIN, place, text, fontproperties=face.properties(LARGE), color=INK, va="top", **common)
    axes.text(MARGIN, tree + foot - MARGIN, key, fontproperties=small, color=QUIET, va="bottom", **common)
    return figure


def _link(parent: _Spot, child: _Spot) -> PathPatch:
    # Straight to the end of the column, so that no link crosses a longer word below; then over to the child.
    start, bend, end = parent.x + parent.width + PAD, parent.column_end + PAD, child.x - PAD
    middle = (bend + end) / 2
    ahead = [(start, parent.down), (bend, parent.down)]
    points = [*ahead, (middle, parent.down), (middle, child.down), (end, child.down)]
    node = child.node
    return PathPatch(
        Curve(points, [Curve.MOVETO, Curve.LINETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4]),
        fill=False,
        edgecolor=_colour(node) if node.is_kept or node.is_on_best_path else FAINT,
        linewidth=2.4 if node.is_on_best_path else 0.9,
        linestyle="-" if node.is_kept or node.is_on_best_path else (0, (3, 2)),
        zorder=3 if node.is_on_best_path else 2 if node.is_kept else 1,
    )
