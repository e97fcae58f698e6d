"""Words: how text is cut into words and punctuation, put together again, and matched with other tokens.

Of the scripts without spaces, Han and Kana are cut into characters; Thai, Lao and Khmer stay runs. Joining sets text
as it is normally set: no space before a comma, quotes in pairs, none between Han characters. What only a language or a
habit decides is lost: ``word—word`` and French ``là ?`` come back as ``word — word`` and ``là?``.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from regard.data.vocabulary import BOS, EOS, PAD, SPECIALS

BOUNDARY = "▁"
"""What a subword piece begins with where the text has a space."""

_HAN = (
    r"\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003fffd"
)
_EMOJI = r"\u2600-\u27bf\U0001f000-\U0001faff"
_UNSPACED = re.compile(rf"[{_HAN}\u3001-\u3003\u3008-\u3011\u3014-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff65]")
_CLOSING = frozenset(",.!?:;)]}…،؛؟۔।॥")
_OPENING = frozenset("([{¿¡")
_CLOSES = {'"': '"', "'": "'‘‚", "“": '„“"', "”": '“„”"', "’": "‘‚", "‘": "‚", "»": "«", "«": "»", "›": "‹", "‹": "›"}
_QUOTES = frozenset(_CLOSES) | frozenset("„‚")
_HYPHENS = "-‐‑"
_ELIDED = r"(?i:[cdjlmnst]|(?:lors|puis|quoi|jus)?qu)['’]"
_IS_ELIDED = re.compile(_ELIDED)
_INVISIBLE = re.compile(rf"[\s{BOUNDARY}]+")


def clean(text: str) -> str:
    """Return text in NFC, every run of white space turned into one space, none at the ends."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def split_words(text: str) -> list[str]:
    """Cut text into words, numbers and punctuation marks.

    >>> split_words("Der Mann, der rennt, trägt ein T-Shirt für 3.5 Euro.")
    ['Der', 'Mann', ',', 'der', 'rennt', ',', 'trägt', 'ein', 'T-Shirt', 'für', '3.5', 'Euro', '.']
    """
    words = [word for run in unicodedata.normalize("NFC", text).split() for word in _split_run(run)]
    return list(_closing_quotes_apart(words)) if "'" in words or "‘" in words or "‚" in words else words


def join_words(words: Sequence[str]) -> str:
    """Put words and punctuation together again as text is normally set.

    >>> join_words(["„", "Ja", "“", ",", "sagt", "er", "(", "leise", ")", "."])
    '„Ja“, sagt er (leise).'
    """
    parts: list[str] = []
    open_quotes: list[str] = []
    is_glued = True
    for i, word in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else ""
        to_the_left, to_the_right = _glue(word, following, open_quotes)
        is_glued = is_glued or to_the_left or _has_no_space(words[i - 1], word)
        parts.append(word if is_glued else f" {word}")
        is_glued = to_the_right
    return "".join(parts)


def words_of_tokens(tokens: Sequence[str], words: Sequence[str]) -> list[list[int]]:
    """Say for each token to which words its visible characters belong, one number a character.

    Tokens and words are of the same text; case and Unicode composition may differ, and the tokens may stop early. A
    token without visible characters belongs to the word that follows, at the end to the last one, so that the attention
    it gets is not lost; a special one such as ``</s>`` belongs to none.

    >>> words_of_tokens(["▁Ein", "▁", "T", "-", "Hemd.", "</s>"], ["Ein", "T-Hemd", "."])
    [[0, 0, 0], [1], [1], [1], [1, 1, 1, 1, 2], []]
    """
    owner = [i for i, word in enumerate(words) for _ in range(_visible_length(word))]
    special = {SPECIALS[PAD], SPECIALS[BOS], SPECIALS[EOS]}
    owners: list[list[int]] = []
    position = 0
    for token in tokens:
        length = 0 if token in special else _visible_length(token)
        assert position + length <= len(owner), "tokens and words are not of the same text"
        following = owner[position : position + 1] or [len(words) - 1][: len(words)]
        owners.append(owner[position : position + length] or ([] if token in special else following))
        position += length
    return owners


