"""The one loop of every search; searches differ in how they choose."""

from collections.abc import Callable

import torch

from regard.attention.base import mean_of_heads
from regard.data.vocabulary import EOS, PAD
from regard.search.hypothesis import Hypothesis
from regard.search.ranking import Ranking
from regard.search.rows import Expander, Rows
from regard.search.rules import NEVER
from regard.search.stepper import E
from regard.search.tree import Outcome, Recorder
from regard.search.trellis import Choice, Pool, Trellis
from regard.types import Float, Int, Tensor

Chooser = Callable[[Float[Tensor, "R V"], Rows[E], Float[Tensor, "B W"]], Choice]
"""Chooses the continuations from the log-probabilities of the rows and the totals of all places."""


def search(
    expander: Expander[E], choose: Chooser[E], *, ranking: Ranking, n_best: int = 1, recorder: Recorder | None = None
) -> list[list[Hypothesis]]:
    """Expand until no open hypothesis can still be among the n best; return those of each sentence, best first.

    At every step a place that chose EOS is finished: it is compared with the other finished ones by score and frees
    its place for the next step. Stopping changes nothing: going on to the greatest length would return the same.
    Hypotheses still open at that length are returned only for a sentence that has no finished one.
    """
    is_token, width = expander.source.is_token, expander.width
    total = torch.full((expander.sentences, width), NEVER, device=expander.device)
    total[:, 0] = 0
    covered = is_token.repeat_interleave(width, dim=0) * 0.0 if ranking.coverage else None
    trellis, pool, rows = Trellis(), Pool(total, n_best), expander.start()
    while len(rows.place):
        step = expander.step(rows, recorder.watch if recorder else None)
        choice = choose(step.log_probs, rows, total)
        origin = choice.parent if rows.are_all_places else rows.row[choice.parent]
        trellis.add(choice, origin, step.weights)
        if covered is not None:
            covered = covered[choice.parent.flatten()] + mean_of_heads(step.weights)[origin.flatten()]
        outcome = _settle(choice, pool, rows.length, expander=expander, ranking=ranking, covered=covered)
        if recorder:
            recorder.add(rows.place, total, rows.length, outcome)
        total = choice.total if outcome.score is None else choice.total.masked_fill(~outcome.is_alive, NEVER)
        origin, token, is_alive = (x.flatten() for x in (origin, choice.token, outcome.is_alive))
        rows = expander.move(rows, step.state, origin=origin, token=token, is_alive=is_alive)
    return trellis.hypotheses(pool, is_token)


def _settle(
    choice: Choice,
    pool: Pool,
    length: int,
    *,
    expander: Expander[E],
    ranking: Ranking,
    covered: Float[Tensor, "P S"] | None,
) -> Outcome:
    """Put what ended into the pool, and say which of the rest is worth going on with."""
    is_hypothesis = choice.total > NEVER
    is_end = is_hypothesis & (choice.token == EOS)
    if not pool.has_any and length < expander.soonest_cut and not is_end.any():  # most steps of a single sentence
        return Outcome(choice, None, is_end, is_end, is_hypothesis)
    by_place = None if covered is None else covered.view(*choice.total.shape, -1)
    score = ranking.score(choice.total, length, covered=by_place, is_token=expander.source.is_token)
    is_cut = is_hypothesis & ~is_end & (length >= expander.longest[:, None])
    is_last_resort = is_cut & pool.is_empty & ~is_end.any(dim=1, keepdim=True)
    pool.offer(is_end | is_last_resort, score, choice.total, length)
    is_open = is_hypothesis & ~is_end & ~is_cut
    # Hypotheses without hope leave only together: a beam that refilled their places would depend on n_best.
    can_win = is_open & (ranking.bound(choice.total, expander.longest) > pool.worst)
    return Outcome(choice, score, is_end, is_cut, is_open & can_win.any(dim=1, keepdim=True))


def follow(
    token: Int[Tensor, " R"], log_probs: Float[Tensor, "R V"], rows: Rows[E], total: Float[Tensor, "B 1"]
) -> Choice:
    """Continue the only hypothesis of each sentence with a token."""
    tokens = torch.full(total.shape, PAD, device=total.device)
    tokens[rows.place, 0] = token
    price = log_probs.new_full(total.shape, NEVER)
    price[rows.place] = log_probs.gather(1, token[:, None])
    parent = torch.arange(len(total), device=total.device)[:, None]
    return Choice(parent, tokens, price, total + price)
