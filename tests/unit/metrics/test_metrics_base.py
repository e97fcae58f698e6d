import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from regard.cli import main
from regard.errors import RegardError
from regard.metrics.accuracy import TokenAccuracy, UnknownRate
from regard.metrics.base import Score, buckets
from regard.metrics.bleu import Bleu
from regard.metrics.loss import NatsPerToken
from regard.metrics.signature import Signature
from tiny_runs import make_run

SCORE = Score("bleu", 31.25, "%", True, "metric:bleu|split:test", (30.0, 32.5), 1000)


def test_a_score_is_written_with_its_unit_interval_and_signature():
    assert str(SCORE) == "bleu 31.25 % [30.00, 32.50] metric:bleu|split:test"
    assert str(Score("perplexity", 9.5, "", False, "metric:perplexity", None, 3)) == "perplexity 9.50 metric:perplexity"
    undefined = Score("attention_accuracy", math.nan, "%", True, "metric:attention_accuracy", None, 3)
    assert str(undefined) == "attention_accuracy undefined metric:attention_accuracy"


def test_an_undefined_score_is_a_dash_in_a_table(tmp_path: Path) -> None:
    assert SCORE.cells() == ["bleu", "31.25 %", "30.00 to 32.50", "metric:bleu|split:test"]
    make_run(tmp_path / "run", "reverse", "model.attention=none", is_evaluated=False)
    for words, cells in ((["1"], ["attention_accuracy", "–", "–"]), (["1", "2"], ["greedy"])):
        result = CliRunner().invoke(main, ["evaluate", str(tmp_path / "run"), "--beam", *words], catch_exceptions=False)
        rows = [line.split() for line in result.stdout.splitlines()]
        assert cells in [row[: len(cells)] for row in rows]
        assert "nan" not in result.stdout
    printed = CliRunner().invoke(main, ["evaluate", str(tmp_path / "run"), "--json"]).stdout
    scores = json.loads(printed, parse_constant=pytest.fail)[0]["scores"]
    assert scores["attention_accuracy"]["value"] is None


@pytest.mark.parametrize("interval", [None, (1.0, 2.0)])
def test_scores_survive_json(interval):
    score = Score("ter", 50.0, "%", False, "metric:ter", interval, 7)
    assert Score.from_json(json.loads(json.dumps(score.to_json(), allow_nan=False))) == score


def test_an_undefined_score_is_null_in_json():
    values = json.loads(json.dumps(Score("x", math.nan, "", None, "metric:x", None, 1).to_json(), allow_nan=False))
    assert values["value"] is None
    assert math.isnan(Score.from_json(values).value)


def test_columns_must_be_of_one_length_and_not_empty():
    with pytest.raises(RegardError) as error:
        Bleu().statistics(["a", "b"], ["a"])
    want = "bleu: got columns of different length (2 hypothesis, 1 reference), want one value per segment."
    assert str(error.value) == want
    with pytest.raises(RegardError, match=r"^bleu: got 0 segments, want at least 1\.$"):
        Bleu().statistics([], [])
    with pytest.raises(RegardError, match=r"^bleu: got 0 segments, want at least 1\.$"):
        Bleu().score(np.empty((0, 10)))


def test_a_statistic_that_is_no_number_is_told_with_its_segment():
    with pytest.raises(RegardError) as error:
        NatsPerToken().statistics([1.0, math.inf], [3, 4])
    assert str(error.value) == "nats_per_token, segment 2: got [inf, 4.0], want finite numbers."


def test_the_vocabulary_is_told_only_where_it_matters():
    context = Signature.of(split="test", tokens="word-99")
    of_tokens, of_text = UnknownRate(), Bleu()
    assert of_tokens.score(np.ones((2, 2)), context=context).signature == (
        "metric:unknown_rate|split:test|tokens:word-99"
    )
    assert "tokens:" not in of_text.score(of_text.statistics(["a"], ["a"]), context=context).signature


def test_without_a_generator_there_is_no_interval():
    metric = TokenAccuracy()
    statistics = metric.statistics(["abc", "abd", "xyz"], ["abc", "abc", "abc"])
    assert metric.score(statistics).interval is None
    low, high = metric.score(statistics, generator=np.random.default_rng(1)).interval
    assert low < 100 * 5 / 9 < high
    again = metric.score(statistics, generator=np.random.default_rng(1)).interval
    assert again == (low, high)


def test_buckets_take_every_segment_once():
    lengths = [0, 5, 6, 10, 11, 12, 99]
    assert list(buckets([0, 3], [0, 4])) == ["0", "1-4", "over 4"]
    assert {label: rows.tolist() for label, rows in buckets(lengths, [5, 10, 11]).items()} == {
        "up to 5": [0, 1],
        "6-10": [2, 3],
        "11": [4],
        "over 11": [5, 6],
    }


@pytest.mark.parametrize("edges", [[], [5, 5], [10, 5]])
def test_edges_of_buckets_rise(edges):
    with pytest.raises(RegardError) as error:
        buckets([1], edges)
    assert str(error.value) == f"Length buckets: got the edges {edges}, want at least one, in rising order."


def test_a_bucket_scores_as_its_sentences_alone():
    hypotheses = ["a b c d e f", "a b", "x b c d e f g", "b a"]
    references = ["a b c d x f", "a c", "a b c d e f g", "b a"]
    metric = Bleu()
    statistics = metric.statistics(hypotheses, references)
    rows = buckets([len(text.split()) for text in references], [2, 5, 6])
    scores = metric.score_buckets(statistics, rows, context=Signature.of(split="test"))
    assert list(scores) == ["up to 2", "6", "over 6"]
    assert scores["up to 2"].segments == 2
    alone = metric.score(metric.statistics(hypotheses[2:3], references[2:3]))
    assert scores["over 6"].value == alone.value
    assert scores["over 6"].signature == f"{alone.signature}|split:test|bucket:over 6"
