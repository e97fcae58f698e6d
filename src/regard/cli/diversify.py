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
    from regard.translate import Translator

Pair = tuple[str, str]


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...", type=click.Path(path_type=Path))
@click.option(
    "--back",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="A run in the other direction, trained on the same pairs. May be repeated.",
)
@click.option(
    "--together",
    is_flag=True,
    help="The RUNs translate as one ensemble, and so do the --back RUNs; each needs one vocabulary.",
)
@beam_option(5)
@batch_option
def diversify(runs: tuple[Path, ...], back: tuple[Path, ...], together: bool, beam: int, batch: int) -> None:
    """Make more training pairs out of training data and models that know them.

    Each RUN translates the sources of its corpus, each --back RUN the targets; one of either kind is enough. Prints the
    new pairs, lines of source<TAB>target; pairs that the corpus has already, and translations without an end, are left
    out. A new training takes them with data.extra=FILE.
    """
    from regard.search.strategy import Strategy
    from regard.translate import load

    if not (runs or back):
        raise click.UsageError("want a RUN, a --back RUN, or both.")
    corpora = _corpora(runs, back)
    data = {path: corpus["train"] for path, corpus in corpora.items()}
    known = _pairs(data[(*runs, *back)[0]], is_turned=not runs)
    teams = [team for team in (runs, back) if team] if together else [(path,) for path in data]
    total, made, strategy = sum(len(data[team[0]]) for team in teams), 0, Strategy(width=beam)
    translators = [load(*team) for team in teams]
    with bar(is_shown=not sys.stdout.isatty()) as progress:
        task = progress.add_task("translating", total=total, note="")
        for team, translator in zip(teams, translators, strict=True):
            for source, target in translated(translator, data[team[0]], strategy, batch):
                progress.advance(task)
                pair = (target, source) if team[0] in back else (source, target)
                if target and pair not in known:
                    known.add(pair)
                    made += 1
                    click.echo("\t".join(pair))
    say(f"{made:,} new pairs of {total:,} translations")


def _corpora(runs: tuple[Path, ...], back: tuple[Path, ...]) -> dict[Path, "Corpus"]:
    """Read the corpus of every run; refuse runs that do not belong together."""
    paths = (*runs, *back)
    places = [path.resolve() for path in paths]
    if twice := next((path for path, place in zip(paths, places, strict=True) if places.count(place) > 1), None):
        raise RegardError(f"{twice}: given twice, want each run once, as RUN or as --back RUN.")
    corpora = {path: _corpus(path) for path in paths}
    first = paths[0]
    known, validation, test = (
        _pairs(corpora[first][split], is_turned=not runs) for split in ("train", "validation", "test")
    )
    for path in paths[1:]:
        is_turned = path in back
        pairs = _pairs(corpora[path]["train"], is_turned=is_turned)
        if not pairs & known:
            turned = " turned round" if is_turned and runs else ""
            raise RegardError(f"{path}: has no training pair{turned} in common with {first}.")
        if leaked := (pairs - known) & (validation | test):
            raise RegardError(
                f"{path}: was trained on {len(leaked)} of the pairs that {first} is validated and tested on; "
                "train both on the same data, those of one direction with data.swap=true."
            )
    return corpora


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


def translated(translator: "Translator", data: "Split", strategy: "Strategy", batch: int) -> Iterator[Pair]:
    """Give every source with its translation, empty if it has no end or is too long for the memory."""
    for one in translator.translate_all(data.sources, strategy, batch=batch, refused=lambda *_: None):
        yield one.source, one.text if one.is_finished else ""
