"""How a notebook shows a translation, a run and a comparison."""

from collections.abc import Mapping
from html import escape
from typing import Any

from regard.compare import Comparison, pair_rows, tables
from regard.metrics.base import Score
from regard.metrics.signature import Signature
from regard.metrics.tables import share_out
from regard.pictures.comparison import draw_learning
from regard.pictures.examples import diagram_of
from regard.pictures.html import attention_assets, attention_fragment, figure_to_html, table
from regard.run import Run
from regard.translation import Translation

SCORES = ("score", "value", "unit", "95 % interval", "signature")


def translation_html(translation: Translation) -> str:
    """Return the text and the attention diagram, of words where there are several, else of tokens."""
    text = f"<p>{escape(translation.source)} → <b>{escape(translation.text)}</b></p>\n"
    if not translation.attention.any():
        return text
    diagram = diagram_of(translation, joins_pieces=len(translation.words.source) > 1)
    return text + attention_assets() + attention_fragment(diagram)


def run_html(run: Run) -> str:
    """Return what was trained, its scores and its learning curves."""
    config, about = run.config, run.description
    what = f"{config.data.corpus}, attention {config.model.attention}, decoder {config.model.decoder}"
    html = (
        f"<p><b>{escape(str(run.path))}</b>: {escape(what)}, seed {config.train.seed}, {escape(about['status'])}</p>\n"
    )
    for evaluation in run.evaluations().values():
        html += score_tables(evaluation)
    if run.epochs():
        html += figure_to_html(draw_learning({run.path.name: [run]}), description="learning curves")
    return html


def comparison_html(comparison: Comparison) -> str:
    """Return the verdict, the tables with the tests of each pair, and the learning curves."""
    verdict = "".join(f"<li>{escape(line)}</li>" for line in comparison.verdict())
    html = f"<ul>{verdict}</ul>\n{comparison_tables(comparison)}"
    if any(run.epochs() for group in comparison.groups for run in group.runs):
        curves = draw_learning({group.label: group.runs for group in comparison.groups})
        html += figure_to_html(curves, description="learning curves")
    return html


def comparison_tables(found: Comparison) -> str:
    """Return the tables of a comparison, each after the reason why it stands apart; the tests of the pairs last."""
    html = "".join(_titled(why, table(head, cells)) for why, (head, *cells) in tables(found))
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
