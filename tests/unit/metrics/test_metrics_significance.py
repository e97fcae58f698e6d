import math
import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import RegardError
from regard.metrics import significance
from regard.metrics.accuracy import SentenceAccuracy
from regard.metrics.bleu import Bleu
from regard.metrics.significance import (
    SeedNoise,
    approximate_randomisation,
    bootstrap_interval,
    holm,
    over_both,
    paired_bootstrap,
    permutation_test,
    seed_noise,
    t_quantile,
    t_two_sided,
    welch,
)

PAIRED = [paired_bootstrap, approximate_randomisation]


def generator(seed=1):
    return np.random.default_rng(seed)


def mean(sums):
    return sums[:, 0] / sums[:, 1]


def rows(values):
    return np.column_stack([values, np.ones(len(values))])


def coins(share, size, seed):
    return rows((generator(seed).random(size) < share).astype(float))


def test_resamplings_are_sums_of_segments_drawn_with_replacement():
    statistics = generator(7).normal(size=(5, 3))
    seen = []
    bootstrap_interval(statistics, lambda s: (seen.append(s), s[:, 0])[1], generator=generator(), resamplings=11)
    drawn = generator().integers(5, size=(11, 5))
    np.testing.assert_allclose(seen[0], statistics[drawn].sum(1))


def test_memory_is_bounded_without_changing_the_result(monkeypatch):
    a, b = coins(0.6, 40, 1), coins(0.7, 40, 2)
    whole = [test(a, b, aggregate=mean, generator=generator(), resamplings=50) for test in PAIRED]
    monkeypatch.setattr(significance, "_CELLS", 7 * 40 + 1)
    parts = [test(a, b, aggregate=mean, generator=generator(), resamplings=50) for test in PAIRED]
    assert parts == whole


def test_the_interval_of_a_share_is_the_textbook_one():
    statistics = rows(np.arange(400) < 280)
    low, high = bootstrap_interval(statistics, mean, generator=generator(), resamplings=4000)
    margin = 1.96 * math.sqrt(0.7 * 0.3 / 400)
    assert low == pytest.approx(0.7 - margin, abs=0.005)
    assert high == pytest.approx(0.7 + margin, abs=0.005)


def test_the_interval_holds_the_score_itself():
    inside = 0
    for seed in range(50):
        statistics = coins(0.3, 30, seed)
        low, high = bootstrap_interval(statistics, mean, generator=generator(seed), resamplings=200)
        inside += low <= statistics[:, 0].mean() <= high
    assert inside >= 48


@pytest.mark.parametrize("test", PAIRED)
def test_a_system_does_not_differ_from_itself(test):
    metric = Bleu()
    texts = ["a b c d e", "f g h i j k", "l m n o x"]
    statistics = metric.statistics(texts, ["a b c d x", "f g h i j k", "l m n o p"])
    outcome = test(statistics, statistics, aggregate=metric.aggregate, generator=generator())
    assert (outcome.delta, outcome.p_value) == (0, 1)


@pytest.mark.parametrize("test", PAIRED)
def test_a_clear_difference_is_found_either_way(test):
    worse, better = coins(0.5, 300, 1), coins(0.8, 300, 2)
    up = test(worse, better, aggregate=mean, generator=generator())
    down = test(better, worse, aggregate=mean, generator=generator())
    assert up.delta == pytest.approx(better[:, 0].mean() - worse[:, 0].mean())
    assert down.delta == -up.delta
    assert up.p_value == down.p_value == pytest.approx(1 / 1001)


@pytest.mark.parametrize("test", PAIRED)
def test_chance_is_called_a_difference_as_rarely_as_promised(test):
    p_values = [
        test(coins(0.5, 80, 2 * seed), coins(0.5, 80, 2 * seed + 1), aggregate=mean, generator=generator(seed)).p_value
        for seed in range(200)
    ]
    assert 0.01 <= np.mean(np.array(p_values) <= 0.05) <= 0.10
    assert 0.4 <= np.mean(p_values) <= 0.6


