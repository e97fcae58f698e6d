"""A search and all its settings in one value that has a name."""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.search.beam import beam
from regard.search.greedy import greedy
from regard.search.hypothesis import Hypothesis
from regard.search.ranking import RANKING, Gnmt, Plain, Power, Ranking
from regard.search.rows import Prefix
from regard.search.rules import RULES, NoRepeat, NoUnknown, Rules
from regard.search.sample import Sampling, generators, sample
from regard.search.stepper import E, Stepper
from regard.search.tree import Recorder
from regard.types import Float, Tensor


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
