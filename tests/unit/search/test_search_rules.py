"""What a search may produce, what it must begin with, and where it must look."""

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.vocabulary import BOS, EOS, PAD, UNK
from regard.errors import RegardError
from regard.search import (
    Gnmt,
    Hypothesis,
    Length,
    NoRepeat,
    NoUnknown,
    Plain,
    Power,
    Ranking,
    Rules,
    Sampling,
    beam,
    generators,
    greedy,
    sample,
    unknown_positions,
)
from regard.search.rows import Expander
from regard.search.rules import NEVER, forbid_end
from search_models import Look, Network, TableStepper, batch, memories

WORDS, SIZE = 11, 6
SOURCE = batch(memories([3, 7, 1, 5, 4], SIZE, seed=1))
MODEL = Network(words=WORDS, hidden=SIZE, seed=0)
SOURCE_LENGTHS = [3, 7, 1, 5, 4]


def repeats(tokens: tuple[int, ...], n: int) -> bool:
    grams = [tokens[i : i + n] for i in range(len(tokens) - n + 1)]
    return len(set(grams)) < len(grams)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 999),
    width=st.integers(1, 6),
    ratio=st.sampled_from([0.0, 0.5, 1.3]),
    offset=st.integers(1, 9),
    least=st.sampled_from([Length(), Length(offset=4), Length(ratio=0.9), Length(ratio=3.0, offset=1)]),
    n=st.integers(0, 3),
    is_unknown_allowed=st.booleans(),
    prefixes=st.lists(st.lists(st.sampled_from([UNK, 4, 5, 10]), max_size=3), min_size=5, max_size=5),
    ranking=st.sampled_from([Ranking(Plain()), Ranking(), Ranking(Gnmt(), coverage=0.4)]),
    way=st.sampled_from(["greedy", "beam", "sample"]),
)
def test_rules_hold(
    *,
    seed: int,
    width: int,
    ratio: float,
    offset: int,
    least: Length,
    n: int,
    is_unknown_allowed: bool,
    prefixes: list[list[int]],
    ranking: Ranking,
    way: str,
) -> None:
    model = Network(words=WORDS, hidden=SIZE, seed=seed, end_bias=seed % 5)
    constraints = (*([NoRepeat(n)] if n else []), *([] if is_unknown_allowed else [NoUnknown()]))
    rules = Rules(longest=Length(ratio, offset), shortest=least, constraints=constraints)
    options = {"rules": rules, "ranking": ranking, "prefix": prefixes}
    if way == "beam":
        found = beam(model, SOURCE, width=width, n_best=width, **options)
    elif way == "sample":
        found = sample(model, SOURCE, draws=width, generators=generators(seed, range(5)), **options)
    else:
        found = greedy(model, SOURCE, **options)
    assert len(found) == 5
    for best, source_length, prefix in zip(found, SOURCE_LENGTHS, prefixes, strict=True):
        longest = max(int(ratio * source_length) + offset, len(prefix) + 1)
        shortest = min(int(least.ratio * source_length + 1e-4) + least.offset, longest)
        assert best
        if way == "beam":
            assert [h.score for h in best] == sorted((h.score for h in best), reverse=True)
            assert len({h.tokens for h in best}) == len(best)
        for h in best:
            assert not {PAD, BOS} & set(h.tokens)
            assert EOS not in h.tokens[:-1]
            assert len(h.tokens) == len(h.token_log_probs) == h.attention.shape[1] <= longest
            assert h.is_finished or len(h.tokens) == longest
            assert h.attention.shape[2] == source_length
            assert list(h.tokens[: len(prefix)]) == prefix
            free = h.tokens[len(prefix) :]
            assert is_unknown_allowed or UNK not in free
            # With so few words, never repeating one may leave nothing but to end.
            assert len(h.tokens) >= shortest or n == 1
            assert not n or repeats((*prefix,), n) or not repeats(h.tokens, n)


def test_where_nothing_may_follow_a_hypothesis_ends_too_short() -> None:
    table = TableStepper(words=6, longest=5, lengths=[2], seed=1)
    rules = Rules(longest=Length(offset=5), shortest=Length(offset=5), constraints=(NoRepeat(1), NoUnknown()))
    for h in beam(table, table.source, width=3, n_best=2, rules=rules)[0]:
        assert sorted(h.words) == [4, 5]
        assert h.is_finished


