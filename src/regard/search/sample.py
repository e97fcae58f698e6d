"""Translations drawn at random."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch.nn.utils.rnn import pad_sequence

from regard.errors import RegardError
from regard.search.hypothesis import Hypothesis
from regard.search.loop import follow, search
from regard.search.ranking import RANKING, Ranking
from regard.search.rows import Expander, Prefix, Rows
from regard.search.rules import RULES, Rules
from regard.search.stepper import E, Stepper
from regard.search.trellis import Choice
from regard.types import Float, Int, Tensor


@dataclass(frozen=True, slots=True)
class Sampling:
    """What to draw from: first tempered, then cut to the k best, then to the fewest that hold the share p."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.temperature < float("inf"):
            raise RegardError(f"search.temperature: got {self.temperature}, want a number > 0.")
        if self.top_k is not None and self.top_k < 1:
            raise RegardError(f"search.top_k: got {self.top_k}, want an integer >= 1.")
        if not 0 < self.top_p <= 1:
            raise RegardError(f"search.top_p: got {self.top_p}, want a number above 0 and at most 1.")

    def draw(self, log_probs: Float[Tensor, "R V"], uniform: Float[Tensor, " R"]) -> Int[Tensor, " R"]:
        """Turn one uniform number per row into a token, by the inverse of the cumulative distribution."""
        best, token = log_probs.topk(min(self.top_k or log_probs.shape[1], log_probs.shape[1]), dim=1)
        probs = torch.softmax((best - best[:, :1]) / self.temperature, dim=1)
        below = probs.cumsum(dim=1) - probs
        reached = probs.masked_fill(below >= self.top_p, 0).cumsum(dim=1)
        # Most probable first: the first to reach a number within (0, sum] always has a probability above 0.
        index = torch.searchsorted(reached, uniform[:, None] * reached[:, -1:])
        return token.gather(1, index.clamp(max=token.shape[1] - 1)).squeeze(1)


SAMPLING = Sampling()


def generators(seed: int, numbers: Iterable[int]) -> list[torch.Generator]:
    """Return a stream of random numbers for each sentence, fixed by the seed and the sentence's own number."""
    digests = (hashlib.sha256(f"{seed} {number}".encode()).digest() for number in numbers)
    return [torch.Generator().manual_seed(int.from_bytes(digest[:4], "big")) for digest in digests]


@torch.inference_mode()
def sample(
    model: Stepper[E],
    source: E,
    *,
    generators: Sequence[torch.Generator],
    draws: int = 1,
    sampling: Sampling = SAMPLING,
    rules: Rules = RULES,
    ranking: Ranking = RANKING,
    prefix: Prefix | None = None,
    imposed: Float[Tensor, "B N T S"] | None = None,
) -> list[list[Hypothesis]]:
    """Draw translations of each sentence, in the order drawn, equal ones included.

    Each sentence has a generator of its own, so what is drawn for it does not depend on its batch. Log-probabilities
    are the model's, before tempering and cutting. Prefix and imposed attention are as for `greedy`.
    """
    if draws < 1:
        raise RegardError(f"search.draws: got {draws}, want an integer >= 1.")
    sentences = source.is_token.shape[0]
    assert len(generators) == sentences
    each = torch.arange(sentences, device=source.is_token.device).repeat_interleave(draws)
    expander = Expander(
        model,
        source.select(each),
        width=1,
        rules=rules,
        prefix=None if prefix is None else [prefix[i] for i in each.tolist()],
        imposed=None if imposed is None else imposed.index_select(0, each.to(imposed.device)),
    )
    longest = expander.longest[::draws].tolist()
    streams = [torch.rand(draws, n, generator=g).T for n, g in zip(longest, generators, strict=True)]
    uniform = pad_sequence(streams or [torch.zeros(1, draws)]).permute(1, 2, 0).flatten(0, 1).to(expander.device)

    def drawn(log_probs: Float[Tensor, "R V"], rows: Rows[E], total: Float[Tensor, "B 1"]) -> Choice:
        return follow(sampling.draw(log_probs, uniform[rows.place, rows.length - 1]), log_probs, rows, total)

    found = search(expander, drawn, ranking=ranking)
    return [[one for (one,) in found[i : i + draws]] for i in range(0, len(found), draws)]
