"""Figures of many runs, over epochs, source length and beam width: a group of seeds is a line with its spread."""

import re
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from regard.compare import Comparison
from regard.errors import RegardError
from regard.metrics.base import Metric
from regard.parts import METRICS
from regard.pictures.curves import Seed, draw_curves
from regard.run import Run
from regard.search.strategy import Strategy

LOSSES = {"train_nats_per_token": "training loss (nats per token)", "validation_nats_per_token": "validation loss"}


def draw_learning(groups: Mapping[str, Sequence[Run]], *, title: str = "") -> Figure:
    """Draw the losses by epoch; runs of one group are seeds of the same experiment. One without a log has no line."""
    logged = {label: [run for run in runs if run.epochs()] for label, runs in groups.items()}
    if not any(logged.values()):
        raise RegardError(f"{_first(groups).path}: has no log of its training, which curves are drawn from.")
    panels = {
        heading: {label: [_curve(run, key) for run in runs] for label, runs in logged.items() if runs}
        for key, heading in LOSSES.items()
    }
    return draw_curves(panels, x_label="epoch", title=title, is_same_scale=True)


def _curve(run: Run, key: str) -> Seed:
    epochs = run.epochs()
    return [epoch["epoch"] for epoch in epochs], [epoch[key] for epoch in epochs]


def draw_entropy(groups: Mapping[str, Sequence[Run]], *, title: str = "") -> Figure:
    """Draw by epoch how widely attention was spread on validation sentences; models without attention have no line."""
    seen = {label: [run.attention() for run in runs] for label, runs in groups.items()}
    series: dict[str, list[Seed]] = {
        label: [([e["epoch"] for e in epochs], [e["entropy_nats"] for e in epochs]) for epochs in runs]
        for label, runs in seen.items() if all(runs)
    }  # fmt: skip
    if not series:
        raise RegardError(_why_no_entropy([run for runs in groups.values() for run in runs]))
    return draw_curves({"entropy of attention (nats)": series}, x_label="epoch", title=title)


def _why_no_entropy(runs: Sequence[Run]) -> str:
    able = [run for run in runs if run.config.model.attention != "none"]
    if not able:
        return f"{runs[0].path}: has no attention, whose entropy could be drawn; want at least one run that has."
    told = f"{able[0].path}: has no attention.jsonl, which trainings with attention write"
    return f"{told}; {'train it with this regard' if able[0].can_resume else 'want the run that it is a copy of'}."


def _first(groups: Mapping[str, Sequence[Run]]) -> Run:
    return next(iter(groups.values()))[0]


def draw_by_length(comparison: Comparison, *, title: str = "") -> Figure:
    """Draw the score of each group by the length of the source: where there is no attention, long sentences suffer."""
    metric = METRICS[comparison.metric]()
    series = {
        group.label: [(list(each), list(each.values())) for each in group.by_length(metric)]
        for group in comparison.groups
    }
    unit = "words" if "bleu" in comparison.groups[0].quantities else "characters"
    return draw_curves({_heading(metric): series}, x_label=f"length of the source ({unit})", title=title)


def draw_by_beam(comparison: Comparison, *, title: str = "") -> Figure:
    """Draw the score of each group by beam width, from every stored evaluation of the split with the usual ranking."""
    metric, split = METRICS[comparison.metric](), comparison.groups[0].evaluations[0]["split"]
    scores = {group.label: [_by_beam(run, split, metric.name) for run in group.runs] for group in comparison.groups}
    widths = sorted(set.intersection(*(set(found) for seeds in scores.values() for found in seeds)))
    if len(widths) < 2:
        run = comparison.groups[0].runs[0].path
        raise RegardError(
            f"beam widths that all runs were evaluated with: got {len(widths)}, want at least 2; for each run: "
            f"`regard evaluate {run} --split {split} --beam 1 5 10`."
        )
    series = {
        label: [([str(width) for width in widths], [found[width] for width in widths]) for found in seeds]
        for label, seeds in scores.items()
    }
    return draw_curves({_heading(metric): series}, x_label="beam width (1: greedy)", title=title)


def _by_beam(run: Run, split: str, metric: str) -> dict[int, float]:
    """Return beam width -> score."""
    scores = {}
    for evaluation in run.evaluations().values():
        beam = re.match(r"beam(\d+)", evaluation["search"])
        width = int(beam[1]) if beam else 1
        is_usual = evaluation["search"] == str(Strategy(width))
        if is_usual and evaluation["split"] == split and metric in evaluation["scores"]:
            scores[width] = evaluation["scores"][metric]["value"]
    return scores


def _heading(metric: Metric[*tuple[object, ...]]) -> str:
    return f"{metric.name} ({metric.unit})" if metric.unit else metric.name
