"""One training step, shared out among threads: each computes the gradient of some of the batch's sentences."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from regard.data.batches import Batch
from regard.device import thread_pool, workers
from regard.models.dropout import Dropout
from regard.models.embedding import Embedding, add_words
from regard.models.scoring import autocast, read_batch
from regard.models.seq2seq import Seq2Seq
from regard.training.loss import linear_cross_entropy
from regard.types import Bool, Float, Tensor


@dataclass(frozen=True, slots=True)
class Gradient:
    """What a batch teaches."""

    nats: float
    """Training loss of the batch, without label smoothing."""
    tensors: tuple[Tensor, ...]
    """One for each parameter, of the loss summed over all target tokens."""


class Wanted(NamedTuple):
    """A gradient to ask for."""

    parameter: Tensor
    """Whose gradient it is part of."""
    leaf: Tensor
    """The parameter, a copy of it in another number format, or some of its rows."""
    words: Tensor | None = None
    """Which rows."""


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
        self.is_cpu = device.type == "cpu"
        short = _short(model, precision) if self.is_cpu and precision != torch.float32 else {}
        self.weights = [short.get(parameter, parameter) for parameter in self.parameters]
        """What products are computed with: parameters, converted once for all threads."""
        count = workers(threads) if self.is_cpu else 1
        self.generators = [torch.Generator(device) for _ in range(count)]
        self.replicas = [_replica(model, short, generator) for generator in self.generators]
        self.tables = [[m for m in replica.modules() if isinstance(m, Embedding)] for replica in self.replicas]
        """Where each replica looks its words up."""
        self._wanted = [Wanted(*pair) for pair in zip(self.parameters, self.weights, strict=True)]
        self._wanted += [Wanted(table.weight, table.weight) for table in self.tables[0] if table.weight in short]
        self._pool = thread_pool(threads)

    def gradient(self, batch: Batch, *, step: int) -> Gradient:
        """Return the gradient of a batch; the dropout depends on seed, step and share alone."""
        count = min(len(self.replicas), len(batch.rows))
        shares = [batch.share(number, count) for number in range(count)]
        self._convert()
        if count == 1:
            return self.part(shares[0], number=0, step=step)
        jobs = [self._pool.submit(self.part, share, number=number, step=step) for number, share in enumerate(shares)]
        parts = [job.result() for job in jobs]
        return Gradient(sum(part.nats for part in parts), _sum([part.tensors for part in parts]))

    def part(self, batch: Batch, *, number: int, step: int) -> Gradient:
        """Return one worker's share of the gradient."""
        replica = self.replicas[number]
        self.generators[number].manual_seed(int(np.random.SeedSequence((self.seed, step, number)).generate_state(1)[0]))
        batch = batch.to(self.device)
        for table in self.tables[number]:
            table.found = [] if self.is_cpu else None
        with autocast(self.device, self.precision):
            features = _of_tokens(read_batch(replica, batch).features, batch.is_target)
            targets = batch.target_out[batch.is_target]
            loss, nats = linear_cross_entropy(features, replica.output, targets, smoothing=self.smoothing)
        words = [Wanted(table.weight, *found) for table in self.tables[number] for found in table.forget()]
        wanted = [*self._wanted, *words]
        gradients = torch.autograd.grad(loss, [one.leaf for one in wanted], allow_unused=True)
        return Gradient(nats.item(), self._gathered(wanted, gradients))

    def _gathered(self, wanted: Sequence[Wanted], gradients: Sequence[Tensor | None]) -> tuple[Tensor, ...]:
        """Add up what belongs to the same parameter."""
        gathered: dict[Tensor, Tensor] = {}
        used: set[int] = set()
        for one, gradient in zip(wanted, gradients, strict=True):
            if gradient is None:  # has no part in the loss
                continue
            if one.words is not None:
                if one.parameter not in gathered:
                    gathered[one.parameter] = torch.zeros_like(one.parameter)
                add_words(gathered[one.parameter], one.words, gradient)
            elif one.parameter in gathered:
                gathered[one.parameter] += gradient
            else:
                own = gradient.to(one.parameter.dtype)
                # Of a sum autograd returns one gradient for all parts, or one number for all elements; the optimiser
                # writes to gradients, and reads them in the order of the parameter.
                if own.data_ptr() in used or own.stride() != one.parameter.stride():
                    own = torch.empty_like(one.parameter).copy_(gradient)
                used.add(own.data_ptr())
                gathered[one.parameter] = own
        return tuple(gathered[p] if p in gathered else torch.zeros_like(p) for p in self.parameters)

    @torch.no_grad()
    def _convert(self) -> None:
        for weight, parameter in zip(self.weights, self.parameters, strict=True):
            if weight is not parameter:
                weight.copy_(parameter)


def _short(model: Seq2Seq, precision: torch.dtype) -> dict[nn.Parameter, nn.Parameter]:
    """Return weights in the number format that products are computed in.

    Whatever else computes with its weights converts them for itself: other networks than GRU, attention, which anybody
    may have written, and the loss, which adds the output layer's bias in single precision.
    """
    modules = (module for module in model.modules() if type(module) in (nn.Linear, nn.GRU))
    left_out = {*model.decoder.attention.parameters(), model.output.bias}
    chosen = (weight for module in modules for weight in module.parameters() if weight not in left_out)
    return {weight: nn.Parameter(weight.detach().to(precision)) for weight in chosen}


def _replica(model: Seq2Seq, short: Mapping[nn.Parameter, nn.Parameter], generator: torch.Generator) -> Seq2Seq:
    """Return the same model with the given weights and dropout that has a generator of its own."""
    replica = copy.deepcopy(model, {id(parameter): short.get(parameter, parameter) for parameter in model.parameters()})
    for module, original in zip(replica.modules(), model.modules(), strict=True):
        if isinstance(module, Dropout):
            module.generator = generator
        elif isinstance(original, Embedding):
            module.weight = original.weight  # exact vectors, also where they are the weights of the output layer
    return replica.train()


def _of_tokens(features: Float[Tensor, "B T F"], is_token: Bool[Tensor, "B T"]) -> Float[Tensor, "L F"]:
    return features.flatten(0, 1) if is_token.all() else features[is_token]


def _sum(parts: Sequence[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    first, *others = parts
    for other in others:
        torch._foreach_add_(first, other)
    return first
