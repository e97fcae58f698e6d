"""How surprised a model is by the reference."""

import numpy as np

from regard.metrics.base import Numbers, Ratio
from regard.types import Float


class Surprise(Ratio[float, int]):
    """A function of the reference's negative log-probability, in nats, and its number of tokens."""

    higher_is_better = False
    takes = ("nats", "tokens")
    depends_on_tokens = True

    def segment(self, nats: float, tokens: int) -> Numbers:
        """Pass on what the model says of a sentence."""
        return [nats, tokens]


class NatsPerToken(Surprise):
    """Negative log-probability of the reference per token: the cross-entropy, in nats."""

    name = "nats_per_token"
    unit = "nats"


class Perplexity(Surprise):
    """Exponential of the nats per token: among how many equally likely tokens the model hesitates."""

    name = "perplexity"
    unit = ""

    def aggregate(self, sums: Float[np.ndarray, "rows 2"]) -> Float[np.ndarray, " rows"]:
        """Exponentiate the mean over all tokens; a mean of sentences' perplexities would be another number."""
        return np.asarray(np.exp(super().aggregate(sums).clip(max=700)))  # beyond 709 a float64 overflows
