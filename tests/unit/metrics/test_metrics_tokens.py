import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.metrics.accuracy import SentenceAccuracy, TokenAccuracy, TokenErrorRate, UnknownRate, edit_distance
from regard.metrics.loss import NatsPerToken, Perplexity

STRINGS = st.text("abc", max_size=6)


def score(metric, *columns):
    return metric.score(metric.statistics(*columns)).value


def test_token_accuracy_counts_positions_of_the_longer_one():
    assert score(TokenAccuracy(), ["abcd"], ["abxd"]) == 75
    assert score(TokenAccuracy(), ["ab"], ["abcd"]) == 50  # too short
    assert score(TokenAccuracy(), ["abcd"], ["ab"]) == 50  # too long
    assert score(TokenAccuracy(), ["xabc"], ["abc"]) == 0  # out of step
    assert score(TokenAccuracy(), [["ein", "Mann"], ["geht"]], [["ein", "Hund"], ["geht"]]) == pytest.approx(200 / 3)


def test_sentence_accuracy_counts_whole_sentences():
    assert score(SentenceAccuracy(), ["abc", "abd", ""], ["abc", "abc", ""]) == pytest.approx(200 / 3)
    assert score(SentenceAccuracy(), [["a", "b"]], [("a", "b")]) == 100


def test_one_wrong_token_costs_a_token_or_a_sentence():
    hypotheses, references = ["dcba", "dcbb"], ["dcba", "dcba"]
    assert score(TokenAccuracy(), hypotheses, references) == 87.5
    assert score(SentenceAccuracy(), hypotheses, references) == 50


def test_token_error_rate_by_hand():
    assert score(TokenErrorRate(), ["xabc"], ["abc"]) == pytest.approx(100 / 3)
    assert score(TokenErrorRate(), ["abc", ""], ["abd", "ab"]) == pytest.approx(60)
    assert score(TokenErrorRate(), ["abc"], [""]) == 100
    assert score(TokenErrorRate(), [""], [""]) == 0


def test_edit_distance_by_hand():
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("", "abc") == 3
    assert edit_distance("abc", "") == 3
    assert edit_distance(["ein", "Mann"], ["Mann", "ein"]) == 2


def recursive_distance(a, b):
    if not a or not b:
        return len(a) + len(b)
    return min(
        recursive_distance(a[1:], b) + 1,
        recursive_distance(a, b[1:]) + 1,
        recursive_distance(a[1:], b[1:]) + (a[0] != b[0]),
    )


@settings(max_examples=60, deadline=None)
@given(st.text("ab", max_size=4), st.text("abc", max_size=5))
def test_edit_distance_is_the_recursive_one(a, b):
    assert edit_distance(a, b) == recursive_distance(a, b) == edit_distance(b, a)


@given(st.lists(STRINGS, min_size=1, max_size=5))
def test_the_reference_itself_is_right(strings):
    assert score(TokenAccuracy(), strings, strings) == 100
    assert score(SentenceAccuracy(), strings, strings) == 100
    assert score(TokenErrorRate(), strings, strings) == 0


@given(STRINGS, STRINGS)
def test_accuracies_agree_on_what_is_perfect(a, b):
    perfect = score(SentenceAccuracy(), [a], [b]) == 100
    assert (score(TokenAccuracy(), [a], [b]) == 100) == perfect
    assert (score(TokenErrorRate(), [a], [b]) == 0) == perfect


def test_unknown_rate():
    tokens = [["ein", "⁇", "geht"], ["⁇"], []]
    assert score(UnknownRate(), tokens) == 50
    assert score(UnknownRate(unknown=3), [[3, 1], [2, 0]]) == 25
    assert score(UnknownRate(), [[]]) == 0


def test_nats_and_perplexity_are_over_all_tokens():
    nats, tokens = [2.0, 10.0], [1, 3]
    assert score(NatsPerToken(), nats, tokens) == 3
    assert score(Perplexity(), nats, tokens) == pytest.approx(math.exp(3))
    assert score(Perplexity(), [7 * math.log(5)], [7]) == pytest.approx(5)


def test_perplexity_of_nothing_is_undefined_and_of_nonsense_is_huge():
    assert math.isnan(score(Perplexity(), [0.0], [0]))
    assert math.isnan(score(NatsPerToken(), [0.0], [0]))
    assert 1e300 < score(Perplexity(), [1e6], [1]) < math.inf


def test_an_undefined_score_has_no_interval():
    metric = NatsPerToken()
    statistics = metric.statistics([0.0, 0.0], [0, 0])
    assert metric.score(statistics, generator=np.random.default_rng(1)).interval is None
