"""Beam search: the best few hypotheses side by side."""

import torch

from regard.errors import RegardError
from regard.search.hypothesis import Hypothesis
from regard.search.loop import search
from regard.search.ranking import RANKING, Ranking
from regard.search.rows import Expander, Prefix, Rows, top
from regard.search.rules import RULES, Rules
from regard.search.stepper import E, Stepper
from regard.search.tree import Recorder
from regard.search.trellis import Choice
from regard.types import Float, Tensor


@torch.inference_mode()
def beam(
    model: Stepper[E],
    source: E,
    *,
    width: int = 5,
    n_best: int = 1,
    rules: Rules = RULES,
    ranking: Ranking = RANKING,
    prefix: Prefix | None = None,
    imposed: Float[Tensor, "B N T S"] | None = None,
    recorder: Recorder | None = None,
) -> list[list[Hypothesis]]:
    """Keep the ``width`` most probable hypotheses at every step; return the n best of each sentence, best first.

    A hypothesis that ends among them leaves the beam, which fills up again at the next step; so a beam of 1 is greedy
    search, under any ranking. Prefix and imposed attention are as for `greedy`.
    """
    if width < 1:
        raise RegardError(f"search.width: got {width}, want an integer >= 1.")
    if not 1 <= n_best <= width:
        raise RegardError(f"search.n_best: got {n_best}, want an integer from 1 to the width, {width}.")
    expander = Expander(model, source, width=width, rules=rules, prefix=prefix, imposed=imposed)
    return search(expander, _best, ranking=ranking, n_best=n_best, recorder=recorder)


def _best(log_probs: Float[Tensor, "R V"], rows: Rows[E], total: Float[Tensor, "B W"]) -> Choice:
    """Choose the best W of all continuations of each sentence.

    They are among the best W of each row, so the vocabulary is read once and only small things are sorted.
    """
    sentences, width = total.shape
    most = min(width, log_probs.shape[1])
    price, token = top(log_probs, most)
    if not rows.are_all_places:
        price, token = price.index_select(0, rows.row), token.index_select(0, rows.row)
    price, token = price.view(sentences, -1), token.view(sentences, -1)
    totals = total[:, :, None] + price.view(sentences, width, most)  # a place without a row has a total of -inf
    best, index = totals.view(sentences, -1).topk(width, dim=1)
    parent = rows.first + index // most
    return Choice(parent, token.gather(1, index), price.gather(1, index), best)
