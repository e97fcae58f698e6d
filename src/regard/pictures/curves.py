"""Curves over training, beam width or sentence length, each with its spread over seeds."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from regard.errors import RegardError
from regard.pictures.colours import FAINT, INK, QUIET, SERIES
from regard.pictures.fonts import Typeface, typeface, wrap

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
MARKERS = "os^DvPX*"
STRONG = "strong"
"""Which group of artists the lines with markers are in: means, and seeds that have none."""
_FEW = 12  # markers on a line


class Note(NamedTuple):
    """What is told below curves: in a figure, and as it is true in a terminal, which has no bands, bars and greys."""

    figure: str
    terminal: str


def same(text: str) -> Note:
    """Return a note that is true of both."""
    return Note(text, text)


class Curves(Figure):
    """A figure that also knows what a terminal needs to draw the same."""

    notes: tuple[Note, ...] = ()
    least_span = 0.0


def on_one_scale(figures: Sequence[Curves]) -> None:
    """Let figures of one panel each span the same values."""
    limits = [limit for figure in figures for limit in figure.axes[0].get_ylim()]
    for figure in figures:
        figure.axes[0].set_ylim(min(limits), max(limits))


def counted(values: Mapping[str, tuple[float, int]]) -> Seed:
    """Turn {category: (value, how many it is the value of)} into points whose categories tell the number."""
    return [f"{label}\nn={n}" for label, (_, n) in values.items()], [value for value, _ in values.values()]


def draw_curves(
    panels: Mapping[str, Series],
    *,
    x_label: str,
    title: str = "",
    is_same_scale: bool = False,
    bars: Bars | None = None,
    least_span: float = 0.0,
    notes: Sequence[Note] = (),
    labels: Sequence[str] = (),
) -> Curves:
    """Draw one panel per quantity, {heading: {label: seeds}}; a label has the same colour and dashes in every panel.

    It has them in all figures with the same ``labels``, in this order, some of which may have no line here.
    The strong line is the mean over seeds, the band their range, the thin lines the seeds.
    Nothing is averaged where a seed has no value; seeds that share no place have a strong line each.
    A y axis spans ``least_span`` or more: less is no difference to show.
    """
    drawn = [label for series in panels.values() for label in series]
    if not drawn or not all(seeds for series in panels.values() for seeds in series.values()):
        raise RegardError(
            "curves: got a label without any values, want at least one seed for each; train or log it first."
        )
    looks = _looks(list(dict.fromkeys([*labels, *drawn])), drawn)
    notes = (*_about(panels, x_label), *([Note("bars: 95 % interval over sentences", "")] if bars else []), *notes)
    face = typeface([*drawn, *panels, title, x_label, *(note.figure for note in notes)])
    entry = 0.75 + max(face.measure(face.show(look["label"]), 9)[0] for look in looks.values())
    width = max(4.2 * len(panels), entry + 0.45)
    columns = max(1, int((width - 0.3) / entry))
    told = [line for note in notes for line in wrap(face.show(note.figure), width - 0.3, size=8, face=face)]
    height = 3.5 + 0.2 * -(-len(looks) // columns)
    figure = Curves(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))
    figure.notes, figure.least_span = notes, least_span
    grid = figure.subplots(1, len(panels), sharey=is_same_scale, squeeze=False)[0]
    for axes, (heading, series) in zip(grid, panels.items(), strict=True):
        _axes(axes, heading, x_label=x_label, face=face)
        _draw(axes, series, looks=looks, bars=bars or {})
    for axes in grid:  # once all are drawn, since they may share a scale
        low, high = axes.get_ylim()
        axes.set_ylim(widened(low, high, least_span))
    if title:
        figure.suptitle(face.show(title), fontproperties=face.properties(12), x=0.01, ha="left", parse_math=False)
    _legend(figure, list(looks.values()), columns=columns, about="\n".join(told), face=face)
    return figure


def _draw(axes: Axes, series: Series, *, looks: Mapping[str, dict[str, Any]], bars: Bars) -> None:
    categories = list(
        dict.fromkeys(x for seeds in series.values() for xs, _ in seeds for x in xs if isinstance(x, str))
    )
    for label, seeds in series.items():
        look = looks[label]
        curves = [_curve(xs, ys, categories) for xs, ys in seeds]
        x, y = _stack(curves)
        if len(curves) > 1 and len(x):
            for xs, ys in curves:
                axes.plot(xs, ys, color=look["color"], linewidth=0.6, alpha=0.45)
            axes.fill_between(x, y.min(axis=0), y.max(axis=0), color=look["color"], alpha=0.18, linewidth=0)
        for xs, ys in [(x, y.mean(axis=0))] if len(x) else curves:
            axes.plot(xs, ys, **look, markevery=max(1, len(xs) // _FEW), gid=STRONG)
        if label in bars:
            axes.errorbar(x, y[0], _arms(y[0], bars[label]), fmt="none", ecolor=look["color"], elinewidth=1, capsize=3)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    places = {x for seeds in series.values() for xs, _ in seeds for x in xs if not isinstance(x, str)}
    if places and max(places) - min(places) < 1:  # less may have no whole number to tick
        axes.set_xlim(min(places) - 0.5, max(places) + 0.5)
    if len(places) == 1:
        axes.set_xticks([*places])
    if categories:
        axes.set_xticks(range(len(categories)), categories)


def _arms(y: np.ndarray[Any, Any], bounds: Sequence[tuple[float, float]]) -> np.ndarray[Any, Any]:
    low, high = np.asarray(bounds, dtype=float).T
    return np.stack([y - low, high - y]).clip(min=0)  # a value may lie just outside of its resamplings


def widened(low: float, high: float, least: float) -> tuple[float, float]:
    """Return limits that span so much at least; they do not go below 0 for it."""
    if (missing := least - (high - low)) <= 0:
        return low, high
    bottom = max(min(low, 0.0), low - missing / 2)
    return bottom, bottom + least


def _curve(xs: Sequence[Any], ys: Sequence[float], categories: list[str]) -> tuple[np.ndarray[Any, Any], ...]:
    places = [categories.index(x) if isinstance(x, str) else x for x in xs]
    return np.asarray(places, dtype=float), np.asarray(ys, dtype=float)


def _stack(curves: list[tuple[np.ndarray[Any, Any], ...]]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    common = sorted(set.intersection(*(set(xs.tolist()) for xs, _ in curves)))
    rows = [[dict(zip(xs.tolist(), ys.tolist(), strict=True))[x] for x in common] for xs, ys in curves]
    return np.array(common), np.array(rows)


def _looks(labels: list[str], drawn: list[str]) -> dict[str, dict[str, Any]]:
    """Return how the labels that are drawn look, by their place among all."""
    names = zip(labels, _apart(labels), strict=True)
    return {label: _look(index) | {"label": name} for index, (label, name) in enumerate(names) if label in drawn}


def _look(index: int) -> dict[str, Any]:
    # Of eight, colour, dashes and marker all differ: one of them survives any printer and any eye. Of 64 no two share
    # colour and marker, which are all that a terminal has, nor marker and dashes, which are all of a grey print.
    turn = index // len(SERIES)
    return {
        "color": SERIES[index % len(SERIES)],
        "linestyle": _DASHES[(index + 2 * turn) % len(_DASHES)],
        "marker": MARKERS[(index + turn) % len(MARKERS)],
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


def _about(panels: Mapping[str, Series], x_label: str) -> list[Note]:
    """Say what a line is the mean of, and of which label there is none."""
    of_label = {label: seeds for series in panels.values() for label, seeds in series.items()}
    apart = [label for label, seeds in of_label.items() if not set.intersection(*({*xs} for xs, _ in seeds))]
    counts = {len(seeds) for label, seeds in of_label.items() if label not in apart}
    over = f"over {max(counts)} seeds" if counts and min(counts) > 1 else ""
    means = [Note(f"line: mean, band: range {over}", f"line: mean {over}")] if over else []
    return [*means, *(same(f"{label}: each seed by itself, since they share no {x_label}") for label in apart)]


def _apart(labels: list[str]) -> list[str]:
    """Leave out the settings, such as size=64, that all labels name."""
    words = [label.split() for label in labels]
    shared = {word for word in set.intersection(*map(set, words)) if "=" in word} if len(labels) > 1 else set()
    return [" ".join(word for word in each if word not in shared) for each in words] if shared else labels


def _legend(figure: Figure, looks: list[dict[str, Any]], *, columns: int, about: str, face: Typeface) -> None:
    legend = figure.legend(
        [Line2D([], [], **look) for look in looks],
        [face.show(look["label"]) for look in looks],
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
