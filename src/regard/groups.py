"""Runs -> groups: which runs are seeds of one experiment, how it is called, and what its seeds have reached."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from statistics import fmean
from typing import Any, get_args

import numpy as np

from regard.config import Place, short_names
from regard.data.words import split_words
from regard.errors import RegardError
from regard.evaluate import EDGES, RESAMPLINGS_SEED
from regard.metrics.base import Metric, Score, buckets
from regard.metrics.spread import Spread
from regard.parts import METRICS
from regard.run import Run

LOSS_QUANTITIES = (
    "validation_loss_best",
    "validation_loss_end",
    "validation_loss_mean",
    "training_loss_end",
    "training_loss_mean",
)
"""In nats per token: after the best and the last epoch, of the last whole epoch, and averaged over all."""
MOST_NAMED = 4
"""Settings that the label of a group names; where more differ, its first run does."""
NOT_THE_EXPERIMENT = {"train.seed", "train.threads", "train.device"}

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Group:
    """Runs that differ in their seed only."""

    label: str
    runs: tuple[Run, ...]
    evaluations: tuple[dict[str, Any], ...] = field(repr=False)

    @cached_property
    def quantities(self) -> dict[str, Spread]:
        """Every score and loss that all seeds have."""
        found = {name: [each["scores"].get(name, {}).get("value") for each in self.evaluations] for name in METRICS}
        losses = [_losses(run) for run in self.runs]
        found |= {name: [each.get(name) for each in losses] for name in LOSS_QUANTITIES}
        return {name: Spread(tuple(values)) for name, values in found.items() if None not in values}

    def statistics(self, metric: Metric[Any]) -> list[Array]:
        """Return the statistics of every sentence, for each seed, from the stored translations."""
        return [_statistics(metric, run, each) for run, each in zip(self.runs, self.evaluations, strict=True)]

    def by_length(self, metric: Metric[Any]) -> list[dict[str, Score]]:
        """Return the score of each bucket of source length, for each seed; that of a single one with its interval."""
        is_text = "bleu" in self.evaluations[0]["scores"]
        sources = [row["source"] for row in self.evaluations[0]["sentences"]]
        rows = buckets([len(split_words(text)) if is_text else len(text) for text in sources], EDGES)
        generator = np.random.default_rng(RESAMPLINGS_SEED) if len(self.runs) == 1 else None
        return [metric.score_buckets(each, rows, generator=generator) for each in self.statistics(metric)]


def distinct(runs: Iterable[Run]) -> tuple[list[Run], list[str]]:
    """Leave out what is there twice, since it would feign certainty; tell that, and what the runs kept lack."""
    kept: dict[str, Run] = {}
    notes = []
    for run in sorted(runs, key=lambda run: not run.can_resume):  # a run before its copy, which has no log
        first = kept.setdefault(repr((_experiment(run), run.config.train.seed)), run)
        if first is not run:
            notes.append(f"{run.path} is left out: same settings and seed as {first.path}.")
        elif (status := run.description["status"]) != "finished":
            notes.append(f"{run.path} is not finished ({status}): what it has reached so far is compared.")
        if first is run and not run.epochs():
            notes.append(f"{run.path} has no log of its training: losses of its group are left out.")
    return list(kept.values()), notes


def grouped(runs: Sequence[Run], evaluation: str, axes: Collection[str]) -> tuple[list[Group], list[str]]:
    """Put runs that differ in the seed only together; say so where groups are not named by their settings.

    The axes of a grid are part of the name even where a single value is left.
    """
    if not runs:
        raise RegardError("compare: got no finished run, want at least one.")
    members: dict[str, list[Run]] = {}
    for run in runs:
        members.setdefault(_experiment(run), []).append(run)
    settings = _named([run for run, *_ in members.values()])
    varied = _varied(settings, axes)
    labels, notes = [_label(each, varied) or runs[0].config.model.attention for each in settings], []
    if len(varied) > MOST_NAMED:
        paths = [group[0].path.resolve() for group in members.values()]
        labels = [path.name for path in paths]
        labels = labels if len(set(labels)) == len(labels) else [str(path) for path in paths]
        short = ", ".join(key.split(".")[-1] for key in varied)
        notes = [f"groups are named by their first run: they differ in {len(varied)} settings ({short})."]
    groups = [
        Group(label, tuple(group), tuple(_stored(run, evaluation) for run in group))
        for label, group in zip(labels, members.values(), strict=True)
    ]
    return groups, notes


def _settings(run: Run) -> dict[str, Any]:
    return {key: value for key, value in run.config.flat().items() if key not in NOT_THE_EXPERIMENT}


def _places(run: Run) -> list[str]:
    fields = type(run.config.data).model_fields.items()
    return [f"data.{name}" for name, field in fields if {*get_args(Place)} & {*field.metadata}]


def trained_on(run: Run) -> str:
    """Return the hash of the data, extra pairs included."""
    description = run.description
    return str(description.get("training_sha256", description["corpus_sha256"]))


def _experiment(run: Run) -> str:
    """Return what seeds of one experiment share: the same data are the same wherever they lie."""
    return repr((_settings(run) | dict.fromkeys(_places(run)), trained_on(run)))


def _named(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the settings; files by as much of their paths as tells different data apart, or else with their hash."""
    settings, data = [_settings(run) for run in runs], [trained_on(run) for run in runs]
    for key in {key for run in runs for key in _places(run)}:
        having = [(each, sha) for each, sha in zip(settings, data, strict=True) if key in each]
        names = _tails({sha: each[key] for each, sha in reversed(having)})
        for each, sha in having:
            each[key] = names[sha]
    if len(set(map(repr, settings))) < len(settings):  # a file was changed in between
        settings = [each | {"data.sha256": sha[:8]} for each, sha in zip(settings, data, strict=True)]
    return settings


