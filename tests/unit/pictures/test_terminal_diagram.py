import io

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from regard.pictures.diagram import Diagram
from regard.pictures.terminal import TerminalDiagram

WEIGHTS = np.array([[0.9, 0.1, 0.0], [0.004, 0.5, 0.496]])


def lines(diagram: Diagram, *, width: int = 80, colour: str | None = None) -> list[str]:
    console = Console(
        width=width, file=io.StringIO(), force_terminal=colour is not None, color_system=colour, no_color=False
    )
    console.print(TerminalDiagram(diagram))
    return console.file.getvalue().splitlines()


def test_without_colour_percentages_and_stars_tell_all() -> None:
    diagram = Diagram(("ich", "sehe", "dich"), ("I", "see"), WEIGHTS, frozenset({(0, 0), (2, 1)}), "I see", "title")
    assert lines(diagram) == [
        "title",
        "          s   d",
        "      i   e   i",
        "      c   h   c",
        "      h   e   h",
        "  I  90* 10",
        "see      50  50*",
        "attention in percent   * gold alignment",
        "reference I see",
    ]


@pytest.mark.parametrize("colour", [None, "truecolor"])
def test_a_full_cell_is_wide_enough_for_its_number_and_star(colour: str | None) -> None:
    source = tuple(f"w{number}" for number in range(30))
    for links, want in ((None, "100"), (frozenset({(29, 0)}), "100*")):
        diagram = Diagram(source, ("x",), np.eye(30)[-1:], links)
        console = Console(width=40, file=io.StringIO(), color_system=colour, force_terminal=bool(colour), record=True)
        console.print(TerminalDiagram(diagram))
        assert want in console.export_text()


@pytest.mark.parametrize("name", ["NO_COLOR", "TERM"])
def test_the_environment_can_switch_colour_off(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "dumb")
    out = io.StringIO()
    Console(width=60, file=out, force_terminal=True).print(
        TerminalDiagram(Diagram(("a", "b", "c"), ("x", "y"), WEIGHTS))
    )
    assert "48;" not in out.getvalue()
    assert "90" in out.getvalue()


@pytest.mark.parametrize(("system", "code"), [("truecolor", "48;2;"), ("256", "48;5;")])
def test_cells_are_coloured_as_far_as_the_terminal_can(system: str, code: str) -> None:
    # rich keeps the codes of a style it has written once, so the systems get different weights.
    weights = np.array([[0.51, 0.27, 0.22], [0.13, 0.45, 0.42]]) + 0.015 * (system == "256")
    coloured = lines(Diagram(("a", "b", "c"), ("x", "y"), weights), colour=system)
    assert coloured[1].count(code) == 3
    assert coloured[2].count(code) == 3


@pytest.mark.parametrize("colour", [None, "truecolor"])
@pytest.mark.parametrize(("width", "count"), [(80, 20), (80, 60), (40, 25), (20, 7), (12, 3)])
def test_every_line_fits_and_every_column_appears(width: int, count: int, colour: str | None) -> None:
    source = tuple(f"w{number}" for number in range(count))
    weights = np.full((3, count), 0.42)
    console = Console(width=width, file=io.StringIO(), force_terminal=bool(colour), color_system=colour, record=True)
    console.print(TerminalDiagram(Diagram(source, ("one", "two", "a_long_word_of_the_target"), weights)))
    printed = console.export_text().splitlines()
    assert max(map(cell_len, printed)) <= width
    assert sum(line.count("42") for line in printed) == 3 * count
    if width == 80 and count == 20:
        assert len(printed) == 3 + 3 + 1


def test_nothing_stands_behind_a_line_without_colour() -> None:
    printed = lines(Diagram(("a", "b", "c"), ("x", "y"), WEIGHTS))
    assert printed[-1] == "attention in percent"
    assert [line.rstrip() for line in printed] == printed


@pytest.mark.parametrize("colour", [None, "truecolor"])
def test_spaces_are_seen_and_those_of_a_text_are_left(colour: str | None) -> None:
    diagram = Diagram(("a", " ", "b"), (" ", "c"), WEIGHTS, None, "d e", "f g")
    title, head, first, *_, reference = lines(diagram, colour=colour)
    assert "f g" in title
    assert head == "    a   ␣   b"
    assert first.startswith("␣ ")
    assert reference.endswith("d e")


def test_double_width_and_combining_letters_keep_the_columns_straight() -> None:
    diagram = Diagram(("中文", "e\u0301a\u0323\u0302b", "狗"), ("猫猫", "x"), WEIGHTS)
    top, middle, bottom, first, second, _ = lines(diagram)
    assert first == "猫猫  90  10"
    assert second == "   x      50  50"
    assert top == " " * 11 + "é"
    assert middle == " " * 6 + "中   ậ"
    assert bottom == " " * 6 + "文   b  狗"


def test_scripts_that_join_their_letters_are_numbered() -> None:
    printed = lines(Diagram(("كلب", "أسود", "."), ("a", "b"), WEIGHTS))
    assert printed[0].split() == ["1", "2", "3"]
    assert printed[-2] == "1 كلب  2 أسود  3 ."


def test_long_words_are_cut_and_control_characters_do_nothing() -> None:
    diagram = Diagram(("x" * 40, "\x1b[31m", ""), ("y" * 70, "\x1b]0;title\x07"), WEIGHTS, None, "\x1b[2J", "\r\x1b[1m")
    text = "\n".join(lines(diagram))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "…" in text
    assert len(lines(diagram)) == 1 + 14 + 2 + 1 + 1
