import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from regard.errors import RegardError
from regard.pictures.curves import draw_curves, same

SEEDS = [([1, 2, 3], [4.0, 2.0, 1.0]), ([1, 2, 3], [6.0, 4.0, 1.0]), ([1, 2, 3, 4], [5.0, 3.0, 4.0, 9.0])]


def assert_inside(figure: Figure) -> None:
    FigureCanvasAgg(figure).draw()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= width
    assert box.y1 <= height


def test_the_mean_is_taken_where_every_seed_has_a_value() -> None:
    figure = draw_curves({"loss": {"dot": SEEDS}}, x_label="epoch")
    *thin, strong = figure.axes[0].lines
    assert [line.get_ydata().tolist() for line in thin] == [ys for _, ys in SEEDS]
    assert strong.get_xdata().tolist() == [1, 2, 3]
    assert strong.get_ydata().tolist() == [5, 3, 2]
    assert figure.legends[0].get_title().get_text() == "line: mean, band: range over 3 seeds"
    assert_inside(figure)


def test_the_band_is_the_range_over_seeds() -> None:
    figure = draw_curves({"loss": {"dot": SEEDS}}, x_label="epoch")
    (band,) = [found for found in figure.axes[0].collections if isinstance(found, PolyCollection)]
    corners = band.get_paths()[0].vertices
    for x, bottom, top in zip([1, 2, 3], [4, 2, 1], [6, 4, 4], strict=True):
        ys = corners[corners[:, 0] == x, 1]
        assert ys.min() == pytest.approx(bottom)
        assert ys.max() == pytest.approx(top)


def test_one_seed_has_neither_band_nor_thin_lines() -> None:
    figure = draw_curves({"loss": {"training": SEEDS[:1], "validation": SEEDS[1:2]}}, x_label="epoch", title="$x$ _y")
    assert len(figure.axes[0].lines) == 2
    assert not figure.axes[0].collections
    assert figure.legends[0].get_title().get_text() == ""
    assert_inside(figure)


def test_a_label_looks_the_same_in_every_panel_and_no_two_look_alike() -> None:
    labels = [f"mechanism {n} with a name of some length" for n in range(40)]
    series = {label: [(np.arange(30), np.arange(30) + n)] for n, label in enumerate(labels)}
    figure = draw_curves(
        {"training": series, "validation": dict(reversed(series.items()))}, x_label="epoch", is_same_scale=True
    )
    left, right = figure.axes
    looks = [(line.get_color(), str(line._dash_pattern), line.get_marker()) for line in left.lines]
    assert len({(colour, marker) for colour, _, marker in looks}) == len(labels)
    assert len({(dashes, marker) for _, dashes, marker in looks}) == len(labels)
    assert looks == [(line.get_color(), str(line._dash_pattern), line.get_marker()) for line in right.lines][::-1]
    assert left.get_ylim() == right.get_ylim()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == labels
    assert_inside(figure)


def test_a_label_looks_the_same_in_figures_that_lack_others() -> None:
    labels = ["size=64 a", "size=64 b", "size=64 c"]
    whole = draw_curves({"loss": dict.fromkeys(labels, SEEDS[:1])}, x_label="epoch", labels=labels)
    part = draw_curves({"entropy": dict.fromkeys(["size=64 c"], SEEDS[:1])}, x_label="epoch", labels=labels)
    (line,), (entry,) = part.axes[0].lines, part.legends[0].get_lines()
    same = whole.axes[0].lines[2]
    assert line.get_color() == entry.get_color() == same.get_color()
    assert line.get_marker() == entry.get_marker() == same.get_marker()
    assert [text.get_text() for text in part.legends[0].get_texts()] == ["c"]


def test_seeds_that_share_no_place_are_seen() -> None:
    panels = {"training": {"dot": [([0.4], [3.0]), ([0.6], [2.0])]}, "validation": {"dot": [([0.4], [9.0])]}}
    figure = draw_curves(panels, x_label="epoch", is_same_scale=True)
    assert [line.get_marker() for line in figure.axes[0].lines] == ["o", "o"]
    assert not figure.axes[0].collections
    assert figure.axes[1].get_ylim()[1] > 9.0
    left, right = figure.axes[0].get_xlim()
    assert [x for x in figure.axes[0].get_xticks() if left <= x <= right] == [0, 1]


def test_long_notes_are_broken() -> None:
    figure = draw_curves({"loss": {"dot": SEEDS[:1]}}, x_label="epoch", notes=[same("left out, since " * 9)])
    assert "\n" in figure.legends[0].get_title().get_text()
    assert_inside(figure)


def test_texts_are_categories_in_order() -> None:
    lengths = ["1-5", "6-10", "11-40"]
    figure = draw_curves(
        {"exact match": {"with": [(lengths, [1.0, 0.9, 0.8])], "_without $": [(lengths[1:], [0.5, 0.1])]}},
        x_label="words",
    )
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == lengths
    assert axes.lines[1].get_xdata().tolist() == [1, 2]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["with", "_without $"]
    assert_inside(figure)


def test_long_labels_widen_the_figure_and_what_all_share_is_left_out() -> None:
    labels = [f"size=64 attention={name * 12} rate=0.1" for name in ("additive", "dot")]
    figure = draw_curves({"loss": dict.fromkeys(labels, SEEDS[:1])}, x_label="epoch")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [label.split()[1] for label in labels]
    assert_inside(figure)


def test_a_single_epoch_has_one_tick() -> None:
    (axes,) = draw_curves({"loss": {"dot": [([1], [4.0])]}}, x_label="epoch").axes
    assert axes.get_xlim() == (0.5, 1.5)
    assert axes.get_xticks().tolist() == [1]


def test_seeds_are_spoken_of_where_every_group_has_several() -> None:
    figure = draw_curves({"loss": {"dot": SEEDS, "none": SEEDS[:1]}}, x_label="epoch")
    assert figure.legends[0].get_title().get_text() == ""


@pytest.mark.parametrize("panels", [{}, {"loss": {}}, {"loss": {"dot": []}}])
def test_nothing_to_draw_is_an_error(panels: dict[str, dict[str, list[tuple[list[float], list[float]]]]]) -> None:
    with pytest.raises(RegardError) as caught:
        draw_curves(panels, x_label="epoch")
    assert str(caught.value) == (
        "curves: got a label without any values, want at least one seed for each; train or log it first."
    )
