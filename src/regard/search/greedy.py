"""The most probable token at every step."""

import torch

from regard.search.hypothesis import Hypothesis
from regard.search.loop import follow, search
from regard.search.ranking import RANKING, Ranking
from regard.search.rows import Expander, Prefix, Rows, top
from regard.search.rules import RULES, Rules
from regard.search.stepper import E, Stepper
from regard.search.trellis import Choice
from regard.types import Float, Tensor


@torch.inference_mode()
def greedy(
    model: Stepper[E],
    source: E,
    *,
    rules: Rules = RULES,
    ranking: Ranking = RANKING,
    prefix: Prefix | None = None,
    imposed: Float[Tensor, "B N T S"] | None = None,
) -> list[list[Hypothesis]]:
    """Take the most probable token at every step; return one hypothesis for each sentence.

    ``prefix`` gives the beginnings of the translations; ``imposed`` gives attention to use instead of the model's own,
    with rows of NaN where it is computed, as after the last row.
    """
    expander = Expander(model, source, width=1, rules=rules, prefix=prefix, imposed=imposed)
    return search(expander, _most_probable, ranking=ranking)


def _most_probable(log_probs: Float[Tensor, "R V"], rows: Rows[E], total: Float[Tensor, "B 1"]) -> Choice:
    # Ties are broken as in a beam, so a beam of 1 is greedy to the last token.
    return follow(top(log_probs, 1)[1][:, 0], log_probs, rows, total)
