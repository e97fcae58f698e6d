"""The memory of a search: each step's choices with pointers back, read once at the end."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regard.errors import RegardError
from regard.search.hypothesis import Hypothesis
from regard.search.rules import NEVER
from regard.types import Bool, Float, Int, Tensor

Steps = NDArray[Any]
"""A row for each step, a column for each hypothesis."""


@dataclass(frozen=True, slots=True)
class Choice:
    """For every place: which hypothesis is continued, with what, and at what price."""

    parent: Int[Tensor, "B W"]
    """The place that is continued."""
    token: Int[Tensor, "B W"]
    log_prob: Float[Tensor, "B W"]
    """Of the token."""
    total: Float[Tensor, "B W"]
    """Of all tokens; -inf where nothing is continued."""


class Pool:
    """The best ended hypotheses of each sentence, best first."""

    def __init__(self, like: Float[Tensor, "B W"], n_best: int) -> None:
        size = (like.shape[0], n_best)
        self.score = like.new_full(size, NEVER)
        self.total = like.new_full(size, NEVER)
        self.place = torch.zeros(size, dtype=torch.long, device=like.device)
        self.length = torch.zeros_like(self.place)
        self.has_any = False
        """Whether any sentence has an ended hypothesis."""

    @property
    def worst(self) -> Float[Tensor, "B 1"]:
        """The score to beat; -inf while there is room."""
        return self.score[:, -1:]

    @property
    def is_empty(self) -> Bool[Tensor, "B 1"]:
        """Whether a sentence has no ended hypothesis yet."""
        return self.score[:, :1] == NEVER

    def offer(
        self, is_offered: Bool[Tensor, "B W"], score: Float[Tensor, "B W"], total: Float[Tensor, "B W"], length: int
    ) -> None:
        """Keep the best of what is there and what is offered."""
        if not is_offered.any():
            return
        self.has_any = True
        places = torch.arange(score.numel(), device=score.device).view_as(score)
        score = torch.cat((self.score, score.masked_fill(~is_offered, NEVER)), dim=1)
        self.score, index = score.topk(self.score.shape[1], dim=1)
        self.total = torch.cat((self.total, total), dim=1).gather(1, index)
        self.place = torch.cat((self.place, places), dim=1).gather(1, index)
        self.length = torch.cat((self.length, torch.full_like(places, length)), dim=1).gather(1, index)


STEPS = 64
"""Steps for which there is room at first."""


class Trellis:
    """All steps of a search. Attention is stored once per row of the model, in one place.

    Thousands of small tensors that stay, among large ones that go, would leave holes all over the memory: a sentence of
    1,000 tokens took 7 GB.
    """

    def __init__(self) -> None:
        self._choices: list[Choice] = []
        self._rows: list[Tensor] = []
        self._weights = torch.empty(0)
        self._stored = 0

    def add(self, choice: Choice, row: Int[Tensor, "B W"], weights: Float[Tensor, "R N S"]) -> None:
        """Append a step: ``row`` is the row of the model that each choice came from."""
        self._choices.append(choice)
        self._rows.append(row + self._stored)
        before, self._stored = self._stored, self._stored + len(weights)
        if self._stored > len(self._weights):
            room = weights.new_empty((max(STEPS * len(weights), 2 * self._stored), *weights.shape[1:]))
            room[:before] = self._weights[:before].view(before, *weights.shape[1:])
            self._weights = room
        self._weights[before : self._stored] = weights

    def hypotheses(self, pool: Pool, is_token: Bool[Tensor, "B S"]) -> list[list[Hypothesis]]:
        """Follow the pointers back from every ended hypothesis, and group them by sentence."""
        if not self._choices:
            return []
        if (pool.is_empty | pool.score[:, :1].isnan()).any():
            raise RegardError(
                "search: the model gives probabilities that are not numbers; its training went wrong. "
                "Use an earlier checkpoint, or train with a lower learning rate."
            )
        tokens, log_probs, rows = self._trace(pool.place.flatten().tolist(), pool.length.flatten().tolist())
        weights, is_token = self._weights[: self._stored].cpu(), is_token.cpu()
        ended = zip(*(x.flatten().tolist() for x in (pool.score, pool.total, pool.length)), strict=True)
        found: list[list[Hypothesis]] = [[] for _ in is_token]
        for i, (score, total, length) in enumerate(ended):
            sentence = i // pool.score.shape[1]
            if score > NEVER:
                attention = weights[rows[:length, i].tolist()].transpose(0, 1)[:, :, is_token[sentence]]
                said = tuple(tokens[:length, i].tolist()), tuple(log_probs[:length, i].tolist())
                found[sentence].append(Hypothesis(said[0], total, score, said[1], attention))
        return found

    def _trace(self, ends: list[int], lengths: list[int]) -> tuple[Steps, Steps, Steps]:
        """Return the tokens of hypotheses that end in these places, their log-probabilities and their rows."""
        parts = zip(*((x.parent, x.token, x.log_prob) for x in self._choices), strict=True)
        stacked = (torch.stack(list(tensors)).flatten(1).cpu().numpy() for tensors in (*parts, self._rows))
        parents, tokens, log_probs, rows = stacked
        place, length, steps = np.array(ends), np.array(lengths), len(parents)
        places = np.empty((steps, len(ends)), dtype=np.int64)
        for t in reversed(range(steps)):
            places[t] = place
            place = np.where(t < length, parents[t, place], place)
        step = np.arange(steps)[:, None]
        return tokens[step, places], log_probs[step, places], rows[step, places]
