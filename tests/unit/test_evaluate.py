"""Evaluations of runs that were trained for a second."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from regard.data.corpus import load_corpus
from regard.errors import RegardError
from regard.evaluate import Evaluation, Evaluator, SearchErrors, usual_metric
from regard.metrics.signature import Signature
from regard.run import Run
from regard.search.strategy import Strategy
from tiny_runs import make_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return make_run(folder / "one", "scenes", is_evaluated=False)


@pytest.fixture(scope="module")
def searched(run: Run) -> list[Evaluation]:
    evaluator = Evaluator(run, "test")
    done: list[Evaluation] = []
    for width in (1, 2, 4):
        done.append(evaluator.evaluate(Strategy(width=width), narrower=done))
    return done


def test_search_errors_are_counted_against_the_narrowest_and_the_next_narrower(searched: list[Evaluation]) -> None:
    assert [list(each.search_errors) for each in searched] == [
        [], ["greedy"], ["greedy", "beam2-power0.7"],
    ]  # fmt: skip
    greedy, _, wide = searched
    better = [w.score - g.score > 1e-4 for g, w in zip(greedy.translations, wide.translations, strict=True)]
    scores = zip(greedy.sentence_scores["bleu"], wide.sentence_scores["bleu"], strict=True)
    worse = [is_better and w < g for is_better, (g, w) in zip(better, scores, strict=True)]  # type: ignore[operator]
    assert wide.search_errors["greedy"] == SearchErrors(sum(better), sum(worse), "bleu")
    assert sum(better) > 0, "a model trained for a second is searched badly by greedy search"
    stored = json.loads(json.dumps(wide.to_json()))["search_errors"]["greedy"]
    assert stored == {"better_score": sum(better), "worse_quality": sum(worse), "metric": "bleu"}


def test_a_better_score_with_worse_quality_is_told(run: Run, searched: list[Evaluation]) -> None:
    greedy = searched[0]
    sank = replace(greedy, translations=tuple(replace(t, score=t.score - 1) for t in greedy.translations),
                   sentence_scores=greedy.sentence_scores | {"bleu": [101.0] * 20 + [0.0] * 5})  # fmt: skip
    found = Evaluator(run, "test").evaluate(Strategy(), narrower=[sank]).search_errors["greedy"]
    assert (found.better_score, found.worse_quality) == (25, 20)


def test_every_score_has_an_interval_and_buckets_too(searched: list[Evaluation]) -> None:
    for score in searched[0].scores.values():
        assert score.interval is not None, score.name
    for label, score in searched[0].by_length["bleu"].items():
        assert score.interval is not None, label
        assert score.interval[0] <= score.value <= score.interval[1]


def test_only_what_judges_translations_names_the_search(searched: list[Evaluation]) -> None:
    scores = searched[2].scores
    assert "search:beam4-power0.7" in scores["bleu"].signature
    assert "search:" not in scores["perplexity"].signature
    assert "search:" not in scores["attention_accuracy"].signature


def test_the_metric_is_what_the_model_writes() -> None:
    assert usual_metric(["bleu", "chrf"], is_lowercase=False) == "bleu"
    assert usual_metric(["bleu", "chrf"], is_lowercase=True) == "bleu_lc"
    assert usual_metric(["token_accuracy"], is_lowercase=True) == "token_accuracy"


def test_an_ensemble_is_evaluated_and_told_apart(run: Run, folder: Path, searched: list[Evaluation]) -> None:
    other = make_run(folder / "two", "scenes", "train.seed=2", is_evaluated=False)
    both = Evaluator(run, "test", also=[other]).evaluate(Strategy())
    assert both.search.startswith("greedy-ensemble2-")
    assert "|ensemble:2-" in both.scores["perplexity"].signature
    alone = [Evaluator(each, "test").evaluate(Strategy()).scores["nats_per_token"].value for each in (run, other)]
    assert alone[0] == searched[0].scores["nats_per_token"].value
    # The logarithm of a mean is at least the mean of logarithms: two models surprise less than they do on average.
    assert both.scores["nats_per_token"].value < sum(alone) / 2


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_mistakes_in_alignments_are_said_before_any_search(run: Run, tmp_path: Path) -> None:
    data = load_corpus(run.config.data)["test"]
    missing = tmp_path / "missing.txt"
    short = write(tmp_path / "short.txt", ["0-0"] * 3)
    odd = write(tmp_path / "odd.txt", ["0-0", "0_0"] + ["0-0"] * 23)
    beyond = write(tmp_path / "beyond.txt", ["0-0"] * 24 + ["0-0 99-0"])
    words = len(data.sources[24].replace(".", " .").replace(",", " ,").split())
    target = len(data.targets[24].replace(".", " .").replace(",", " ,").split())
    messages = {
        missing: f"{missing}: cannot read the file (No such file or directory).",
        short: f"{short}: got 3 lines, want 25, one for each sentence pair.",
        odd: f"{odd}, line 2: got '0_0', want links such as 0-0 (sure) or 0p1 (possible).",
        beyond: f"{beyond}, line 25: got the link 99-0 for {words} source and {target} target words, want links within "
        "the sentences, counted from 0.",
    }
    for path, message in messages.items():
        with pytest.raises(RegardError) as caught:
            Evaluator(run, "test", alignments=path)
        assert str(caught.value) == message


def test_given_alignments_are_in_the_signature(run: Run, tmp_path: Path) -> None:
    evaluation = Evaluator(run, "test", alignments=write(tmp_path / "gold.txt", ["0-0"] * 25)).evaluate(Strategy())
    assert evaluation.search.startswith("greedy-given-")
    assert "|gold:given-" in evaluation.scores["attention_accuracy"].signature


def test_a_run_of_another_corpus_joins_no_ensemble(run: Run, folder: Path) -> None:
    other = make_run(folder / "other", "scenes", "data.seed=2", is_evaluated=False)
    with pytest.raises(RegardError, match=r"^.*other: the corpus has changed since this run was trained "):
        Evaluator(run, "test", also=[other])


def test_scores_of_weights_that_were_trained_further_are_no_longer_those_of_the_run(folder: Path) -> None:
    run = make_run(folder / "resumed", "reverse")
    weights, told = run.load_weights()
    assert list(run.evaluations()) == ["test-greedy"]
    run.save_weights(weights, epoch=str(int(told["epoch"]) + 1))
    assert run.evaluations() == {} == run.scores()
    evaluation = Evaluator(run, "test").evaluate(Strategy())
    run.save_evaluation(evaluation.name, evaluation.to_json())
    assert list(run.evaluations()) == ["test-greedy"]
    run.save_weights(weights)  # a file that does not tell is trusted
    assert list(run.evaluations()) == ["test-greedy"]


def test_pairs_of_ones_own_are_scored_as_the_corpus_is(run: Run, tmp_path: Path) -> None:
    table = load_corpus(run.config.data)["test"].table
    own = tmp_path / "own.tsv"
    own.write_text(table, encoding="utf-8")
    done, usual = (Evaluator(run, split).evaluate(Strategy()) for split in (str(own), "test"))
    assert {name: score.value for name, score in done.scores.items()} == {
        name: score.value for name, score in usual.scores.items() if name in done.scores
    }
    assert set(usual.scores) - set(done.scores) == {"alignment_error_rate", "attention_accuracy"}, (
        "a file has no gold alignments"
    )
    assert done.name.startswith("own-")
    assert done.name.endswith("-greedy")
    signature = Signature.parse(done.scores["bleu"].signature)
    assert signature.get("split") == done.split
    assert signature.get("corpus") is None, "models of different corpora compare on the same file"