def _visible_length(text: str) -> int:
    # Lower case and composition change the number of characters; in this form it is the same however text is cut.
    return len(unicodedata.normalize("NFD", _INVISIBLE.sub("", text).lower()))


def _has_no_space(left: str, right: str) -> bool:
    if right[:1] in _HYPHENS and right not in _HYPHENS:
        return left in _QUOTES or left == ")"  # „Hello Kitty“-Hemd
    return bool(_UNSPACED.match(right) or _UNSPACED.match(left[-1:]))


def _glue(word: str, following: str, open_quotes: list[str]) -> tuple[bool, bool]:
    """Say whether a word is set without a space to its left and to its right; keeps track of open quotes."""
    if word in _QUOTES:
        opener = max((i for i, quote in enumerate(open_quotes) if quote in _CLOSES.get(word, "")), default=-1)
        if opener >= 0:
            del open_quotes[opener:]
        elif following and following not in _CLOSING and word != "’":
            open_quotes.append(word)
            return False, True
        return True, False
    if word == "/":
        return True, True
    is_closing = bool(word) and _CLOSING.issuperset(word)
    return is_closing, word in _OPENING or _IS_ELIDED.fullmatch(word) is not None


def _closing_quotes_apart(words: Iterable[str]) -> Iterable[str]:
    """Take a final apostrophe off its word where it closes a quote: 'the boys' team' has one, and so has 'go'."""
    is_open = False
    for word in words:
        if word in ("'", "‘", "‚"):
            is_open = word != "'" or not is_open
        elif is_open and len(word) > 1 and word[-1] in "'’":
            is_open = False
            yield word[:-1]
            yield word[-1]
            continue
        yield word


@lru_cache(maxsize=1 << 16)
def _split_run(run: str) -> tuple[str, ...]:
    """Cut a run without white space; remembered, since most of a text repeats."""
    return tuple(_pattern().findall(run))


@cache
def _pattern() -> re.Pattern[str]:
    letter = rf"[^\s{_HAN}{_signs()}]"
    hyphen = f"[{_HYPHENS}]"
    inside = rf"(?:['’.@·°]|&(?:amp;)?|{hyphen}|(?<=\d)[,:/–](?=\d))"
    return re.compile(
        rf"{_ELIDED}(?=(?i:[aeiouyhàâäéèêëîïôöùûüœæ]))"  # l'homme, d'un, qu'il
        rf"|(?:[^\W\d_]\.){{2,}}(?!{letter})"  # z.B., U.S.
        rf"|(?:(?<![^\s\"“”»«)]){hyphen}|(?<!\S)’|[#@$£€¥])?"  # -5, „Stop“-Schild, ’em, #1
        rf"{letter}+(?:{inside}{letter}+)*"  # don't, T-Shirt, R&B, 12:30
        rf"(?:['’](?!{letter})|{hyphen}(?=[\s,;/)]|\Z)|(?<=\d)[%‰°€])?"  # boys', Schwarz- und Weiß, 50%
        rf"|[{_HAN}][\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef]*"
        rf"|[{_EMOJI}][{_EMOJI}\ufe0f\u200d\U000e0020-\U000e007f]*"
        r"|&[a-z]+;|\.+|!+|\?+|-+|\S"
    )


def _signs() -> str:
    """Return punctuation and symbols, without the underscore, as ranges of a regular expression's class."""
    ranges: list[list[int]] = []
    for point in range(0x21, 0x1FC00):
        if unicodedata.category(chr(point))[0] in "PS" and point != ord("_"):
            if ranges and ranges[-1][1] == point - 1:
                ranges[-1][1] = point
            else:
                ranges.append([point, point])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
