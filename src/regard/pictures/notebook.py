"""How a notebook shows a translation, a run and a comparison."""

from html import escape

from regard.compare import Comparison
from regard.pictures.comparison import draw_learning
from regard.pictures.examples import diagram_of
from regard.pictures.html import attention_assets, attention_fragment, figure_to_html
from regard.pictures.tables import comparison_tables, score_tables
from regard.run import Run
from regard.translation import Translation


def translation_html(translation: Translation) -> str:
    """Return the text and the attention diagram."""
    text = f"<p>{escape(translation.source)} → <b>{escape(translation.text)}</b></p>\n"
    if not translation.has_words or not translation.attention.any():
        return text
    return text + attention_assets() + attention_fragment(diagram_of(translation))


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
    """Return the verdict, the tables with the tests of each pair, the notes, and the learning curves."""
    verdict = "".join(f"<li>{escape(line)}</li>" for line in comparison.verdict())
    notes = "".join(f"<p>{escape(note)}</p>\n" for note in comparison.notes)
    html = f"<ul>{verdict}</ul>\n{comparison_tables(comparison)}{notes}"
    if any(run.epochs() for group in comparison.groups for run in group.runs):
        curves = draw_learning({group.label: group.runs for group in comparison.groups})
        html += figure_to_html(curves, description="learning curves")
    return html
