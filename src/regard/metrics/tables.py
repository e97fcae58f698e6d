"""Which scores may stand in one table."""

from collections.abc import Mapping

from regard.errors import RegardError
from regard.metrics.signature import Signature, comparable
from regard.parts import METRICS


def share_out(signatures: Mapping[str, Signature]) -> list[tuple[str, list[str]]]:
    """Share out scores, by name, to tables: why a table stands apart, and the scores in it.

    Forms of one family, such as BLEU with another tokenisation, look alike and are not: the first form goes into the
    first table, each other one into a table of its own.
    """
    first: dict[str, str] = {}
    apart: dict[str, str] = {}
    for name, signature in signatures.items():
        leader = first.setdefault((METRICS[name].family or name) if name in METRICS else name, name)
        if leader != name:
            reason = comparable(signatures[leader].without("metric"), signature.without("metric"))
            apart[name] = f"{name} does not compare with {leader}: {reason}."
    return [("", [name for name in signatures if name not in apart])] + [(why, [name]) for name, why in apart.items()]


def check_column(name: str, signatures: Mapping[str, Signature]) -> None:
    """Refuse to put scores under one another that do not compare; they are told by what they are scores of."""
    rows = list(signatures.items())
    for label, signature in rows[1:]:
        if reason := comparable(rows[0][1], signature):
            raise RegardError(
                f"{name}: {rows[0][0]} and {label} have {reason}: such scores do not belong into one table."
            )
