"""Many trainings that differ in a few settings: a directory of runs, each named by its settings."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from regard.config import Config, ModelConfig, load_config, short_names
from regard.disk import checked, read_json, telling, write_atomically
from regard.errors import RegardError
from regard.run import Run

FILE, FORMAT = "comparison.json", 1
ModelCheck = Callable[[ModelConfig], None]
"""Told a model, raises a RegardError if it cannot be built."""
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
        try:
            run = Run.open(self.path)
            asked, found = _values(self.config), _values(run.config)
        except RegardError:  # damaged: whoever is to finish it tells how
            return False
        for key in asked | found:
            if asked.get(key) != found.get(key):
                told = f"has {key}={found.get(key)}, but {asked.get(key)} is asked for"
                raise RegardError(f"{self.path}: {told}. Choose another directory, or remove this one.")
        return run.description["status"] == "finished" and not run.lacks_results()


@dataclass(frozen=True, slots=True)
class Grid:
    """All combinations of the axes, each with so many seeds."""

    experiment: str
    overrides: tuple[str, ...]
    axes: Mapping[str, Sequence[str]]
    """Key -> values."""
    seeds: int

    def cells(self, folder: Path, check_model: ModelCheck = lambda _: None) -> list[Cell]:
        """Return the cells, or tell what is wrong with any of their configurations or models."""
        if "train.seed" in self.axes:
            raise RegardError("train.seed: got it as an axis, want --seeds N, which trains with the seeds 1 to N.")
        for word in self.overrides:
            if (key := word.partition("=")[0].strip()) in {*self.axes, "train.seed"}:
                raise RegardError(f"'{word}': {key} is varied already; leave it out.")
        cells = self.all_cells(folder)
        _check(cells, check_model)
        return cells

    def all_cells(self, folder: Path) -> list[Cell]:
        """Return the cells, whatever their configurations are."""
        seeds = [str(seed) for seed in range(1, self.seeds + 1)]
        axes = {**self.axes, "train.seed": seeds}
        names, fitting = short_names(axes), {key: _file_names(values) for key, values in axes.items()}
        cells = []
        for seed, *values in product(seeds, *self.axes.values()):  # the first seed of all before the second of any
            chosen = dict(zip(axes, (*values, seed), strict=True))
            name = "-".join(f"{names[key]}-{fitting[key][value]}" for key, value in chosen.items())
            overrides = (*self.overrides, *(f"{key}={value}" for key, value in chosen.items()))
            cells.append(Cell(folder / name, self.experiment, overrides))
        return cells

    def save(self, folder: Path) -> None:
        """Write what the directory is about."""
        with telling(folder / FILE):
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / FILE, (json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n").encode())

    @classmethod
    def load(cls, folder: Path) -> "Grid | None":
        """Read what a directory is about; None where it is no comparison."""
        path = folder / FILE
        if not path.is_file():
            return None
        values = read_json(path)
        if values.get("format") != FORMAT:
            told = f"format {values.get('format')!r}, want {FORMAT}"
            raise RegardError(f"{path}: {told}; the command that made this directory writes it anew.")
        checked(f"{path}", values, {"experiment": str, "overrides": list, "axes": dict, "seeds": int})
        checked(f"{path}, axes", values["axes"], dict.fromkeys(values["axes"], list))
        axes = {key: [*map(str, values)] for key, values in values["axes"].items()}
        return cls(values["experiment"], tuple(map(str, values["overrides"])), axes, values["seeds"])

    def paths(self, folder: Path) -> list[Path]:
        """Return the runs that are in a directory, and those that should be."""
        there = sorted(path for path in folder.iterdir() if (path / "run.json").is_file())
        return list(dict.fromkeys([*there, *(cell.path for cell in self.all_cells(folder))]))


def parse_axes(words: Iterable[str]) -> dict[str, list[str]]:
    """Read KEY=VALUE,VALUE,... words."""
    axes: dict[str, list[str]] = {}
    for word in words:
        key, equals, values = (part.strip() for part in word.partition("="))
        found = [value.strip() for value in values.split(",") if value.strip()]
        if key in axes:
            raise RegardError(f"{key}: varied twice, want all its values in one place, such as {key}=VALUE,VALUE.")
        if not equals or not found or len(set(found)) < len(found):
            raise RegardError(
                f"'{word}': want KEY=VALUE,VALUE,... with each key and value once, such as model.decoder=after,deep."
            )
        axes[key] = found
    return axes


def _file_names(values: Sequence[str]) -> dict[str, str]:
    """Return what each value is called in a file name; those that would be called the same get a mark of their own."""
    fitting = {value: UNFIT.sub("_", value) for value in values}
    counts = Counter(fitting.values())
    return {
        value: name if value == name or counts[name] == 1 else f"{name}+{sha256(value.encode()).hexdigest()[:6]}"
        for value, name in fitting.items()
    }


def _check(cells: list[Cell], check_model: ModelCheck) -> None:
    """Tell what is wrong with any of the configurations, before anything is trained."""
    problems: dict[str, list[Cell]] = {}
    found: dict[Config, Cell] = {}
    for cell in cells:
        try:
            config = cell.config
            check_model(config.model)
            same = found.setdefault(config, cell)
        except RegardError as error:
            for line in str(error).splitlines():
                problems.setdefault(line, []).append(cell)
            continue
        if same is not cell:
            line = f"{same.path.name} and {cell.path.name}: have the same settings; leave one of the values out."
            problems[line] = cells
    if problems:
        raise RegardError("\n".join(line + _where(of, cells) for line, of in problems.items()))


def _where(wrong: list[Cell], cells: list[Cell]) -> str:
    """Say which runs are meant, unless all are."""
    if len(wrong) == len(cells):
        return ""
    return f" ({len(wrong)} of {len(cells)} runs, such as {wrong[0].path.name})"


def _values(config: Config) -> dict[str, Any]:
    return {key: value for key, value in config.flat().items() if key != "train.threads"}
