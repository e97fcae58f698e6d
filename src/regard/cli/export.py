"""`regard export`."""

from pathlib import Path

import click

from regard.cli.terminal import say


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("directory", type=click.Path(path_type=Path))
def export(run: Path, directory: Path) -> None:
    """Copy RUN into a new DIRECTORY that is small enough to give away.

    Weights take one byte each; log, checkpoints and example pictures stay behind. The copy translates like any run, and
    cannot be trained further. Prints where it is.
    """
    from regard.run import Run

    copy = Run.open(run).export(directory)
    size = sum(file.stat().st_size for file in copy.path.rglob("*") if file.is_file())
    click.echo(copy.path)
    say(f"{size / 1e6:.1f} MB")
