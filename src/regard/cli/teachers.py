"""`regard train --teachers`: models of both directions translate the training data for the one that is asked for."""

from pathlib import Path

from regard.cli import INTERRUPTED
from regard.cli.diversify import new_pairs
from regard.cli.fleet import train_cells
from regard.cli.terminal import say
from regard.config import Config, load_config
from regard.data.corpus import load_corpus
from regard.data.lines import pairs_of
from regard.disk import replacing, telling
from regard.errors import RegardError
from regard.search.strategy import Strategy
from regard.training.grid import Cell, Grid

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
    given = tuple(word for word in overrides if word.partition("=")[0].strip() not in ("train.seed", "data.swap"))
    cells = Grid(experiment, given, {"data.swap": ["false", "true"]}, count).cells(folder)
    pairs = folder / f"pairs-{count}.tsv"
    missing = [cell for cell in cells if not cell.is_trained()]
    size = len(load_corpus(config.data)["train"])  # what is wrong with the data is told before the training
    with telling(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if failures := train_cells(cells, missing, folder, strategy=Strategy(), split="test"):
        whys = "\n".join(dict.fromkeys(failures.values()))
        told = ", ".join(failed.name for failed in failures)
        raise RegardError(f"{folder}: no {told}. The same command tries again; why they failed:\n{whys}")
    if missing or not pairs.exists():
        _write(pairs, cells, is_swapped=config.data.swap)
    return _pupil(config, pairs, size)


def _write(pairs: Path, cells: list[Cell], *, is_swapped: bool) -> None:
    """Let the teachers translate, those of the other direction the targets."""
    there = tuple(cell.path for cell in cells if cell.config.data.swap == is_swapped)
    back = tuple(cell.path for cell in cells if cell.path not in there)
    try:
        with telling(pairs), replacing(pairs) as partial, partial.open("w", encoding="utf-8") as file:
            file.writelines("\t".join(pair) + "\n" for pair in new_pairs(there, back, beam=BEAM, batch=BATCH))
    except KeyboardInterrupt:
        say("stopped; the same command goes on from here")
        raise SystemExit(INTERRUPTED) from None


def _pupil(config: Config, pairs: Path, size: int) -> Config:
    """Add the pairs to the data, and leave out epochs for them."""
    if not pairs.stat().st_size:
        say(f"{pairs}: empty, since the teachers only say what the training data have; training goes on without.")
        return config
    total = size + sum(1 for _ in pairs_of(pairs))
    epochs = config.train.epochs and max(1, round(STEPS * config.train.epochs * size / total))
    say(f"{size:,} pairs and {total - size:,} of the teachers in {pairs}" + (f": {epochs} epochs" if epochs else ""))
    data = config.data.model_copy(update={"extra": str(pairs.absolute())})
    return config.model_copy(update={"data": data, "train": config.train.model_copy(update={"epochs": epochs})})
