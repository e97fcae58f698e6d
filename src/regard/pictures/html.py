"""Pictures for browsers and notebooks: inline SVG, and an attention diagram that answers to mouse, finger and keys."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from regard.pictures.colours import ATTENTION, ink_on
from regard.pictures.diagram import Diagram
from regard.pictures.files import render
from regard.pictures.fonts import is_right_to_left

_NUMBER = re.compile(r"[-+−<]? ?\d[\d.]*( to [-−]?\d[\d.]*)?|–")
_HYPHENED = re.compile(r"(?<!\S)(?=\S*-)\S{3,28}(?!\S)")


def figure_to_html(figure: Figure, *, description: str = "") -> str:
    """Return a figure as an inline SVG that fits its page; text in it can be searched and copied."""
    svg = render(figure, "svg").decode()
    svg = svg[svg.index("<svg") :]
    # Names such as text_1 repeat in every figure of a page and nothing refers to them.
    svg = re.sub(r' id="[A-Za-z0-9]+_\d+"', "", svg)
    label = f' role="img" aria-label="{escape(description)}"' if description else ""
    return svg.replace("<svg", f'<svg style="max-width: 100%; height: auto; background: white"{label}', 1)


def page(body: str, *, title: str, head: str = "") -> str:
    """Return a complete page, which needs no network."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n{head}</head>\n<body>\n{body}</body>\n</html>\n"
    )


def attention_html(*diagrams: Diagram, rows: Literal["", "translation", "reference"] = "") -> str:
    """Return a complete page with interactive diagrams of one sentence, side by side where there is room.

    ``rows`` says what all of them have in their rows, where that is one text: it is told once, not with each.
    """
    title = next((each.title for each in diagrams if each.title), "attention")
    looks = [Look(each.title, "" if rows else each.texts[1], each if each.weights.any() else None) for each in diagrams]
    source = next((each.texts[0] for each in diagrams if each.texts[0]), "")
    lines = {"reference": next((each.reference for each in diagrams if each.reference), "")}
    body = sentence_html(source, looks, **(lines | ({rows: diagrams[0].texts[1]} if rows else {})))
    return page(body, title=title, head=attention_assets())


class Look(NamedTuple):
    """What one model made of a sentence."""

    title: str
    text: str
    diagram: Diagram | None
    """None where the model has no attention."""


def sentence_html(
    source: str, looks: Iterable[Look], *, number: str = "", reference: str = "", translation: str = ""
) -> str:
    """Return source, reference and what all share once, then what each made of it, side by side where there is room."""
    models = "".join(map(_look, looks))
    lines = _line(f"{number} source", source) + _line("reference", reference) + _line("translation", translation)
    return f'<div class="regard-sentence">\n{lines}<div class="models">\n{models}</div>\n</div>\n'


def _look(look: Look) -> str:
    title = f"<p><b>{escape(look.title)}</b></p>\n" if look.title else ""
    figure, columns = "", 12
    if look.diagram:
        figure, columns = attention_fragment(replace(look.diagram, title="")), len(look.diagram.source)
    text = _line("translation", look.text)
    return f'<div class="model" style="--columns: {columns}">\n{title}{text}{figure}</div>\n'


def _line(name: str, text: str) -> str:
    return f"<p><small>{escape(name.strip())}</small> <bdi>{escape(text)}</bdi></p>\n" if text else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts that starts with names; numbers are flush right, signatures may break at their bars."""
    rows = list(rows)
    are_numbers = [all(map(_NUMBER.fullmatch, column)) for column in zip(*rows, strict=True)]
    right = [' style="text-align: right"' if each else "" for each in are_numbers]

    def line(tag: str, row: Sequence[str]) -> str:
        cells = (
            f"<{tag}{style}>{unbroken(cell) if not place else escape(cell).replace('|', '|<wbr>')}</{tag}>"
            for place, (cell, style) in enumerate(zip(row, right or [""] * len(row), strict=True))
        )
        return f"<tr>{''.join(cells)}</tr>\n"

    body = "".join(line("td", row) for row in rows)
    return f'<table style="font-variant-numeric: tabular-nums">\n{line("th", head)}{body}</table>\n'


def unbroken(text: str) -> str:
    """Return the text as HTML in which no short word, such as q160-5, is broken at its hyphen."""
    return _HYPHENED.sub(lambda word: f'<span style="white-space: nowrap">{word[0]}</span>', escape(text))


def attention_assets() -> str:
    """Return the style and the script that every page with ``attention_fragment`` needs once."""
    return f"<style>\n{attention_style()}</style>\n<script>\n{attention_script()}</script>\n"


def attention_style() -> str:
    """Return the style sheet of interactive diagrams."""
    return files("regard.pictures").joinpath("attention.css").read_text(encoding="utf-8")


def attention_script() -> str:
    """Return the script that draws interactive diagrams: those in the page, and others through ``drawAttention``."""
    shades = [colormaps[ATTENTION](percent / 100) for percent in range(101)]
    colours, inks = "".join(to_hex(each)[1:] for each in shades), "".join(ink_on(each)[1:] for each in shades)
    script = files("regard.pictures").joinpath("attention.js").read_text(encoding="utf-8")
    return script.replace("__COLOURS__", colours).replace("__INKS__", inks)


def attention_fragment(diagram: Diagram) -> str:
    """Return one diagram as data, about 3 bytes a cell and head; the script draws it when it comes into view."""
    text = json.dumps(attention_data(diagram), ensure_ascii=False, separators=(",", ":"))
    # Inside <script> only "<" could end the data early; JSON may write it as an escape.
    safe = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f'<figure class="regard-attention"><script type="application/json">{safe}</script></figure>\n'


def attention_data(diagram: Diagram) -> dict[str, Any]:
    """Return what the script draws: words, and for the average and each head the weights in percent."""
    maps = [(panel.title or "attention", panel.weights) for panel in diagram.panels("mean")]
    maps += [(panel.title, panel.weights) for panel in diagram.panels("all") if len(diagram.weights) > 1]
    return {
        "title": diagram.title,
        "source": diagram.source,
        "target": diagram.target,
        "maps": [{"name": name, "rows": _percent(weights)} for name, weights in maps],
        "gold": sorted(diagram.links or ()),
        "isMirrored": is_right_to_left(diagram.source),
    }


def _percent(weights: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> list[list[int]]:
    rows: list[list[int]] = np.rint(100 * weights.clip(0, 1)).astype(int).tolist()
    return rows
