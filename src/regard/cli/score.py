"""`regard score`."""

import json
from collections.abc import Iterator
from itertools import islice, zip_longest
from pathlib import Path

import click

from regard.errors import RegardError

WINDOW = 2048
"""Pairs read at a time."""


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line: every token, and attention.")
@click.option("--batch", type=click.IntRange(1), default=64, show_default=True, help="Sentences at a time.")
def score(run: Path, source: Path, target: Path, as_json: bool, batch: int) -> None:
    """Say how probable a model finds given translations: one line of TARGET for each of SOURCE.

    Prints log P of the sentence, its tokens with their end, and perplexity, separated by tabs.
    """
    from regard.translate import load

    translator = load(run)
    pairs = _pairs(source, target)
    while window := list(islice(pairs, WINDOW)):
        sources, targets = zip(*window, strict=True)
        for one in translator.score_all(sources, targets, batch=batch):
            if as_json:
                click.echo(json.dumps(one.to_json(), ensure_ascii=False))
            else:
                click.echo(f"{one.log_prob:.4f}\t{len(one.token_log_probs)}\t{one.perplexity:.4f}")


def _pairs(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    from regard.data.lines import lines_of

    for number, (one, other) in enumerate(zip_longest(lines_of(source), lines_of(target)), start=1):
        if one is None or other is None:
            short, long = (source, target) if one is None else (target, source)
            raise RegardError(f"{short} ends after line {number - 1}, but {long} goes on; want as many lines in both.")
        yield one, other