def test_the_end_is_forbidden_unless_nothing_else_is_left() -> None:
    log_probs = torch.full((4, 200), NEVER)
    log_probs[0, 150] = log_probs[1, 7] = -2.0  # the third row can only end, the fourth is not too short
    log_probs[:, EOS] = -1.0
    forbid_end(log_probs, torch.tensor([True, True, True, False]))
    assert log_probs[:, EOS].tolist() == [NEVER, NEVER, -1.0, -1.0]
    log_probs[:, 150] = -2.0
    forbid_end(log_probs, torch.tensor([True, True, True, False]))
    assert log_probs[:, EOS].tolist() == [NEVER, NEVER, NEVER, -1.0]


def test_a_repeat_is_the_only_thing_no_repeat_forbids() -> None:
    log_probs = torch.zeros(2, 9)
    NoRepeat(3).forbid(log_probs, torch.tensor([[BOS, 5, 6, 7, 5, 6], [BOS, 5, 6, 7, 6, 5]]))
    assert log_probs[0].isinf().nonzero().flatten().tolist() == [PAD, 7]
    assert log_probs[1].isinf().nonzero().flatten().tolist() == [PAD]


@pytest.mark.parametrize(
    ("alive", "chosen"),
    [
        ("11111 11111 11111", range(15)),
        ("11111 00000 11111", [*range(5), *range(10, 15)]),  # a finished sentence leaves
        ("11111 11000 11111", range(15)),  # an open one stays whole while it is cheaper
        ("11111 11000 00000", range(10)),
        ("10000 00100 00010", [0, 7, 13]),  # but not where most of it is dead
        ("00000 00000 00000", []),
    ],
)
def test_open_sentences_keep_all_their_places(alive: str, chosen: Sequence[int]) -> None:
    source = batch(memories([3, 2, 4], SIZE, seed=1))
    expander = Expander(MODEL, source, width=5, rules=Rules())
    is_alive = torch.tensor([mark == "1" for mark in alive if mark != " "])
    assert expander._places(is_alive, torch.arange(15)).tolist() == [*chosen]


def test_lengths_follow_the_source() -> None:
    lengths = torch.tensor([1, 10, 30])
    assert Length(ratio=0.7, offset=2).of(lengths).tolist() == [2, 9, 23]
    assert Length(ratio=1.0, offset=-9).of(lengths).tolist() == [1, 1, 21]


@pytest.mark.parametrize(
    ("one", "other", "is_above"),
    [("9", "3", True), ("2x+3", "1x+3", True), ("1x", "1x", False), ("9", "1x+3", False), ("1x+3", "9", False)],
)
def test_a_length_is_above_another_for_every_source_or_not(one: str, other: str, is_above: bool) -> None:
    assert Length.parse(one).is_always_above(Length.parse(other)) is is_above


@pytest.mark.parametrize("way", [greedy, beam])
def test_the_prefix_counts(way: object) -> None:
    table = TableStepper(words=7, longest=5, lengths=[3, 2], seed=4)
    rules = Rules(longest=Length(offset=5))
    first, second = way(table, table.source, rules=rules, ranking=Ranking(Plain()), prefix=[(6, 4), ()])
    assert first[0].tokens[:2] == (6, 4)
    assert first[0].log_prob == pytest.approx(Look(table, 0).log_prob(first[0].tokens), abs=1e-5)
    assert second == way(table, table.source, rules=rules, ranking=Ranking(Plain()))[1]


def test_a_prefix_beyond_the_greatest_length_leaves_room_to_end() -> None:
    table = TableStepper(words=7, longest=5, lengths=[3], seed=4)
    ((one,),) = greedy(table, table.source, rules=Rules(longest=Length(offset=2)), prefix=[(4, 5, 6)])
    assert one.tokens[:3] == (4, 5, 6)
    assert len(one.tokens) == 4


def test_imposed_attention_is_used_where_given_and_computed_elsewhere() -> None:
    table = TableStepper(words=7, longest=4, lengths=[3, 2], seed=5)
    rules = Rules(longest=Length(offset=4), shortest=Length(offset=4))
    imposed = torch.full((2, 2, 3, 3), float("nan"))
    imposed[0, :, 1] = torch.tensor([0.0, 0.0, 1.0])
    plain = beam(table, table.source, width=3, n_best=3, rules=rules)
    what_if = beam(table, table.source, width=3, n_best=3, rules=rules, imposed=imposed)
    assert what_if[1] == plain[1]
    assert what_if[0] != plain[0]
    look = Look(table, 0)
    for h in what_if[0]:
        own = look.attention(h.tokens)
        assert h.attention[:, 1].tolist() == [[0.0, 0.0, 1.0]] * 2
        torch.testing.assert_close(h.attention[:, [0, 2, 3]], own[:, [0, 2, 3]])
        logits = table.logits[0, look.beginnings(h.tokens)[1]] + table.reading[2]
        assert h.token_log_probs[1] == pytest.approx(logits.log_softmax(dim=0)[h.tokens[1]].item(), abs=1e-5)


