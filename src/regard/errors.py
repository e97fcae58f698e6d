"""The one exception for what a user can fix; everything else is a bug and may show a traceback."""

from collections.abc import Iterable
from difflib import get_close_matches


class RegardError(Exception):
    """Something the user can fix. The message is one line: where, what it was, what it should be, what to do."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggest the closest known name, or list them all.

    >>> did_you_mean("gur", ["gru", "lstm"])
    "Did you mean 'gru'?"
    >>> did_you_mean("zzz", ["gru", "lstm"])
    'Choose from: gru, lstm.'
    """
    names = sorted(known)
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    return f"Did you mean '{close[0]}'?" if close else f"Choose from: {', '.join(names)}."