def test_pairs_count():
    # a small gain on every sentence is certain although sentences differ far more than that
    hard = generator(3).normal(0, 10, size=100)
    outcome = paired_bootstrap(rows(hard), rows(hard + 0.1), aggregate=mean, generator=generator())
    assert outcome.p_value < 0.01
    assert outcome.interval == pytest.approx((0.1, 0.1))


def test_the_bootstrap_by_hand():
    # gains of 0 and 1: two draws make a mean gain of 0, 1/2, 1 with chances 1/4, 1/2, 1/4; around the measured 1/2
    # that is -1/2, 0, 1/2, so half of the draws are as far out as it
    outcome = paired_bootstrap(
        rows(np.zeros(2)), rows(np.array([0.0, 1.0])), aggregate=mean, generator=generator(), resamplings=20_000
    )
    assert outcome.delta == 0.5
    assert outcome.p_value == pytest.approx(0.5, abs=0.01)
    assert outcome.interval == (0.0, 1.0)


def test_randomisation_tries_every_swap_by_hand():
    # gains of 1 on three sentences: |sum| is as large as 3 in 2 of 8 swaps
    outcome = approximate_randomisation(
        rows(np.zeros(3)), rows(np.ones(3)), aggregate=mean, generator=generator(), resamplings=20_000
    )
    assert outcome.p_value == pytest.approx(0.25, abs=0.01)
    assert outcome.test == "approximate randomisation"


def test_an_undefined_score_is_no_evidence():
    nothing = np.zeros((4, 2))
    metric = SentenceAccuracy()
    for test in PAIRED:
        assert test(nothing, nothing + 0, aggregate=metric.aggregate, generator=generator()).p_value == 1


@pytest.mark.parametrize("test", PAIRED)
def test_pairs_must_be_of_the_same_segments(test):
    for sizes in ((2, 3), (0, 0)):
        with pytest.raises(RegardError) as error:
            test(*(np.ones((size, 2)) for size in sizes), aggregate=mean, generator=generator())
        assert str(error.value) == (
            f"Paired test: got {sizes[0]} and {sizes[1]} segments, "
            "want the same segments from both systems, at least 1."
        )


def test_a_thousand_resamplings_of_a_thousand_sentences_are_quick():
    metric = Bleu()
    statistics = np.tile(metric.statistics(["a b c d e f"], ["a b c d x f"]), (1000, 1))
    start = time.process_time()
    metric.score(statistics, generator=generator())
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("t", "df", "p"),
    [
        (12.706, 1.0, 0.05),
        (2.776, 4.0, 0.05),
        (4.604, 4.0, 0.01),
        (2.228, 10.0, 0.05),
        (3.169, 10.0, 0.01),
        (2.042, 30.0, 0.05),
        (1.95996, 1e7, 0.05),
        (0.0, 3.0, 1.0),
    ],
)
def test_t_as_in_the_tables(t, df, p):
    assert t_two_sided(t, df) == pytest.approx(p, abs=5e-5)
    assert t_two_sided(-t, df) == t_two_sided(t, df)
    if t:
        assert t_quantile(p, df) == pytest.approx(t, abs=1e-3)


@given(st.floats(0.01, 1e3))
def test_t_where_it_has_a_closed_form(t):
    assert t_two_sided(t, 1.0) == pytest.approx(2 / math.pi * math.atan(1 / t), rel=1e-10)
    assert t_two_sided(t, 2.0) == pytest.approx(2 / (2 + t * t) / (1 + t / math.sqrt(2 + t * t)), rel=1e-10)