def test_unknown_words_point_at_what_they_looked_at() -> None:
    attention = torch.tensor([[[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0, 0, 0]], [[0.0, 1.0, 0.0], [0, 0, 1], [0, 0, 0]]])
    h = Hypothesis((UNK, 5, UNK), -3.0, -1.0, (-1.0, -1.0, -1.0), attention)
    assert unknown_positions(h) == {0: 1}
    assert unknown_positions(Hypothesis((5, EOS), -2.0, -1.0, (-1.0, -1.0), attention[:, :2])) == {}


def test_a_model_that_diverged_is_named() -> None:
    model = Network(words=WORDS, hidden=SIZE, seed=0)
    model.output.bias.data[7] = float("nan")
    for way in (greedy, beam):
        with pytest.raises(RegardError) as error:
            way(model, SOURCE)
        assert str(error.value) == (
            "search: the model gives probabilities that are not numbers; its training went wrong. "
            "Use an earlier checkpoint, or train with a lower learning rate."
        )


def test_impossible_words_are_chosen_last() -> None:
    table = TableStepper(words=6, longest=3, lengths=[2], seed=5)
    table.logits[0, :, [UNK, 4]] = float("-inf")
    found = beam(table, table.source, width=30, n_best=12, rules=Rules(longest=Length(offset=3)))[0]
    assert [set(h.words) <= {5} for h in found] == [True] * 3 + [False] * 9


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: beam(MODEL, SOURCE, width=0), "search.width: got 0, want an integer >= 1."),
        (
            lambda: beam(MODEL, SOURCE, width=3, n_best=4),
            "search.n_best: got 4, want an integer from 1 to the width, 3.",
        ),
        (
            lambda: beam(MODEL, SOURCE, width=3, n_best=0),
            "search.n_best: got 0, want an integer from 1 to the width, 3.",
        ),
        (lambda: Power(-0.1), "search.alpha: got -0.1, want a number >= 0."),
        (lambda: Gnmt(float("inf")), "search.alpha: got inf, want a number >= 0."),
        (lambda: Ranking(coverage=-1.0), "search.coverage: got -1.0, want a number >= 0."),
        (lambda: Length(ratio=-2.0), "search.ratio: got -2.0, want a number >= 0."),
        (lambda: NoRepeat(0), "search.no_repeat: got 0, want an integer >= 1."),
        (lambda: Sampling(temperature=0.0), "search.temperature: got 0.0, want a number > 0."),
        (lambda: Sampling(top_k=0), "search.top_k: got 0, want an integer >= 1."),
        (lambda: Sampling(top_p=0.0), "search.top_p: got 0.0, want a number above 0 and at most 1."),
        (lambda: Sampling(top_p=1.1), "search.top_p: got 1.1, want a number above 0 and at most 1."),
        (lambda: sample(MODEL, SOURCE, generators=[], draws=0), "search.draws: got 0, want an integer >= 1."),
        (
            lambda: greedy(MODEL, SOURCE, imposed=torch.zeros(5, 1, 2, 6)),
            "search.imposed: got attention of 5 sentences over 6 source tokens, want 5 sentences over 7.",
        ),
        (
            lambda: greedy(MODEL, SOURCE, imposed=torch.full((5, 1, 2, 7), -0.1)),
            "search.imposed: want rows of weights >= 0, or of NaN alone where attention is computed.",
        ),
    ],
)
def test_error_texts(call: object, text: str) -> None:
    with pytest.raises(RegardError) as error:
        call()
    assert str(error.value) == text


def test_the_coverage_penalty_has_the_same_bits_with_any_padding() -> None:
    covered = torch.rand(20, 2, 23, generator=torch.Generator().manual_seed(1))
    log_prob, is_token = torch.full((20, 2), -3.0), torch.ones(20, 23, dtype=torch.bool)
    ranking = Ranking(coverage=0.2)
    alone = ranking.score(log_prob, 9, covered=covered, is_token=is_token)
    for padding in (1, 9, 17):
        padded = (torch.nn.functional.pad(tensor, (0, padding)) for tensor in (covered, is_token))
        together = ranking.score(log_prob, 9, **dict(zip(("covered", "is_token"), padded, strict=True)))
        assert torch.equal(together, alone)
