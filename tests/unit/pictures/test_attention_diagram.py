import itertools
from dataclasses import replace
from math import radians, sin
from pathlib import Path

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from regard.errors import RegardError
from regard.pictures.colours import ATTENTION, ink_on, luminance
from regard.pictures.diagram import Diagram, draw_attention, draw_side_by_side, save
from regard.pictures.examples import Pair
from regard.pictures.notebook import translation_html
from regard.translation import Translation

GERMAN = ("ein", "schwarzer", "Hund", "springt", "über", "einen", "Baumstamm", "im", "grünen", "Wald", ".")
ENGLISH = ("a", "black", "dog", "jumps", "over", "a", "log", "in", "the", "forest", "today", "again", ".")
LONG = ("Donaudampfschifffahrtselektrizitätenhauptbetriebswerk", "ist", "Rindfleischetikettierungsüberwachungsgesetz")
GREEK = ("ένας", "μαύρος", "σκύλος", "πηδάει")
ARABIC = ("كلب", "أسود", "يقفز", "فوق", "الشجرة")
CHINESE = ("一只", "黑色", "的", "狗")


def diagram(source: tuple[str, ...], target: tuple[str, ...], *, heads: int = 1, title: str = "t") -> Diagram:
    weights = np.random.default_rng(0).dirichlet(np.full(len(source), 0.3), size=(heads, len(target)))
    links = frozenset((i % len(source), i) for i in range(len(target)))
    return Diagram(source, target, weights, links, "a reference of several words " * 3, title)


def cycle(words: tuple[str, ...], count: int) -> tuple[str, ...]:
    return tuple(itertools.islice(itertools.cycle(words), count))


def texts(figure: Figure) -> list[Text]:
    FigureCanvasAgg(figure).draw()
    found = figure.findobj(
        lambda artist: isinstance(artist, Text) and artist.get_visible() and artist.get_text().strip()
    )
    return [text for text in found if text.get_window_extent().width > 0]


def assert_nothing_is_cut(figure: Figure) -> None:
    shown = texts(figure)
    assert shown
    for text in shown:
        box = text.get_window_extent()
        assert box.x0 >= 0, text
        assert box.y0 >= 0, text
        assert box.x1 <= figure.bbox.x1, text
        assert box.y1 <= figure.bbox.y1, text


def assert_words_do_not_touch(figure: Figure) -> None:
    for axes in figure.axes[:-1]:
        columns = [tick.label2 for tick in axes.xaxis.get_major_ticks()]
        places = [axes.transData.transform((tick + 0.0, 0))[0] for tick in axes.get_xticks()]
        step = min(abs(np.diff(places)), default=np.inf)
        angle = radians(abs(columns[0].get_rotation()) % 360)
        angle = min(angle, radians(360) - angle)
        for label in columns:
            label.set_rotation(0)
        boxes = [label.get_window_extent() for label in columns]
        if angle:
            # Parallel lines of text, all tilted alike, are this far apart.
            assert step * sin(angle) >= max(box.height for box in boxes)
        else:
            assert all(left.x1 <= right.x0 for left, right in itertools.pairwise(sorted(boxes, key=lambda b: b.x0)))
        rows = [tick.label1 if tick.label1.get_visible() else tick.label2 for tick in axes.yaxis.get_major_ticks()]
        extents = sorted((row.get_window_extent() for row in rows if row.get_text()), key=lambda box: box.y0)
        assert all(below.y1 <= above.y0 for below, above in itertools.pairwise(extents))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (GERMAN[:3], ENGLISH[:2]),
        (GERMAN, ENGLISH),
        (cycle(GERMAN, 60), cycle(ENGLISH, 57)),
        (LONG, ENGLISH[:4]),
        (LONG[:1], LONG[2:]),
        (GREEK, ENGLISH),
        (ARABIC, ENGLISH),
        (cycle(ARABIC, 30), cycle(ENGLISH, 28)),
        (ENGLISH, ARABIC),
        (CHINESE, ENGLISH),
        (("$5$", "_x", "^", ""), ("\\frac", "a\nb", "\t")),
        (tuple("abcd"), tuple("dcba")),
    ],
)
def test_nothing_is_cut_and_no_words_touch(source: tuple[str, ...], target: tuple[str, ...]) -> None:
    figure = draw_attention(diagram(source, target, title="a title that is much too long for a small picture " * 2))
    assert_nothing_is_cut(figure)
    assert_words_do_not_touch(figure)


