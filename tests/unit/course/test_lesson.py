"""A student's class in the homework model."""

from pathlib import Path

import pytest
import torch

from regard.attention.base import Source
from regard.course import SingleQueryScaledDotProductAttention
from regard.course.check import learn, train, verdict
from regard.course.contracts import CONTRACTS
from regard.course.desk import Desk
from regard.course.grade import Report
from regard.course.lesson import Borrowed, Lesson
from regard.course.sandbox import Limits, Sandbox
from regard.errors import RegardError

RIGHT = Path(__file__).parents[2] / "submissions" / "right" / "bmm.py"


def test_borrowed_attention_asks_every_step_alone() -> None:
    inner = SingleQueryScaledDotProductAttention(3, 5, 4)
    queries, memory = torch.randn(2, 4, 5), torch.randn(2, 7, 6)
    borrowed = Borrowed(inner, memory=6)
    source = Source(memory, memory, torch.randn(2, 5), torch.ones(2, 7, dtype=torch.bool))
    attended = borrowed(queries, source)
    value, alpha = inner(queries[:, 2], memory.transpose(0, 1))
    torch.testing.assert_close(attended.context[:, 2], value)
    torch.testing.assert_close(attended.weights[:, 0, 2], alpha)
    torch.testing.assert_close(borrowed.weights(queries, source), attended.weights)


def test_three_models_train_side_by_side() -> None:
    desk = Desk(Lesson())
    report = Report("bmm.py", "SingleQueryScaledDotProductAttention", "single_query", CONTRACTS["single_query"].points)
    report.lesson = learn(desk.answer, RIGHT.read_text(), report, rounds=2, count=4)
    curves = report.lesson["training"]
    assert list(curves) == ["yours", "ours", "none"]
    assert report.lesson["steps"] == [4, 8]
    assert all(later < earlier for earlier, later in curves.values())
    assert curves["yours"][0] == pytest.approx(curves["ours"][0], abs=0.05)
    text = report.render()
    assert "training on scenes, nats per token        yours      ours      none" in text
    assert text.endswith(report.lesson["verdict"])


def test_our_own_training_does_nothing_that_is_forbidden() -> None:
    with Sandbox(Limits(seconds=120, megabytes=2048, train=True)) as sandbox:
        load = {"op": "load", "source": RIGHT.read_text(), "name": "bmm.py"}
        learn_once = {"op": "learn", "rounds": 1, "count": 1, "class": "ours"}
        assert [sandbox.ask(message).get("refused") for message in (load, learn_once)] == [[], []]


@pytest.mark.parametrize(
    ("yours", "words"),
    [
        (2.1, "It learns as well as ours."),
        (2.5, "It learns, with 50% of what our attention gains."),
        (3.0, "It does not learn more than a model without attention."),
        (float("nan"), "It does not learn more than a model without attention."),
    ],
)
def test_verdicts(yours: float, words: str) -> None:
    assert verdict({"yours": yours, "ours": 2.0, "none": 3.0}) == words


def test_other_signatures_cannot_be_plugged_in() -> None:
    report = Report("x.py", "DotProdAttention", "dot_product", CONTRACTS["dot_product"].points)
    with pytest.raises(RegardError) as error:
        train(RIGHT, report)
    assert str(error.value) == "x.py: --train got a dot_product class, want one with the homework's signature."
