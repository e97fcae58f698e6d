"""What holds for every metric, whatever it measures."""

import numpy as np
import pytest
import torch

from regard.errors import RegardError
from regard.metrics.alignment import Alignment
from regard.metrics.base import Metric
from regard.metrics.signature import Signature, comparable
from regard.metrics.significance import approximate_randomisation, paired_bootstrap
from regard.parts import METRICS

SEGMENTS = 12
WORDS = ["ein", "Mann", "geht", "nach", "Hause", ",", "⁇"]
RANDOM = np.random.default_rng(5)
REFERENCES = [list(RANDOM.choice(WORDS, size=RANDOM.integers(4, 9))) for _ in range(SEGMENTS)]
HYPOTHESES = [
    [word if RANDOM.random() < 0.7 else str(RANDOM.choice(WORDS)) for word in words] + ["."] * (i % 2)
    for i, words in enumerate(REFERENCES)
]
COLUMNS = {
    "hypothesis": [" ".join(words) for words in HYPOTHESES],
    "reference": [" ".join(words) for words in REFERENCES],
    "hypothesis_tokens": HYPOTHESES,
    "reference_tokens": REFERENCES,
    "nats": [float(x) for x in RANDOM.uniform(5, 30, size=SEGMENTS)],
    "tokens": [len(words) + 1 for words in REFERENCES],
    "weights": [torch.tensor(RANDOM.dirichlet(np.ones(4), size=3)) for _ in range(SEGMENTS)],
    "links": [frozenset({(i % 4, 0), (2, 1)}) for i in range(SEGMENTS)],
    "gold": [Alignment(frozenset({(1, 0), (2, 1)}), frozenset({(i % 3, 2)})) for i in range(SEGMENTS)],
}
WITH_REFERENCE = [name for name in METRICS if {"reference", "reference_tokens"} & {*METRICS[name].takes}]

every_metric = pytest.mark.parametrize("name", METRICS)


def make(name) -> tuple[Metric, list, np.ndarray]:
    metric = METRICS[name]()
    columns = [COLUMNS[column] for column in metric.takes]
    return metric, columns, metric.statistics(*columns)


@every_metric
def test_it_says_what_it_is(name):
    metric, _, statistics = make(name)
    score = metric.score(statistics, context=Signature.of(split="test"))
    assert score.name == metric.name == name
    assert METRICS.summary(name)
    assert score.unit in ("%", "nats", "")
    assert score.signature.startswith(f"metric:{name}")
    assert score.signature.endswith("|split:test")
    assert str(Signature.parse(score.signature)) == score.signature
    assert score.segments == SEGMENTS


@every_metric
def test_statistics_have_a_row_for_each_segment(name):
    metric, columns, statistics = make(name)
    assert statistics.shape[0] == SEGMENTS
    assert statistics.ndim == 2
    alone = [metric.statistics(*([column[i]] for column in columns))[0] for i in range(SEGMENTS)]
    np.testing.assert_array_equal(statistics, alone)


@every_metric
def test_the_order_of_segments_does_not_count(name):
    metric, columns, statistics = make(name)
    order = np.random.default_rng(3).permutation(SEGMENTS)
    shuffled = metric.statistics(*([column[i] for i in order] for column in columns))
    assert metric.score(shuffled).value == pytest.approx(metric.score(statistics).value, abs=1e-9)


@every_metric
def test_resamplings_are_scored_all_at_once_and_left_as_they_are(name):
    metric, _, statistics = make(name)
    before = statistics.copy()
    values = metric.aggregate(statistics)
    assert values.shape == (SEGMENTS,)
    np.testing.assert_array_equal(statistics, before)
    one_by_one = [metric.score(statistics[i : i + 1]).value for i in range(SEGMENTS)]
    np.testing.assert_allclose(values, one_by_one, rtol=1e-12)


@every_metric
def test_a_corpus_twice_scores_as_once(name):
    metric, _, statistics = make(name)
    twice = metric.score(np.concatenate([statistics, statistics])).value
    assert twice == pytest.approx(metric.score(statistics).value, abs=1e-9)


@every_metric
def test_the_interval_is_around_the_score_and_repeatable(name):
    metric, _, statistics = make(name)
    first, second = (metric.score(statistics, generator=np.random.default_rng(9)) for _ in range(2))
    assert first == second
    low, high = first.interval
    assert low <= first.value <= high
    assert low < high


@every_metric
def test_no_system_differs_from_itself(name):
    metric, _, statistics = make(name)
    for test in (paired_bootstrap, approximate_randomisation):
        outcome = test(statistics, statistics, aggregate=metric.aggregate, generator=np.random.default_rng(1))
        assert (outcome.delta, outcome.p_value) == (0, 1)


@pytest.mark.parametrize("name", WITH_REFERENCE)
def test_a_perfect_translation_cannot_be_beaten(name):
    metric, columns, statistics = make(name)
    perfect = metric.score(metric.statistics(columns[1], columns[1])).value
    assert perfect == pytest.approx(100 if metric.higher_is_better else 0)
    assert (perfect > metric.score(statistics).value) == metric.higher_is_better


@every_metric
def test_no_segments_are_a_users_error(name):
    metric = METRICS[name]()
    with pytest.raises(RegardError) as error:
        metric.statistics(*([] for _ in metric.takes))
    assert str(error.value) == f"{name}: got 0 segments, want at least 1."


def test_no_two_metrics_go_into_one_table():
    signatures = [METRICS[name]().signature() for name in METRICS]
    for i, a in enumerate(signatures):
        assert [comparable(a, b) is None for b in signatures] == [i == j for j in range(len(signatures))]


@every_metric
def test_the_vocabulary_is_in_the_signature_where_it_matters(name):
    metric, _, statistics = make(name)
    scores = [metric.score(statistics, context=Signature.of(tokens=tokens)) for tokens in ("word-7", "word-8")]
    reason = comparable(*(Signature.parse(score.signature) for score in scores))
    assert reason == ("different vocabulary (word-7 and word-8)" if metric.depends_on_tokens else None)
