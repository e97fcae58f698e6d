"""Words: how text is cut into words and punctuation, put together again, and matched with other tokens.

Space-free scripts: Han and Kana are cut into single characters, Thai, Lao and Khmer stay runs. Joining knows how text is
normally set: no space before a comma, quotes in pairs, no space between Han characters. What only a language or a taste
decides is lost: an unspaced dash (word—word) and French ``là ?`` come back as ``word — word`` and ``là?``.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

BOUNDARY = "▁"
"""What subword pieces carry where the text has a space."""

_HAN = "々-〇぀-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾟ\U00020000-\U0003fffd"
_CLOSING = frozenset(",.!?:;)]}…%‰°、。，．！？：；）］｝」』】》〉،؛؟۔।॥")
_OPENING = frozenset("([{¿¡#$£@（［｛「『【《〈")
_TIGHT = re.compile(rf"[{_HAN}、-〃〈-】〔-〟！-／：-＠［-｠]")
_CLOSED_BY = {'"': '"', "'": "'", "„": "“”", "“": "”“", "”": "”", "‚": "‘’", "‘": "’", "«": "»", "»": "«", "‹": "›", "›": "‹"}
_QUOTES = frozenset(_CLOSED_BY) | {"’"}
_APOSTROPHES = "'’"
_ELIDED = re.compile(r"(?:[cdjlmnst]|(?:lors|puis|quoi|jus)?qu)['’]", re.IGNORECASE)


def clean(text: str) -> str:
    """Return text in NFC with every run of white space turned into one space and none at the ends."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def split_words(text: str) -> list[str]:
    """Cut text into words, numbers and punctuation marks.

    >>> split_words("Der Mann, der rennt, trägt ein T-Shirt für 3.5 Euro.")
    ['Der', 'Mann', ',', 'der', 'rennt', ',', 'trägt', 'ein', 'T-Shirt', 'für', '3.5', 'Euro', '.']
    """
    words = _pattern().findall(unicodedata.normalize("NFC", text))
    return words if "'" not in words and "’" not in words else _with_trailing_apostrophes(words, text)


def join_words(words: Sequence[str]) -> str:
    """Put words and punctuation together again as text is normally set.

    >>> join_words(["„", "Ja", "“", ",", "sagt", "er", "(", "leise", ")", "."])
    '„Ja“, sagt er (leise).'
    """
    parts: list[str] = []
    open_quotes: list[str] = []
    glued = True
    for i, word in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else ""
        before, after = _glue(word, following, open_quotes)
        tight = before or glued or (_TIGHT.match(word) and True) or (i > 0 and _TIGHT.match(words[i - 1][-1:]) is not None)
        parts.append(word if tight else f" {word}")
        glued = after
    return "".join(parts)


def word_of_token(tokens: Sequence[str], words: Sequence[str]) -> list[int | None]:
    """Say to which word each token belongs: the one that holds its first visible character.

    Both must come from the same text, or the tokens from a beginning of it; case and Unicode composition may differ. A
    token without visible characters and a special one such as ``</s>`` belong to no word.

    >>> word_of_token(["▁Ein", "▁T", "-", "Shirt", ".", "</s>"], ["Ein", "T-Shirt", "."])
    [0, 1, 1, 1, 2, None]
    """
    owner = [i for i, word in enumerate(words) for _ in range(_visible_length(word))]
    owners: list[int | None] = []
    position = 0
    for token in tokens:
        length = 0 if token in ("<pad>", "<s>", "</s>") else _visible_length(token)
        assert position + length <= len(owner), "the tokens are longer than the words"
        owners.append(owner[position] if length else None)
        position += length
    return owners
