"""`regard train --teachers`: models of both directions translate the training data for the one that is asked for."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from regard.cli import INTERRUPTED
from regard.cli.diversify import Pair, translated
from regard.cli.fleet import train_cells
from regard.cli.terminal import bar, say
from regard.config import Config, load_config
from regard.data.corpus import Corpus, Split, load_corpus, table_of
from regard.data.enlarged import held_out
from regard.data.lines import pairs_of
from regard.disk import telling, write_atomically
from regard.errors import RegardError
from regard.evaluate import check_corpus
from regard.run import Run
from regard.search.strategy import Strategy
from regard.training.grid import Cell, Grid
from regard.training.session import prepare
from regard.translate import load

STEPS = 1.7
"""How many steps a pupil takes for each of a teacher's."""
BEAM, BATCH = 5, 64
"""How teachers translate."""


def taught(experiment: str, overrides: tuple[str, ...], path: Path, *, count: int) -> Config:
    """Return the configuration of a pupil after so many teachers of each direction have been trained and have taught.

    They are kept beside ``path``, where the pupil is to be; what is there already is read.
    """
    config = load_config(experiment, overrides)
    if config.data.extra:
        raise RegardError(f"data.extra: got '{config.data.extra}' and --teachers, which make such a file; want one.")
    folder = path.with_name(f"{path.name}-teachers")
    if (folder / "run.json").exists():
        raise RegardError(f"{folder}: is a run, but teachers are to be kept there. Choose another --run.")
    given = tuple(word for word in overrides if word.partition("=")[0].strip() not in ("train.seed", "data.swap"))
    cells = Grid(experiment, given, {"data.swap": ["false", "true"]}, count).cells(folder)
    corpora = _corpora(config)
    missing = _missing(cells, corpora)
    if missing:
        prepare(config)
    with telling(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if failures := train_cells(cells, missing, folder, strategy=Strategy(), split="test"):
        whys = " ".join(dict.fromkeys(failures.values()))
        told = ", ".join(failed.name for failed in failures)
        raise RegardError(f"{folder}: no {told}; the same command tries again. {whys}")
    try:
        _translate(cells, corpora)
    except KeyboardInterrupt:
        say("stopped; the same command goes on from here")
        raise SystemExit(INTERRUPTED) from None
    return _pupil(config, cells, corpora[config.data.swap], folder / _name(config, count))


def _corpora(config: Config) -> dict[bool, Corpus]:
    """Return the data as they are, and swapped."""
    return {swap: load_corpus(config.data.model_copy(update={"swap": swap})) for swap in (False, True)}


def _name(config: Config, count: int) -> str:
    return f"pairs-{'swap-' * config.data.swap}{count}.tsv"


def _missing(cells: list[Cell], corpora: Mapping[bool, Corpus]) -> list[Cell]:
    """Return teachers that are not there; refuse those that learnt from other data, perhaps from what is held out."""
    for cell in cells:
        if (cell.path / "run.json").is_file():
            check_corpus(Run.open(cell.path), corpora[cell.config.data.swap].sha256)
    return [cell for cell in cells if not cell.is_trained()]


def _translate(cells: list[Cell], corpora: Mapping[bool, Corpus]) -> None:
    """Let every teacher that has not done it yet translate the sentences that it was trained on."""
    waiting = [cell for cell in cells if not Run(cell.path).translations.exists()]
    with bar() as progress:
        task = progress.add_task("translating", total=sum(len(_data(cell, corpora)) for cell in waiting), note="")
        for cell in waiting:
            place = Run(cell.path).translations
            Run(cell.path).sweep()
            made = []
            for pair in translated(load(cell.path), _data(cell, corpora), Strategy(width=BEAM), BATCH):
                progress.advance(task)
                made.append(pair)
            ended = [pair for pair in made if pair[1]]
            with telling(place):
                write_atomically(place, table_of(ended).encode())
            say(f"{cell.path.name}: {len(ended):,} of {len(made):,} translations have an end")


def _data(cell: Cell, corpora: Mapping[bool, Corpus]) -> Split:
    return corpora[cell.config.data.swap]["train"]


def _pupil(config: Config, cells: list[Cell], corpus: Corpus, place: Path) -> Config:
    """Add what the teachers have made to the data, and leave out epochs for it."""
    size, new = len(corpus["train"]), _new_pairs(cells, corpus, is_swapped=config.data.swap)
    if not new:
        say(f"{place.parent}: no translation that is new and has an end; training goes on without. Teachers may need "
            "more train.epochs.")  # fmt: skip
        return config
    with telling(place):
        write_atomically(place, table_of(new).encode())
    epochs = config.train.epochs and max(1, round(STEPS * config.train.epochs * size / (size + len(new))))
    say(f"{size:,} pairs, and {len(new):,} of the teachers in {place}" + (f": {epochs} epochs" if epochs else ""))
    data = config.data.model_copy(update={"extra": str(place.absolute())})
    return config.model_copy(update={"data": data, "train": config.train.model_copy(update={"epochs": epochs})})


def _new_pairs(cells: list[Cell], corpus: Corpus, *, is_swapped: bool) -> list[Pair]:
    """Return what the teachers have made in the pupil's direction, each pair once, without what is held out."""
    train, taken = corpus["train"], held_out(corpus)
    known = set(zip(train.sources, train.targets, strict=True))
    made = dict.fromkeys(pair for cell in cells for pair in _made(cell, is_turned=cell.config.data.swap != is_swapped))
    return [pair for pair in made if pair not in known and not taken.intersection(pair)]


def _made(cell: Cell, *, is_turned: bool) -> Iterator[Pair]:
    place = Run(cell.path).translations.absolute()
    if not place.stat().st_size:
        return
    try:
        for source, target in pairs_of(place):
            yield (target, source) if is_turned else (source, target)
    except RegardError as error:
        raise RegardError(f"{error} Remove it: the same command makes it anew.") from None
