"""Figures of many runs, over epochs, source length and beam width: a group of seeds is a line with its spread."""

import re
from collections.abc import Mapping, Sequence

from regard.compare import Comparison
from regard.errors import RegardError
from regard.metrics.base import Metric, Score
from regard.parts import METRICS
from regard.pictures.colours import FAINT
from regard.pictures.curves import Curves, Note, Seed, Series, counted, draw_curves, on_one_scale, same
from regard.pictures.timelapse import unseen
from regard.run import Run
from regard.search.strategy import Strategy

NAMES = {
    "bleu": "BLEU",
    "bleu_lc": "BLEU, lower case",
    "bleu_tok_lc": "BLEU, lower case, our words",
    "chrf": "chrF",
    "ter": "TER (%)",
}
"""What metrics are called in pictures, where it is not their name and unit. BLEU and chrF are no percentages."""
LOSSES = {"train_nats_per_token": "training loss (nats per token)", "validation_nats_per_token": "validation loss"}


FEW = 10
"""Sentences below which the score of a length is hardly more than chance."""
LEAST_ENTROPY = 0.5
"""Nats that the axis of entropy spans at least: a smaller difference is not seen in the diagrams either."""


def draw_learning(groups: Mapping[str, Sequence[Run]]) -> Curves:
    """Draw the losses by epoch; runs of one group are seeds of the same experiment. One without a log has no line."""
    panels, notes = _losses(groups)
    return draw_curves(panels, x_label="epoch", is_same_scale=True, notes=notes, labels=[*groups])


def draw_learning_apart(groups: Mapping[str, Sequence[Run]]) -> list[Curves]:
    """Draw the same as figures for a page that sets them side by side where there is room, on one scale."""
    panels, notes = _losses(groups)
    figures = [
        draw_curves({heading: series}, x_label="epoch", notes=notes, labels=[*groups])
        for heading, series in panels.items()
    ]
    on_one_scale(figures)
    return figures


def _losses(groups: Mapping[str, Sequence[Run]]) -> tuple[dict[str, Series], list[Note]]:
    logged = {label: [run for run in runs if run.epochs()] for label, runs in groups.items()}
    if not any(logged.values()):
        first = next(iter(groups.values()))[0]
        raise RegardError(f"{first.path}: has no log of its training, which curves are drawn from.")
    panels: dict[str, Series] = {
        heading: {label: [_curve(run, key) for run in runs] for label, runs in logged.items() if runs}
        for key, heading in LOSSES.items()
    }
    targets = [run.tokenizers.target for runs in logged.values() for run in runs]
    is_one_scale = len({frozenset(target.pieces(range(target.size))) for target in targets}) == 1
    return panels, [] if is_one_scale else [same("vocabularies differ: do not compare the height of the losses")]


def _curve(run: Run, key: str) -> Seed:
    epochs = run.epochs()
    return [epoch["epoch"] for epoch in epochs], [epoch[key] for epoch in epochs]


def draw_entropy(groups: Mapping[str, Sequence[Run]]) -> Curves:
    """Draw by epoch how widely attention was spread on validation sentences; models without attention have no line."""
    seen = {label: [run.attention() for run in runs] for label, runs in groups.items()}
    series: dict[str, list[Seed]] = {
        label: [([e["epoch"] for e in epochs], [e["entropy_nats"] for e in epochs]) for epochs in runs]
        for label, runs in seen.items() if all(runs)
    }  # fmt: skip
    if not series:
        lacking = [run for runs in groups.values() for run in runs if not run.attention()]
        raise unseen(next((run for run in lacking if run.config.model.attention != "none"), lacking[0]))
    apart = [label for label, runs in seen.items() if any(runs) and not all(runs)]
    lacking_in = {label: groups[label][seen[label].index([])].path.name for label in apart}
    notes = [same(f"left out: {label}, since {name} has no attention.jsonl") for label, name in lacking_in.items()]
    panels = {"entropy of attention (nats)": series}
    return draw_curves(panels, x_label="epoch", least_span=LEAST_ENTROPY, notes=notes, labels=[*groups])


def draw_by_length(comparison: Comparison) -> Curves:
    """Draw the score of each group by the length of the source: where there is no attention, long sentences suffer."""
    metric = METRICS[comparison.metric]()
    scores = {group.label: group.by_length(metric) for group in comparison.groups}
    series = {
        label: [counted({name: (score.value, score.segments) for name, score in each.items()}) for each in seeds]
        for label, seeds in scores.items()
    }
    unit = "words" if "bleu" in comparison.groups[0].quantities else "characters"
    sizes = {name: score.segments for name, score in next(iter(scores.values()))[0].items()}
    few = {name: place for place, (name, size) in enumerate(sizes.items()) if size < FEW}
    told = f"fewer than {FEW} sentences"
    figure = draw_curves(
        {_heading(metric): series},
        x_label=f"length of the source ({unit})",
        bars={
            label: [score.interval or (score.value, score.value) for score in seeds[0].values()]
            for label, seeds in scores.items()
            if len(seeds) == 1
        },
        notes=[Note(f"grey: {told}", f"{told}: {', '.join(few)}")] if few else [],
    )
    for place in few.values():
        figure.axes[0].axvspan(place - 0.5, place + 0.5, color=FAINT, alpha=0.5, linewidth=0)
    return figure


def draw_by_beam(comparison: Comparison) -> Curves:
    """Draw the score of each group by beam width, from every stored evaluation of the split with the usual ranking."""
    metric, split = METRICS[comparison.metric](), comparison.groups[0].evaluations[0]["split"]
    scores = {group.label: [_by_beam(run, split, metric.name) for run in group.runs] for group in comparison.groups}
    widths = sorted(set.intersection(*(set(found) for seeds in scores.values() for found in seeds)))
    if len(widths) < 2:
        run = comparison.groups[0].runs[0].path
        raise RegardError(
            f"beam widths that all runs were evaluated with: got {len(widths)}, want at least 2; for each run: "
            f"`regard evaluate {run} --split {split if split.isidentifier() else 'FILE'} --beam 1 5 10`."
        )
    series = {
        label: [([str(width) for width in widths], [found[width].value for width in widths]) for found in seeds]
        for label, seeds in scores.items()
    }
    # Several runs have their own spread; one has only the interval that was stored with its score.
    intervals = {label: [seeds[0][w].interval for w in widths] for label, seeds in scores.items() if len(seeds) == 1}
    bars = {label: [each for each in found if each] for label, found in intervals.items() if all(found)}
    return draw_curves({_heading(metric): series}, x_label="beam width (1: greedy)", bars=bars)


def _by_beam(run: Run, split: str, metric: str) -> dict[int, Score]:
    """Return beam width -> score."""
    scores = {}
    for evaluation in run.evaluations().values():
        beam = re.match(r"beam(\d+)", evaluation["search"])
        width = int(beam[1]) if beam else 1
        is_usual = evaluation["search"] == str(Strategy(width))
        if is_usual and evaluation["split"] == split and metric in evaluation["scores"]:
            scores[width] = Score.from_json(evaluation["scores"][metric])
    return scores


def _heading(metric: Metric[*tuple[object, ...]]) -> str:
    unit = f" ({metric.unit})" if metric.unit else ""
    return NAMES.get(metric.name, metric.name.replace("_", " ") + unit)