@pytest.mark.parametrize("df", [1.3, 2.941176, 7.7, 55.5])
def test_t_as_the_integral_of_its_density(df):
    x = np.linspace(0, 1.549193, 200_001)
    front = math.gamma((df + 1) / 2) / math.sqrt(df * math.pi) / math.gamma(df / 2)
    inside = 2 * np.trapezoid(front * (1 + x * x / df) ** (-(df + 1) / 2), x)
    assert t_two_sided(1.549193, df) == pytest.approx(1 - inside, abs=1e-9)


def test_welch_by_hand():
    # variances 1 and 4 of 3: error sqrt(5/3), t = 2 / error, df = (5/3)^2 / (1/18 + 16/18)
    outcome = welch([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    error, df = math.sqrt(5 / 3), (25 / 9) / (17 / 18)
    assert outcome.delta == 2
    assert outcome.p_value == pytest.approx(t_two_sided(2 / error, df))
    margin = t_quantile(0.05, df) * error
    assert outcome.interval == pytest.approx((2 - margin, 2 + margin))
    assert welch([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]).p_value == pytest.approx(outcome.p_value)


def test_welch_without_any_variance():
    for other in (1.0, 2.0):  # seeds that do not differ say nothing about others
        outcome = welch([1.0, 1.0], [other, other])
        assert math.isnan(outcome.p_value)
        assert outcome.interval is None


def drawn_with(error, size=1000):
    """Return draws whose variance, corrected for drawing from 1,000 segments, is the square of the given error."""
    values = generator().normal(size=size)
    return (values - values.mean()) / values.std(ddof=1) * error * math.sqrt(999 / 1000)


def test_the_noise_of_seeds_by_hand():
    pair, calm = ([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]), [5.0, 5.0]
    # variances 1 and 4: the pair alone has (2 + 8) / 4 of either, and with the calm group 10 / 5
    assert seed_noise(pair, pair) == SeedNoise(pytest.approx(2.5 * 2 / 3), 4)
    assert seed_noise(pair, [*pair, calm]) == SeedNoise(pytest.approx(1 / 3 + 4 / 3), 5)  # its own is more
    assert seed_noise((pair[0], calm), [*pair, calm]) == SeedNoise(pytest.approx(2 * (1 / 3 + 1 / 2)), 5)


@pytest.mark.parametrize("df", [1, 2, 4, 14, 300])
@pytest.mark.parametrize("t", [0.3, 2.0, 9.0])
def test_where_only_seeds_vary_it_is_students_test(t, df):
    outcome = over_both(t, np.zeros(9), segments=1000, noise=SeedNoise(1.0, df))
    assert outcome.p_value == pytest.approx(t_two_sided(t, df), rel=1e-6)
    margin = t_quantile(0.05, df)
    assert outcome.interval == pytest.approx((t - margin, t + margin), rel=1e-6)


def test_where_only_segments_vary_it_is_the_normal_law():
    for noise in (None, SeedNoise(0.0, 4)):
        outcome = over_both(1.959964, drawn_with(1.0), segments=1000, noise=noise)
        assert outcome.p_value == pytest.approx(0.05, abs=1e-6)
        assert outcome.interval == pytest.approx((0.0, 2 * 1.959964), abs=1e-5)


def test_more_noise_is_never_surer():
    for noise in (SeedNoise(1.0, 2), SeedNoise(1.0, 6), None):
        p_values = [
            over_both(5.0, drawn_with(error), segments=1000, noise=noise).p_value for error in (0.05, 0.3, 1, 3)
        ]
        assert p_values == sorted(p_values)


def test_over_both_without_any_variance_or_score():
    still, none = np.full(9, 2.0), SeedNoise(0.0, 2)
    assert over_both(2.0, still, segments=10, noise=none).p_value == 0
    assert over_both(0.0, np.zeros(9), segments=10, noise=none).p_value == 1
    assert over_both(2.0, np.full(9, np.nan), segments=10, noise=none).p_value == 1
    half = np.where(np.arange(100) % 2, np.nan, np.linspace(1.9, 2.1, 100))
    assert over_both(2.0, half, segments=10, noise=None).p_value == 0.5


@pytest.mark.parametrize(("groups", "seeds"), [(2, 2), (3, 3), (7, 2)])
@pytest.mark.parametrize("error", [0.3, 3.0])
def test_a_false_alarm_among_all_pairs_is_rare(groups, seeds, error):
    random, alarms, draws = generator(), 0, drawn_with(error)
    trials = min(1000, 2400 // math.comb(groups, 2))
    for _ in range(trials):
        scores = random.normal(size=(groups, seeds)) + error / math.sqrt(2) * random.normal(size=(groups, 1))
        pairs = list(combinations(scores, 2))
        p_values = [
            over_both(b.mean() - a.mean(), draws, segments=1000, noise=seed_noise((a, b), scores)).p_value
            for a, b in pairs
        ]
        alarms += min(holm(p_values)) < 0.05
    assert alarms / trials < 0.075


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        ([1, 2], [3, 4], 2 / 6),
        ([1, 2, 3], [4, 5, 6], 2 / 20),
        ([1, 2, 3, 4, 5], [6, 7, 8, 9, 10], 2 / 252),
        ([1, 3], [2, 4, 9], 4 / 10),  # the three of the system sum to 15; as far out are 6, 7, 15 and 16
        ([1, 8], [2, 3, 4], 8 / 10),  # they sum to 9; nearer to the middle are only 11 and 12
        ([0.1, 0.2], [0.1, 0.2], 1.0),
    ],
)
def test_permutations_by_hand(a, b, p):
    outcome = permutation_test([float(x) for x in a], [float(x) for x in b], generator=generator())
    assert outcome.p_value == pytest.approx(p)
    assert outcome.test == "exact permutation"


def test_drawn_permutations_come_near_the_exact_ones(monkeypatch):
    a, b = [1.0, 2.0, 3.5, 4.1, 5.0, 6.2], [2.5, 3.0, 5.5, 6.0, 7.1, 8.0]
    exact = permutation_test(a, b, generator=generator())
    monkeypatch.setattr(significance, "SPLITS", 900)  # of 924
    drawn = permutation_test(a, b, generator=generator())
    assert drawn.test == "drawn permutation"
    assert drawn.delta == exact.delta
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.04)


