"""The training itself: `Trainer.fit` yields events and keeps a state that can be stored and taken up again."""

import json
import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch

from regard.config import TrainConfig
from regard.data.batches import Batch, EncodedPairs, Ints, plan
from regard.device import choose_device, choose_precision, keep_compiled_products, keep_freed_memory
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
    began: float = 0.0
    """Seconds before the first step, for encoding and sampling."""
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


class DividingAdamW(torch.optim.AdamW):
    """Fused AdamW that divides gradients on the way, for the mean per token and for clipping: a pass less over them.

    torch looks for both attributes, which others set for gradients that were enlarged.
    """

    grad_scale: Tensor | None = None
    """What gradients are divided by."""
    found_inf: Tensor | None = None
    """Whether the step is to be left out."""

    def __init__(self, parameters: Sequence[Tensor], **options: Any) -> None:
        super().__init__(parameters, fused=True, **options)
        device = parameters[0].device
        if device.type in ("cpu", "cuda"):  # elsewhere (MPS before torch 2.13) both are ignored
            self.grad_scale, self.found_inf = torch.ones((), device=device), torch.zeros((), device=device)

    def step_after_division(self, gradients: tuple[Tensor, ...], divisor: float) -> None:
        """Take a step with the gradients, which are of no use afterwards."""
        if self.grad_scale is None:
            torch._foreach_div_(gradients, divisor)
        else:
            self.grad_scale.fill_(divisor)
        for parameter, gradient in zip(self.param_groups[0]["params"], gradients, strict=True):
            parameter.grad = gradient
        self.step()


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
        keep_compiled_products()
        keep_freed_memory()
        self.config = config
        self.data = data
        self.should_stop = should_stop
        self.device = choose_device(config.device)
        self.precision = choose_precision(config.precision, self.device)
        self.model = model.to(self.device)
        self.names = [name for name, _ in self.model.named_parameters()]
        self.parameters = list(self.model.parameters())
        self.average = [p.detach().clone() for p in self.parameters] if config.ema else []
        self.shares = Shares(
            self.model,
            threads=config.threads or torch.get_num_threads(),
            precision=self.precision,
            smoothing=config.label_smoothing,
            seed=config.seed,
            device=self.device,
        )
        self.optimizer = DividingAdamW(
            self.shares.learning,
            lr=config.learning_rate,
            betas=(0.9, config.beta2),
            weight_decay=config.weight_decay,
        )
        self.progress = Progress()
        self._clock = time.perf_counter()
        self._sampling = 0.0
        self._closing: float | None = None

    def fit(self) -> Iterator[Event]:
        """Train to the end, or until told to stop; a consumer of the events may store a checkpoint at any of them."""
        if self.config.threads:
            torch.set_num_threads(self.config.threads)
        self._clock = time.perf_counter()
        pairs = self._sample()
        yield self._began(pairs)
        epoch, reason = self.progress.epoch - 1, self.progress.end
        while not reason:  # a training killed after its last checkpoint has only to say so
            epoch = self.progress.epoch
            reason = yield from self._epoch(pairs)
            if not reason:
                pairs = self._sample()
        self._tick()
        yield Ended(reason, epoch, self.progress.step, self.progress.seconds)

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

    def misfit(self, checkpoint: Checkpoint) -> str:
        """Name a tensor that only one of the two has, or in another shape; nothing where the checkpoint fits."""
        own, stored = (
            {name: tensor.shape for name, tensor in tensors.items() if not name.startswith("optimizer.")}
            for tensors in (self.checkpoint().tensors, checkpoint.tensors)
        )
        differing = (name for name in (*own, *sorted(stored)) if stored.get(name) != own.get(name))
        return next(differing, "").partition(".")[2]

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
                state.setdefault(int(index), {})[name] = value.clone()  # the optimiser changes it in place
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": state, "param_groups": groups})
        self.progress = Progress(**json.loads(checkpoint.progress))

    def _tick(self) -> float:
        """Count the time since the last tick, whatever it was spent on, and return it."""
        now = time.perf_counter()
        passed, self._clock = now - self._clock, now
        self.progress.seconds += passed
        return passed

    def _sample(self) -> EncodedPairs:
        self._tick()
        pairs = self.data.epoch(self.progress.epoch)
        self._sampling = self._tick()
        return pairs

    def _began(self, pairs: EncodedPairs) -> Began:
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

    def _epoch(self, pairs: EncodedPairs) -> Generator[Event, None, str]:
        at = self.progress
        batches = self._plan(pairs, at.epoch)
        self._tick()
        at.began = at.began if at.step else at.seconds
        while at.batch < len(batches):
            batch = pairs.batch(batches[at.batch])
            done = self._share_done(len(batches))
            learning_rate = self._rate(done)
            nats, tokens = self.step(batch, learning_rate)
            if not math.isfinite(nats):
                return "diverged"
            at.batch, at.step = at.batch + 1, at.step + 1
            at.nats, at.tokens = at.nats + nats, at.tokens + tokens
            at.epoch_seconds += self._tick()
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
            self._tick()
            if self._share_done(len(batches)) >= 1:
                at.end = "finished"
                break
            if self.should_stop():
                return "interrupted"
        ended = self._end_epoch(len(batches))
        if not math.isfinite(ended.validation_nats_per_token):
            return "diverged"
        yield ended
        assert self._closing is not None
        self._closing += self._tick()  # whoever stores a checkpoint does it meanwhile
        return at.end or ("interrupted" if self.should_stop() else "")

    def _share_done(self, batches: int, *, coming: float = 0.0) -> float:
        """Return how far training is, by epochs or by the clock, whichever is further; ``coming`` seconds are spent."""
        at, config = self.progress, self.config
        done = (at.epoch - 1 + at.batch / batches) / config.epochs if config.epochs else 0.0
        if config.minutes:
            left = 60 * config.minutes - self._expected_closing() - at.began
            done = max(done, (at.seconds + coming - at.began) / max(left, 1e-9))
        return min(1.0, done)

    def _expected_closing(self) -> float:
        """Return the seconds that validation and checkpoint will take: as last time, or half of what training would."""
        if self._closing is not None:
            return self._closing
        tokens = int(self.data.validation.target.starts[-1])
        return 0.5 * tokens * self.progress.epoch_seconds / max(1, self.progress.tokens)

    def _rate(self, done: float) -> float:
        config, step = self.config, self.progress.step + 1
        warmup = config.warmup_steps
        if config.minutes and done:
            warmup = min(warmup, math.ceil(step / done / 10))  # a tenth of the steps that the time will allow
        return rate(config.schedule, highest=config.learning_rate, progress=done, step=step, warmup=warmup)

    def step(self, batch: Batch, learning_rate: float) -> tuple[float, int]:
        """Learn from one batch; return its loss in nats and its target tokens. A loss of NaN changes nothing."""
        gradient = self.shares.gradient(batch, step=self.progress.step)
        tokens = batch.target_tokens
        norm = float(torch.nn.utils.get_total_norm(gradient.tensors, foreach=True)) / tokens
        if not math.isfinite(gradient.nats) or not math.isfinite(norm):
            return math.nan, tokens
        excess = max(1.0, norm / self.config.clip) if self.config.clip else 1.0
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        self.optimizer.step_after_division(gradient.tensors, tokens * excess)
        if self.average:
            # A young average would remember the random start: let it follow closely at first.
            decay = min(self.config.ema, (1 + self.progress.step) / (10 + self.progress.step))
            with torch.no_grad():
                torch._foreach_lerp_(self.average, [p.detach() for p in self.parameters], 1 - decay)
        return gradient.nats, tokens

    def _end_epoch(self, batches: int) -> EpochEnded:
        at = self.progress
        self._tick()
        validation = self.validate()
        self._closing = self._tick()
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
        at.end = at.end or self._end_reason(self._share_done(batches, coming=self._sampling))
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
