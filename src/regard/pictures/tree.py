"""Beam search as a tree: steps from left to right, the best expansion of a step on top, the winning path in colour."""

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

ROW, GAP, MARGIN, PAD = 0.44, 0.48, 0.15, 0.06  # inches
WORD, SMALL, LARGE = 10.0, 7.5, 12.0  # points
START = -1
KEY = (
    "under a word: probability · log-probability of the path, at the end its score.  "
    "Thick orange: the winner.  Dashed grey: thrown away."
)


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
    """Draw a search: all kept expansions, and of those thrown away the best few of each step."""
    if not nodes:
        raise RegardError("beam tree: got no expansions, want at least one; record the search first.")
    face = typeface([title, *(word for node in nodes for word in (node.text, node.reason))])
    columns = columns_of(nodes, pruned=pruned)
    top = MARGIN + (LARGE * 1.6 / 72 if title else 0)
    spots = _spots(columns, face, top=top)
    width = max(face.measure(KEY, SMALL)[0] + MARGIN, *(spot.x + spot.width for spot in spots.values())) + MARGIN
    return _paint(spots, face, title=title, size=(width, top + ROW * max(map(len, columns)) + 0.4))


def columns_of(nodes: Sequence[Node], *, pruned: int) -> list[list[Node]]:
    """Return the nodes of each step in the order of drawing: all kept ones, then the best few of the others."""
    steps: dict[int, list[Node]] = {}
    for node in sorted(nodes, key=lambda node: (node.step, not node.is_kept, node.rank, node.id)):
        steps.setdefault(node.step, []).append(node)
    return [_shown(step, pruned) for step in steps.values()]


def _shown(step: list[Node], pruned: int) -> list[Node]:
    lost = [node for node in step if not node.is_kept and not node.is_on_best_path]
    return [node for node in step if node not in lost[pruned:]]


def _spots(columns: list[list[Node]], face: Typeface, *, top: float) -> dict[int, _Spot]:
    spots: dict[int, _Spot] = {}
    x = MARGIN
    for column in columns:
        texts = [(face.word(node.text) if node.step else "start", _detail(node, face)) for node in column]
        widths = [max(face.measure(word, WORD)[0], face.measure(detail, SMALL)[0]) for word, detail in texts]
        for row, (node, (word, detail)) in enumerate(zip(column, texts, strict=True)):
            spots[node.id] = _Spot(node, word, detail, x, top + ROW * (row + 0.5), widths[row], x + max(widths))
        x += max(widths) + GAP
    return spots


def _detail(node: Node, face: Typeface) -> str:
    if node.step == 0:
        return ""
    numbers = f"{math.exp(node.log_prob):.2f} · {node.total:.2f}".replace("-", "−")
    return f"{numbers} · {face.show(node.reason)}" if node.reason else numbers


def _colour(node: Node) -> str:
    return SERIES[1] if node.is_on_best_path else INK if node.is_kept else QUIET


def _paint(spots: dict[int, _Spot], face: Typeface, *, title: str, size: tuple[float, float]) -> Figure:
    figure = Figure(figsize=size)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, size[0]), ylim=(size[1], 0))
    axes.set_axis_off()
    common: dict[str, Any] = {"parse_math": False, "ha": "left"}
    for spot in spots.values():
        parent = spots.get(spot.node.parent) if spot.node.parent is not None else None
        if parent:
            axes.add_patch(_link(parent, spot))
        colour, word, small = _colour(spot.node), face.properties(WORD), face.properties(SMALL)
        axes.text(spot.x, spot.down, spot.label, fontproperties=word, color=colour, va="bottom", **common)
        axes.text(spot.x, spot.down + 0.02, spot.detail, fontproperties=small, color=colour, va="top", **common)
    if title:
        (line, *_) = wrap(face.show(title), size[0] - 2 * MARGIN, size=LARGE, face=face)
        axes.text(MARGIN, MARGIN, line, fontproperties=face.properties(LARGE), color=INK, va="top", **common)
    axes.text(MARGIN, size[1] - MARGIN, KEY, fontproperties=face.properties(SMALL), color=QUIET, va="bottom", **common)
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
