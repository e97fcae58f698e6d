"""German inflection: articles, endings, pronouns, contractions, finite verbs."""

from typing import Literal

Case = Literal["nom", "acc", "dat"]
Gender = Literal["m", "f", "n", "p"]
"""Masculine, feminine, neuter; the plural has one set of endings for all."""
Number = Literal["I", "one", "many"]
"""What a finite verb agrees with."""


def _table(nom: str, acc: str, dat: str) -> dict[tuple[str, str], str]:
    rows = {"nom": nom, "acc": acc, "dat": dat}
    return {(c, g): form.strip("-") for c, row in rows.items() for g, form in zip("mfnp", row.split(), strict=True)}


DEFINITE = _table("der die das die", "den die das die", "dem der dem den")
RELATIVE = _table("der die das die", "den die das die", "dem der dem denen")
PRONOUN = _table("er sie es sie", "ihn sie es sie", "ihm ihr ihm ihnen")
SPEAKER = {"I": {"nom": "ich", "acc": "mich", "dat": "mir"}, "we": {"nom": "wir", "acc": "uns", "dat": "uns"}}
ENDING = {
    "strong": _table("er e es e", "en e es e", "em er em en"),
    "weak": _table("e e e en", "en e e en", "en en en en"),
    "mixed": _table("er e es en", "en e es en", "en en en en"),
    "ein": _table("- e - e", "en e - e", "em er em en"),
}
"""Endings of adjectives and of words like ein; words like dieser go like strong adjectives."""
CONTRACTION = {
    **{("in", "dem"): "im", ("an", "dem"): "am", ("zu", "dem"): "zum", ("von", "dem"): "vom"},
    **{("zu", "der"): "zur", ("in", "das"): "ins", ("an", "das"): "ans"},
}
_IRREGULAR = {
    ("sein", "I"): "bin",
    ("sein", "one"): "ist",
    ("sein", "many"): "sind",
    ("haben", "one"): "hat",
    ("werden", "I"): "werde",
}


def dative_plural(plural: str) -> str:
    """Add the -n of the dative plural where it can stand."""
    return plural if plural.endswith(("n", "s")) else plural + "n"


def conjugate(infinitive: str, third: str, number: Number) -> str:
    """Return the present tense; the first person has the infinitive's stem, or the third person's form without -t."""
    if (infinitive, number) in _IRREGULAR:
        return _IRREGULAR[infinitive, number]
    if number == "many":
        return infinitive
    if number == "one" or (third and not third.endswith("t")):  # ich kann, ich weiß, ich mag
        return third
    if infinitive.endswith("eln"):
        return infinitive[:-3] + "le"
    return infinitive.removesuffix("n") + ("e" if infinitive.endswith("ern") else "")
