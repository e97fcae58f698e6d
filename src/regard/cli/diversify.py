"""`regard diversify`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.cli.terminal import bar, say
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.data.corpus import Split
    from regard.search.strategy import Strategy

Pair = tuple[str, str]


@click.command()
@click.argument("runs", required=True, nargs=-1, metavar="RUN...", type=click.Path(path_type=Path))
@click.option(
    "--back",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="A run in the other direction, trained on the same pairs. May be repeated.",
)
@click.option(
    "--beam",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    metavar="WIDTH",
    help="Beam width; 1 is greedy search.",
)
@click.option("--batch", type=click.IntRange(1), default=64, show_default=True, help="Sentences at a time.")
def diversify(runs: tuple[Path, ...], back: tuple[Path, ...], beam: int, batch: int) -> None:  # fmt: skip
    """Make more training pairs out of training data and models that know them.

    Each RUN translates the sources it was trained on, each --back RUN the targets. Prints the new pairs, lines of
    source<TAB>target; pairs that are there already, and translations without an end, are left out. A new training
    takes them with data.extra=FILE.
    """
    from regard.search.strategy import Strategy

    data = {path: _training_data(path) for path in (*runs, *back)}
    for path in (*runs[1:], *back):
        wanted = data[runs[0]].targets if path in back else data[runs[0]].sources
        if not set(wanted) & set(data[path].sources):
            side = "targets" if path in back else "sources"
            raise RegardError(f"{path}: has no source sentence in common with the {side} of {runs[0]}.")
    known = {pair for run in runs for pair in zip(data[run].sources, data[run].targets, strict=True)}
    total, made, strategy = sum(map(len, data.values())), 0, Strategy(width=beam)
    with bar() as progress:
        task = progress.add_task("translating", total=total, note="")
        for path, split in data.items():
            for source, target in _translated(path, split, strategy, batch):
                progress.advance(task)
                pair = (target, source) if path in back else (source, target)
                if target and pair not in known:
                    known.add(pair)
                    made += 1
                    click.echo("\t".join(pair))
    say(f"{made:,} new pairs of {total:,} translations")


def _training_data(path: Path) -> "Split":
    from regard.data.corpus import load_corpus
    from regard.run import Run

    return load_corpus(Run.open(path).config.data)["train"]


def _translated(path: Path, data: "Split", strategy: "Strategy", batch: int) -> Iterator[Pair]:
    """Give every source with its translation, empty if it has no end or is too long for the memory."""
    from regard.translate import load

    for one in load(path).translate_all(data.sources, strategy, batch=batch, refused=lambda *_: None):
        yield one.source, one.text if one.is_finished else ""