@pytest.mark.parametrize("scores", [[], [1.0], [1.0, math.nan]])
def test_one_seed_is_not_enough(scores):
    want = f"Test over seeds: got the scores {scores}, want at least 2 finite ones of each system."
    for test in (welch, lambda a, b: permutation_test(a, b, generator=generator())):
        for pair in ((scores, [1.0, 2.0]), ([1.0, 2.0], scores)):
            with pytest.raises(RegardError) as error:
                test(*pair)
            assert str(error.value) == want


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == pytest.approx([1, 1])
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_never_helps_and_keeps_the_order(p_values):
    corrected = holm(p_values)
    assert all(p <= q <= min(1, len(p_values) * p) for p, q in zip(p_values, corrected, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert np.all(np.diff(np.array(corrected)[order]) >= 0)


@pytest.mark.parametrize("segments", [2, 3, 10, 30])
def test_few_segments_are_judged_by_students_law(segments):
    drawn = drawn_with(math.sqrt((segments - 1) / segments * 1000 / 999))
    for t in (0.5, 2.0, 5.0):
        outcome = over_both(t, drawn, segments=segments, noise=None)
        assert outcome.p_value == pytest.approx(t_two_sided(t, segments - 1), rel=1e-3)


def test_a_single_segment_tells_nothing_about_others():
    one, other = np.array([[1.0, 4.0]]), np.array([[3.0, 4.0]])
    assert bootstrap_interval(one, mean, generator=generator()) is None
    found = paired_bootstrap(one, other, aggregate=mean, generator=generator())
    assert (found.p_value, found.interval) == (1, None)