@pytest.mark.parametrize(("source", "heads"), [(GERMAN, 8), (ARABIC, 2)])
def test_heads_side_by_side(source: tuple[str, ...], heads: int) -> None:
    figure = draw_attention(diagram(source, ENGLISH, heads=heads), heads="all")
    assert len(figure.axes) == heads + 1
    assert_nothing_is_cut(figure)
    assert_words_do_not_touch(figure)
    shown = [text.get_text() for text in texts(figure)]
    assert [text for text in shown if text.startswith("head ")] == [f"head {n}" for n in range(1, heads + 1)]


def test_heads_are_averaged_and_the_picture_says_so() -> None:
    weights = np.array([[[1.0, 0.0, 0.0]] * 2, [[0.0, 0.5, 0.5]] * 2])
    several = Diagram(("x", "y", "z"), ("a", "b"), weights)
    assert several.mean.tolist() == [[0.5, 0.25, 0.25]] * 2
    shown = [text.get_text() for text in texts(draw_attention(several))]
    assert "mean of 2 heads" in shown
    assert shown.count(".50") == 2
    assert shown.count(".25") == 4


def test_each_weight_is_drawn_in_its_own_cell_with_its_own_colour() -> None:
    weights = np.array([[0.1, 0.7, 0.2], [0.0, 0.0, 1.0]])
    axes, bar = draw_attention(Diagram(("x", "y", "z"), ("a", "b"), weights)).axes
    (cells,) = [found for found in axes.collections if found.get_array() is not None]
    drawn = {
        (int(row), int(column)): value
        for (column, row), value in zip(cells.get_offsets(), cells.get_array(), strict=True)
    }
    assert drawn == {(0, 0): 0.1, (0, 1): 0.7, (0, 2): 0.2, (1, 2): 1.0}
    assert axes.get_facecolor() == colormaps[ATTENTION](0.0)
    assert cells.get_clim() == (0, 1)
    assert bar.get_ylim() == (0, 1)
    assert axes.get_ylim() == (2, 0)


def test_a_source_read_from_right_to_left_begins_at_the_right_next_to_the_row_words() -> None:
    (axes, _) = draw_attention(diagram(ARABIC, ENGLISH)).axes
    assert axes.get_xlim() == (5, 0)
    assert all(tick.label2.get_visible() and not tick.label1.get_visible() for tick in axes.yaxis.get_major_ticks())
    (axes, _) = draw_attention(diagram(ENGLISH, ARABIC)).axes
    assert axes.get_xlim() == (0, 13)
    assert all(tick.label1.get_visible() and not tick.label2.get_visible() for tick in axes.yaxis.get_major_ticks())


def test_long_sentences_have_words_on_every_side() -> None:
    (axes, _) = draw_attention(diagram(cycle(GERMAN, 24), cycle(ENGLISH, 25))).axes
    ticks = [*axes.xaxis.get_major_ticks(), *axes.yaxis.get_major_ticks()]
    assert all(tick.label1.get_visible() and tick.label2.get_visible() for tick in ticks)


def test_gold_links_are_outlined_where_they_are() -> None:
    known = Diagram(("x", "y", "z"), ("a", "b"), np.full((2, 3), 1 / 3), frozenset({(2, 0), (1, 1)}))
    figure = draw_attention(known)
    middles = {
        (box.get_x() + box.get_width() / 2, box.get_y() + box.get_height() / 2) for box in figure.axes[0].patches
    }
    assert {(round(x, 6), round(y, 6)) for x, y in middles} == {(2.5, 0.5), (1.5, 1.5)}
    captions = " ".join(text.get_text() for text in texts(figure))
    assert "outlined: gold alignment" in captions
    unknown = draw_attention(Diagram(("x", "y", "z"), ("a", "b"), np.full((2, 3), 1 / 3)))
    assert not unknown.axes[0].patches
    assert "gold" not in " ".join(text.get_text() for text in texts(unknown))


def test_models_side_by_side_have_one_scale_and_their_own_rows() -> None:
    figure = draw_side_by_side(
        [
            diagram(GERMAN, ENGLISH, title="none"),
            diagram(GERMAN, ENGLISH[:5], title="mean"),
            diagram(GERMAN, ENGLISH[3:], heads=4, title="a model with a name that does not fit above its panel " * 3),
        ],
        title="three models",
    )
    assert_nothing_is_cut(figure)
    assert_words_do_not_touch(figure)
    *panels, bar = figure.axes
    words = [[label.get_text() for label in axes.get_yticklabels()] for axes in panels]
    assert words == [list(ENGLISH), list(ENGLISH[:5]), list(ENGLISH[3:])]
    assert bar.get_ylim() == (0, 1)
    assert "mean of 4 heads" in " ".join(text.get_text() for text in figure.texts)


