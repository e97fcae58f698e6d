"""Training on a handful of pairs: it learns, it stops, it goes on as if it had not stopped."""

import math
import os
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from regard.config import ModelConfig, TrainConfig
from regard.data.batches import Batch, EncodedPairs
from regard.device import COMPILED
from regard.models.build import build_model
from regard.models.scoring import read_batch
from regard.training import trainer as training
from regard.training.events import Ended, EpochEnded, Event, Stepped
from regard.training.trainer import Checkpoint, Trainer

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


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["decoder.attention.query.weight", "encoder.embedding.weight", "output.weight"])
def test_what_is_not_to_learn_stays_and_the_rest_learns(name: str, precision: str) -> None:
    def begin() -> Trainer:
        trainer = make(precision=precision, ema=0.5, weight_decay=0.1)
        trainer.model.get_parameter(name).requires_grad_(False)
        return Trainer(trainer.model, Pairs(), trainer.config)

    trainer, other = begin(), begin()
    begun = {own: weight.clone() for own, weight in trainer.weights().items()}
    list(trainer.fit())
    kept = trainer.weights()
    assert [own for own in begun if torch.equal(begun[own], kept[own])] == [name]
    other.restore(trainer.checkpoint())
    assert all(torch.equal(weight, kept[own]) for own, weight in other.weights().items())


@pytest.mark.parametrize("clip", [0.0, 0.01, 100.0])
@pytest.mark.parametrize("is_on_the_way", [True, False])
def test_a_step_follows_the_mean_over_tokens_clipped(clip: float, is_on_the_way: bool) -> None:
    trainer = make(clip=clip, label_smoothing=0.1)
    trainer.model.eval()
    for replica in trainer.shares.replicas:
        replica.eval()
    if not is_on_the_way:  # as where torch's optimiser does not divide
        trainer.optimizer.grad_scale = trainer.optimizer.found_inf = None
    batch = Pairs().pairs.batch(np.arange(20))
    features = read_batch(trainer.model, batch).features[batch.is_target]
    targets = batch.target_out[batch.is_target]
    loss = torch.nn.functional.cross_entropy(trainer.model.output(features), targets, label_smoothing=0.1)
    wanted = torch.autograd.grad(loss, trainer.parameters)
    norm = torch.nn.utils.get_total_norm(wanted)
    assert 0.01 < norm < 100
    factor = clip / norm if clip == 0.01 else 1
    trainer.step(batch, 0.01)
    moments = [trainer.optimizer.state[parameter]["exp_avg"] for parameter in trainer.parameters]
    torch.testing.assert_close(moments, [0.1 * factor * gradient for gradient in wanted], atol=1e-8, rtol=1e-4)


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


class SlowPairs(Pairs):
    """Pairs that take time to sample, and that count how often they are."""

    def __init__(self, clock: list[float], seconds: float) -> None:
        super().__init__()
        self.clock, self.seconds, self.asked = clock, seconds, []  # type: ignore[var-annotated]

    def epoch(self, number: int) -> EncodedPairs:
        self.clock[0] += self.seconds
        self.asked.append(number)
        return self.pairs


def timed(
    monkeypatch: pytest.MonkeyPatch,
    *,
    sampling: float = 3,
    validating: float = 2,
    storing: float = 1,
    **changes: object,
) -> tuple[Trainer, SlowPairs, list[Event]]:
    """Train by a clock that is told how long everything takes; a step takes half a second."""
    clock = [0.0]
    monkeypatch.setattr(training, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    trainer, pairs = make(**changes), SlowPairs(clock, sampling)
    trainer.data = pairs
    step, validate, events = trainer.step, trainer.validate, []

    def slow_step(batch: Batch, learning_rate: float) -> tuple[float, int]:
        clock[0] += 0.5
        return step(batch, learning_rate)

    def slow_validate() -> float:
        clock[0] += validating
        return validate()

    monkeypatch.setattr(trainer, "step", slow_step)
    monkeypatch.setattr(trainer, "validate", slow_validate)
    for event in trainer.fit():
        events.append(event)
        clock[0] += storing if isinstance(event, EpochEnded) else 0
    assert events[-1].seconds == clock[0]  # type: ignore[attr-defined]
    return trainer, pairs, events


def test_the_clock_counts_sampling_validation_and_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    _, pairs, events = timed(monkeypatch, epochs=3)
    steps = sum(isinstance(event, Stepped) for event in events)
    assert events[-1] == Ended("finished", 3, steps, 3 * (3 + 2 + 1) + 0.5 * steps)
    assert pairs.asked == [1, 2, 3]
    assert {event.tokens_per_second for event in epochs(events)} == {
        sum(pairs.pairs.target.lengths) / (0.5 * steps / 3)
    }


@pytest.mark.parametrize("sampling", [0.0, 3.0])
def test_a_budget_is_used_up_and_not_overdrawn_however_few_the_data(
    sampling: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"epochs": 0, "minutes": 2, "schedule": "linear", "warmup_steps": 1000}
    trainer, pairs, events = timed(monkeypatch, sampling=sampling, **changes)
    assert isinstance(events[-1], Ended)
    assert events[-1].reason == "finished"
    assert 110 < events[-1].seconds <= 120.5  # as far as the step in hand
    assert len(epochs(events)) > 10
    assert pairs.asked == list(range(1, len(epochs(events)) + 1))
    rates = [(event.progress, event.learning_rate) for event in events if isinstance(event, Stepped)]
    assert rates[0][1] < 0.1 * trainer.config.learning_rate
    assert max(rates, key=lambda each: each[1])[0] == pytest.approx(0.1, abs=0.05)
    assert max(rate for _, rate in rates) > 0.85 * trainer.config.learning_rate
    assert rates[-1][1] < 0.1 * trainer.config.learning_rate


def test_the_first_validation_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, events = timed(monkeypatch, sampling=0, validating=1, storing=0, epochs=0, minutes=2.5 / 60, batch=8)
    assert len(epochs(events)) == 1
    assert epochs(events)[0].step < 8
    assert events[-1].seconds <= 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(("stop_after", "epoch"), [(1, 1), (4, 1), (5, 2), (99, 3)])
def test_the_end_names_the_epoch_it_came_in(stop_after: int, epoch: int) -> None:
    steps = 0
    trainer = make(should_stop=lambda: steps >= stop_after)
    for event in trainer.fit():
        steps += isinstance(event, Stepped)
    assert isinstance(event, Ended)
    assert event.epoch == epoch
    trainer.should_stop = lambda: False
    *_, again = trainer.fit()
    assert isinstance(again, Ended)
    assert again.epoch == 3


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


def test_it_asks_for_compiled_products_to_be_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "7")
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY")
    make()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == str(COMPILED)


def test_a_checkpoint_is_not_changed_by_those_who_go_on_from_it() -> None:
    begun = make(epochs=1, ema=0.9)
    list(begun.fit())
    stored, ends = begun.checkpoint(), []
    tensors = {name: tensor.clone() for name, tensor in stored.tensors.items()}
    for _ in range(2):
        trainer = make(ema=0.9)
        trainer.restore(Checkpoint(tensors, stored.progress.replace('"finished"', '""')))
        list(trainer.fit())
        ends.append(trainer.weights())
    assert not torch.equal(ends[0]["output.bias"], tensors["average.output.bias"])
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])
