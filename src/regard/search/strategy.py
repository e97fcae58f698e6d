"""A search and all its settings in one value that has a name."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regard.errors import RegardError
from regard.search.beam import beam
from regard.search.greedy import greedy
from regard.search.hypothesis import Hypothesis
from regard.search.ranking import RANKING, Gnmt, Plain, Power, Ranking
from regard.search.rows import Prefix
from regard.search.rules import RULES, Constraint, Length, NoRepeat, NoUnknown, Rules
from regard.search.sample import Sampling, generators, sample
from regard.search.stepper import E, Stepper
from regard.search.tree import Recorder
from regard.types import Float, Tensor

USUAL_CELLS, MOST_CELLS = 2**28, 2**30
"""Numbers of four bytes that a search may hold: of a batch, which is made smaller, and of one sentence."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """How to search: greedily (width 1), with a beam, or by sampling."""

    width: int = 1
    n_best: int = 1
    rules: Rules = RULES
    ranking: Ranking = RANKING
    sampling: Sampling | None = None
    seed: int = 1
    """Of sampling."""

    def __post_init__(self) -> None:
        if self.width < 1:
            raise RegardError(f"search.width: got {self.width}, want an integer >= 1.")
        if self.n_best < 1 or (self.n_best > self.width and not self.sampling):
            wanted = "want an integer >= 1" if self.sampling else f"want an integer from 1 to the width, {self.width}"
            raise RegardError(f"search.n_best: got {self.n_best}, {wanted}.")

    def room(self, *, source: int, words: int, memory: int, heads: int) -> int:
        """Return how many sentences of ``source`` tokens can be searched at once, or say that one is too many.

        Counted is what a search holds of each hypothesis: the vocabulary, the memory of the source (twice, in double
        precision), and for every step attention and pointers back.
        """
        rows = self.n_best if self.sampling else self.width
        longest = int(self.rules.longest.of(torch.tensor([source])))
        row = 4 * words + 4 * min(rows, words) + 4 * source * memory + longest * (2 * heads * source + 16)
        if rows * row > MOST_CELLS:
            gigabytes = 4 * rows * row / 2**30
            raise RegardError(
                f"search: width {rows}, up to {longest} tokens from {source}, needs about {gigabytes:.0f} GB of memory "
                f"for a sentence, want at most {4 * MOST_CELLS // 2**30}. Shorten it, or lower the width or length."
            )
        return max(1, USUAL_CELLS // (rows * row))

    def __str__(self) -> str:
        """Name the strategy for a signature: what changes a translation is in it."""
        if self.sampling:
            drawn = self.sampling
            parts = [f"sample{drawn.temperature:g}"]
            parts += [f"k{drawn.top_k}"] if drawn.top_k else []
            parts += [f"p{drawn.top_p:g}"] if drawn.top_p < 1 else []
            parts += [f"seed{self.seed}"]
        elif self.width == 1:
            parts = ["greedy"]
        else:
            parts = [f"beam{self.width}", *_ranking_name(self.ranking)]
        return "-".join((*parts, *_rules_name(self.rules)))

    def __call__(
        self,
        model: Stepper[E],
        source: E,
        *,
        numbers: Sequence[int],
        prefix: Prefix | None = None,
        imposed: Float[Tensor, "B N T S"] | None = None,
        recorder: Recorder | None = None,
    ) -> list[list[Hypothesis]]:
        """Search; ``numbers`` tells the sentences apart, so that each is sampled from a stream of its own."""
        if self.sampling:
            return sample(
                model,
                source,
                generators=generators(self.seed, numbers),
                draws=self.n_best,
                sampling=self.sampling,
                rules=self.rules,
                ranking=self.ranking,
                prefix=prefix,
                imposed=imposed,
            )
        if self.width == 1 and self.n_best == 1 and recorder is None:
            return greedy(model, source, rules=self.rules, ranking=self.ranking, prefix=prefix, imposed=imposed)
        return beam(
            model,
            source,
            width=self.width,
            n_best=self.n_best,
            rules=self.rules,
            ranking=self.ranking,
            prefix=prefix,
            imposed=imposed,
            recorder=recorder,
        )


def strategy_of(
    *,
    width: int,
    n_best: int = 1,
    length_penalty: float | None = None,
    gnmt: bool = False,
    coverage: float = 0.0,
    max_length: Length | None = None,
    min_length: Length | None = None,
    no_repeat: int | None = None,
    unknown: str = "show",
    sampling: Sampling | None = None,
    seed: int = 1,
) -> Strategy:
    """Build a strategy from what users are asked for, on the command line and by the service."""
    if max_length == Length():
        raise RegardError("search.max_length: got 0, want at least 1.")
    if min_length and max_length and min_length.is_always_above(max_length):
        raise RegardError("search.min_length: got more than the greatest length, whatever the sentence; want no more.")
    kind = Gnmt if gnmt else Power
    normalisation = kind() if length_penalty is None else kind(length_penalty) if length_penalty else Plain()
    constraints: tuple[Constraint, ...] = (NoUnknown(),) if unknown == "forbid" else ()
    if no_repeat is not None:
        constraints += (NoRepeat(no_repeat),)
    rules = Rules(max_length or RULES.longest, min_length or RULES.shortest, constraints)
    ranking = Ranking(normalisation, coverage)
    return Strategy(width=width, n_best=n_best, rules=rules, ranking=ranking, sampling=sampling, seed=seed)


def _ranking_name(ranking: Ranking) -> list[str]:
    match ranking.normalisation:
        case Plain():
            name = "plain"
        case Power(alpha):
            name = f"power{alpha:g}"
        case Gnmt(alpha):
            name = f"gnmt{alpha:g}"
        case other:
            name = type(other).__name__.lower()
    return [name] + ([f"coverage{ranking.coverage:g}"] if ranking.coverage else [])


def _rules_name(rules: Rules) -> list[str]:
    names = []
    for key, length, usual in (("max", rules.longest, RULES.longest), ("min", rules.shortest, RULES.shortest)):
        if length != usual:
            names.append(f"{key}{length.ratio:g}x+{length.offset}")
    for constraint in rules.constraints:
        names += ["nounk"] if isinstance(constraint, NoUnknown) else []
        names += [f"norepeat{constraint.n}"] if isinstance(constraint, NoRepeat) else []
    return names
