"""`regard demo`."""

from pathlib import Path

import click

from regard.cli import INTERRUPTED
from regard.cli.terminal import say

MINUTES = 2.75
"""Longest training, on a slow or busy machine: the whole demo should take less than four."""


@click.command()
@click.option("--run", "path", type=click.Path(path_type=Path), help="Directory to make; default: runs/demo.")
def demo(path: Path | None) -> None:
    """Train a small German-to-English translator, score it and draw its attention; needs no download."""
    from regard.cli.train import train_run
    from regard.config import load_config
    from regard.disk import lock
    from regard.run import free_path
    from regard.translate import load

    epochs = load_config("scenes").train.epochs
    config = load_config("scenes", [f"train.minutes={MINUTES}", f"train.epochs={epochs}"])
    path = path or free_path(Path("runs"), "demo")
    with lock(path):
        session = train_run(config, path)
    if session is None:
        raise SystemExit(INTERRUPTED)
    run, sentence = session.run.path, session.corpus["test"].sources[0]
    say(f"\nTranslate a sentence:\n  {sentence}\n  {load(run).translate(sentence).text}")
    say(
        "\nWhat to try next:\n"
        f'  echo "{sentence}" | regard translate {run}    translate\n'
        f"  regard evaluate {run} --beam 1 5 10      does a wider beam help?\n"
        "  regard train scenes model.attention=none      the same without attention\n"
        "  regard train reverse                          reverse strings: the attention map is an anti-diagonal\n"
        "  regard train homework                         the homework's translator on Multi30k (downloads 1.3 MB)\n"
        "  regard list attention                         seven mechanisms to choose from"
    )
