"""Fonts that have the glyphs: whatever the script, no picture of regard shows an empty box.

DejaVu Sans comes with matplotlib and covers Latin, Greek, Cyrillic, Arabic and Hebrew; other scripts need a font of the
machine. Where none has a character, its code point is shown instead and ``Typeface.note`` says what to install.
"""

import logging
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from matplotlib import font_manager
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontPath, FontProperties

BASE = "DejaVu Sans"
LONGEST = 32  # letters of a word
_UNFIT = ("Last Resort", "STIX", "cm", "DejaVu Math")  # boxes, or symbols for formulas
# A font that comes in one weight is drawn in that weight; matplotlib would say so once for every word.
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
_REGIONS = (("HIRAGANA", "JP"), ("KATAKANA", "JP"), ("HANGUL", "KR"), ("CJK", "SC"))


@dataclass(frozen=True, slots=True)
class Typeface:
    """The fonts of one picture, first choice first, and the characters none of them has."""

    families: tuple[str, ...]
    missing: frozenset[str]

    def show(self, text: str) -> str:
        """Return the text as it is to be drawn: nothing without a glyph, nothing invisible."""
        clean = "".join(_visible(char, self.missing) for char in unicodedata.normalize("NFC", text))
        return " ".join(clean.split()) or "␣"

    def word(self, text: str) -> str:
        """Return a word as it is to be drawn; of a very long one, which would dwarf the picture, the beginning."""
        shown = self.show(text)
        return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"

    def properties(self, size: float) -> FontProperties:
        """Return the matplotlib font of the given size in points; the generic name serves readers of an SVG."""
        return FontProperties(family=[*self.families, "sans-serif"], size=size)

    def measure(self, text: str, size: float) -> tuple[float, float]:
        """Return width and height of one line of text in inches."""
        width, height, _ = _renderer().get_text_width_height_descent(text, self.properties(size), False)
        return width / _DPI, height / _DPI

    @property
    def note(self) -> str:
        """Say in one line what could not be drawn and which font to install; empty when all is well."""
        if not self.missing:
            return ""
        wanted = ", ".join(sorted({_font_for(char) for char in self.missing}))
        sample = "".join(sorted(self.missing)[:5])
        return (
            f"fonts: no installed font has {len(self.missing)} of the characters ({sample}), so the picture shows their"
            f" code points; install a font that has them (such as {wanted})."
        )


_DPI = 144


@cache
def _renderer() -> Any:
    return RendererAgg(1, 1, _DPI)  # type: ignore[no-untyped-call]


def typeface(texts: Iterable[str]) -> Typeface:
    """Choose the fewest installed fonts that have every character of the texts."""
    wanted = {char for text in texts for char in unicodedata.normalize("NFC", text) if not _is_formatting(char)}
    families, missing = [BASE], {char for char in wanted - _coverage(BASE) if not _is_control(char)}
    candidates = _installed() if missing else ()
    while missing and candidates:
        best = max(candidates, key=lambda family: (len(missing & _coverage(family)), _preference(family, missing)))
        found = missing & _coverage(best)
        if not found:
            break
        families.append(best)
        missing -= found
    return Typeface(tuple(families), frozenset(missing))


def is_right_to_left(words: Iterable[str]) -> bool:
    """Tell whether most letters of the words belong to a script that is read from right to left."""
    kinds = [unicodedata.bidirectional(char) for word in words for char in word]
    return sum(kind in ("R", "AL") for kind in kinds) > sum(kind == "L" for kind in kinds)


def wrap(text: str, width: float, *, size: float, face: Typeface) -> list[str]:
    """Break a text into lines of at most the given width in inches: between words, inside long ones."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        trial = f"{line} {word}" if line else word
        if face.measure(trial, size)[0] <= width:
            line = trial
            continue
        lines += [line] if line else []
        *full, line = _chop(word, width, size=size, face=face)
        lines += full
    return [*lines, line] if line else lines


def _chop(word: str, width: float, *, size: float, face: Typeface) -> list[str]:
    """Break a word after a hyphen, an underscore or a slash, or where the line is full if it has none."""
    pieces = [""]
    for char in word:
        if pieces[-1] and face.measure(pieces[-1] + char, size)[0] > width:
            end = max(map(pieces[-1].rfind, "-_/")) + 1 or len(pieces[-1])
            pieces[-1:] = [pieces[-1][:end], pieces[-1][end:]]
        pieces[-1] += char
    return pieces


def _visible(char: str, missing: frozenset[str]) -> str:
    if char in missing or _is_control(char):
        return " " if char in "\t\n\r" else f" U+{ord(char):04X} "
    return "" if _is_formatting(char) and char not in _coverage(BASE) else char


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs", "Cn", "Co", "Zl", "Zp")


def _is_formatting(char: str) -> bool:
    return unicodedata.category(char) == "Cf" or 0xFE00 <= ord(char) <= 0xFE0F


def _script(char: str) -> str:
    return unicodedata.name(char, "unknown").split()[0]


def _font_for(char: str) -> str:
    if not unicodedata.category(char).startswith(("L", "M")):
        return "Noto Emoji or Noto Sans Symbols"
    return f"Noto Sans {'CJK' if _script(char) in dict(_REGIONS) else _script(char).title()}"


def _preference(family: str, chars: Iterable[str]) -> tuple[bool, bool, str]:
    # Chinese, Japanese and Korean share code points but not shapes: kana and hangul tell which font is meant.
    scripts = {_script(char) for char in chars}
    region = next((region for script, region in _REGIONS if script in scripts), "")
    return bool(region) and family.endswith(region), "Sans" in family and "Mono" not in family, family


@cache
def _installed() -> tuple[str, ...]:
    # matplotlib remembers the fonts of its first start; look again, so that a newly installed font is found.
    known = {entry.fname for entry in font_manager.fontManager.ttflist}
    for path in sorted(set(font_manager.findSystemFonts()) - known):
        with suppress(OSError, RuntimeError):  # a bitmap or broken font
            font_manager.fontManager.addfont(path)
    return tuple(sorted(_files().keys() - {BASE}))


def _files() -> dict[str, FontPath]:
    upright = [entry for entry in font_manager.fontManager.ttflist if entry.style == "normal"]
    plain_last = sorted(upright, key=lambda entry: entry.weight in (400, "normal", "regular"))
    return {e.name: FontPath(e.fname, e.index) for e in plain_last if not e.name.startswith(_UNFIT)}


@cache
def _coverage(family: str) -> frozenset[str]:
    try:
        font = font_manager.get_font(_files()[family])
    except (OSError, RuntimeError):
        return frozenset()
    return frozenset(map(chr, font.get_charmap())) if font.scalable else frozenset()
