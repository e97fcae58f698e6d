"""`regard bench`."""

import json
import math
import os
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.bench import Speed
    from regard.config import Config

PARTS = ("training", "decoding", "latency", "sentence", "start")
ON_REQUEST = ("profile",)


@click.command()
@click.argument("experiment", default="homework")
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
@click.option(
    "--only",
    "parts",
    type=click.Choice((*PARTS, *ON_REQUEST)),
    multiple=True,
    help="Measure only this; may be repeated.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(1),
    default=20.0,
    show_default=True,
    help="How long to train, and as long again warmed up.",
)
@click.option("--sentences", type=click.IntRange(1), default=256, show_default=True, help="How many to decode.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def bench(
    experiment: str, overrides: tuple[str, ...], parts: tuple[str, ...], seconds: float, sentences: int, as_json: bool
) -> None:
    """Measure how fast this machine trains and translates with the sizes of EXPERIMENT (a preset or TOML file).

    Sentences are random words with the lengths of image captions, so no data is needed; unless it says how many
    subwords there are, vocabularies have 6,000 words. `sentence` and `start` translate a real sentence with the model
    in the box; `profile`, on request, says what a training step of one thread spends its time on. Training is also
    given as a share of the limit: the time that its matrix products alone would take at the fastest rate of this
    machine, which is measured in the same run. Its speed is given twice, at first and warmed up. Speeds of a busy
    machine mean little: compare figures of one run.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # torch's profiler talks on stderr; read when torch is imported
    from regard.bench import machine
    from regard.cli.terminal import say
    from regard.config import load_config

    if not math.isfinite(seconds):
        raise RegardError(f"--seconds: got {seconds}, want a number of seconds, at least 1.")
    config = load_config(experiment, overrides)
    say(f"Measuring {experiment}; leave the machine alone meanwhile.")
    for speed in _speeds(config, parts or PARTS, seconds=seconds, sentences=sentences):
        if as_json:
            click.echo(json.dumps({"experiment": experiment, **asdict(speed), **machine()}))
            continue
        share = "" if speed.share_of_limit is None else f"  ({speed.share_of_limit:.0%} of the machine's limit)"
        click.echo(f"{speed.what:<36} {speed.value:>10,.2f} {speed.unit}{share}")


def _speeds(config: "Config", parts: tuple[str, ...], *, seconds: float, sentences: int) -> "Iterator[Speed]":
    from regard import bench as measure

    measure.keep_to_threads(config)
    if "training" in parts:
        yield from measure.training(config, seconds=seconds)
    if "profile" in parts:
        yield from measure.profile(config)
    if "decoding" in parts:
        for width in (1, 5, 50):
            yield measure.decoding(config, width=width, sentences=sentences, batch=64)
    if "latency" in parts:
        for width in (1, 5):
            yield measure.latency(config, width=width)
    if "sentence" in parts:
        for width in (1, 5):
            yield measure.sentence(width=width)
    if "start" in parts:
        yield measure.start_up()
