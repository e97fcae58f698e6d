"""Runs -> Comparison: what each group of seeds reaches, and which differences are more than chance.

Runs whose configurations differ in nothing but the seed are one group. There are two sources of chance: other test
sentences, and other seeds. One test that counts both decides (`over_both`), corrected for the number of pairs (Holm).
The tests of each source alone are told beside it: the paired bootstrap, which draws sentences anew and keeps the
models, and Welch's t-test of the seeds' scores, which keeps the sentences.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from regard.errors import RegardError
from regard.evaluate import usual_metric
from regard.groups import LOSS_QUANTITIES, Array, Group, distinct, grouped
from regard.metrics.base import Metric
from regard.metrics.signature import Signature, comparable
from regard.metrics.significance import (
    Difference,
    bootstrap_scores,
    holm,
    over_both,
    over_draws,
    permutation_test,
    seed_noise,
    welch,
)
from regard.metrics.tables import share_out
from regard.parts import DISPLAYS, METRICS
from regard.run import Run

SEED, LEVEL = 1, 0.05
RESAMPLINGS = 5_000
SCORES = ("bleu", "bleu_lc", "bleu_tok_lc", "chrf", "sentence_accuracy", "token_accuracy", "attention_accuracy")
"""Scores of a table, where the runs have them."""
TOLD = (*SCORES, "nats_per_token")
"""Scores whose absence is worth a note; the losses go with the last."""
HEAD = ("quantity", "group", "seeds", "mean", "variance", "deviation", "minimum", "maximum")
PAIR_HEAD = ("pair", "difference", "p corrected", "95 % interval", "p", "p sentences", "p seeds", "p permutation")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two groups, the one with the better mean first."""

    better: str
    worse: str
    sentences: Difference
    """Better minus worse, over the sentences."""
    seeds: Difference | None
    """The same over the seeds; None where a group has a single one."""
    permutation: Difference | None
    both: Difference
    """The same over sentences and seeds together, or over sentences alone where a group has a single seed."""
    p_value: float
    """That of ``both``, corrected for the number of pairs."""
    counts_seeds: bool = True
    """Whether ``both`` has any noise of seeds, of these or of other groups."""

    @property
    def is_significant(self) -> bool:
        """Whether one beats the other."""
        return self.p_value < LEVEL

    @property
    def has_seeds(self) -> bool:
        """Whether the seeds of the two tell anything: there are several of each, and they differ."""
        return self.seeds is not None and not math.isnan(self.seeds.p_value)


@dataclass(frozen=True)
class Comparison:
    """Groups of runs side by side."""

    metric: str
    """The score that the tests and the verdict are about."""
    signature: str
    """How it was computed, without the seed."""
    groups: tuple[Group, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...] = ()
    """What had to be left out of the table, and why."""
    left_out: frozenset[str] = frozenset()

    def _repr_html_(self) -> str:
        return str(DISPLAYS["Comparison"](self))

    def rows(self) -> list[tuple[str, str, int, tuple[float, ...]]]:
        """Return quantity, group, seeds and the summary of the values; the score of the verdict first."""
        names = [self.metric, *(name for name in (*SCORES, *LOSS_QUANTITIES) if name != self.metric)]
        return [
            (name, group.label, len(group.runs), group.quantities[name].summary())
            for name in names if name not in self.left_out
            for group in self.groups if name in group.quantities
        ]  # fmt: skip

    def verdict(self) -> list[str]:
        """Say in plain words what beats what."""
        lines = [_beats(pair, self.metric) for pair in self.pairs if pair.is_significant]
        lines += [_not_told_apart(pair, len(self.pairs)) for pair in self.pairs if not pair.is_significant]
        alone = [group.label for group in self.groups if len(group.runs) < 2]
        if self.pairs and alone:
            whose = "" if len(alone) == len(self.groups) else f" of {', '.join(alone)}"
            lines.append(
                f"Seeds{whose} were not tested: that takes at least 2 of each group, and 3 or more to find much."
            )
        return lines

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "metric": self.metric,
            "signature": self.signature,
            "groups": [_group_json(group, self.left_out) for group in self.groups],
            "pairs": [_pair_json(pair) for pair in self.pairs],
            "verdict": self.verdict(),
            "notes": list(self.notes),
        }


