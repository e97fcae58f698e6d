"""Runs that are trained in a second, for tests of what reads them."""

from pathlib import Path

from regard.config import load_config
from regard.data.vocabulary import EOS
from regard.evaluate import Evaluator
from regard.run import Run
from regard.search.strategy import Strategy
from regard.training.session import Session

REVERSE = (
    "data.max_length=6", "data.train=200", "data.validation=20", "data.test=30", "model.embedding=8", "model.hidden=12",
    "model.encoder_hidden=12", "train.epochs=2", "train.threads=1", "train.precision=float32",
)  # fmt: skip
SCENES = (
    "data.train=150", "data.validation=20", "data.test=25", "model.embedding=8", "model.hidden=12", "model.readout=8",
    "model.encoder_hidden=12", "model.attention_size=12", "train.epochs=2", "train.threads=1",
    "train.precision=float32",
)  # fmt: skip


def make_run(path: Path, preset: str, *overrides: str, is_evaluated: bool = True) -> Run:
    small = {"reverse": REVERSE, "scenes": SCENES}[preset]
    session = Session.begin(load_config(preset, [*small, *overrides]), path)
    for _ in session.fit():
        pass
    _make_talkative(session.run)
    if is_evaluated:
        evaluation = Evaluator(session.run, "test").evaluate(Strategy())
        session.run.save_evaluation(evaluation.name, evaluation.to_json())
    return session.run


def _make_talkative(run: Run) -> None:
    """Let hypotheses end late: a model that knows nothing yet would prefer to say nothing."""
    weights, metadata = run.load_weights()
    weights["output.bias"][EOS] -= 2
    run.save_weights(weights, **metadata)
