"""The scores of a run and the tables of a comparison as HTML: what a row is about stands first and stays in view."""

from collections.abc import Mapping
from html import escape
from typing import Any

from regard.compare import Comparison, pair_rows, tables
from regard.metrics.base import Score
from regard.metrics.signature import Signature
from regard.metrics.tables import share_out
from regard.pictures.html import table

SCORES = ("score", "value", "unit", "95 % interval", "signature")


def comparison_tables(found: Comparison) -> str:
    """Return a table for each quantity, after the reason why it stands apart; the tests of the pairs last."""
    html = ""
    for why, (head, *rows) in tables(found):
        for name in dict.fromkeys(row[0] for row in rows):
            title = why if why.startswith(name) else f"{name}: {why}" if why else name
            html += _titled(title, table(head[1:], [row[1:] for row in rows if row[0] == name]))
    if not found.pairs:
        return html
    head, *cells = pair_rows(found)
    return html + _titled(f"{found.metric}: {found.signature}", table(head, cells))


def score_tables(evaluation: Mapping[str, Any]) -> str:
    """Return all scores of a stored evaluation; those that do not compare with the rest apart, and why."""
    scores = {name: Score.from_json(score) for name, score in evaluation["scores"].items()}
    shared = share_out({name: Signature.parse(score.signature) for name, score in scores.items()})
    rows = {name: [name, s.number, s.unit, s.range, s.signature] for name, s in scores.items()}
    return "".join(_titled(why, table(SCORES, [rows[name] for name in names])) for why, names in shared)


def _titled(title: str, html: str) -> str:
    told = escape(title).replace("|", "|<wbr>")
    return (f"<p>{told}</p>\n" if title else "") + f'<div class="scroll">{html}</div>\n'
