"""Draws the diagrams of docs/pictures.md that are about layout and scripts, from words and weights made by hand.

Run `python docs/make_pictures.py` after a change to the diagrams. A script that no installed font has is left out and
named; the Chinese one needs a font such as Noto Sans CJK.
"""

import sys
from pathlib import Path
from typing import Literal

import numpy as np

from regard.pictures.diagram import Diagram, draw_attention
from regard.pictures.files import render
from regard.pictures.fonts import typeface

FOLDER = Path(__file__).parent / "images"
LONG = (
    "Am Morgen , als der Nebel noch über dem Fluss lag und die ersten Boote den Hafen verließen , ging der alte"
    " Fischer mit seinem Hund langsam über die Brücke , grüßte die Bäckerin , die gerade ihren Laden öffnete , kaufte"
    " zwei warme Brötchen und eine Zeitung , setzte sich auf die Bank am Ufer und wartete auf Sonne ."
)
LONG_OUTPUT = (
    "In the morning , when the fog still lay over the river and the first boats left the harbour , the old fisherman"
    " walked slowly over the bridge with his dog , greeted the baker , who was opening her shop , bought two warm rolls"
    " and a newspaper , sat down on the bench by the shore and waited for sun ."
)
SCRIPTS = {
    "greek": (
        "Η γάτα κοιμάται ήσυχα πάνω στο παλιό ξύλινο τραπέζι .",
        "The cat is sleeping quietly on the old wooden table .",
        [0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9],
    ),
    "arabic": (
        "تقرأ المعلمة كتابا جديدا في حديقة المدرسة .",
        "The teacher is reading a new book in the school garden .",
        [1, 1, 0, 0, 2, 3, 2, 4, 6, 6, 5, 7],
    ),
    "chinese": (
        "那 只 小 猫 静静 地 睡 在 旧 木头 桌子 上 。",
        "That little cat is sleeping quietly on the old wooden table .",
        [0, 2, 3, 6, 6, 4, 7, 10, 8, 9, 10, 12],
    ),
}


def looks(places: list[int], size: int, *, width: float) -> np.ndarray:
    """Return rows of attention around given places, wider where the row number is odd."""
    distance = np.abs(np.arange(size) - np.array(places)[:, None])
    scores = -(distance**1.5) / (width * (1 + 0.6 * (np.arange(len(places)) % 2)[:, None]))
    weights = np.exp(scores)
    return weights / weights.sum(axis=1, keepdims=True)


def draw(diagram: Diagram, name: str, *, heads: Literal["mean", "all"] = "mean") -> None:
    """Draw one diagram."""
    (FOLDER / f"{name}.png").write_bytes(render(draw_attention(diagram, heads=heads), "png"))


def main() -> None:
    """Draw all that there are fonts for."""
    source, target = LONG.split(), LONG_OUTPUT.split()
    places = np.linspace(0, len(source) - 1, len(target)).round().astype(int).tolist()
    draw(Diagram(source, target, looks(places, len(source), width=0.9)), "long")
    source, target = ["der", "alte", "Hund", "schläft", "."], ["the", "old", "dog", "sleeps", "."]
    heads = np.stack([looks([min(4, max(0, i + shift)) for i in range(5)], 5, width=0.5) for shift in (0, -1, 1)])
    draw(Diagram(source, target, heads), "heads", heads="all")
    for name, (text, output, links) in SCRIPTS.items():
        if note := typeface([text]).note:
            sys.stderr.write(f"{name}.png: left as it was; {note}\n")
            continue
        words, produced = text.split(), output.split()
        gold = frozenset((s, t) for t, s in enumerate(links))
        draw(Diagram(words, produced, looks(links, len(words), width=0.7), gold, output), name)


if __name__ == "__main__":
    main()
