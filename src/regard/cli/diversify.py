"""`regard diversify`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.cli.options import batch_option, beam_option
from regard.cli.terminal import bar, say
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.data.corpus import Corpus, Split
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
@beam_option(5)
@batch_option
def diversify(runs: tuple[Path, ...], back: tuple[Path, ...], beam: int, batch: int) -> None:
    """Make more training pairs out of training data and models that know them.

    Each RUN translates the sources it was trained on, each --back RUN the targets. Prints the new pairs, lines of
    source<TAB>target; pairs that the corpus has already, and translations without an end, are left out. A new training
    takes them with data.extra=FILE.
    """
    from regard.search.strategy import Strategy

    if twice := set(runs) & set(back):
        raise RegardError(f"{twice.pop()}: given as RUN and as --back RUN, want one or the other.")
    corpora = {path: _corpus(path) for path in (*runs, *back)}
    data = {path: corpus["train"] for path, corpus in corpora.items()}
    known = _pairs(data[runs[0]])
    held_out = _pairs(corpora[runs[0]]["validation"]) | _pairs(corpora[runs[0]]["test"])
    for path in (*runs[1:], *back):
        pairs = _pairs(data[path], is_turned=path in back)
        if not pairs & known:
            turned = " turned round" if path in back else ""
            raise RegardError(f"{path}: has no training pair{turned} in common with {runs[0]}.")
        if leaked := (pairs - known) & held_out:
            raise RegardError(
                f"{path}: was trained on {len(leaked)} of the pairs that {runs[0]} is validated and tested on; "
                "give the data of both runs as files, each split the same pairs."
            )
    total, made, strategy = sum(map(len, data.values())), 0, Strategy(width=beam)
    with bar(is_shown=not sys.stdout.isatty()) as progress:
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


def _corpus(path: Path) -> "Corpus":
    from regard.data.corpus import load_corpus
    from regard.evaluate import check_corpus
    from regard.run import Run

    run = Run.open(path)
    corpus = load_corpus(run.config.data)
    check_corpus(run, corpus.sha256)
    return corpus


def _pairs(data: "Split", *, is_turned: bool = False) -> set[Pair]:
    sides = (data.targets, data.sources) if is_turned else (data.sources, data.targets)
    return set(zip(*sides, strict=True))


def _translated(path: Path, data: "Split", strategy: "Strategy", batch: int) -> Iterator[Pair]:
    """Give every source with its translation, empty if it has no end or is too long for the memory."""
    from regard.translate import load

    for one in load(path).translate_all(data.sources, strategy, batch=batch, refused=lambda *_: None):
        yield one.source, one.text if one.is_finished else ""
