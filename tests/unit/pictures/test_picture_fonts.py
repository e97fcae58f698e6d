import pytest

from regard.pictures import fonts
from regard.pictures.fonts import BASE, is_right_to_left, typeface, wrap

KANA, HAN, HANGUL = "の", "中文", "한"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Pretend that only these fonts are there."""
    there: dict[str, str] = {}
    latin = fonts._coverage(BASE)
    monkeypatch.setattr(fonts, "_coverage", lambda family: latin if family == BASE else frozenset(there[family]))
    monkeypatch.setattr(fonts, "_installed", lambda: tuple(sorted(there)))
    return there


def test_without_a_font_code_points_are_shown_and_the_note_says_what_to_install(installed: dict[str, str]) -> None:
    face = typeface(["Hund", "中文a"])
    assert face.families == (BASE,)
    assert face.show("中文a") == "U+4E2D U+6587 a"
    assert face.show("Hund") == "Hund"
    assert face.note == (
        "fonts: no installed font has 2 of the characters (中文), so the picture shows their code points;"
        " install a font that has them (such as Noto Sans CJK)."
    )
    assert "(such as Noto Sans CJK, Noto Sans Thai)." in typeface([HAN, KANA, HANGUL, "ภ"]).note
    assert "(such as Noto Emoji or Noto Sans Symbols)." in typeface(["👨"]).note


def test_the_fewest_fonts_are_chosen(installed: dict[str, str]) -> None:
    installed |= {"Half": "中", "Other half": "文", "Whole": "中文"}
    face = typeface(["Hund", HAN])
    assert face.families == (BASE, "Whole")
    assert face.show(HAN) == HAN
    assert face.note == ""
    assert typeface(["Hund"]).families == (BASE,)


@pytest.mark.parametrize(("text", "region"), [(HAN, "SC"), (HAN + KANA, "JP"), (HAN + HANGUL, "KR")])
def test_letters_tell_which_shapes_of_shared_characters_are_meant(
    installed: dict[str, str], text: str, region: str
) -> None:
    installed |= {
        f"Noto {kind} CJK {name}": HAN + KANA + HANGUL for kind in ("Sans", "Serif") for name in ("JP", "KR", "SC")
    }
    assert typeface([text]).families == (BASE, f"Noto Sans CJK {region}")


def test_what_cannot_be_seen_is_made_visible_or_left_out() -> None:
    face = typeface([""])
    assert face.show("") == "␣"
    assert face.show(" \t\n") == "␣"
    assert face.show("a\nb") == "a b"
    assert face.show("\x1b[31m") == "U+001B [31m"
    assert face.show("e\u0301") == "é"
    assert face.show("x\ufe0f") in ("x", "x\ufe0f")


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["كلب", "أسود", "."], True),
        (["שלום"], True),
        (["dog", "2"], False),
        (["كلب", "schwarzer"], False),
        ([".", "1"], False),
        ([], False),
    ],
)
def test_direction_of_reading(words: list[str], answer: bool) -> None:
    assert is_right_to_left(words) is answer


def test_wrapped_lines_fit_and_nothing_is_lost() -> None:
    face = typeface([""])
    text = "a sentence with one Rindfleischetikettierungsüberwachungsgesetz and more"
    lines = wrap(text, 1.2, size=10, face=face)
    assert len(lines) > 3
    assert all(face.measure(line, 10)[0] <= 1.2 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert wrap("short", 1.2, size=10, face=face) == ["short"]


def test_names_break_at_their_joints() -> None:
    face = typeface([""])
    assert wrap("attention-scaled_dot/seed-12", 0.8, size=10, face=face) == ["attention-", "scaled_dot/", "seed-12"]


def test_measures_are_inches() -> None:
    face = typeface([""])
    width, height = face.measure("Hund", 12)
    assert 0.3 < width < 0.7
    assert face.measure("Hund", 24)[0] == pytest.approx(2 * width, rel=0.05)
    assert 0.1 < height < 0.25


def test_a_very_long_word_is_drawn_by_its_beginning() -> None:
    face = typeface(["a"])
    assert face.word("a" * 32) == "a" * 32
    assert face.word("a" * 33) == "a" * 31 + "…"
    assert face.show("a" * 33) == "a" * 33
