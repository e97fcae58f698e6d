"""`regard score`."""

import json
import sys
from collections.abc import Iterator
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.cli.options import also_option, batch_option, refuse, split_option
from regard.cli.terminal import bar
from regard.errors import RegardError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from regard.translation import Translation

WINDOW = 2048
"""Pairs read at a time."""


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("source", required=False, type=click.Path(path_type=Path))
@click.argument("target", required=False, type=click.Path(path_type=Path))
@also_option
@split_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line: every token, and attention.")
@batch_option
def score(
    run: Path,
    source: Path | None,
    target: Path | None,
    also: tuple[Path, ...],
    split: str,
    as_json: bool,
    batch: int,
) -> None:  # fmt: skip
    """Say how probable a model finds given translations: one line of TARGET for each of SOURCE.

    Without files these are the references of --split. Prints log P of the sentence, its tokens with their end,
    perplexity, and the words of TARGET that the model does not know, separated by tabs.
    """
    from regard.translate import load

    if source and not target:
        raise click.UsageError(f"got SOURCE {source} without TARGET; want both, or neither for the run's corpus.")
    if source:
        refuse(("split",), "has no effect with files.")
    read = partial(_pairs, source, target) if source and target else partial(_references, run, split)
    is_there_twice = all(file.is_file() for file in (source, target) if file)  # a pipe can be read once only
    total = sum(1 for _ in read()) if is_there_twice else None
    translator, pairs, done = load(run, *also), read(), 0
    with bar(counts=total is not None, is_shown=not sys.stdout.isatty()) as progress:
        task = progress.add_task("scoring", total=total, note="")
        while window := list(islice(pairs, WINDOW)):
            sources, targets = zip(*window, strict=True)
            told = partial(_tell, progress, task, done)
            for one in translator.score_all(sources, targets, batch=batch, tick=told):
                _print(one, as_json=as_json)
            done += len(window)


def _tell(progress: "Progress", task: "TaskID", before: int, count: int) -> None:
    progress.update(task, completed=before + count)


def _print(one: "Translation", *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(one.to_json(), ensure_ascii=False))
        return
    unknown = " ".join(one.tokens[i] for i in one.unknown)
    click.echo(f"{one.log_prob:.4f}\t{len(one.token_log_probs)}\t{one.perplexity:.4f}\t{unknown}")


def _references(run: Path, split: str) -> Iterator[tuple[str, str]]:
    from regard.data.tested import load_tested
    from regard.run import Run

    data = load_tested(Run.open(run).config.data, split)[split]
    return zip(data.sources, data.targets, strict=True)


def _pairs(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    from regard.data.lines import lines_of

    for number, (one, other) in enumerate(zip_longest(lines_of(source), lines_of(target)), start=1):
        if one is None or other is None:
            short, long = (source, target) if one is None else (target, source)
            raise RegardError(f"{short} ends after line {number - 1}, but {long} goes on; want as many lines in both.")
        yield one, other
