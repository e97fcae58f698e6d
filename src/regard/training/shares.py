"""One training step, shared out among threads: each computes the gradient of some of the batch's sentences."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from regard.data.batches import Batch
from regard.device import thread_pool, workers
from regard.models.dropout import Dropout
from regard.models.scoring import autocast, read_batch
from regard.models.seq2seq import Seq2Seq
from regard.training.loss import linear_cross_entropy
from regard.types import Tensor


@dataclass(frozen=True, slots=True)
class Gradient:
    """What a batch teaches."""

    nats: float
    """Training loss of the batch, without label smoothing."""
    tensors: tuple[Tensor, ...]
    """One for each parameter, of the mean loss per target token."""


class Shares:
    """Computes gradients in as many threads as the processor has to give, each with its own share of the sentences.

    The outcome does not depend on which thread is done first.
    """

    def __init__(
        self, model: Seq2Seq, *, threads: int, precision: torch.dtype, smoothing: float, seed: int, device: torch.device
    ) -> None:
        self.parameters = list(model.parameters())
        self.precision = precision
        self.smoothing = smoothing
        self.seed = seed
        self.device = device
        count = workers(threads) if device.type == "cpu" else 1
        self.generators = [torch.Generator(device) for _ in range(count)]
        self.replicas = [_replica(model, generator) for generator in self.generators]
        self._pool = thread_pool(threads)

    def gradient(self, batch: Batch, *, step: int) -> Gradient:
        """Return the gradient of a batch; the dropout depends on seed, step and share alone."""
        count = min(len(self.replicas), len(batch.rows))
        tokens = batch.target_tokens
        shares = [batch.share(number, count) for number in range(count)]
        if count == 1:
            return self.part(shares[0], number=0, step=step, tokens=tokens)
        jobs = [
            self._pool.submit(self.part, share, number=number, step=step, tokens=tokens)
            for number, share in enumerate(shares)
        ]
        parts = [job.result() for job in jobs]
        return Gradient(sum(part.nats for part in parts), _sum([part.tensors for part in parts]))

    def part(self, batch: Batch, *, number: int, step: int, tokens: int) -> Gradient:
        """Return one worker's share of the gradient; ``tokens`` is what the whole batch has."""
        replica = self.replicas[number]
        self.generators[number].manual_seed(int(np.random.SeedSequence((self.seed, step, number)).generate_state(1)[0]))
        batch = batch.to(self.device)
        with autocast(self.device, self.precision):
            features = read_batch(replica, batch).features[batch.is_target]
            targets = batch.target_out[batch.is_target]
            loss, nats = linear_cross_entropy(
                features, replica.output, targets, smoothing=self.smoothing, divisor=tokens
            )
        gradients = torch.autograd.grad(loss, self.parameters, allow_unused=True, materialize_grads=True)
        return Gradient(nats.item(), gradients)


def _replica(model: Seq2Seq, generator: torch.Generator) -> Seq2Seq:
    """Return the same model, sharing its parameters, with dropout that has a generator of its own."""
    replica = copy.deepcopy(model, {id(parameter): parameter for parameter in model.parameters()})
    for module in replica.modules():
        if isinstance(module, Dropout):
            module.generator = generator
    return replica.train()


def _sum(parts: Sequence[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    first, *others = parts
    for other in others:
        torch._foreach_add_(first, other)
    return first
