"""Small models for the tests of search: probability tables, and a network with attention."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import nn

from regard.data.vocabulary import BOS, EOS, PAD
from regard.search import Step
from regard.types import Bool, Float, Int, Tensor


@dataclass(frozen=True)
class TableSource:
    sentence: Int[Tensor, " B"]
    is_token: Bool[Tensor, "B S"]

    def select(self, rows: Int[Tensor, " R"]) -> "TableSource":
        return TableSource(self.sentence[rows], self.is_token[rows])


class TableStepper:
    """A probability and an attention for every beginning of a translation, up to a greatest length.

    The beginnings are numbered like a heap: token v after beginning i is beginning i * V + v + 1.
    """

    def __init__(self, *, words: int, longest: int, lengths: Sequence[int], seed: int, heads: int = 2) -> None:
        generator = torch.Generator().manual_seed(seed)
        beginnings = sum(words**t for t in range(longest))
        sentences, positions = len(lengths), max(lengths)
        self.words = words
        self.logits = 2 * torch.randn(sentences, beginnings, words, generator=generator)
        scores = 2 * torch.randn(sentences, beginnings, heads, positions, generator=generator)
        is_token = torch.arange(positions) < torch.tensor(lengths)[:, None]
        self.weights = scores.masked_fill(~is_token[:, None, None], float("-inf")).softmax(dim=3)
        self.reading = 1.5 * torch.randn(positions, words, generator=generator)
        self.source = TableSource(torch.arange(sentences), is_token)

    def start(self, source: TableSource) -> tuple[Tensor, ...]:
        return (torch.full_like(source.sentence, -1),)

    def step(
        self,
        token: Int[Tensor, " R"],
        state: tuple[Tensor, ...],
        source: TableSource,
        imposed: Float[Tensor, "R N S"] | None = None,
    ) -> Step:
        is_first = state[0] < 0
        assert (token[is_first] == BOS).all()
        beginning = torch.where(is_first, 0, state[0] * self.words + token + 1)
        # Rows that are carried along dead may have gone beyond the table.
        beginning = beginning.clamp(max=self.logits.shape[1] - 1)
        weights = self.weights[source.sentence, beginning]
        if imposed is not None:
            weights = torch.where(imposed.isnan(), weights, imposed)
        logits = self.logits[source.sentence, beginning] + weights.mean(dim=1) @ self.reading
        return Step(logits.log_softmax(dim=1), weights, (beginning,))


class Look:
    """Reads translations from the tables of one sentence, without any search."""

    def __init__(self, table: TableStepper, sentence: int) -> None:
        self.words = table.words
        self.weights = table.weights[sentence][:, :, table.source.is_token[sentence]]
        logits = table.logits[sentence] + table.weights[sentence].mean(dim=1) @ table.reading
        self.log_probs: list[list[float]] = logits.double().log_softmax(dim=1).tolist()

    def beginnings(self, tokens: Sequence[int]) -> list[int]:
        """Return the number of the beginning that each token continues."""
        return list(itertools.accumulate(tokens[:-1], lambda i, token: i * self.words + token + 1, initial=0))

    def token_log_probs(self, tokens: Sequence[int]) -> list[float]:
        return [self.log_probs[i][token] for i, token in zip(self.beginnings(tokens), tokens, strict=True)]

    def log_prob(self, tokens: Sequence[int]) -> float:
        return sum(self.token_log_probs(tokens))

    def attention(self, tokens: Sequence[int]) -> Float[Tensor, "N T S"]:
        return self.weights[self.beginnings(tokens)].transpose(0, 1)

    def finished(self, longest: int) -> list[tuple[int, ...]]:
        """List every finished translation of at most the given length."""
        words = [v for v in range(self.words) if v not in (PAD, BOS, EOS)]
        bodies = itertools.chain.from_iterable(itertools.product(words, repeat=n) for n in range(longest))
        return [(*body, EOS) for body in bodies]


@dataclass(frozen=True)
class NetworkSource:
    memory: Float[Tensor, "B S M"]
    is_token: Bool[Tensor, "B S"]

    def select(self, rows: Int[Tensor, " R"]) -> "NetworkSource":
        return NetworkSource(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})


class Network(nn.Module):
    """A random recurrent decoder over random memories: dot-product attention, no training."""

    def __init__(self, *, words: int, hidden: int, seed: int, end_bias: float = 1.0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.embedding = nn.Embedding(words, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.output = nn.Linear(2 * hidden, words)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.9, generator=generator)
        with torch.no_grad():
            self.output.bias[EOS] = end_bias

    def start(self, source: NetworkSource) -> tuple[Tensor, ...]:
        return (source.memory.sum(dim=1).tanh(),)

    def step(
        self,
        token: Int[Tensor, " R"],
        state: tuple[Tensor, ...],
        source: NetworkSource,
        imposed: Float[Tensor, "R N S"] | None = None,
    ) -> Step:
        hidden = self.cell(self.embedding(token), state[0])
        scores = (source.memory @ hidden[:, :, None]).squeeze(2).masked_fill(~source.is_token, float("-inf"))
        weights = scores.softmax(dim=1)[:, None]
        if imposed is not None:
            weights = torch.where(imposed.isnan(), weights, imposed)
        context = (weights.mean(dim=1, keepdim=True) @ source.memory).squeeze(1)
        return Step(self.output(torch.cat((context, hidden), dim=1)).log_softmax(dim=1), weights, (hidden,))


def memories(lengths: Sequence[int], size: int, seed: int) -> list[Float[Tensor, "S M"]]:
    """Make one random memory for each length."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(length, size, generator=generator) for length in lengths]


def batch(rows: Sequence[Float[Tensor, "S M"]]) -> NetworkSource:
    """Pad memories to the longest."""
    lengths = torch.tensor([len(row) for row in rows])
    memory = nn.utils.rnn.pad_sequence(list(rows), batch_first=True)
    return NetworkSource(memory, torch.arange(memory.shape[1]) < lengths[:, None])
