"""A run or a comparison as one HTML file to send: no network, good on a phone and on paper."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from html import escape
from importlib.resources import files
from typing import Any

from matplotlib.figure import Figure

import regard
from regard.compare import Comparison, compare_runs
from regard.data.corpus import Corpus, Split, load_corpus
from regard.data.enlarged import training_data
from regard.data.tested import load_tested, stored_name
from regard.errors import RegardError
from regard.groups import trained_on
from regard.pictures.comparison import draw_by_beam, draw_by_length, draw_entropy, draw_learning_apart
from regard.pictures.curves import Seed, counted, draw_curves, on_one_scale
from regard.pictures.examples import Pair
from regard.pictures.html import Look, attention_assets, figure_to_html, page, sentence_html, table, unbroken
from regard.pictures.tables import comparison_tables, score_tables
from regard.report.sentences import by_frequency, choose, differing
from regard.run import Run
from regard.search.strategy import Strategy
from regard.translate import Translator

Row = Mapping[str, Any]
"""A stored sentence: source, hypothesis, reference."""
MOST = 10
"""Groups whose sentences are shown, pairs that are looked at, lines of the verdict that are not folded."""


def report(
    runs: Iterable[Run],
    *,
    title: str,
    split: str,
    strategy: Strategy,
    metric: str | None = None,
    axes: Collection[str] = (),
    notes: Iterable[str] = (),
) -> str:
    """Return the page of finished and evaluated runs; diagrams are of the first seed of each group."""
    found = compare_runs(runs, evaluation=stored_name(split, strategy), metric=metric, axes=axes, notes=notes)
    config = found.groups[0].runs[0].config
    corpus = load_tested(config.data, split, tokens=config.tokenizer.kind)
    _check_sentences(found, corpus[split], split)
    pens = {group.label: _Pen(group.runs[0], corpus, split, strategy) for group in found.groups[: MOST + 1]}
    groups = {group.label: group.runs for group in found.groups}
    sections = {
        "Verdict": _verdict(found),
        "Results": _results(found),
        "Learning curves": _if_known(lambda: draw_learning_apart(groups), description="losses by epoch"),
        "Entropy of attention": _if_known(lambda: [draw_entropy(groups)], description="entropy by epoch"),
        "By length of the source": _charts([draw_by_length(found)], description="score by source length"),
        "By beam width": _if_known(lambda: [draw_by_beam(found)], description="score by beam width"),
        "By frequency of the word": _by_frequency(found, corpus),
        "Where the models differ most": _differing(found, pens),
        "Sentences": _examples(found, pens),
        "All sentences": _all_sentences(found),
        "Scores and signatures": _signatures(found),
        "Configuration and environment": _settings(found),
    }
    body = "".join(f"<section>\n<h2>{name}</h2>\n{html}</section>\n" for name, html in sections.items() if html)
    head = files("regard.report").joinpath("report.css").read_text(encoding="utf-8")
    heading = f"<h1>{escape(title)}</h1>\n<p>{escape(_about(found))}</p>\n"
    return page(f"<main>\n{heading}{body}</main>\n", title=title, head=f"<style>\n{head}</style>\n{attention_assets()}")


def _check_sentences(found: Comparison, pairs: Split, split: str) -> None:
    """Refuse sentences that are no longer those that were evaluated: their diagrams would be of others."""
    stored = [(row["source"], row["reference"]) for row in found.groups[0].evaluations[0]["sentences"]]
    if stored != list(zip(pairs.sources, pairs.targets, strict=True)):
        raise RegardError(
            f"{found.groups[0].runs[0].path}: the sentences of '{split}' are not those that it was evaluated on any "
            "more; put them back, or evaluate a new run."
        )


def _if_known(draw: Callable[[], Iterable[Figure]], *, description: str) -> str:
    try:
        return _charts(draw(), description=description)
    except RegardError:  # no log, no attention, or one beam width only
        return ""


def _charts(figures: Iterable[Figure], *, description: str) -> str:
    svgs = "".join(figure_to_html(figure, description=description) for figure in figures)
    return f'<div class="charts">\n{svgs}</div>\n'


class _Pen:
    """Translates the chosen sentences of one run again, for their attention."""

    def __init__(self, run: Run, corpus: Corpus, split: str, strategy: Strategy) -> None:
        self._run, self._strategy, self._corpus, self._split = run, strategy, corpus, split
        self._translator: Translator | None = None

    def look(self, index: int, row: Row, title: str) -> Look:
        """Return the translation and its diagram, where there is something to see."""
        self._translator = self._translator or Translator.open(self._run.path)
        translation = self._translator.translate(row["source"], self._strategy)
        if not translation.has_words:
            return Look(f"{title} · no words", row["hypothesis"], None)
        if self._run.config.model.attention == "none":
            return Look(f"{title} · no attention", row["hypothesis"], None)
        diagram = Pair.of(self._corpus, self._split, index).beside(translation)
        return Look(title, translation.text, replace(diagram, reference=""))  # which stands above all models


def _sentence(index: int, row: Row, looks: Iterable[Look]) -> str:
    return sentence_html(row["source"], looks, number=str(index + 1), reference=row["reference"])


def _about(found: Comparison) -> str:
    config = found.groups[0].runs[0].config
    count = sum(len(group.runs) for group in found.groups)
    runs = "run" if count == 1 else "runs"
    tested = found.groups[0].evaluations[0]["split"]
    return f"Corpus {config.data.corpus}, {count} {runs}, tested on {tested}, regard {regard.__version__}."


def _verdict(found: Comparison) -> str:
    lines = [f"<li>{unbroken(line)}</li>\n" for line in found.verdict()]
    html = f"<ul>\n{''.join(lines[:MOST])}</ul>\n" if lines else ""
    rest = lines[MOST:]
    return html + (_folded(f"{len(rest)} more", f"<ul>\n{''.join(rest)}</ul>\n", is_printed=True) if rest else "")


def _results(found: Comparison) -> str:
    notes = "".join(f"<p>{escape(note)}</p>\n" for note in found.notes)
    return (_results_of_one(found) if _is_single(found) else comparison_tables(found)) + notes


def _results_of_one(found: Comparison) -> str:
    """Return the scores with interval and signature: one run has no spread to tell of."""
    (evaluation,) = found.groups[0].evaluations
    losses = [[name, f"{values[0]:.3f}"] for name, _, _, values in found.rows() if name not in evaluation["scores"]]
    return score_tables(evaluation) + _scrolling(table(("loss", "nats per token"), losses))


def _is_single(found: Comparison) -> bool:
    return [len(group.runs) for group in found.groups] == [1]


def _by_frequency(found: Comparison, corpus: Corpus) -> str:
    """Draw a chart for each training data, on one scale: what is rare in one may be frequent in another."""
    if corpus.unit != "word":
        return ""
    # The same words are counted for all, so a model that knows lower case only decides for the others too.
    is_lower = any(run.config.tokenizer.lowercase for group in found.groups for run in group.runs)
    series: dict[str, dict[str, list[Seed]]] = {}
    training: dict[str, tuple[str, ...]] = {}
    try:
        for group in found.groups:
            if (data := trained_on(group.runs[0])) not in training:
                training[data] = _training_targets(group.runs[0])
            shares = [by_frequency(training[data], each["sentences"], is_lower) for each in group.evaluations]
            series.setdefault(data, {})[group.label] = list(map(counted, shares))
    except RegardError as error:
        return f"<p>Left out: {escape(str(error))}</p>\n"
    heading = "words of the reference that were found (%)"
    labels = [group.label for group in found.groups]
    figures = [
        draw_curves({heading: each}, x_label="times seen in training", labels=labels) for each in series.values()
    ]
    on_one_scale(figures)
    return _charts(figures, description="words found by frequency in training")


def _training_targets(run: Run) -> tuple[str, ...]:
    corpus = training_data(load_corpus(run.config.data), run.config.data)
    if corpus.sha256 != trained_on(run):
        raise RegardError(f"{run.path}: the data that it was trained on are not at hand, so words cannot be counted.")
    return corpus["train"].targets


def _differing(found: Comparison, pens: Mapping[str, _Pen]) -> str:
    """Return the sentences that the best group and each other one differ in, for the first few others."""
    html = ""
    best, *others = found.groups[: MOST + 1]
    for other in others:
        scores = [group.evaluations[0]["sentence_scores"][found.metric] for group in (best, other)]
        own = [group.evaluations[0]["sentences"] for group in (best, other)]
        body = ""
        for index in differing(*scores):
            looks = [
                pens[group.label].look(index, rows[index], f"{group.label} · {found.metric} {values[index]:.1f}")
                for group, rows, values in zip((best, other), own, scores, strict=True)
            ]
            body += _sentence(index, own[0][index], looks)
        html += _folded(f"{best.label} and {other.label}", body, is_open=not html) if body else ""
    return html + _left_out(found, MOST + 1) if html else ""


def _left_out(found: Comparison, count: int) -> str:
    """Say that only so many groups are shown; a report of all sentences of a large grid would fill a disk."""
    return f"<p>Of {len(found.groups)} groups the best {count} are shown.</p>\n" if len(found.groups) > count else ""


def _examples(found: Comparison, pens: Mapping[str, _Pen]) -> str:
    html = ""
    for group in found.groups[:MOST]:
        evaluation = group.evaluations[0]
        rows, scores = evaluation["sentences"], evaluation["sentence_scores"][found.metric]
        for kind, indices in choose(rows, scores).items():
            looks = {
                i: pens[group.label].look(i, rows[i], f"{group.label} · {kind} · {found.metric} {scores[i]:.1f}")
                for i in indices
            }
            body = "".join(_sentence(i, rows[i], [look]) for i, look in looks.items())
            html += _folded(f"{group.label}: {kind}", body, is_open=group is found.groups[0])
    return html + _left_out(found, MOST) if html else ""


def _all_sentences(found: Comparison) -> str:
    groups = found.groups[:MOST]
    columns = [group.evaluations[0]["sentences"] for group in groups]
    rows = [
        [str(number), same[0]["source"], same[0]["reference"], *(each["hypothesis"] for each in same)]
        for number, same in enumerate(zip(*columns, strict=True), 1)
    ]
    head = ["", "source", "reference", *(group.label for group in groups)]
    return _folded(f"{len(rows)} sentences", _scrolling(table(head, rows))) + _left_out(found, MOST)


def _signatures(found: Comparison) -> str:
    if _is_single(found):
        return ""
    html = ""
    for group in found.groups:
        for run, evaluation in zip(group.runs, group.evaluations, strict=True):
            html += _folded(f"{group.label}, seed {run.config.train.seed}", score_tables(evaluation), is_printed=True)
    return html


def _settings(found: Comparison) -> str:
    html = ""
    for group in found.groups:
        for run in group.runs:
            values = {"environment": run.description, "configuration": run.config.model_dump(mode="json")}
            text = escape(json.dumps(values, indent=1, ensure_ascii=False))
            html += _folded(f"{group.label}, seed {run.config.train.seed}", f"<pre>{text}</pre>\n", is_printed=True)
    return html


def _scrolling(html: str) -> str:
    return f'<div class="scroll">{html}</div>\n' if html else ""


def _folded(name: str, html: str, *, is_open: bool = False, is_printed: bool = False) -> str:
    """Return a part that can be folded: printed where it is open, or always."""
    marks = ' class="printed"' * is_printed + " open" * is_open
    return f"<details{marks}>\n<summary>{escape(name)}</summary>\n{html}</details>\n"