def compare_runs(
    runs: Iterable[Run],
    *,
    evaluation: str = "test-greedy",
    metric: str | None = None,
    axes: Collection[str] = (),
    notes: Iterable[str] = (),
) -> Comparison:
    """Compare finished runs by a stored evaluation; the best group comes first.

    ``axes`` are settings to name the groups by even if they have one value; ``notes`` are put before the others.
    """
    runs, lacking = distinct(runs)
    groups, naming = grouped(runs, evaluation, axes)
    metric = metric or _usual_metric(groups)
    measure = _measure(metric, groups)
    first = _signature(groups[0].evaluations[0]["scores"], metric)
    reasons = _reasons(groups)
    if metric in reasons:
        raise RegardError(f"{reasons[metric]}: such scores do not belong into one table.")
    left_out = {*reasons, *(LOSS_QUANTITIES if "nats_per_token" in reasons else ())}
    sign = 1 if measure.higher_is_better else -1
    groups.sort(key=lambda group: -sign * group.quantities[metric].mean)
    return Comparison(
        metric=metric,
        signature=str(first.without("seed", "regard")),
        groups=tuple(groups),
        pairs=tuple(_pairs(groups, measure)),
        notes=(
            *notes,
            *lacking,
            *naming,
            *(f"{name} is left out: {reason}." for name, reason in reasons.items() if name in TOLD),
        ),
        left_out=frozenset(left_out),
    )


def _usual_metric(groups: list[Group]) -> str:
    names = set.intersection(*({*each["scores"]} for group in groups for each in group.evaluations))
    return usual_metric(names, is_lowercase=any(r.config.tokenizer.lowercase for group in groups for r in group.runs))


def check_metric(metric: str, unit: str = "word") -> None:
    """Refuse a score that cannot judge translations into this unit of a corpus."""
    columns = {"reference", "reference_tokens"} if unit == "word" else {"reference_tokens"}
    known = [
        name for name in METRICS if columns & {*METRICS[name].takes} and METRICS[name].higher_is_better is not None
    ]
    if metric not in known:
        what = "translations" if unit == "word" else f"{unit}s"
        raise RegardError(f"metric: got '{metric}', want one that judges {what}: {', '.join(known)}.")


def _measure(metric: str, groups: list[Group]) -> Metric[Any]:
    check_metric(metric)
    for each in groups:
        if any(found["scores"].get(metric, {}).get("value") is None for found in each.evaluations):
            raise RegardError(f"metric: {each.runs[0].path} has no '{metric}'; choose another with --metric.")
    measure: Metric[Any] = METRICS[metric]()
    return measure


def _signature(scores: Mapping[str, Any], name: str) -> Signature:
    return Signature.parse(scores[name]["signature"])


def _reasons(groups: list[Group]) -> dict[str, str]:
    """Say of each score why those of some runs must not stand in one table.

    Corpora may differ in what is trained on, as long as the sentences of the evaluation are the same.
    """
    reasons: dict[str, str] = {}
    rows = [(run, each) for group in groups for run, each in zip(group.runs, group.evaluations, strict=True)]
    is_same_test = all(_tested(each) == _tested(rows[0][1]) for _, each in rows)
    ignored = ("corpus",) if is_same_test else ()
    for name in METRICS:
        having = [(run, _signature(each["scores"], name)) for run, each in rows if name in each["scores"]]
        for run, signature in having[1:]:
            if reason := comparable(having[0][1].without(*ignored), signature.without(*ignored)):
                reasons.setdefault(name, f"{having[0][0].path} and {run.path} have {reason}")
    return reasons


def _tested(evaluation: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(row["source"], row["reference"]) for row in evaluation["sentences"]]


def _pairs(groups: list[Group], metric: Metric[Any]) -> list[Pair]:
    statistics = {group.label: group.statistics(metric) for group in groups}
    sizes = {len(each) for seeds in statistics.values() for each in seeds}
    if len(sizes) > 1:
        told = " and ".join(map(str, sorted(sizes)))
        raise RegardError(f"compare: got evaluations of {told} sentences, want the same sentences from all runs.")
    (segments,) = sizes
    drawn = {label: _drawn(seeds, metric) for label, seeds in statistics.items()}
    seeds = [scores for group in groups if len(scores := group.quantities[metric.name].values) > 1]
    pairs = [_pair(*pair, drawn, metric.name, segments=segments, seeds=seeds) for pair in combinations(groups, 2)]
    corrected = holm([pair.p_value for pair in pairs])
    return [replace(pair, p_value=p_value) for pair, p_value in zip(pairs, corrected, strict=True)]


def _pair(
    better: Group,
    worse: Group,
    drawn: Mapping[str, Array],
    metric: str,
    *,
    segments: int,
    seeds: Sequence[Sequence[float]],
) -> Pair:
    """Test a pair, knowing the seeds of all groups; its p-value is not yet corrected."""
    scores = worse.quantities[metric].values, better.quantities[metric].values
    delta, draws = float(np.mean(scores[1]) - np.mean(scores[0])), drawn[better.label] - drawn[worse.label]
    has_seeds = min(map(len, scores)) > 1
    noise = seed_noise(scores, seeds) if has_seeds else None
    both = over_both(delta, draws, segments=segments, noise=noise)
    return Pair(
        better=better.label,
        worse=worse.label,
        sentences=over_draws(delta, draws),
        seeds=welch(*scores) if has_seeds else None,
        permutation=permutation_test(*scores, generator=np.random.default_rng(SEED)) if has_seeds else None,
        both=both,
        p_value=both.p_value,
        counts_seeds=bool(noise and noise.variance > 0),
    )


