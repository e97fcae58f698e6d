"""Several models as one."""

import math

import pytest
import torch

from regard.errors import RegardError
from regard.search import Ensemble, Length, Rules, Sources, Step, beam, greedy, score
from regard.search.ensemble import mean_log_probs, mean_weights
from search_models import Look, TableStepper

RULES = Rules(longest=Length(offset=4))


def table(seed: int, *, words: int = 7, heads: int = 2) -> TableStepper:
    return TableStepper(words=words, longest=4, lengths=[3, 2, 4], seed=seed, heads=heads)


def test_an_ensemble_of_one_is_the_model() -> None:
    one = table(1)
    found = beam(Ensemble([one]), Sources((one.source,)), width=4, n_best=3, rules=RULES)
    wanted = beam(one, one.source, width=4, n_best=3, rules=RULES)
    assert [[h.tokens for h in best] for best in found] == [[h.tokens for h in best] for best in wanted]
    for h, w in zip(sum(found, []), sum(wanted, []), strict=True):  # noqa: RUF017
        assert h.score == pytest.approx(w.score, abs=1e-6)
        torch.testing.assert_close(h.attention, w.attention)


def test_two_models_are_averaged_in_probability() -> None:
    one, other = table(1), table(2)
    sources = Sources((one.source, other.source))
    for sentence, (h,) in enumerate(beam(Ensemble([one, other]), sources, width=3, rules=RULES)):
        pairs = zip(
            Look(one, sentence).token_log_probs(h.tokens), Look(other, sentence).token_log_probs(h.tokens), strict=True
        )
        by_hand = [math.log((math.exp(a) + math.exp(b)) / 2) for a, b in pairs]
        assert h.token_log_probs == pytest.approx(by_hand, abs=1e-5)
        mean = (Look(one, sentence).attention(h.tokens) + Look(other, sentence).attention(h.tokens)) / 2
        torch.testing.assert_close(h.attention, mean)


def test_many_models_have_the_same_bits_in_any_batch() -> None:
    generator = torch.Generator().manual_seed(1)
    parts = [torch.randn(40, 3, 37, generator=generator) for _ in range(7)]
    for mean in (mean_log_probs, mean_weights):
        together = mean(parts)
        for rows in (slice(0, 1), slice(3, 4), slice(5, 22)):
            assert torch.equal(mean([part[rows] for part in parts]), together[rows])
    wanted = torch.stack(parts).logsumexp(dim=0) - math.log(7)
    torch.testing.assert_close(mean_log_probs(parts), wanted)
    assert mean_log_probs([torch.full((2,), -math.inf)] * 2).tolist() == [-math.inf] * 2


def test_attention_of_unlike_shape_is_the_first_models() -> None:
    one, other = table(1, heads=2), table(2, heads=3)
    found = greedy(Ensemble([one, other]), Sources((one.source, other.source)), rules=RULES)
    for sentence, (h,) in enumerate(found):
        torch.testing.assert_close(h.attention, Look(one, sentence).attention(h.tokens))


def test_an_ensemble_can_be_scored_and_nested() -> None:
    one, other = table(1), table(2)
    inner, sources = Ensemble([one, other]), Sources((one.source, other.source))
    outer = Ensemble([inner, inner])
    given = [h.tokens for (h,) in greedy(inner, sources, rules=RULES)]
    alone = score(inner, sources, tokens=given)
    nested = score(outer, Sources((sources, sources)), tokens=given)
    assert [h.log_prob for h in nested] == pytest.approx([h.log_prob for h in alone], abs=1e-5)


def test_error_texts() -> None:
    with pytest.raises(RegardError) as error:
        Ensemble([])
    assert str(error.value) == "ensemble: got no models, want at least 1."
    one, other = table(1), table(2, words=8)
    with pytest.raises(RegardError) as error:
        greedy(Ensemble([one, other]), Sources((one.source, other.source)))
    assert str(error.value) == ("ensemble: got vocabularies of 7 and 8 words, want the same vocabulary in every run.")


def test_a_step_is_what_a_stepper_gives() -> None:
    one = table(1)
    step = Ensemble([one]).step(torch.tensor([2, 2, 2]), ((torch.tensor([-1, -1, -1]),),), Sources((one.source,)))
    assert isinstance(step, Step)
    torch.testing.assert_close(step.log_probs.exp().sum(dim=1), torch.ones(3))
