"""The probability of given translations."""

from collections.abc import Sequence

import torch

from regard.search.hypothesis import Hypothesis
from regard.search.loop import follow, search
from regard.search.ranking import RANKING, Ranking
from regard.search.rows import Expander, Rows
from regard.search.rules import RULES, pad
from regard.search.stepper import E, Stepper
from regard.search.trellis import Choice
from regard.types import Float, Tensor


@torch.inference_mode()
def score(
    model: Stepper[E],
    source: E,
    *,
    tokens: Sequence[Sequence[int]],
    ranking: Ranking = RANKING,
    imposed: Float[Tensor, "B N T S"] | None = None,
) -> list[Hypothesis]:
    """Return each given translation as the hypothesis it would be: log-probability of every token, score, attention.

    The tokens are taken as they are, at least one for each sentence: a whole translation ends with EOS.
    """
    assert all(tokens)
    device = source.is_token.device
    given = pad(tokens, device)
    lengths = torch.tensor([len(sentence) for sentence in tokens], dtype=torch.long, device=device)
    expander = Expander(model, source, width=1, rules=RULES, longest=lengths, imposed=imposed)

    def next_given(log_probs: Float[Tensor, "R V"], rows: Rows[E], total: Float[Tensor, "B 1"]) -> Choice:
        return follow(given[rows.place, rows.length - 1], log_probs, rows, total)

    return [one for (one,) in search(expander, next_given, ranking=ranking)]
