"""`regard train` and `regard resume`."""

import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.cli.terminal import bar, say

if TYPE_CHECKING:
    from regard.training.session import Session


@click.command()
@click.argument("experiment")
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--run", "path", type=click.Path(path_type=Path), help="Directory to make; default: runs/EXPERIMENT.")
def train(experiment: str, overrides: tuple[str, ...], path: Path | None) -> None:
    """Train a preset or a FILE.toml; `regard list presets` shows what there is."""
    from regard.config import load_config
    from regard.run import free_path

    config = load_config(experiment, overrides)
    path = path or free_path(Path("runs"), Path(experiment).stem)
    train_run(config, path)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
def resume(run: Path) -> None:
    """Go on with an interrupted training; it ends with the same weights as an uninterrupted one."""
    from regard.run import Run
    from regard.training.session import Session

    with interrupts() as stop:
        session = Session.resume(Run.open(run), should_stop=stop.is_set)
        _finish(session) if _watch(session) else None


def train_run(config: "Config", path: Path) -> bool:
    """Train, evaluate and draw; say whether it came to its end."""
    from regard.training.session import Session

    with interrupts() as stop:
        session = Session.begin(config, path, should_stop=stop.is_set)
        for note in session.corpus.notes:
            say(note)
        is_finished = _watch(session)
    if is_finished:
        _finish(session)
    return is_finished
