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
from regard.models.embedding import Embedding
from regard.models.scoring import autocast, read_batch
from regard.models.seq2seq import Seq2Seq
from regard.training.loss import linear_cross_entropy
from regard.training.totals import OfWords, Term, Totals
from regard.types import Bool, Float, Tensor


@dataclass(frozen=True, slots=True)
class Gradient:
    """What a batch teaches."""

    nats: float
    """Training loss of the batch, without label smoothing."""
    tensors: tuple[Tensor, ...]
    """One for each parameter that learns, of the loss summed over target tokens; good until the next is computed."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a share of a batch teaches."""

    nats: float
    terms: list[Term]
    """Gradients of whole parameters."""
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
        self._pool = thread_pool(threads)
        self._totals = Totals(pool=self._pool, workers=count)

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
        terms = zip(self._wanted, gradients, strict=False)  # None has no part in the loss
        return Part(nats.item(), [Term(one.parameter, slope) for one, slope in terms if slope is not None], words)

    def _sum(self, parts: Sequence[Part]) -> Gradient:
        """Add up what the shares teach, in their order."""
        terms = (term for part in parts for term in part.terms)
        words = (of_words for part in parts for of_words in part.words)
        totals = self._totals.add_up(terms, words)
        tensors = (totals[p] if p in totals else torch.zeros_like(p) for p in self.learning)
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
