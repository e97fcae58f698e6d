"""English word forms: regular ones by rule, irregular ones are given in the lexicon."""

from dataclasses import dataclass

VOWELS = "aeiou"
THIRD = {"have": "has", "go": "goes"}
BE = {"present": {"I": "am", "one": "is", "many": "are"}, "past": {"I": "was", "one": "was", "many": "were"}}
POSSESSIVE = {"I": "my", "we": "our", "he": "his", "she": "her", "it": "its", "they": "their"}
OBJECTIVE = {"I": "me", "we": "us", "he": "him", "she": "her", "it": "it", "they": "them"}


def s_form(word: str) -> str:
    """Return the plural of a regular noun or the third person of a regular verb."""
    if word in THIRD:
        return THIRD[word]
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def ed_form(word: str) -> str:
    """Return the past of a regular verb whose last letter is not doubled."""
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ied"
    return word + ("d" if word.endswith("e") else "ed")


def ing_form(word: str) -> str:
    """Return the progressive of a verb whose last letter is not doubled."""
    return (word[:-1] if word.endswith("e") and not word.endswith("ee") else word) + "ing"


def indefinite(following: str) -> str:
    """Return "a" or "an"; words that look otherwise than they sound are those of the lexicon."""
    return "an" if following[0] in VOWELS and not following.startswith("uni") else "a"


@dataclass(frozen=True, slots=True)
class EnglishVerb:
    """A verb and the particle that stays behind it, as in "pick up"."""

    base: str
    past: str
    ing: str
    particle: tuple[str, ...]
    is_stative: bool

    @classmethod
    def parse(cls, text: str) -> "EnglishVerb":
        """Read ``base [particle][*] [, past [, -ing]]``."""
        head, *given = [part.strip() for part in text.split(",")]
        base, *particle = head.removesuffix("*").split()
        past = given[0] if given else ed_form(base)
        ing = given[1] if len(given) > 1 else ing_form(base)
        return cls(base, past, ing, tuple(particle), head.endswith("*"))
