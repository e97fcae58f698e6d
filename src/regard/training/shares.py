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
    """One for each parameter that learns, of the loss summed over target tokens; good until the next is computed."""


class OfWords(NamedTuple):
    """The gradient of some rows of a table."""

    parameter: Tensor
    words: Tensor
    gradient: Tensor


class LookedUp:
    """The gradient of a table that is only looked up: zero but for the words of one batch.

    It stays for all batches, and may be scaled, but nothing else may be written to it. Filling it with zeros, or adding
    it up with another share's, would go over all words.
    """

    def __init__(self, parameter: Tensor) -> None:
        self.gradient = torch.zeros_like(parameter)
        self._words: list[Tensor] = []

    def add(self, of_words: OfWords) -> None:
        """Add the gradient of some words."""
        self._words.append(of_words.words.flatten())
        add_words(self.gradient, of_words.words, of_words.gradient)

    def clear(self) -> None:
        """Set to zero what was added."""
        while self._words:
            self.gradient.index_fill_(0, self._words.pop(), 0)


@dataclass(frozen=True, slots=True)
class Part:
    """What a share of a batch teaches."""

    nats: float
    whole: dict[Tensor, Tensor]
    """Gradients by parameter."""
    words: list[OfWords]


class Wanted(NamedTuple):
    """A gradient to ask for."""

    parameter: Tensor
    """Whose gradient it is part of."""
    leaf: Tensor
    """The parameter, or a copy of it in another number format."""


class Shares:
    """Computes gradients in as many threads as the processor has to give, each with its own share of the sentences.

    The outcome does not depend on which thread is done first.
    """

    def __init__(
        self, model: Seq2Seq, *, threads: int, precision: torch.dtype, smoothing: float, seed: int, device: torch.device
    ) -> None:
        self.parameters = list(model.parameters())
        self.learning = [parameter for parameter in self.parameters if parameter.requires_grad]
        """What gradients are computed of; an attention class may have weights that are not to change."""
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
        tables = [table.weight for table in self.tables[0] if table.weight in short and table.weight.requires_grad]
        self._wanted = [Wanted(parameter, short.get(parameter, parameter)) for parameter in self.learning]
        self._wanted += [Wanted(table, table) for table in tables]
        self._tables: dict[Tensor, LookedUp] = {}
        self._pool = thread_pool(threads)

    def gradient(self, batch: Batch, *, step: int) -> Gradient:
        """Return the gradient of a batch; the dropout depends on seed, step and share alone."""
        count = min(len(self.replicas), len(batch.rows))
        shares = [batch.share(number, count) for number in range(count)]
        self._convert()
        if count == 1:
            return self._sum([self.part(shares[0], number=0, step=step)])
        jobs = [self._pool.submit(self._beside, share, number=number, step=step) for number, share in enumerate(shares)]
        try:
            return self._sum([job.result() for job in jobs])
        finally:
            torch.clear_autocast_cache()

    def _beside(self, batch: Batch, *, number: int, step: int) -> Part:
        """Return a share of the gradient while others compute theirs.

        torch keeps weights that it has converted for all threads, and forgets them when the first leaves `autocast`;
        the others would convert them anew in the middle of a loop, and sums would depend on who is done first.
        """
        torch.autocast_increment_nesting()
        try:
            return self.part(batch, number=number, step=step)
        finally:
            torch.autocast_decrement_nesting()

    def part(self, batch: Batch, *, number: int, step: int) -> Part:
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
        found = [(table.weight, *one) for table in self.tables[number] for one in table.forget()]
        leaves = [*(one.leaf for one in self._wanted), *(vectors for _, vectors, _ in found)]
        gradients = torch.autograd.grad(loss, leaves, allow_unused=True)
        of_words = zip(found, gradients[len(self._wanted) :], strict=True)
        words = [OfWords(table, which, slope) for (table, _, which), slope in of_words if slope is not None]
        return Part(nats.item(), self._gathered(gradients[: len(self._wanted)]), words)

    def _gathered(self, gradients: Sequence[Tensor | None]) -> dict[Tensor, Tensor]:
        """Add up what belongs to the same parameter; None has no part in the loss."""
        gathered: dict[Tensor, Tensor] = {}
        used: set[int] = set()
        for (parameter, _), gradient in zip(self._wanted, gradients, strict=True):
            if gradient is None:
                continue
            if parameter in gathered:
                gathered[parameter] += gradient
            else:
                own = gradient.to(parameter.dtype)
                # Of a sum autograd returns one gradient for all parts, or one number for all elements; the optimiser
                # writes to gradients, and reads them in the order of the parameter.
                if own.data_ptr() in used or own.stride() != parameter.stride():
                    own = torch.empty_like(parameter).copy_(gradient)
                used.add(own.data_ptr())
                gathered[parameter] = own
        return gathered

    def _sum(self, parts: Sequence[Part]) -> Gradient:
        """Add up what the shares teach, one after the other."""
        first, *others = (part.whole for part in parts)
        total = dict(first)
        for other in others:
            both = [parameter for parameter in other if parameter in total]
            torch._foreach_add_([total[parameter] for parameter in both], [other[parameter] for parameter in both])
            total = other | total
        for table in self._tables.values():
            table.clear()
        for one in (of_words for part in parts for of_words in part.words):
            if one.parameter in total:
                add_words(total[one.parameter], one.words, one.gradient)
                continue
            if one.parameter not in self._tables:
                self._tables[one.parameter] = LookedUp(one.parameter)
            self._tables[one.parameter].add(one)
        total = {parameter: table.gradient for parameter, table in self._tables.items()} | total
        tensors = (total[p] if p in total else torch.zeros_like(p) for p in self.learning)
        return Gradient(sum(part.nats for part in parts), tuple(tensors))

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