def _tails(paths: Mapping[str, str]) -> dict[str, str]:
    """Cut as many folders off as can be spared."""
    parts = {key: path.split(os.sep) for key, path in paths.items()}
    for count in range(1, max(map(len, parts.values()))):
        tails = {key: os.sep.join(each[-count:]) for key, each in parts.items()}
        if len(set(tails.values())) == len(set(paths.values())):
            return tails
    return dict(paths)


def _varied(settings: list[dict[str, Any]], axes: Collection[str]) -> list[str]:
    """Return the axes as they were asked for, then what else the groups differ in.

    Heads need not be said where the attention implies them.
    """
    keys = dict.fromkeys(key for each in settings for key in each)
    with_heads = {(each["model.attention"], each["model.heads"]) for each in settings}
    is_implied = len(with_heads) == len({attention for attention, _ in with_heads})
    implied = {"model.heads"} if is_implied else set()
    differing = [key for key in keys if key not in implied and _varies(settings, key)]
    return list(dict.fromkeys([*(key for key in axes if key in keys), *differing]))


def _varies(settings: list[dict[str, Any]], key: str) -> bool:
    return len({repr(each.get(key)) for each in settings}) > 1


def _label(values: Mapping[str, Any], varied: Sequence[str]) -> str:
    if len(varied) == 1 and isinstance(name := values.get(varied[0]), str) and name:
        return name
    return " ".join(f"{name}={'none' if values.get(key) == '' else values.get(key)}"
                    for key, name in short_names(varied).items())  # fmt: skip


def _stored(run: Run, evaluation: str) -> dict[str, Any]:
    found = run.evaluations()
    if evaluation not in found:
        raise RegardError(f"{run.path}: has no evaluation '{evaluation}'; `regard evaluate` makes one.")
    return found[evaluation]


def _losses(run: Run) -> dict[str, float]:
    """Return nothing of a run without a log, such as one made to give away; part of an epoch counts as its share."""
    if not (epochs := run.epochs()):
        return {}
    train, valid = ([e[f"{kind}_nats_per_token"] for e in epochs] for kind in ("train", "validation"))
    ends = [epoch["epoch"] for epoch in epochs]
    shares = [end - before for before, end in pairwise((0, *ends))]
    whole = [loss for loss, share in zip(train, shares, strict=True) if share >= 1]
    values = (min(valid), valid[-1], fmean(valid, shares), (whole or train)[-1], fmean(train, shares))
    return dict(zip(LOSS_QUANTITIES, values, strict=True))


def _statistics(metric: Metric[Any], run: Run, evaluation: Mapping[str, Any]) -> Array:
    cut, rows = run.tokenizers.target.tokens, evaluation["sentences"]

    def column(name: str) -> list[Any]:
        texts = [row[name.removesuffix("_tokens")] for row in rows]
        return [cut(text) for text in texts] if name.endswith("_tokens") else texts

    return metric.statistics(*map(column, metric.takes))