def test_colours_grow_lighter_evenly_enough_for_a_grey_print() -> None:
    lightness = [luminance(colormaps[ATTENTION](level)) ** (1 / 3) for level in np.linspace(0, 1, 101)]
    assert all(later > earlier for earlier, later in itertools.pairwise(lightness))
    assert lightness[-1] - lightness[0] > 0.6
    for level in np.linspace(0, 1, 101):
        light, ink = luminance(colormaps[ATTENTION](level)), ink_on(colormaps[ATTENTION](level))
        assert (light + 0.05 if ink == "#000000" else 1.05) / (0.05 if ink == "#000000" else light + 0.05) > 4.5
    assert luminance((1, 1, 1)) == pytest.approx(1)
    assert luminance((0, 0, 0)) == 0
    assert luminance((0.5, 0.5, 0.5)) == pytest.approx(0.21404, abs=1e-5)


def test_a_diagram_does_not_change_with_the_array_it_was_made_of() -> None:
    weights = np.full((2, 3), 1 / 3)
    made = Diagram(("x", "y", "z"), ("a", "b"), weights)
    weights[:] = 7
    assert made.mean.max() == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="read-only"):
        made.weights[0, 0, 0] = 1


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(RegardError) as caught:
        Diagram(("x", "y", "z"), ("a", "b"), np.ones((3, 2)))
    assert str(caught.value) == (
        "weights: got shape [1, 3, 2], want [heads, 2, 3]: one row per produced word and one column per source word,"
        " at least one of each."
    )
    with pytest.raises(RegardError, match=r"got shape \[1, 0, 1\], want \[heads, 0, 1\]"):
        Diagram(("x",), (), np.ones((0, 1)))


def test_png_svg_and_pdf_are_written_the_same_every_time(tmp_path: Path) -> None:
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.PDF", b"%PDF")):
        first, second = tmp_path / name, tmp_path / f"again-{name}"
        count = 13 if name == "a.png" else 3
        save(draw_attention(diagram(GERMAN, ENGLISH[:count])), first)
        save(draw_attention(diagram(GERMAN, ENGLISH[:count])), second)
        content = first.read_bytes()
        assert content.startswith(start)
        assert content == second.read_bytes()
        assert len(content) < 200_000
    assert {path.name for path in tmp_path.iterdir()} == {
        "a.png",
        "a.svg",
        "a.PDF",
        "again-a.png",
        "again-a.svg",
        "again-a.PDF",
    }
    with Image.open(tmp_path / "a.png") as image:
        assert min(image.size) > 900


@pytest.mark.parametrize("source", [GERMAN, GREEK, ARABIC])
def test_words_in_an_svg_can_be_searched(tmp_path: Path, source: tuple[str, ...]) -> None:
    save(draw_attention(diagram(source, ENGLISH)), tmp_path / "a.svg")
    svg = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert all(f">{word}</text>" in svg for word in (*source, *ENGLISH))


def test_a_file_is_refused_in_one_line(tmp_path: Path) -> None:
    figure = draw_attention(diagram(GERMAN[:3], ENGLISH[:2]))
    with pytest.raises(RegardError) as caught:
        save(figure, tmp_path / "a.jpeg")
    assert str(caught.value) == "picture file: got 'a.jpeg', want a name that ends in .png, .svg or .pdf."
    with pytest.raises(RegardError) as caught:
        save(figure, tmp_path / "none" / "a.png")
    place = tmp_path / "none" / "a.png"
    assert str(caught.value) == f"{place}: cannot be written (No such file or directory); choose another place."
    assert not list(tmp_path.iterdir())


def test_a_huge_word_does_not_dwarf_the_picture() -> None:
    long, huge = (draw_attention(diagram(("w" * count, "b"), ("c",))).get_size_inches() for count in (32, 320))
    assert huge == pytest.approx(long, rel=0.1)


def test_gold_links_belong_to_the_reference_and_its_unit() -> None:
    pair = Pair("a b", "x y", frozenset({(0, 1)}))
    right = Translation("a b", ("a", "b"), "x y", ("x", "y"), np.full((1, 2, 2), 0.5))
    drawn = pair.beside(right)
    assert (drawn.links, drawn.reference) == (pair.links, "")
    assert pair.beside(right, joins_pieces=False).links is None
    drawn = pair.beside(replace(right, text="y x"), joins_pieces=True)
    assert (drawn.links, drawn.reference) == (None, "x y")


def test_a_piece_that_is_only_a_space_says_nothing() -> None:
    mute = Translation("a b", ("▁a", "▁b"), "", ("▁",), np.full((1, 1, 2), 0.5))
    assert not mute.has_words
    assert replace(mute, text="x", tokens=("▁x",)).has_words
    assert translation_html(mute) == "<p>a b → <b></b></p>\n"
