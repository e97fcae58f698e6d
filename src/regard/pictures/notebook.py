"""How a notebook shows a translation, a run and a comparison."""

from html import escape

from regard.compare import Comparison, table_rows
from regard.metrics.base import Score
from regard.pictures.comparison import draw_learning
from regard.pictures.examples import diagram_of
from regard.pictures.html import attention_assets, attention_fragment, figure_to_html, table
from regard.run import Run
from regard.translate import Translation

SCORES = ("score", "value", "95 % interval", "signature")


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
        html += table(SCORES, [score_row(Score.from_json(score)) for score in evaluation["scores"].values()])
    if run.epochs():
        html += figure_to_html(draw_learning({run.path.name: [run]}), description="learning curves")
    return html


def comparison_html(comparison: Comparison) -> str:
    """Return the table, the verdict and the learning curves."""
    head, *cells = table_rows(comparison)
    verdict = "".join(f"<li>{escape(line)}</li>" for line in comparison.verdict())
    curves = draw_learning({group.label: group.runs for group in comparison.groups})
    return f"<ul>{verdict}</ul>\n{table(head, cells)}{figure_to_html(curves, description='learning curves')}"


def score_row(score: Score) -> list[str]:
    """Return the cells of a score under `SCORES`."""
    return score.cells()
