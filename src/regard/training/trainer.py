"""The training itself: `Trainer.fit` yields events and keeps a state that can be stored and taken up again."""

import json
import math
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch

from regard.config import TrainConfig
from regard.data.batches import Batch, EncodedPairs, Ints, plan
from regard.device import choose_device, choose_precision, keep_freed_memory
from regard.errors import RegardError
from regard.models.scoring import token_log_probs
from regard.models.seq2seq import Seq2Seq
from regard.training.events import Began, Ended, EpochEnded, Event, Stepped
from regard.training.schedule import rate
from regard.training.shares import Shares
from regard.types import Tensor


@runtime_checkable
class TrainingData(Protocol):
    """Encoded pairs to learn from and to validate on."""

    def epoch(self, number: int) -> EncodedPairs:
        """Return the training pairs as this epoch sees them."""
        ...

    @property
    def validation(self) -> EncodedPairs:
        """Return the validation pairs."""
        ...


@dataclass
class Progress:
    """Where a training stands; stored with every checkpoint."""

    epoch: int = 1
    batch: int = 0
    """Batches of the epoch already done."""
    step: int = 0
    seconds: float = 0.0
    nats: float = 0.0
    """Training loss of the epoch so far."""
    tokens: int = 0
    epoch_seconds: float = 0.0
    best: float = math.inf
    best_epoch: int = 0
    end: str = ""
    """Why the training is over, if it is."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """All that is needed to go on as if nothing had happened."""

    tensors: dict[str, Tensor]
    progress: str
    """Progress as JSON."""


class Trainer:
    """Trains a model. Same model, data, seed and machine: same weights, interrupted or not."""

    def __init__(
        self,
        model: Seq2Seq,
        data: TrainingData,
        config: TrainConfig,
        *,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.config = config
        self.data = data
        self.should_stop = should_stop
        self.device = choose_device(config.device)
        self.precision = choose_precision(config.precision, self.device)
        self.model = model.to(self.device)
        self.names = [name for name, _ in self.model.named_parameters()]
        self.parameters = list(self.model.parameters())
        self.average = [p.detach().clone() for p in self.parameters] if config.ema else []
        self.optimizer = torch.optim.AdamW(
            self.parameters,
            lr=config.learning_rate,
            betas=(0.9, config.beta2),
            weight_decay=config.weight_decay,
            fused=True,
        )
        self.shares = Shares(
            self.model,
            threads=config.threads or torch.get_num_threads(),
            precision=self.precision,
            smoothing=config.label_smoothing,
            seed=config.seed,
            device=self.device,
        )
        self.progress = Progress()
        self._reserve = 0.0

    def fit(self) -> Iterator[Event]:
        """Train to the end, or until told to stop; a consumer of the events may store a checkpoint at any of them."""
        keep_freed_memory()
        if self.config.threads:
            torch.set_num_threads(self.config.threads)
        yield self._began()
        reason = self.progress.end  # a training killed after its last checkpoint has only to say so
        while not reason:
            reason = yield from self._epoch()
        yield Ended(reason, self.progress.epoch, self.progress.step, self.progress.seconds)

    def weights(self) -> dict[str, Tensor]:
        """Return the weights to evaluate and keep: the average where there is one."""
        kept = self.average or [p.detach() for p in self.parameters]
        return dict(zip(self.names, kept, strict=True))

    def checkpoint(self) -> Checkpoint:
        """Return everything that `restore` needs."""
        tensors = {f"model.{n}": p.detach() for n, p in zip(self.names, self.parameters, strict=True)}
        tensors |= {f"average.{n}": p for n, p in zip(self.names, self.average, strict=False)}
        for index, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{key}": value for key, value in state.items()}
        return Checkpoint(tensors, json.dumps(asdict(self.progress)))

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back to where the checkpoint was taken."""
        tensors = checkpoint.tensors
        with torch.no_grad():
            for name, parameter in zip(self.names, self.parameters, strict=True):
                parameter.copy_(tensors[f"model.{name}"])
            for name, average in zip(self.names, self.average, strict=False):
                average.copy_(tensors[f"average.{name}"])
        state: dict[int, dict[str, Tensor]] = {}
        for key, value in tensors.items():
            if key.startswith("optimizer."):
                _, index, name = key.split(".", 2)
                state.setdefault(int(index), {})[name] = value
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": state, "param_groups": groups})
        self.progress = Progress(**json.loads(checkpoint.progress))

    def _began(self) -> Began:
        pairs = self.data.epoch(self.progress.epoch)
        rows = pairs.within(self.config.max_length)
        if not len(rows):
            longest = self.config.max_length
            raise RegardError(f"train.max_length: got {longest}, which leaves none of the {len(pairs)} training pairs.")
        return Began(
            step=self.progress.step,
            epoch=self.progress.epoch,
            parameters=sum(p.numel() for p in self.parameters),
            training_pairs=len(rows),
            left_out=len(pairs) - len(rows),
            steps_per_epoch=len(self._plan(pairs, self.progress.epoch)),
            device=str(self.device),
            precision=str(self.precision).removeprefix("torch."),
            threads=torch.get_num_threads(),
        )

    def _plan(self, pairs: EncodedPairs, epoch: int) -> list[Ints]:
        generator = np.random.default_rng((self.config.seed, epoch))
        rows = pairs.within(self.config.max_length)
        return plan(pairs, rows, size=self.config.batch, unit=self.config.batch_unit, generator=generator)

    def _epoch(self) -> Generator[Event, None, str]:
        at = self.progress
        pairs = self.data.epoch(at.epoch)
        batches = self._plan(pairs, at.epoch)
        clock = time.perf_counter()
        while at.batch < len(batches):
            batch = pairs.batch(batches[at.batch])
            done = self._share_done(len(batches))
            learning_rate = self._rate(done)
            nats, tokens = self.step(batch, learning_rate)
            if not math.isfinite(nats):
                return "diverged"
            now = time.perf_counter()
            at.batch, at.step = at.batch + 1, at.step + 1
            at.nats, at.tokens = at.nats + nats, at.tokens + tokens
            at.seconds, at.epoch_seconds, clock = at.seconds + now - clock, at.epoch_seconds + now - clock, now
            yield Stepped(
                step=at.step,
                epoch=at.epoch,
                progress=done,
                nats_per_token=nats / tokens,
                learning_rate=learning_rate,
                target_tokens=tokens,
                tokens_per_second=at.tokens / at.epoch_seconds,
                seconds=at.seconds,
            )
            clock = time.perf_counter()
            if self._share_done(len(batches)) >= 1:
                break
            if self.should_stop():
                return "interrupted"
        ended = self._end_epoch(len(batches))
        if not math.isfinite(ended.validation_nats_per_token):
            return "diverged"
        yield ended
        return at.end or ("interrupted" if self.should_stop() else "")

    def _share_done(self, batches: int) -> float:
        at = self.progress
        done = (at.epoch - 1 + at.batch / batches) / self.config.epochs
        if self.config.minutes:
            done = max(done, (at.seconds + self._reserve) / (60 * self.config.minutes))
        return min(1.0, done)

    def _rate(self, done: float) -> float:
        config = self.config
        return rate(
            config.schedule,
            highest=config.learning_rate,
            progress=done,
            step=self.progress.step + 1,
            warmup=config.warmup_steps,
        )

    def step(self, batch: Batch, learning_rate: float) -> tuple[float, int]:
        """Learn from one batch; return its loss in nats and its target tokens. A loss of NaN changes nothing."""
        gradient = self.shares.gradient(batch, step=self.progress.step)
        tokens = batch.target_tokens
        for parameter, tensor in zip(self.parameters, gradient.tensors, strict=True):
            parameter.grad = tensor
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, self.config.clip or math.inf, foreach=True)
        if not math.isfinite(gradient.nats) or not norm.isfinite():
            return math.nan, tokens
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        self.optimizer.step()
        if self.average:
            # A young average would remember the random start: let it follow closely at first.
            decay = min(self.config.ema, (1 + self.progress.step) / (10 + self.progress.step))
            with torch.no_grad():
                torch._foreach_lerp_(self.average, [p.detach() for p in self.parameters], 1 - decay)
        return gradient.nats, tokens

    def _end_epoch(self, batches: int) -> EpochEnded:
        at = self.progress
        clock = time.perf_counter()
        validation = self.validate()
        self._reserve = time.perf_counter() - clock
        at.seconds += self._reserve
        is_best = validation < at.best
        if is_best:
            at.best, at.best_epoch = validation, at.epoch
        event = EpochEnded(
            epoch=at.epoch,
            step=at.step,
            train_nats_per_token=at.nats / max(1, at.tokens),
            validation_nats_per_token=validation,
            is_best=is_best,
            learning_rate=self._rate(self._share_done(batches)),
            tokens_per_second=at.tokens / max(1e-9, at.epoch_seconds),
            seconds=at.seconds,
        )
        at.end = self._end_reason(self._share_done(batches))
        at.epoch, at.batch, at.nats, at.tokens, at.epoch_seconds = at.epoch + 1, 0, 0.0, 0, 0.0
        return event

    def _end_reason(self, share_done: float) -> str:
        at, patience = self.progress, self.config.patience
        if share_done >= 1:
            return "finished"
        return "patience" if patience and at.epoch - at.best_epoch >= patience else ""

    def validate(self) -> float:
        """Return the validation loss of the weights to keep, in nats per token."""
        pairs = self.data.validation
        rows = pairs.within(10**9)
        self.model.eval()
        nats, tokens = 0.0, 0
        with self._averaged():
            for chosen in plan(pairs, rows, size=64, unit="sentences"):
                batch = pairs.batch(chosen).to(self.device)
                log_probs, _ = token_log_probs(self.model, batch, precision=self.precision)
                nats -= float(log_probs.double().sum())
                tokens += batch.target_tokens
        return nats / max(1, tokens)

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        trained = [p.detach().clone() for p in self.parameters] if self.average else []
        with torch.no_grad():
            for parameter, average in zip(self.parameters, self.average, strict=False):
                parameter.copy_(average)
        yield
        with torch.no_grad():
            for parameter, kept in zip(self.parameters, trained, strict=False):
                parameter.copy_(kept)
