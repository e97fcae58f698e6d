"""German inflection: article and adjective endings, contractions, finite verbs."""

from typing import Literal

Case = Literal["nom", "acc", "dat"]
Gender = Literal["m", "f", "n", "p"]
"""Masculine, feminine, neuter; the plural has one set of endings for all."""
Declension = Literal["strong", "weak", "mixed"]

_COLUMNS = "mfnp"
_DEFINITE = {"nom": "der die das die", "acc": "den die das die", "dat": "dem der dem den"}
_RELATIVE = {"nom": "der die das die", "acc": "den die das die", "dat": "dem der dem denen"}
_ENDINGS: dict[str, dict[Case, str]] = {
    "strong": {"nom": "er e es e", "acc": "en e es e", "dat": "em er em en"},
    "weak": {"nom": "e e e en", "acc": "en e e en", "dat": "en en en en"},
    "mixed": {"nom": "er e es en", "acc": "en e es en", "dat": "en en en en"},
    "ein": {"nom": "- e - e", "acc": "en e - e", "dat": "em er em en"},
}
_PRONOUNS = {
    "I": "ich mich mir",
    "we": "wir uns uns",
    "m": "er ihn ihm",
    "f": "sie sie ihr",
    "n": "es es ihm",
    "p": "sie sie ihnen",
}
_FINITE = {"sein": ("bin", "ist", "sind"), "haben": ("habe", "hat", "haben"), "werden": ("werde", "wird", "werden")}
_CONTRACTIONS = {
    **{("in", "dem"): "im", ("an", "dem"): "am", ("zu", "dem"): "zum", ("von", "dem"): "vom"},
    **{("zu", "der"): "zur", ("in", "das"): "ins", ("an", "das"): "ans"},
}


def definite(case: Case, gender: Gender) -> str:
    """Return the definite article."""
    return _DEFINITE[case].split()[_COLUMNS.index(gender)]


def relative(case: Case, gender: Gender) -> str:
    """Return the relative pronoun."""
    return _RELATIVE[case].split()[_COLUMNS.index(gender)]


def ending(kind: Declension | Literal["ein"], case: Case, gender: Gender) -> str:
    """Return the ending of an adjective, or of a word that goes like ``ein``; ``dieser`` goes like strong adjectives."""
    return _ENDINGS[kind][case].split()[_COLUMNS.index(gender)].strip("-")


def pronoun(case: Case, who: str) -> str:
    """Return the personal pronoun of "I", "we" or a gender."""
    return _PRONOUNS[who].split()[("nom", "acc", "dat").index(case)]


def contract(preposition: str, article: str) -> str | None:
    """Return preposition and article in one word where German writes one."""
    return _CONTRACTIONS.get((preposition, article))


def dative_plural(plural: str) -> str:
    """Add the -n of the dative plural where it can stand."""
    return plural if plural.endswith(("n", "s")) else plural + "n"


def conjugate(infinitive: str, third: str, who: Literal["I", "one", "many"]) -> str:
    """Return the present tense form; the first person has the infinitive's stem."""
    if infinitive in _FINITE:
        return _FINITE[infinitive][("I", "one", "many").index(who)]
    if who == "many":
        return infinitive
    if who == "one" or not third.endswith("t"):  # ich kann, ich weiß, ich mag: as the third person
        return third
    if infinitive.endswith("eln"):
        return infinitive[:-3] + "le"
    return (infinitive[:-1] if infinitive.endswith("ern") else infinitive[:-2]) + "e"
