"""English word forms: regular ones by rule; irregular ones are given in the lexicon."""

from dataclasses import dataclass

PRESENT = {"I": "am", "one": "is", "many": "are"}
PAST = {"I": "was", "one": "was", "many": "were"}
POSSESSIVE = {"I": "my", "we": "our", "he": "his", "she": "her", "it": "its", "they": "their"}
OBJECTIVE = {"I": "me", "we": "us", "he": "him", "she": "her", "it": "it", "they": "them"}
_VOWELS = "aeiou"


def s_form(word: str) -> str:
    """Return the plural of a noun or the third person of a verb."""
    if word in ("have", "go"):
        return {"have": "has", "go": "goes"}[word]
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") and word[-2] not in _VOWELS else word + "s"


def indefinite(following: str) -> str:
    """Return "a" or "an"."""
    return "an" if following[0] in _VOWELS and not following.startswith("uni") else "a"


@dataclass(frozen=True, slots=True)
class EnglishVerb:
    """A verb with the particle that stays behind it, as in "pick up"."""

    base: str
    past: str
    ing: str
    particle: tuple[str, ...] = ()
    is_simple: bool = False
    """Whether it has no progressive: he sees."""
    is_state: bool = False
    """Whether it is neither done at a time nor wanted nor finished: he knows."""

    @classmethod
    def parse(cls, text: str) -> "EnglishVerb":
        """Read ``base [particle][* | **] [, past [, -ing]]``; what is left out is regular."""
        head, *given = [part.strip() for part in text.split(",")]
        base, *particle = head.rstrip("*").split()
        stem = base.removesuffix("e")
        past = stem[:-1] + "ied" if base.endswith("y") and base[-2] not in _VOWELS else stem + "ed"
        past, ing = (*given, *(past, stem + "ing")[len(given) :])
        return cls(base, past, ing, tuple(particle), is_simple="*" in head, is_state="**" in head)
