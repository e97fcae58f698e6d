"""`regard train` and `regard resume`."""

import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.cli import INTERRUPTED
from regard.cli.terminal import bar, say
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.config import Config
    from regard.data.corpus import Corpus
    from regard.run import Run
    from regard.training.events import Began, Ended, EpochEnded, Stepped
    from regard.training.session import Session


@click.command()
@click.argument("experiment")
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--run", "path", type=click.Path(path_type=Path), help="Directory to make; default: runs/EXPERIMENT.")
@click.option(
    "--teachers",
    type=click.IntRange(1),
    metavar="N",
    help="First train N models of each direction, then learn from their translations of the training data as well.",
)
def train(experiment: str, overrides: tuple[str, ...], path: Path | None, teachers: int | None) -> None:
    """Train a preset or a FILE.toml, then score it and draw its attention.

    EXPERIMENT is a name from `regard list presets` or a file. KEY=VALUE changes the configuration, for example
    model.attention=additive train.minutes=5; `regard list keys` shows every key.

    Teachers are kept in a directory beside the run, RUN-teachers. Where the command was stopped before they had done,
    the same command goes on; after that `regard resume RUN` does.
    """
    from regard.config import load_config
    from regard.disk import lock
    from regard.run import Run, free_path

    config = load_config(experiment, overrides)
    if teachers and not path:
        _refuse_taught(Path("runs"), Path(experiment).stem)
    path = path or free_path(Path("runs"), Path(experiment).stem)
    Run.refuse_existing(path)
    with lock(path):
        if teachers:
            from regard.cli.teachers import taught

            config = taught(experiment, overrides, path, count=teachers)
        if not train_run(config, path):
            raise SystemExit(INTERRUPTED)


def _refuse_taught(folder: Path, name: str) -> None:
    """Keep a pupil that is not finished from being begun anew under another name, with new teachers."""
    from regard.run import Run, taken_paths

    for pupil in taken_paths(folder, name):
        if pupil.with_name(f"{pupil.name}-teachers").is_dir() and Run(pupil).is_unfinished():
            Run.refuse_existing(pupil)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
def resume(run: Path) -> None:
    """Go on with an interrupted training; it ends with the same weights as an uninterrupted one."""
    from regard.disk import lock
    from regard.run import Run

    Run.open(run)
    with lock(run):
        if not resume_run(run):
            raise SystemExit(INTERRUPTED)


def resume_run(path: Path) -> bool:
    """Train to the end from the last checkpoint, then score and draw; say whether it came so far."""
    from regard.data.corpus import load_corpus
    from regard.run import Run
    from regard.training.session import Session

    run = Run.open(path)
    run.sweep()
    if run.lacks_results():
        return show_results(run, load_corpus(run.config.data, tokens=run.config.tokenizer.kind))
    with interrupts() as stop:
        session = Session.resume(run, should_stop=stop.is_set)
        is_finished = watch(session)
    return is_finished and show_results(run, session.corpus)


def train_run(config: "Config", path: Path) -> "Session | None":
    """Train, score and draw; return the session if it came to the end of all that."""
    from regard.training.session import Session

    with interrupts() as stop:
        say(
            f"corpus {config.data.corpus}, attention {config.model.attention}, decoder {config.model.decoder} -> {path}"
        )
        session = Session.begin(config, path, should_stop=stop.is_set)
        for note in session.notes:
            say(note)
        is_finished = watch(session)
    return session if is_finished and show_results(session.run, session.corpus) else None


@contextmanager
def interrupts() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into a request to stop after the current step; a second one stops at once."""
    stop = threading.Event()
    before = signal.getsignal(signal.SIGINT)

    def ask(*_: object) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)
        say("stopping after this step ...")

    signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def watch(session: "Session") -> bool:
    """Show a training as it goes; say whether it came to its end."""
    from regard.training.events import Began, Ended, EpochEnded, Stepped

    is_finished = False
    with bar(counts=False) as progress:
        task = progress.add_task("training", total=1.0, note="")
        for event in session.fit():
            if isinstance(event, Began):
                say(_opening(event))
            elif isinstance(event, Stepped):
                progress.update(task, completed=event.progress, note=_now(event))
            elif isinstance(event, EpochEnded):
                say(_epoch(event))
            elif isinstance(event, Ended):
                is_finished = _close(event, session)
    return is_finished


def _opening(event: "Began") -> str:
    left_out = f" ({event.left_out:,} empty or too long left out)" if event.left_out else ""
    return (
        f"{event.parameters:,} parameters, {event.training_pairs:,} pairs{left_out}, {event.steps_per_epoch:,} steps "
        f"an epoch, {event.precision} on {event.device}, {event.threads} thread{'s' * (event.threads != 1)}"
    )


def _now(event: "Stepped") -> str:
    loss = event.nats_per_token
    speed = f"{event.tokens_per_second:,.0f} tokens/s"
    return f"step {event.step} epoch {event.epoch} loss {loss:.3f} ppl {math.exp(min(loss, 50)):.2f} {speed}"


def _epoch(event: "EpochEnded") -> str:
    validation = event.validation_nats_per_token
    return (
        f"epoch {event.epoch:>3}  training loss {event.train_nats_per_token:.3f}  validation loss {validation:.3f} "
        f"(perplexity {math.exp(min(validation, 50)):.2f})  {event.tokens_per_second:,.0f} tokens/s  "
        f"{event.seconds:,.0f} s{'  best so far' if event.is_best else ''}"
    )


def _close(event: "Ended", session: "Session") -> bool:
    path = session.run.path
    if event.reason == "interrupted":
        say(f"stopped at step {event.step}; go on with: regard resume {path}")
    elif event.reason == "diverged":
        raise RegardError(
            f"{path}: the loss after step {event.step} is not a number; what was stored before is kept. "
            "Try a lower train.learning_rate."
        )
    elif event.reason == "patience":
        say(f"no lower validation loss for {session.run.config.train.patience} epochs: done")
    return event.reason in ("finished", "patience")


def show_results(run: "Run", corpus: "Corpus") -> bool:
    """Score the test split with greedy search, print samples and draw attention; say whether it was let do all that."""
    try:
        _show_results(run, corpus)
    except KeyboardInterrupt:
        say(f"stopped; the model is trained, and this makes its scores and diagrams: regard resume {run.path}")
        return False
    return True


def _show_results(run: "Run", corpus: "Corpus") -> None:
    from regard.cli.evaluate import evaluate_run, print_scores
    from regard.pictures.examples import EXAMPLES, save_examples
    from regard.search.strategy import Strategy

    (evaluation,) = evaluate_run(run, "test", [Strategy()])
    print_scores([evaluation])
    for translation, reference in list(zip(evaluation.translations, evaluation.references, strict=True))[:3]:
        say(f"\n  source      {translation.source}\n  translation {translation.text}\n  reference   {reference}")
    with bar() as progress:
        task = progress.add_task("drawing", total=EXAMPLES, note="")
        for _ in save_examples(evaluation, corpus, run.examples):
            progress.advance(task)
    say(f"\n{len(list(run.examples.glob('*.png')))} attention diagrams in {run.examples}")