def _drawn(statistics: list[Array], metric: Metric[Any]) -> Array:
    """Draw sentences, each with the translations of all seeds; return the means of the scores over the seeds.

    The seeds of a sentence stay together: as so many sentences more they would feign certainty. Every group sees the
    same draws.
    """
    k = statistics[0].shape[1]

    def mean_score(sums: Array) -> Array:
        values: Array = metric.aggregate(sums.reshape(-1, k)).reshape(len(sums), -1).mean(axis=1)
        return values

    generator = np.random.default_rng(SEED)
    return bootstrap_scores(np.hstack(statistics), mean_score, generator=generator, resamplings=RESAMPLINGS)


def told_p(p_value: float) -> str:
    """Write a p-value as papers do, with as many decimals as are told apart: fewer where nothing is."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}" if p_value < 0.1 else f"p = {p_value:.1f}"


def _beats(pair: Pair, metric: str) -> str:
    where = "" if pair.counts_seeds else " over sentences alone"
    delta = pair.both.delta
    told = signed(delta, "+.1f" if abs(delta) >= 0.095 else "+.2f" if abs(delta) >= 0.0095 else "+.1g")
    return f"{pair.better} beats {pair.worse}{where}: {told} {metric}, {told_p(pair.p_value)}"


def signed(value: float, form: str) -> str:
    """Write a number with a true minus sign, and none before zero."""
    text = f"{value:{form}}"
    if float(text) == 0:
        return f"{0:{form}}"
    return f"−{text[1:]}" if value < 0 else text


def _not_told_apart(pair: Pair, pairs: int) -> str:
    tests = {"sentences": pair.sentences, "seeds": pair.seeds}
    doubts = [name for name, test in tests.items() if test and not test.p_value < LEVEL]
    why = ""
    if pair.both.p_value < LEVEL:
        why = f" after the correction for {pairs} pairs"
    elif pair.has_seeds and doubts == ["seeds"]:
        why = "; it holds over sentences, and more seeds could tell"
    elif pair.has_seeds and doubts == ["sentences"]:
        why = "; it holds over seeds, and more sentences could tell"
    return f"not distinguishable: {pair.better} and {pair.worse} ({told_p(pair.p_value)}{why})"


def tables(found: Comparison) -> list[tuple[str, list[list[str]]]]:
    """Return the tables, each head first, after the reason why one stands apart from the first."""
    rows, scores = found.rows(), found.groups[0].evaluations[0]["scores"]
    names = dict.fromkeys(name for name, *_ in rows)
    shared = share_out({name: _signature(scores, name) if name in scores else Signature() for name in names})
    cells = [[name, label, str(seeds), *map(_number, values)] for name, label, seeds, values in rows]
    return [(why, [list(HEAD), *(row for row in cells if row[0] in chosen)]) for why, chosen in shared]


def pair_rows(found: Comparison) -> list[list[str]]:
    """Return the cells of the tests, its head first; the first p-value decides, the others explain."""
    return [list(PAIR_HEAD), *map(_pair_cells, found.pairs)]


def _number(value: float) -> str:
    if math.isnan(value):
        return "–"
    return signed(value, ".2f" if abs(value) >= 10 else ".3f" if abs(value) >= 0.1 or not value else "#.2g")


def _pair_cells(pair: Pair) -> list[str]:
    tests = [test.p_value if test else math.nan for test in (pair.both, pair.sentences, pair.seeds, pair.permutation)]
    corrected, *told = (
        "–" if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}" for p in (pair.p_value, *tests)
    )
    interval = " to ".join(signed(bound, ".2f") for bound in pair.both.interval or ()) or "–"
    return [f"{pair.better} − {pair.worse}", signed(pair.both.delta, "+.2f"), corrected, interval, *told]


def _group_json(group: Group, left_out: frozenset[str]) -> dict[str, Any]:
    names = HEAD[3:]
    quantities = {
        name: {"values": list(spread.values)}
        | {key: None if math.isnan(value) else value for key, value in zip(names, spread.summary(), strict=True)}
        for name, spread in group.quantities.items() if name not in left_out
    }  # fmt: skip
    runs = [{"path": str(run.path), "seed": run.config.train.seed} for run in group.runs]
    return {"label": group.label, "runs": runs, "quantities": quantities}


def _pair_json(pair: Pair) -> dict[str, Any]:
    return {
        "better": pair.better,
        "worse": pair.worse,
        "delta": pair.both.delta,
        "interval": pair.both.interval,
        "interval_sentences": pair.sentences.interval,
        "interval_seeds": pair.seeds.interval if pair.seeds else None,
        "p": pair.p_value,
        "p_uncorrected": pair.both.p_value,
        "p_sentences": pair.sentences.p_value,
        "p_seeds": pair.seeds.p_value if pair.seeds and pair.has_seeds else None,
        "p_permutation": pair.permutation.p_value if pair.permutation else None,
        "is_significant": pair.is_significant,
    }
