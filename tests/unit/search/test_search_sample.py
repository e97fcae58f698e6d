"""Sampling: what is drawn, how often, and that each sentence draws for itself."""

from collections import Counter

import pytest
import torch

from regard.data.vocabulary import BOS, EOS, PAD
from regard.search import Length, Rules, Sampling, generators, greedy, sample
from search_models import Look, Network, TableStepper, batch, memories

DRAWS = 2000
RULES = Rules(longest=Length(offset=3))


def drawn_first(table: TableStepper, sampling: Sampling) -> Counter[int]:
    (found,) = sample(table, table.source, generators=generators(1, [0]), draws=DRAWS, sampling=sampling, rules=RULES)
    return Counter(h.tokens[0] for h in found)


def chi_square(seen: Counter[int], probs: dict[int, float]) -> float:
    assert set(seen) <= set(probs)
    return sum((seen[token] - DRAWS * p) ** 2 / (DRAWS * p) for token, p in probs.items())


def probabilities(table: TableStepper, temperature: float) -> dict[int, float]:
    """The tempered distribution of the first token, most probable first."""
    logits = torch.tensor(Look(table, 0).log_probs[0])
    logits[[PAD, BOS]] = float("-inf")
    probs = (logits / temperature).softmax(dim=0)
    return {int(v): float(probs[v]) for v in probs.argsort(descending=True) if probs[v] > 0}


def renormalised(probs: dict[int, float]) -> dict[int, float]:
    return {token: p / sum(probs.values()) for token, p in probs.items()}


@pytest.fixture(scope="module")
def table() -> TableStepper:
    table = TableStepper(words=8, longest=3, lengths=[3], seed=2)
    table.logits /= 2
    return table


@pytest.mark.parametrize("temperature", [1.0, 0.6, 2.5])
def test_frequencies_are_those_of_the_table(table: TableStepper, temperature: float) -> None:
    seen = drawn_first(table, Sampling(temperature=temperature))
    # 5 degrees of freedom: exceeded by chance in 1 of 1,000 seeds.
    assert chi_square(seen, probabilities(table, temperature)) < 20.5


def test_top_k_keeps_the_best(table: TableStepper) -> None:
    best = dict(list(probabilities(table, 1.0).items())[:3])
    seen = drawn_first(table, Sampling(top_k=3))
    assert set(seen) == set(best)
    assert chi_square(seen, renormalised(best)) < 13.8


def test_top_p_keeps_the_fewest_that_hold_the_share(table: TableStepper) -> None:
    probs = list(probabilities(table, 1.0).items())
    share = sum(p for _, p in probs[:2]) + 1e-3
    seen = drawn_first(table, Sampling(top_p=share))
    assert set(seen) == {token for token, _ in probs[:3]}
    assert chi_square(seen, renormalised(dict(probs[:3]))) < 13.8
    assert set(drawn_first(table, Sampling(top_p=1e-9))) == {probs[0][0]}


def test_log_probabilities_are_the_models_own(table: TableStepper) -> None:
    look = Look(table, 0)
    (found,) = sample(
        table,
        table.source,
        generators=generators(3, [0]),
        draws=20,
        sampling=Sampling(temperature=3.0, top_k=4),
        rules=RULES,
    )
    assert len({h.tokens for h in found}) > 5
    for h in found:
        assert h.token_log_probs == pytest.approx(look.token_log_probs(h.tokens), abs=1e-5)
        torch.testing.assert_close(h.attention, look.attention(h.tokens))


@pytest.mark.parametrize("cold", [Sampling(temperature=1e-4), Sampling(temperature=1e-30), Sampling(top_k=1)])
def test_without_chance_sampling_is_greedy(cold: Sampling) -> None:
    table = TableStepper(words=9, longest=4, lengths=[2, 3, 4, 1], seed=6)
    rules = Rules(longest=Length(offset=4))
    found = sample(table, table.source, generators=generators(5, range(4)), draws=2, sampling=cold, rules=rules)
    wanted = greedy(table, table.source, rules=rules)
    assert [[a.tokens, b.tokens] for a, b in found] == [[h.tokens, h.tokens] for (h,) in wanted]


def test_a_sentence_draws_for_itself() -> None:
    model = Network(words=30, hidden=7, seed=1)
    rows = memories([4, 9, 2, 6, 5, 3, 8], 7, seed=2)
    together = sample(model, batch(rows), generators=generators(7, range(7)), draws=3)
    order = [5, 0, 3, 6, 1, 4, 2]
    shuffled = sample(model, batch([rows[i] for i in order]), generators=generators(7, order), draws=3)
    for i, found in zip(order, shuffled, strict=True):
        (alone,) = sample(model, batch([rows[i]]), generators=generators(7, [i]), draws=3)
        assert [h.tokens for h in found] == [h.tokens for h in together[i]] == [h.tokens for h in alone]
    other_seed = sample(model, batch(rows), generators=generators(8, range(7)), draws=3)
    assert [h.tokens for h in other_seed[0]] != [h.tokens for h in together[0]]
    assert any(EOS in h.tokens for found in together for h in found)
