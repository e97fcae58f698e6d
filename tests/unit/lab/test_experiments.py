import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from regard.errors import RegardError
from regard.lab.experiments import (
    EXPERIMENTS,
    Experiment,
    Settings,
    missed,
    scale_for,
)
from regard.lab.noise import CLOSED_FORMS, Noise, resample, spread_ratio, spreads


@pytest.fixture(scope="module")
def results() -> dict[str, Experiment]:
    return {name: run(Settings()) for name, run in EXPERIMENTS.items()}


def test_measured_equals_closed_form_without_noise(results: dict[str, Experiment]) -> None:
    for name in ("copy", "average"):
        for row in results[name].rows:
            assert row.error is None
            assert row.measured == pytest.approx(row.closed_form, rel=1e-9), row.what


def test_measured_is_within_the_monte_carlo_error(results: dict[str, Experiment]) -> None:
    rows = [row for name in ("noisy", "heads") for row in results[name].rows]
    assert len(rows) == 11
    for row in rows:
        assert row.error is not None
        assert abs(row.measured - row.closed_form) < 4 * row.error, row.what
        assert row.error < 0.05 * row.closed_form


def test_spread_ratio_at_the_reference_point(results: dict[str, Experiment]) -> None:
    ratio = next(
        row for row in results["heads"].rows if row.what == "spread of one query : spread of two heads (clean)"
    )
    assert ratio.closed_form == pytest.approx(4.795790, abs=1e-6)
    assert "c = 20, beta = 0.1, seed 1" in results["heads"].sentences[0]


def test_experiments_come_with_three_sentences(results: dict[str, Experiment]) -> None:
    for name, result in results.items():
        assert len(result.sentences) == 3
        data = json.loads(json.dumps(result.to_json()))
        assert data["name"] == name
        assert ("seed" in data["settings"]) == (name in ("noisy", "heads"))


def test_figures(results: dict[str, Experiment]) -> None:
    figures = [results[name].figure for name in ("copy", "average", "heads")]
    assert all(isinstance(figure, Figure) for figure in figures)
    assert [len(figure.axes) for figure in figures] == [2, 2, 3]


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 2), st.integers(3, 40), st.integers(0, 60), st.floats(1e-4, 0.3))
def test_scales_invert_errors(asked: int, m: int, more: int, error: float) -> None:
    c = scale_for(asked=asked, m=m, d=m + more, error=error)
    assert missed(asked=asked, m=m, d=m + more, c=c) == pytest.approx(error)


def test_clean_query_with_two_keys_is_a_logistic_normal() -> None:
    # With m = 2 the weight is sigmoid(x), x ~ N(0, 2 beta c^2 / d); its variance, by an independent fine sum.
    noise = Noise(m=2, d=4, beta=0.1, c=6.0)
    sd = math.sqrt(2 * noise.beta) * noise.c / 2
    step = 1e-3
    points = [-12 + step * i for i in range(24001)]
    density = [math.exp(-z * z / 2) * step / math.sqrt(2 * math.pi) for z in points]
    variance = sum(p * (1 / (1 + math.exp(-sd * z)) - 0.5) ** 2 for z, p in zip(points, density, strict=True))
    assert CLOSED_FORMS["one clean"](noise).spread == pytest.approx(math.sqrt(variance), rel=1e-9)
    assert CLOSED_FORMS["one clean"](noise).mean == pytest.approx(0.5, abs=1e-12)


def test_steep_choices_are_integrated_well() -> None:
    noise = Noise(c=1e3)
    assert CLOSED_FORMS["one clean"](noise).spread == pytest.approx(0.5, abs=0.01)
    exact, measured = spreads(noise, 4000, 3)["two noisy"]
    assert measured == pytest.approx(exact, rel=0.2)


def test_difference_query_never_gives_a_negative_weight() -> None:
    draws = resample(Noise(), 500, 2)
    assert draws["two difference"].min() >= 0
    assert draws["two difference"].mean() > 0.6


def test_ratio_error_shrinks_with_the_root_of_the_draws() -> None:
    errors = [
        spread_ratio(*(resample(Noise(), n, 5)[name] for name in ("one clean", "two clean")))[1] for n in (500, 8000)
    ]
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.35)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"m": 17}, "lab m: got 17, want 3 to d = 16: orthogonal keys need as many dimensions."),
        ({"c": 0.0}, "lab c: got 0, want a number > 0, at most 1000."),
        ({"c": float("inf")}, "lab c: got inf, want a number > 0, at most 1000."),
        ({"beta": -1.0}, "lab beta: got -1, want a variance > 0, at most 100."),
        ({"d": -4}, "lab d: got -4, want 3 to 2048."),
        ({"resamplings": 5}, "lab resamplings: got 5, want 100 to 2500000 with m = 8."),
        ({"seed": 2**64}, "lab seed: got 1.84467e+19, want an integer from 0 to 2^63 - 1."),
    ],
)
def test_settings_without_a_closed_form_are_refused(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(RegardError) as error:
        Settings(**wrong)  # type: ignore[arg-type]
    assert str(error.value) == message
