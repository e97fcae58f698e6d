"""The attention diagram in a terminal: coloured cells with percentages, or percentages alone where there is no colour.

Column words stand upright above their columns; those of a script that must not be taken apart (Arabic, Devanagari) are
numbered instead, in the order of reading. A sentence wider than the terminal continues in further blocks.
"""

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib import colormaps
from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions
from rich.style import Style
from rich.text import Text
from rich.tree import Tree

from regard.pictures.colours import ATTENTION, ink_on
from regard.pictures.diagram import Diagram
from regard.pictures.tree import Node, percent

TALLEST = 14  # letters of an upright word
_SCALE = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class TerminalDiagram:
    """A rich renderable of one diagram, heads averaged."""

    diagram: Diagram

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Yield the lines of the diagram for the width and the colours of the console."""
        is_coloured = console.color_system is not None and not console.no_color
        labels, is_numbered = _column_labels(self.diagram.source)
        least = self._least(is_coloured=is_coloured)
        stub = min(
            max(cell_len(_plain(word)) for word in self.diagram.target), _stub(len(labels) * least, options.max_width)
        )
        room = options.max_width - stub - 1
        side = min(4, max(least, room // len(labels)))
        block = max(1, room // side)
        if self.diagram.title:
            yield Text(_plain(self.diagram.title), style="bold")
        for start in range(0, len(labels), block):
            columns = range(start, min(start + block, len(labels)))
            yield from [Text()] if start else []
            yield from _header([labels[column] for column in columns], stub=stub, side=side)
            for row in range(len(self.diagram.target)):
                yield self._row(row, columns, stub=stub, side=side, is_coloured=is_coloured)
        yield from self._legend(is_numbered=is_numbered, is_coloured=is_coloured, side=side)

    def _least(self, *, is_coloured: bool) -> int:
        """Return how wide a cell must be: for 100 as well, and for the star after it, where they occur."""
        full = np.argwhere(self.diagram.mean >= 0.995)
        is_gold = any((column, row) in (self.diagram.links or ()) for row, column in full.tolist())
        return 4 if is_gold else 3 if len(full) or not is_coloured else 2

    def _row(self, row: int, columns: range, *, stub: int, side: int, is_coloured: bool) -> Text:
        line = Text(_fit(_plain(self.diagram.target[row]), stub) + " ", no_wrap=True, overflow="crop")
        for column in columns:
            weight = float(self.diagram.mean[row, column])
            is_gold = (column, row) in (self.diagram.links or ())
            line.append(_cell(weight, side, is_gold=is_gold), _style(weight, is_gold=is_gold) if is_coloured else "")
        if not is_coloured:
            line.rstrip()
        return line

    def _legend(self, *, is_numbered: bool, is_coloured: bool, side: int) -> Iterator[Text]:
        if is_numbered:
            yield Text(
                "  ".join(f"{number} {_plain(word)}" for number, word in enumerate(self.diagram.source, start=1))
            )
        key = Text.assemble(("attention in percent ", "dim"))
        for weight in _SCALE if is_coloured else ():
            key.append(f" {100 * weight:g} ", _style(weight, is_gold=False))
        if self.diagram.links:
            key.append(f"  {'*' if side > 2 else 'underlined'} gold alignment", "dim")
        if not is_coloured:
            key.rstrip()
        yield key
        if self.diagram.reference:
            yield Text.assemble(("reference ", "dim"), _plain(self.diagram.reference))


def terminal_tree(nodes: Sequence[Node]) -> Tree:
    """Return the kept hypotheses of a search as a rich tree: a branch leaves the line above it at the step it names."""
    children: dict[int | None, list[Node]] = {}
    for node in sorted(nodes, key=lambda node: (not node.is_on_best_path, node.rank)):
        if node.is_kept:
            children.setdefault(node.parent, []).append(node)
    (start,) = children[None]
    tree = Tree(Text("start"), guide_style="dim")
    waiting = [(tree, child) for child in children.get(start.id, ())]
    for branch, node in waiting:  # grows while it is read
        line, others = [node], []
        while after := children.get(line[-1].id):
            line.append(after[0])
            others += after[1:]
        limb = branch.add(Text(f"{node.step}: ", style="dim") + Text("  ").join(map(_branch, line)))
        waiting += [(limb, other) for other in others]
    return tree


def _branch(node: Node) -> Text:
    style = "bold" if node.is_on_best_path else ""
    mark = "*" if node.is_on_best_path else ""
    end = f" [{node.reason}]" if node.reason else ""
    return Text.assemble((mark + _plain(node.text), style), (f" {percent(math.exp(node.log_prob))}{end}", "dim"))


def _stub(cells: int, width: int) -> int:
    """Return how wide row words may be: shortened, if that keeps the sentence in one block."""
    left = width - cells - 1
    return min(left, width // 3) if left >= 8 else max(4, width // 4)


def _column_labels(words: tuple[str, ...]) -> tuple[list[list[str]], bool]:
    letters = [_letters(word) for word in words]
    is_numbered = any(_is_joined(char) for word in words for char in word)
    if is_numbered:
        return [list(str(number)) for number in range(1, len(words) + 1)], True
    return [word if len(word) <= TALLEST else [*word[: TALLEST - 1], "…"] for word in letters], False


def _letters(word: str) -> list[str]:
    """Split a word into what stands in one cell: a letter with its combining marks; a blank one is seen."""
    letters: list[str] = []
    for char in unicodedata.normalize("NFC", word):
        is_mark = unicodedata.category(char) in ("Mn", "Me", "Cf")
        if letters and is_mark:
            letters[-1] += char
        elif not is_mark:
            letters.append(char if char.isprintable() else "␣")
    return letters if "".join(letters).strip() else ["␣"]


def _is_joined(char: str) -> bool:
    return unicodedata.bidirectional(char) in ("R", "AL") or unicodedata.category(char) == "Mc"


def _header(labels: list[list[str]], *, stub: int, side: int) -> Iterator[Text]:
    height = max(map(len, labels))
    for level in range(height):
        places = [level - height + len(label) for label in labels]
        cells = [label[place] if place >= 0 else "" for label, place in zip(labels, places, strict=True)]
        line = " " * (stub + 1) + "".join(_centre(cell, side) for cell in cells)
        yield Text(line.rstrip(), no_wrap=True, overflow="crop")


def _centre(text: str, width: int) -> str:
    free = width - cell_len(text)
    return " " * ((free + 1) // 2) + text + " " * (free // 2)


def _plain(text: str) -> str:
    """Return the text without what could command a terminal."""
    return "".join(_letters(text))


def _fit(text: str, width: int) -> str:
    if cell_len(text) > width:
        text = set_cell_size(text, width - 1).rstrip() + "…"
    return " " * (width - cell_len(text)) + text


def _cell(weight: float, side: int, *, is_gold: bool) -> str:
    number = str(round(100 * weight)) if weight >= 0.005 else ""
    mark = "*" if is_gold else " "
    return f"{number:>2}" if side == 2 else f"{number:>{side - 1}}{mark}"[:side]


def _style(weight: float, *, is_gold: bool) -> Style:
    red, green, blue, _ = colormaps[ATTENTION](min(1.0, max(0.0, weight)))
    back = f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"
    return Style(color=ink_on((red, green, blue)), bgcolor=back, underline=is_gold, bold=is_gold)
