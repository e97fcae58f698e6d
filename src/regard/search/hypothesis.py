"""What a search returns."""

from dataclasses import dataclass, field

import torch

from regard.data.vocabulary import EOS, UNK
from regard.types import Float, Tensor


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A translation as token ids. Tokens, log-probabilities and attention rows belong together one by one."""

    tokens: tuple[int, ...]
    """All tokens produced, without BOS; EOS is the last one if the hypothesis ended by itself."""
    log_prob: float
    """Natural logarithm of the probability of all the tokens, EOS included."""
    score: float
    """The log-probability after normalisation: what hypotheses are compared by."""
    token_log_probs: tuple[float, ...]
    attention: Float[Tensor, "N T S"] = field(compare=False, repr=False)
    """One row per token, EOS included; the source is cut to its real tokens. On the CPU."""

    @property
    def is_finished(self) -> bool:
        """Whether the hypothesis ended by itself rather than at the greatest length."""
        return self.tokens[-1:] == (EOS,)

    @property
    def words(self) -> tuple[int, ...]:
        """The tokens without EOS."""
        return self.tokens[:-1] if self.is_finished else self.tokens


def unknown_positions(hypothesis: Hypothesis) -> dict[int, int]:
    """Return, for each unknown target word, the source position most attended while it was produced.

    Heads are averaged. A word produced without any attention has no such position and is left out.
    """
    places = [place for place, token in enumerate(hypothesis.tokens) if token == UNK]
    weights = hypothesis.attention.mean(dim=0)[torch.tensor(places, dtype=torch.long)]
    if not places or not weights.shape[1]:
        return {}
    strongest, position = (column.tolist() for column in weights.max(dim=1))
    return {place: i for place, weight, i in zip(places, strongest, position, strict=True) if weight > 0}
