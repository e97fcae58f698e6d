"""Training on a handful of pairs: it learns, it stops, it goes on as if it had not stopped."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from regard.config import ModelConfig, TrainConfig
from regard.data.batches import EncodedPairs
from regard.models.build import build_model
from regard.training.events import Ended, EpochEnded, Event, Stepped
from regard.training.trainer import Trainer

MODEL = ModelConfig(embedding=8, encoder_hidden=6, hidden=10, attention_size=7, dropout=0.2)


class Pairs:
    """Copy a short string of tokens."""

    def __init__(self) -> None:
        random = np.random.default_rng(1)
        texts = [random.integers(4, 9, size=random.integers(1, 6)).tolist() for _ in range(60)]
        self.pairs = EncodedPairs.of(texts, texts)

    def epoch(self, number: int) -> EncodedPairs:
        return self.pairs

    @property
    def validation(self) -> EncodedPairs:
        return self.pairs


def make(*, should_stop: Callable[[], bool] = lambda: False, **changes: object) -> Trainer:
    config = TrainConfig(**({"epochs": 3, "batch": 16, "device": "cpu", "precision": "float32"} | changes))
    torch.manual_seed(config.seed)
    return Trainer(build_model(MODEL, source_words=9, target_words=9), Pairs(), config, should_stop=should_stop)


def epochs(events: list[Event]) -> list[EpochEnded]:
    return [event for event in events if isinstance(event, EpochEnded)]


def test_it_learns() -> None:
    events = epochs(list(make(epochs=25, learning_rate=0.01).fit()))
    assert events[-1].validation_nats_per_token < 0.5 * events[0].validation_nats_per_token
    assert events[-1].train_nats_per_token < events[0].train_nats_per_token


def test_the_same_seed_gives_the_same_weights() -> None:
    first, second, other = make(), make(), make(seed=2)
    for trainer in (first, second, other):
        list(trainer.fit())
    assert all(torch.equal(a, b) for a, b in zip(first.parameters, second.parameters, strict=True))
    assert not torch.equal(first.parameters[0], other.parameters[0])


@pytest.mark.parametrize("stop_after", [1, 4, 6])
@pytest.mark.parametrize("changes", [{}, {"ema": 0.9, "schedule": "linear", "warmup_steps": 3, "weight_decay": 0.1}])
def test_a_resumed_training_ends_with_the_same_weights(stop_after: int, changes: dict[str, object]) -> None:
    whole = make(**changes)
    wanted = epochs(list(whole.fit()))
    steps = 0

    def should_stop() -> bool:
        return steps >= stop_after

    begun = make(should_stop=should_stop, **changes)
    before = []
    for event in begun.fit():
        before.append(event)
        steps += isinstance(event, Stepped)
    assert isinstance(before[-1], Ended)
    assert before[-1].reason == "interrupted"
    checkpoint = begun.checkpoint()
    torch.manual_seed(99)
    resumed = make(**changes)
    resumed.restore(checkpoint)
    after = list(resumed.fit())
    for one, other in zip(resumed.parameters, whole.parameters, strict=True):
        assert torch.equal(one, other)
    for one, other in zip(resumed.average, whole.average, strict=True):
        assert torch.equal(one, other)
    losses = [(e.epoch, e.train_nats_per_token, e.validation_nats_per_token) for e in epochs(before + after)]
    assert losses == [(e.epoch, e.train_nats_per_token, e.validation_nats_per_token) for e in wanted]


def test_patience_ends_a_training_that_no_longer_gets_better() -> None:
    events = list(make(epochs=50, learning_rate=1e-9, clip=0.0, patience=2).fit())
    assert isinstance(events[-1], Ended)
    assert events[-1].reason == "patience"
    assert len(epochs(events)) == max(e.epoch for e in epochs(events) if e.is_best) + 2


def test_a_loss_that_is_not_a_number_stops_before_it_spoils_the_weights() -> None:
    trainer = make()
    with torch.no_grad():
        trainer.model.output.bias[5] = math.nan
    events = list(trainer.fit())
    assert isinstance(events[-1], Ended)
    assert events[-1].reason == "diverged"
    assert trainer.progress.step == 0
    assert sum(int(p.isnan().sum()) for p in trainer.parameters) == 1


def test_a_time_budget_ends_the_training_and_the_schedule() -> None:
    trainer = make(epochs=10_000, minutes=0.03, schedule="linear")
    events = list(trainer.fit())
    rates = [event.learning_rate for event in events if isinstance(event, Stepped)]
    assert isinstance(events[-1], Ended)
    assert events[-1].reason == "finished"
    assert events[-1].seconds < 60 * 0.03 + 1
    assert rates[0] > 0.9e-3
    assert rates[-1] < 0.1e-3


def test_the_average_is_what_is_kept_and_the_trained_weights_stay() -> None:
    trainer = make(ema=0.9)
    list(trainer.fit())
    kept = trainer.weights()
    assert set(kept) == set(trainer.names)
    name, parameter = trainer.names[0], trainer.parameters[0]
    assert not torch.equal(kept[name], parameter)
    before = [p.clone() for p in trainer.parameters]
    trainer.validate()
    assert all(torch.equal(a, b) for a, b in zip(before, trainer.parameters, strict=True))
