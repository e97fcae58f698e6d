"""Figures of one or many runs: losses over the epochs, each group of seeds a line with its spread."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from regard.compare import Comparison
from regard.parts import METRICS
from regard.pictures.curves import Seed, draw_curves
from regard.run import Run

LOSSES = {"train_nats_per_token": "training loss (nats per token)", "validation_nats_per_token": "validation loss"}


def draw_learning(groups: Mapping[str, Sequence[Run]], *, title: str = "") -> Figure:
    """Draw the losses by epoch; runs of one group are seeds of the same experiment."""
    panels = {
        heading: {label: [_curve(run, key) for run in runs] for label, runs in groups.items()}
        for key, heading in LOSSES.items()
    }
    return draw_curves(panels, x_label="epoch", title=title, is_same_scale=True)


def _curve(run: Run, key: str) -> Seed:
    epochs = run.epochs()
    return [epoch["epoch"] for epoch in epochs], [epoch[key] for epoch in epochs]


def draw_by_length(comparison: Comparison, *, title: str = "") -> Figure:
    """Draw the score of each group by the length of the source: where there is no attention, long sentences suffer."""
    metric = METRICS[comparison.metric]()
    series = {
        group.label: [(list(each), list(each.values())) for each in group.by_length(metric)]
        for group in comparison.groups
    }
    unit = "words" if "bleu" in comparison.groups[0].quantities else "characters"
    heading = f"{comparison.metric} ({metric.unit})" if metric.unit else comparison.metric
    return draw_curves({heading: series}, x_label=f"length of the source ({unit})", title=title)
