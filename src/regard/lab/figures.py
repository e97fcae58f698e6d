"""Figures of the lab, made for slides: few lines, large letters, colours that colour-blind readers can tell apart."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from regard.lab.noise import Noise

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"
BY_KEYS, BY_SIZE = (BLUE, ORANGE, GREEN), ("#E69F00", "#CC79A7", "#882255")
SIZE = 13
Measure = Callable[..., float]
Spreads = Mapping[float, Mapping[str, tuple[float, float]]]
"""By beta or c, and by construction: closed form, measured."""


def copy(setting: Noise, measure: Measure, error: Measure, scale: Measure) -> Figure:
    """Draw the error of copying by c for several m, and the c that 1 % needs by m for several d."""
    figure, (left, right) = _panels(2, "Copying: a query along one key, q = c k$_j$")
    _errors_by_scale(left, setting, measure, error, asked=1, label="weight that misses v$_j$")
    for colour, d in zip(BY_SIZE, (setting.d, 4 * setting.d, 16 * setting.d), strict=True):
        sizes = np.unique(np.geomspace(2, d, 40).round()).astype(int)
        needed = [scale(asked=1, m=m, d=d, error=0.01) for m in sizes]
        right.plot(sizes, needed, color=colour, lw=2.5)
        right.annotate(f"d = {d}", (d, needed[-1]), (6, 0), textcoords="offset points", **_label(colour))
    right.set(xscale="log", xlim=(1.8, 16 * setting.d * 4.5))
    right.set(xlabel="number of keys m (at most d)", ylabel="c for an error of 1 %")
    right.set_title("how large c must be", fontsize=SIZE)
    return figure


def average(setting: Noise, measure: Measure, error: Measure) -> Figure:
    """Draw the error of averaging by c for several m, and the weights with and without a large c."""
    figure, (left, right) = _panels(2, "Average of two: a query between two keys, q = c (k$_a$ + k$_b$)")
    _errors_by_scale(left, setting, measure, error, asked=2, label="weight that misses v$_a$ and v$_b$")
    unit = 1 / math.sqrt(2)
    left.axvline(unit, color=GREY, ls=":", lw=2)
    left.annotate("length 1,\nno factor c", (unit, 3e-5), (8, 0), textcoords="offset points", **_label(GREY))
    names = ["a", "b", *(str(i) for i in range(3, setting.m + 1))]
    places = np.arange(setting.m)
    for shift, c, colour, text in ((-0.2, unit, GREY, "length 1"), (0.2, setting.c, BLUE, f"c = {setting.c:g}")):
        missed = error(asked=2, m=setting.m, d=setting.d, c=c)
        weights = [(1 - missed) / 2] * 2 + [missed / (setting.m - 2)] * (setting.m - 2)
        right.bar(places + shift, weights, 0.4, color=colour, label=f"{text}: {missed:.1%} elsewhere")
    right.axhline(0.5, color=GREY, ls=":", lw=2)
    right.set(xlabel="key", ylabel="attention weight", xticks=places, xticklabels=names, ylim=(0, 0.55))
    right.set_title(f"where the weight goes (m = {setting.m})", fontsize=SIZE)
    right.legend(frameon=False, fontsize=SIZE)
    return figure


def noise(setting: Noise, draws: Mapping[str, Any], *, by_beta: Spreads, by_scale: Spreads) -> Figure:
    """Draw the weight of ``v_a`` over resamplings, one query against two heads, and its spread by beta and by c."""
    sizes = f"(m = {setting.m}, d = {setting.d})"
    title = f"Keys of random length $\\lambda$ ~ N(1, $\\beta$): one query swings, two heads hold {sizes}"
    figure, (left, middle, right) = _panels(3, title)
    bins = np.linspace(0, 1, 51)
    for name, colour, text in (("one clean", ORANGE, "one query"), ("two clean", BLUE, "two heads")):
        weights = draws[name]
        share = np.full(len(weights), 1 / len(weights))
        label = f"{text}: spread {weights.std():.3f}"
        left.hist(weights, bins, weights=share, color=colour, alpha=0.75, label=label)
    left.axvline(0.5, ymax=0.78, color=GREY, ls=":", lw=2)
    left.set(xlabel="weight of v$_a$", ylabel="share of resamplings", xlim=(0, 1))
    left.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    left.set_title(f"c = {setting.c:g}, $\\beta$ = {setting.beta:g}, {len(draws['lambda']):,} draws", fontsize=SIZE)
    left.set_ylim(0, 1.3 * left.get_ylim()[1])
    left.legend(frameon=False, fontsize=SIZE, loc="upper left")
    _spreads(middle, by_beta)
    middle.set(xlabel="variance $\\beta$ of the key lengths", ylabel="spread of the weight of v$_a$")
    middle.set_title(f"by $\\beta$, at c = {setting.c:g}", fontsize=SIZE)
    _spreads(right, by_scale)
    right.set(xlabel="scale c of the query")
    right.set_title(f"by c, at $\\beta$ = {setting.beta:g}", fontsize=SIZE)
    middle.legend(frameon=False, fontsize=SIZE - 2, loc="upper left", title="lines: closed form, dots: measured")
    return figure


def _spreads(axes: Axes, by_x: Spreads) -> None:
    styles = {
        "one noisy": (ORANGE, "--", "one query, c (k$_a$ + k$_b$)"),
        "one clean": (ORANGE, "-", "one query, c ($\\mu_a$ + $\\mu_b$)"),
        "two noisy": (BLUE, "--", "two heads, c k$_a$ and c k$_b$"),
        "two clean": (BLUE, "-", "two heads, c $\\mu_a$ and c $\\mu_b$"),
    }
    xs = list(by_x)
    for name, (colour, line, label) in styles.items():
        axes.plot(xs, [by_x[x][name][0] for x in xs], color=colour, ls=line, lw=2.5, label=label)
        axes.plot(xs, [by_x[x][name][1] for x in xs], "o", color=colour, ms=5)
    axes.set(xscale="log", ylim=(0, 0.75), yticks=[0, 0.1, 0.2, 0.3, 0.4, 0.5])


def _errors_by_scale(axes: Axes, setting: Noise, measure: Measure, error: Measure, *, asked: int, label: str) -> None:
    root = math.sqrt(setting.d)
    smooth, points = np.linspace(0, 12 * root, 200), np.linspace(0, 12 * root, 13)
    for colour, m in zip(BY_KEYS, dict.fromkeys((3, setting.m, setting.d)), strict=False):
        sizes = {"asked": asked, "m": m, "d": setting.d}
        axes.plot(smooth, [error(**sizes, c=c) for c in smooth], color=colour, lw=2.5, label=f"m = {m}")
        axes.plot(points, [measure(1, **sizes, c=c) for c in points], "o", color=colour, ms=6)
    axes.axhline(0.01, color=GREY, ls=":", lw=2)
    axes.annotate("1 %", (root, 0.01), (4, -16), textcoords="offset points", **_label(GREY))
    axes.set(yscale="log", xlabel="scale c of the query", ylabel=label, ylim=(1e-5, 2))
    axes.legend(frameon=False, fontsize=SIZE, title="lines: closed form\ndots: measured", title_fontsize=SIZE - 2)
    axes.set_title(f"error by c (d = {setting.d})", fontsize=SIZE)


def _panels(count: int, title: str) -> tuple[Figure, Any]:
    figure = Figure(figsize=(5.6 * count, 4.6), layout="constrained")
    figure.suptitle(title, fontsize=SIZE + 3)
    panels = figure.subplots(1, count)
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=SIZE - 1)
        axes.xaxis.label.set_size(SIZE)
        axes.yaxis.label.set_size(SIZE)
    return figure, panels


def _label(colour: str) -> dict[str, Any]:
    return {"color": colour, "fontsize": SIZE - 1}
