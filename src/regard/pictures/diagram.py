"""The attention diagram: source words in columns, produced words in rows, brighter where the model looks more.

A source that is read from right to left keeps its direction: its first word is the rightmost column, and the produced
words stand at the right, next to it, so that the picture is the mirror image of one in Latin script.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from regard.errors import RegardError
from regard.pictures import files
from regard.pictures.panels import Panel, draw_panels

Links = frozenset[tuple[int, int]]
save = files.save


@dataclass(frozen=True, slots=True, eq=False)
class Diagram:
    """What one model looked at in one sentence; weights [T S] are read as those of a single head."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    weights: Float[np.ndarray[Any, Any], "N T S"]
    links: Links | None = None
    """Gold alignment as (source index, target index); None = not known."""
    reference: str = ""
    title: str = ""
    texts: tuple[str, str] = ("", "")
    """Source and translation as they are written, where known."""

    def __post_init__(self) -> None:
        """Check the shapes and keep a copy that cannot change."""
        weights = np.array(self.weights, dtype=np.float64)
        weights = weights[None] if weights.ndim == 2 else weights
        want = (len(self.target), len(self.source))
        if weights.ndim != 3 or weights.shape[1:] != want or 0 in weights.shape:
            raise RegardError(
                f"weights: got shape {list(weights.shape)}, want [heads, {want[0]}, {want[1]}]: one row per produced"
                " word and one column per source word, at least one of each."
            )
        weights.setflags(write=False)
        for name, value in (("weights", weights), ("source", tuple(self.source)), ("target", tuple(self.target))):
            object.__setattr__(self, name, value)

    @property
    def mean(self) -> Float[np.ndarray[Any, Any], "T S"]:
        """The weights averaged over heads."""
        averaged: np.ndarray[Any, Any] = self.weights.mean(axis=0)
        return averaged

    def panels(self, heads: Literal["mean", "all"]) -> list[Panel]:
        """Return one panel for the average of the heads, or one for each."""
        count = len(self.weights)
        maps = {f"mean of {count} heads" if count > 1 else "": self.mean}
        if heads == "all" and count > 1:
            maps = {f"head {number}": head for number, head in enumerate(self.weights, start=1)}
        return [Panel(self.source, self.target, weights, self.links, title) for title, weights in maps.items()]

    def split(self, heads: Literal["mean", "all"]) -> list["Diagram"]:
        """Return one diagram for the average of the heads, or one for each, for what draws a single map."""
        panels = self.panels(heads)
        titles = [" · ".join(filter(None, (self.title, panel.title))) for panel in panels]
        return [
            Diagram(self.source, self.target, panel.weights, self.links, self.reference, title, self.texts)
            for panel, title in zip(panels, titles, strict=True)
        ]


def draw_attention(diagram: Diagram, *, heads: Literal["mean", "all"] = "mean") -> Figure:
    """Draw one diagram: its heads averaged, or all of them side by side."""
    return draw_panels(diagram.panels(heads), title=diagram.title, reference=diagram.reference)


def draw_side_by_side(diagrams: Sequence[Diagram], *, title: str = "") -> Figure:
    """Draw two or more models on one sentence, or one model through its epochs, on the same scale.

    Each panel is headed by its diagram's title.
    """
    means = [mean for each in diagrams for mean in each.split("mean")]
    panels = [Panel(each.source, each.target, each.mean, each.links, each.title) for each in means]
    references = dict.fromkeys(each.reference for each in diagrams if each.reference)
    return draw_panels(panels, title=title, reference=" / ".join(references))
