"""Many trainings that differ in a few settings: a directory of runs, each named by its settings."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

from regard.config import Config, load_config
from regard.disk import telling, write_atomically
from regard.errors import RegardError
from regard.run import Run

FILE = "comparison.json"
UNFIT = re.compile(r"[^\w.+]")  # for a file name


@dataclass(frozen=True, slots=True)
class Cell:
    """One training of a grid."""

    path: Path
    experiment: str
    overrides: tuple[str, ...]

    @property
    def config(self) -> Config:
        """The experiment of this cell."""
        return load_config(self.experiment, self.overrides)

    def is_trained(self) -> bool:
        """Tell whether the run is there, finished and drawn; refuse a run of another experiment under this name."""
        if not (self.path / "run.json").is_file():
            return False
        run = Run.open(self.path)
        asked, found = (_values(config) for config in (self.config, run.config))
        for key in asked | found:
            if asked.get(key) != found.get(key):
                told = f"has {key}={found.get(key)}, but {asked.get(key)} is asked for"
                raise RegardError(f"{self.path}: {told}. Choose another directory with --dir, or remove this one.")
        return run.description["status"] == "finished" and not run.lacks_results()


@dataclass(frozen=True, slots=True)
class Grid:
    """All combinations of the axes, each with so many seeds."""

    experiment: str
    overrides: tuple[str, ...]
    axes: Mapping[str, Sequence[str]]
    """Key -> values."""
    seeds: int

    def cells(self, folder: Path) -> list[Cell]:
        """Return the cells, or tell what is wrong with any of their configurations."""
        if "train.seed" in self.axes:
            raise RegardError("train.seed: got it as an axis, want --seeds N, which trains with the seeds 1 to N.")
        for word in self.overrides:
            if (key := word.partition("=")[0].strip()) in {*self.axes, "train.seed"}:
                raise RegardError(f"'{word}': {key} is varied already; leave it out.")
        cells = self._cells(folder)
        _check(cells)
        return cells

    def _cells(self, folder: Path) -> list[Cell]:
        seeds = [str(seed) for seed in range(1, self.seeds + 1)]
        axes = {**self.axes, "train.seed": seeds}
        short = {key: key.split(".")[-1] for key in axes}
        names = short if len(set(short.values())) == len(short) else {key: key for key in axes}
        cells = []
        for seed, *values in product(seeds, *self.axes.values()):  # the first seed of all before the second of any
            chosen = dict(zip(axes, (*values, seed), strict=True))
            name = "-".join(f"{names[key]}-{UNFIT.sub('_', value)}" for key, value in chosen.items())
            overrides = (*self.overrides, *(f"{key}={value}" for key, value in chosen.items()))
            cells.append(Cell(folder / name, self.experiment, overrides))
        return cells

    def save(self, folder: Path) -> None:
        """Write what the directory is about."""
        with telling(folder / FILE):
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / FILE, (json.dumps({"format": 1, **asdict(self)}, indent=1) + "\n").encode())


def runs_of(path: Path) -> list[Run]:
    """Return the finished runs of a comparison, or the run itself."""
    if not (path / FILE).is_file():
        return [Run.open(path)]
    folders = sorted(folder for folder in path.iterdir() if (folder / "run.json").is_file())
    return [run for run in map(Run.open, folders) if run.description["status"] == "finished"]


def missing_from(path: Path) -> list[Path]:
    """Return the runs that a comparison is to have and that are not finished; a run by itself lacks nothing."""
    if not (path / FILE).is_file():
        return []
    values = json.loads((path / FILE).read_text(encoding="utf-8"))
    grid = Grid(values["experiment"], tuple(values["overrides"]), values["axes"], values["seeds"])
    finished = {run.path for run in runs_of(path)}
    return [cell.path for cell in grid._cells(path) if cell.path not in finished]


def parse_axes(words: Iterable[str]) -> dict[str, list[str]]:
    """Read KEY=VALUE,VALUE,... words."""
    axes: dict[str, list[str]] = {}
    for word in words:
        key, equals, values = (part.strip() for part in word.partition("="))
        found = [value.strip() for value in values.split(",") if value.strip()]
        if not equals or not found or len(set(found)) < len(found) or key in axes:
            raise RegardError(
                f"'{word}': want KEY=VALUE,VALUE,... with each key and value once, such as model.decoder=after,deep."
            )
        axes[key] = found
    return axes


def _check(cells: list[Cell]) -> None:
    problems: dict[str, None] = {}
    for cell in cells:
        try:
            assert cell.config
        except RegardError as error:
            problems |= dict.fromkeys(str(error).splitlines())
    if problems:
        raise RegardError("\n".join(problems))


def _values(config: Config) -> dict[str, Any]:
    tree = config.model_dump(mode="json")
    flat = {f"{section}.{key}": value for section, values in tree.items() for key, value in values.items()}
    return {key: value for key, value in flat.items() if key != "train.threads"}
