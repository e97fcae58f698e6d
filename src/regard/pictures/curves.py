"""Curves over training, beam width or sentence length, each with its spread over seeds."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from regard.errors import RegardError
from regard.pictures.colours import FAINT, INK, QUIET, SERIES
from regard.pictures.fonts import Typeface, typeface

Seed = tuple[Sequence[float] | Sequence[str], Sequence[float]]
"""The x and y values of one seed; texts as x are categories, such as sentence lengths "1-5", "6-10"."""
Series = Mapping[str, Sequence[Seed]]
"""Label -> one (x, y) per seed."""
Bars = Mapping[str, Sequence[tuple[float, float]]]
"""Label of a single seed -> the bounds of the interval around each of its values."""

_DASHES = (
    "-",
    (0, (5, 1.5)),
    (0, (1, 1.2)),
    (0, (6, 1.5, 1.5, 1.5)),
    (0, (3, 1)),
    (0, (8, 2)),
    (0, (2, 2)),
    (0, (4, 4)),
)
_MARKERS = "os^DvPX*"
MEAN = "mean"
"""Which group of artists the strong lines are in."""
_FEW = 12  # markers on a line


def counted(values: Mapping[str, tuple[float, int]]) -> Seed:
    """Turn {category: (value, how many it is the value of)} into points whose categories tell the number."""
    return [f"{label}\nn={n}" for label, (_, n) in values.items()], [value for value, _ in values.values()]


def draw_curves(
    panels: Mapping[str, Series],
    *,
    x_label: str,
    title: str = "",
    is_same_scale: bool = False,
    spread: Literal["range", "deviation"] = "range",
    bars: Bars | None = None,
    least_span: float = 0.0,
    note: str = "",
) -> Figure:
    """Draw one panel per quantity, {heading: {label: seeds}}; a label has the same colour and dashes in every panel.

    The strong line is the mean over seeds, the band their range or one standard deviation, the thin lines the seeds.
    Nothing is averaged where a seed has no value. A y axis spans ``least_span`` or more: less is no difference to show.
    """
    labels = list(dict.fromkeys(label for series in panels.values() for label in series))
    if not labels or not all(seeds for series in panels.values() for seeds in series.values()):
        raise RegardError(
            "curves: got a label without any values, want at least one seed for each; train or log it first."
        )
    face = typeface([*labels, *panels, title, x_label, note])
    entry = 0.75 + max(face.measure(face.show(label), 9)[0] for label in _apart(labels))
    width = max(4.2 * len(panels), entry + 0.45)
    columns = max(1, int((width - 0.3) / entry))
    figure = Figure(
        figsize=(width, 3.5 + 0.2 * -(-len(labels) // columns)), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08)
    )
    grid = figure.subplots(1, len(panels), sharey=is_same_scale, squeeze=False)[0]
    for axes, (heading, series) in zip(grid, panels.items(), strict=True):
        _axes(axes, heading, x_label=x_label, face=face)
        _draw(axes, series, labels=labels, spread=spread, bars=bars or {})
        _widen(axes, least_span)
    if title:
        figure.suptitle(face.show(title), fontproperties=face.properties(12), x=0.01, ha="left", parse_math=False)
    about = [
        _about(panels, spread),
        "bars: 95 % interval over sentences" if bars else "",
        *map(face.show, note.splitlines()),
    ]
    _legend(figure, labels, columns=columns, about="\n".join(filter(None, about)), face=face)
    return figure


def _draw(axes: Axes, series: Series, *, labels: list[str], spread: str, bars: Bars) -> None:
    categories = list(
        dict.fromkeys(x for seeds in series.values() for xs, _ in seeds for x in xs if isinstance(x, str))
    )
    for label, seeds in series.items():
        look = _look(labels.index(label))
        curves = [_curve(xs, ys, categories) for xs, ys in seeds]
        if len(curves) > 1:
            for xs, ys in curves:
                axes.plot(xs, ys, color=look["color"], linewidth=0.6, alpha=0.45)
        x, y = _stack(curves)
        if len(curves) > 1 and len(x):
            low, high = _band(y, spread)
            axes.fill_between(x, low, high, color=look["color"], alpha=0.18, linewidth=0)
        name = _apart(labels)[labels.index(label)]
        axes.plot(x, y.mean(axis=0), **look, markevery=max(1, len(x) // _FEW), label=name, gid=MEAN)
        if label in bars:
            axes.errorbar(x, y[0], _arms(y[0], bars[label]), fmt="none", ecolor=look["color"], elinewidth=1, capsize=3)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    places = {x for seeds in series.values() for xs, _ in seeds for x in xs if not isinstance(x, str)}
    if len(places) == 1:
        (place,) = places
        axes.set(xlim=(place - 0.5, place + 0.5), xticks=[place])
    if categories:
        axes.set_xticks(range(len(categories)), categories)


def _arms(y: np.ndarray[Any, Any], bounds: Sequence[tuple[float, float]]) -> np.ndarray[Any, Any]:
    low, high = np.asarray(bounds, dtype=float).T
    return np.stack([y - low, high - y]).clip(min=0)  # a value may lie just outside of its resamplings


def _widen(axes: Axes, least: float) -> None:
    low, high = axes.get_ylim()
    if (missing := least - (high - low)) > 0:
        bottom = max(min(low, 0.0), low - missing / 2)
        axes.set_ylim(bottom, bottom + least)


def _curve(xs: Sequence[Any], ys: Sequence[float], categories: list[str]) -> tuple[np.ndarray[Any, Any], ...]:
    places = [categories.index(x) if isinstance(x, str) else x for x in xs]
    return np.asarray(places, dtype=float), np.asarray(ys, dtype=float)


def _stack(curves: list[tuple[np.ndarray[Any, Any], ...]]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    common = sorted(set.intersection(*(set(xs.tolist()) for xs, _ in curves)))
    rows = [[dict(zip(xs.tolist(), ys.tolist(), strict=True))[x] for x in common] for xs, ys in curves]
    return np.array(common), np.array(rows)


def _band(y: np.ndarray[Any, Any], spread: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    if spread == "range":
        return y.min(axis=0), y.max(axis=0)
    mean, deviation = y.mean(axis=0), y.std(axis=0, ddof=1)
    return mean - deviation, mean + deviation


def _look(index: int) -> dict[str, Any]:
    # Colour, dashes and marker all differ: one of them survives any printer and any eye.
    return {
        "color": SERIES[index % len(SERIES)],
        "linestyle": _DASHES[(index + index // len(SERIES)) % len(_DASHES)],
        "marker": _MARKERS[index % len(_MARKERS)],
        "linewidth": 1.9,
        "markersize": 4.5,
    }


def _axes(axes: Axes, heading: str, *, x_label: str, face: Typeface) -> None:
    axes.set_title(face.show(heading), fontproperties=face.properties(10), loc="left", color=INK, parse_math=False)
    axes.set_xlabel(face.show(x_label), fontproperties=face.properties(9), color=QUIET, parse_math=False)
    axes.tick_params(labelsize=8.5, color=FAINT, labelcolor=QUIET, labelleft=True)
    axes.ticklabel_format(axis="y", style="plain", useOffset=False)
    axes.grid(axis="y", color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(FAINT)


def _about(panels: Mapping[str, Series], spread: str) -> str:
    counts = {len(seeds) for series in panels.values() for seeds in series.values()}
    band = {"range": "range", "deviation": "standard deviation"}[spread]
    return f"line: mean, band: {band} over {max(counts)} seeds" if min(counts) > 1 else ""


def _apart(labels: list[str]) -> list[str]:
    """Leave out the settings, such as size=64, that all labels name."""
    words = [label.split() for label in labels]
    shared = {word for word in set.intersection(*map(set, words)) if "=" in word} if len(labels) > 1 else set()
    return [" ".join(word for word in each if word not in shared) for each in words] if shared else labels


def _legend(figure: Figure, labels: list[str], *, columns: int, about: str, face: Typeface) -> None:
    legend = figure.legend(
        [Line2D([], [], **_look(index)) for index in range(len(labels))],
        [face.show(label) for label in _apart(labels)],
        loc="outside lower left",
        ncols=columns,
        prop=face.properties(9),
        frameon=False,
        handlelength=3.2,
        title=about,
        title_fontproperties=face.properties(8),
        alignment="left",
    )
    legend.get_title().set_color(QUIET)
    for text in legend.get_texts():
        text.set_parse_math(False)
