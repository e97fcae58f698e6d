"""The runs that a comparison or a report is of: opened, evaluated, and what is missing among them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from regard.cli.evaluate import evaluate_run
from regard.cli.terminal import say
from regard.data.tested import stored_name
from regard.errors import RegardError
from regard.run import Run
from regard.search.strategy import Strategy
from regard.training.grid import Grid


@dataclass
class Gathered:
    """Runs that can be compared, and what is known of those that cannot."""

    runs: list[Run] = field(default_factory=list)
    axes: dict[str, None] = field(default_factory=dict)
    """What was varied on purpose."""
    unfinished: list[str] = field(default_factory=list)
    """A line for each run that is left out without being wrong."""
    failures: dict[Path, str] = field(default_factory=dict)
    """Path -> why it is missing."""

    @contextmanager
    def surviving(self, path: Path) -> Iterator[None]:
        """Note what is wrong with a run: one that is damaged does not lose the others."""
        try:
            yield
        except RegardError as error:
            self.failures[path] = str(error)

    @property
    def notes(self) -> list[str]:
        """What to write beside the table."""
        return self.unfinished + self._failed()

    def close(self, advice: str = "put them right, or leave them out") -> None:
        """Once all is written, fail if a run that should be there is missing."""
        if self.failures:
            whys = set(self.failures.values())
            if not self.runs and len(whys) == 1:
                raise RegardError(*whys)
            told = "\n".join(self._failed())
            raise RegardError(f"runs missing from the table: {len(self.failures)}; {advice}:\n{told}")

    def _failed(self) -> list[str]:
        lines = {path: " ".join(why.splitlines()) for path, why in self.failures.items()}
        return [why if why.startswith(f"{path}") else f"{path}: {why}" for path, why in lines.items()]


def gather(words: Iterable[str], strategy: Strategy, split: str, *, needs_weights: bool = False) -> Gathered:
    """Open runs, the runs of comparisons and models in the box; evaluate those that lack the evaluation."""
    found = Gathered()
    opened: list[Run] = []
    for word in words:
        if grid := Grid.load(Path(word)):
            found.axes |= dict.fromkeys(grid.axes)
            opened += _finished(found, grid.paths(Path(word)))
        else:
            opened.append(Run.open(word))
    for run in opened:
        with found.surviving(run.path):
            ready = prepared(run, strategy, split)
            if needs_weights:
                ready.load_weights("best")
            found.runs.append(ready)
    return found


def prepared(run: Run, strategy: Strategy, split: str) -> Run:
    """Evaluate a run if it was not yet; damage is found here, not in the middle of a table."""
    assert run.config
    assert run.tokenizers
    run.epochs()
    if stored_name(split, strategy) not in run.evaluations():
        evaluate_run(run, split, [strategy], is_told=True)
    return run


def _finished(found: Gathered, paths: Iterable[Path]) -> list[Run]:
    runs = []
    for path in paths:
        with found.surviving(path):
            if (path / "run.json").is_file() and (run := Run.open(path)).description["status"] == "finished":
                runs.append(run)
            else:
                found.unfinished.append(f"{path}: left out, since its training is not finished.")
                say(found.unfinished[-1])
    return runs
