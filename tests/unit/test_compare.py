"""Groups, tables, tests and verdicts from runs whose translations are made up."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from statistics import fmean, variance
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from regard.compare import (
    Comparison,
    Pair,
    _drawn,
    _number,
    _pair,
    check_metric,
    compare_runs,
    pair_rows,
    signed,
    tables,
    told_p,
)
from regard.data.tokenizers import TokenizerPair
from regard.errors import RegardError
from regard.groups import Group
from regard.metrics.significance import Difference, holm, welch
from regard.metrics.spread import Spread
from regard.parts import METRICS
from regard.pictures.comparison import draw_by_beam, draw_by_length, draw_entropy, draw_learning, draw_learning_apart
from regard.pictures.curves import Note
from regard.pictures.files import render
from regard.pictures.timelapse import epochs_of
from regard.run import Run
from regard.search.strategy import Strategy
from tiny_runs import make_run

REFERENCES = [f"the {a} dog sees a {b} cat near the {c} house" for a in ("old", "big") for b in ("red", "wet", "thin")
              for c in ("new", "tall", "blue", "last", "first")]  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("base") / "base", "scenes", "data.test=30").path


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8")


def fake(
    base: Path, path: Path, *, attention: str, seed: int, wrong: int, losses: tuple[float, ...] = (3.0, 1.0, 2.0)
) -> Run:
    """A run that gets the third word of so many sentences wrong, and a few more by its seed."""
    shutil.copytree(base, path)
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    config["model"]["attention"], config["train"]["seed"] = attention, seed
    (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    lines = [
        {"event": "epoch", "epoch": i, "train_nats_per_token": 2 * loss, "validation_nats_per_token": loss + seed / 100}
        for i, loss in enumerate(losses, 1)
    ]
    (path / "log.jsonl").write_text("\n".join(map(json.dumps, [lines[0], *lines])), encoding="utf-8")
    chosen = np.random.default_rng((seed, wrong)).permutation(len(REFERENCES))[: wrong + seed % 2]
    hypotheses = [text.replace("dog sees", "cat is") if i in chosen else text for i, text in enumerate(REFERENCES)]
    stored = path / "evaluations" / "test-greedy.json"
    old = json.loads(stored.read_text(encoding="utf-8"))
    measure = METRICS["bleu"]()
    value = measure.score(measure.statistics(hypotheses, REFERENCES)).value
    old["scores"]["bleu"]["value"] = value
    rows = [{"source": f"Satz {i} " + "x " * (i % 8), "hypothesis": h, "reference": r}
            for i, (h, r) in enumerate(zip(hypotheses, REFERENCES, strict=True))]  # fmt: skip
    change(stored, scores=old["scores"], sentences=rows)
    return Run.open(path)


@pytest.fixture(scope="module")
def runs(base: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("fake")
    cells = [("none", 22), ("additive", 7), ("scaled_dot", 8)]
    return [
        fake(base, folder / f"{name}-{seed}", attention=name, seed=seed, wrong=wrong)
        for name, wrong in cells
        for seed in (1, 2, 3)
    ]


def test_what_is_there_twice_counts_once_and_what_is_not_finished_is_told(runs: list[Run], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(runs[0].path, copy)
    change(copy / "run.json", status="interrupted")
    found = compare_runs([runs[0], Run(runs[0].path), Run(copy)])
    assert [len(group.runs) for group in found.groups] == [1]
    told = f"is left out: same settings and seed as {runs[0].path}."
    assert found.notes == (f"{runs[0].path} {told}", f"{copy} {told}")
    assert compare_runs([Run(copy)]).notes == (
        f"{copy} is not finished (interrupted): what it has reached so far is compared.",
    )


def test_runs_that_differ_in_the_seed_are_one_group_and_the_best_comes_first(runs: list[Run]) -> None:
    found = compare_runs(runs)
    assert {group.label for group in found.groups[:2]} == {"additive", "scaled_dot"}
    assert found.groups[2].label == "none"
    assert [[run.config.train.seed for run in group.runs] for group in found.groups] == [[1, 2, 3]] * 3
    assert found.metric == "bleu"
    assert "seed:" not in found.signature
    assert "metric:bleu" in found.signature


def test_a_table_has_the_mean_variance_and_range_of_every_quantity(runs: list[Run]) -> None:
    found = compare_runs(runs)
    rows = {(name, label): (seeds, values) for name, label, seeds, values in found.rows()}
    stored = [run.evaluations()["test-greedy"]["scores"]["bleu"]["value"] for run in runs[:3]]
    seeds, (mean, var, deviation, low, high) = rows["bleu", "none"]
    assert seeds == 3
    assert mean == pytest.approx(fmean(stored))
    assert var == pytest.approx(variance(stored))
    assert deviation == pytest.approx(math.sqrt(var))
    assert (low, high) == (min(stored), max(stored))
    assert rows["validation_loss_best", "none"][1][0] == pytest.approx(1.02)
    assert rows["validation_loss_end", "none"][1][0] == pytest.approx(2.02)
    assert rows["validation_loss_mean", "none"][1][0] == pytest.approx(2.02)
    assert rows["training_loss_end", "none"][1][0] == pytest.approx(4.0)
    assert rows["training_loss_mean", "none"][1][0] == pytest.approx(4.0)
    assert ("attention_accuracy", "additive") in rows
    (why, cells), (first, lower), (second, tokenised) = tables(found)
    assert why == ""
    assert cells[0][:4] == ["quantity", "group", "seeds", "mean"]
    assert cells[1][0] == "bleu"
    assert {row[0] for row in cells} & {"bleu_lc", "bleu_tok_lc"} == set()
    assert first == "bleu_lc does not compare with bleu: different letter case (mixed and lc)."
    assert {row[0] for row in lower[1:]} == {"bleu_lc"}
    assert second == (
        "bleu_tok_lc does not compare with bleu: different letter case (mixed and lc); different tokenisation "
        "(13a and split_words); different smoothing (exp and none)."
    )
    assert {row[0] for row in tokenised[1:]} == {"bleu_tok_lc"}


def test_the_tests_are_those_of_the_scores_and_corrected_for_the_pairs(runs: list[Run]) -> None:
    found = compare_runs(runs)
    spreads = {group.label: group.quantities["bleu"] for group in found.groups}
    assert len(found.pairs) == 3
    for pair in found.pairs:
        assert pair.sentences.delta == pytest.approx(spreads[pair.better].mean - spreads[pair.worse].mean)
        assert pair.seeds is not None
        assert pair.seeds.p_value == welch(spreads[pair.worse].values, spreads[pair.better].values).p_value
        assert pair.both.delta == pair.sentences.delta == pytest.approx(pair.seeds.delta)
    assert [pair.p_value for pair in found.pairs] == holm([pair.both.p_value for pair in found.pairs])
    assert len(pair_rows(found)) == 4
    assert found.verdict() == compare_runs(reversed(runs)).verdict()
    json.dumps(found.to_json(), allow_nan=False)


def test_the_verdict_says_what_beats_what(runs: list[Run]) -> None:
    found = compare_runs(runs)
    first, second = (group.label for group in found.groups[:2])
    assert found.verdict()[0].startswith(f"{first} beats none: +")
    assert found.verdict()[1].startswith(f"{second} beats none: +")
    assert found.verdict()[2].startswith(f"not distinguishable: {first} and {second} (p = ")
    assert len(found.verdict()) == 3


def test_one_seed_says_that_seeds_were_not_tested(runs: list[Run]) -> None:
    found = compare_runs([runs[0], runs[3]])
    assert found.pairs[0].seeds is None
    assert found.verdict()[0].startswith("additive beats none over sentences alone: +")
    assert (
        found.verdict()[1] == "Seeds were not tested: that takes at least 2 of each group, and 3 or more to find much."
    )
    assert "–" in tables(found)[0][1][1]
    mixed = compare_runs([runs[0], *runs[3:]])
    assert mixed.verdict()[-1].startswith("Seeds of none were not tested: that takes at least 2 of each group")
    uneven = compare_runs([*runs[:2], *runs[3:6]])
    assert not any(line.startswith("Seeds") for line in uneven.verdict())
    assert uneven.pairs[0].sentences.delta == pytest.approx(
        uneven.groups[0].quantities["bleu"].mean - uneven.groups[1].quantities["bleu"].mean
    )


def test_seeds_of_a_sentence_stay_together() -> None:
    metric = METRICS["bleu"]()
    worse, better = (
        metric.statistics([text.replace(word, "x") for text in REFERENCES], REFERENCES) for word in ("red", "new")
    )
    one, six = (_drawn([better] * a, metric) - _drawn([worse] * b, metric) for a, b in ((1, 1), (2, 3)))
    assert six == pytest.approx(one)
    assert one.std() > 0.1


def test_what_counts_both_kinds_of_chance_is_corrected_and_decides(
    runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    p_values = iter((0.03, 0.01, 0.001))
    monkeypatch.setattr("regard.compare.over_both", lambda *_, **__: Difference(1.0, next(p_values), None, ""))
    found = compare_runs(runs)
    assert [pair.p_value for pair in found.pairs] == pytest.approx([0.03, 0.02, 0.003])
    assert [pair_rows(found)[2][column] for column in (2, 4)] == ["0.020", "0.010"]


def test_many_groups_can_still_be_told_apart(runs: list[Run]) -> None:
    found = compare_runs(runs)
    best = min(pair.both.p_value for pair in found.pairs)
    assert min(holm([best] + [1.0] * 594)) < 0.05  # the paired bootstrap alone cannot go below 1 / 5,001


def test_evaluations_of_other_sentences_are_refused(runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Group.statistics
    monkeypatch.setattr(
        Group, "statistics", lambda self, metric: [each[: 5 + len(self.label)] for each in whole(self, metric)]
    )
    with pytest.raises(RegardError, match="want the same sentences from all runs"):
        compare_runs(runs)


def pair(both: float, sentences: float, seeds: float | None, corrected: float | None = None) -> Pair:
    tests = [None if p is None else Difference(1.94, p, (1.0, 3.0), "") for p in (both, sentences, seeds)]
    assert tests[0]
    assert tests[1]
    has_noise = seeds is not None and not math.isnan(seeds)
    return Pair("a", "b", tests[1], tests[2], None, tests[0], corrected or both, counts_seeds=has_noise)


@pytest.mark.parametrize(
    ("tested", "line"),
    [
        (pair(0.0004, 0.0001, 0.0002), "a beats b: +1.9 bleu, p < 0.001"),
        (pair(0.03, 0.0004, 0.02), "a beats b: +1.9 bleu, p = 0.030"),
        (
            pair(0.07, 0.0004, 0.06),
            "not distinguishable: a and b (p = 0.070; it holds over sentences, and more seeds could tell)",
        ),
        (
            pair(0.3, 0.3, 0.01),
            "not distinguishable: a and b (p = 0.3; it holds over seeds, and more sentences could tell)",
        ),
        (pair(0.03, 0.01, 0.02, 0.06), "not distinguishable: a and b (p = 0.060 after the correction for 1 pairs)"),
        (pair(0.06, 0.04, math.nan), "not distinguishable: a and b (p = 0.060)"),
        (pair(0.4, 0.3, math.nan), "not distinguishable: a and b (p = 0.4)"),  # seeds that do not differ say nothing
        (pair(0.003, 0.003, math.nan), "a beats b over sentences alone: +1.9 bleu, p = 0.003"),
        (pair(0.4, 0.3, 0.31), "not distinguishable: a and b (p = 0.4)"),
        (pair(0.04, 0.04, None), "a beats b over sentences alone: +1.9 bleu, p = 0.040"),
        (pair(0.4, 0.4, None), "not distinguishable: a and b (p = 0.4)"),
    ],
)
def test_a_difference_must_survive_both_kinds_of_chance(tested: Pair, line: str) -> None:
    assert Comparison("bleu", "", (), (tested,)).verdict()[0] == line


def test_p_values_are_written_as_papers_do() -> None:
    assert [told_p(p) for p in (0.0009, 0.001, 0.0123, 0.1, 1.0)] == [
        "p < 0.001",
        "p = 0.001",
        "p = 0.012",
        "p = 0.1",
        "p = 1.0",
    ]


@pytest.mark.parametrize(
    ("delta", "told"),
    [(1.94, "+1.9"), (0.1, "+0.1"), (0.0444, "+0.04"), (0.0012, "+0.001"), (-3.24, "−3.2"), (-0.05, "−0.05")],
)
def test_a_small_difference_is_not_told_as_none(delta: float, told: str) -> None:
    tested = Pair("a", "b", (test := Difference(delta, 0.01, None, "")), None, None, test, 0.01, counts_seeds=False)
    assert Comparison("ter", "", (), (tested,)).verdict()[0] == f"a beats b over sentences alone: {told} ter, p = 0.010"


def test_numbers_have_a_true_minus_sign_and_zero_has_none() -> None:
    tested = Pair("a", "b", (test := Difference(-0.001, 0.2, (-0.004, 1.0), "")), None, None, test, 0.2)
    assert pair_rows(Comparison("ter", "", (), (tested,)))[1][1:4:2] == ["+0.00", "0.00 to 1.00"]
    assert signed(-1.25, ".1f") == "−1.2"
    assert [_number(value) for value in (0.05, 0.044, 4e-05, -0.5)] == ["0.050", "0.044", "4.0e-05", "−0.500"]


def test_a_run_without_a_log_has_scores_and_no_losses(runs: list[Run], tmp_path: Path) -> None:
    copy = runs[0].export(tmp_path / "copy")
    copy.keep_evaluation("test-greedy", runs[0].evaluations()["test-greedy"])
    found = compare_runs([copy, *runs[3:6]])
    rows = {(name, label) for name, label, *_ in found.rows()}
    assert {("bleu", "none"), ("bleu", "additive"), ("validation_loss_best", "additive")} <= rows
    assert ("validation_loss_best", "none") not in rows
    assert found.notes == (f"{copy.path} has no log of its training: losses of its group are left out.",)
    assert ">none<" not in svg(draw_learning({group.label: group.runs for group in found.groups}))
    assert "<svg" not in compare_runs([copy])._repr_html_()
    with pytest.raises(RegardError, match="copy: has no log of its training, which curves are drawn from"):
        draw_learning({"none": [copy]})
    assert [run.path for run in compare_runs([copy, runs[0]]).groups[0].runs] == [runs[0].path]


def svg(figure: Figure) -> str:
    return render(figure, "svg").decode()


def test_the_axes_of_a_grid_name_groups_even_if_one_value_is_left(runs: list[Run]) -> None:
    found = compare_runs(runs[:3], axes=["train.learning_rate", "train.threads"], notes=["one is missing."])
    rate = runs[0].config.train.learning_rate
    assert [group.label for group in found.groups] == [f"learning_rate={rate}"]
    assert found.notes == ("one is missing.",)


def test_only_scores_that_can_judge_are_offered() -> None:
    with pytest.raises(RegardError) as caught:
        check_metric("bluu")
    assert str(caught.value).startswith("metric: got 'bluu', want one that judges translations: bleu, ")
    assert "perplexity" not in str(caught.value)
    check_metric("bleu")
    with pytest.raises(RegardError, match="metric: got 'bleu', want one that judges characters: "):
        check_metric("bleu", "character")


def test_scores_of_unlike_kind_are_refused_or_left_out(base: Path, runs: list[Run], tmp_path: Path) -> None:
    other = fake(base, tmp_path / "other", attention="mean", seed=1, wrong=3)
    stored = other.path / "evaluations" / "test-greedy.json"
    scores = json.loads(stored.read_text(encoding="utf-8"))["scores"]
    tokens = {
        name: score | {"signature": score["signature"].replace("tokens:word", "tokens:subword")}
        for name, score in scores.items()
    }
    change(stored, scores=tokens)
    found = compare_runs([runs[0], other])
    names = {name for name, *_ in found.rows()}
    assert "bleu" in names
    assert not names & {"token_accuracy", "validation_loss_best", "training_loss_mean"}
    assert any(
        note.startswith(f"token_accuracy is left out: {runs[0].path} and {other.path} have different vocabulary (")
        for note in found.notes
    )
    change(
        stored,
        scores={
            name: score | {"signature": score["signature"].replace("split:test", "split:dev")}
            for name, score in scores.items()
        },
    )
    message = f"{runs[0].path} and {other.path} have different split (test and dev)"
    with pytest.raises(RegardError) as caught:
        compare_runs([runs[0], other])
    assert str(caught.value) == f"{message}: such scores do not belong into one table."


def test_what_is_missing_is_named(runs: list[Run]) -> None:
    with pytest.raises(RegardError) as caught:
        compare_runs(runs, evaluation="test-beam5")
    assert str(caught.value) == f"{runs[0].path}: has no evaluation 'test-beam5'; `regard evaluate` makes one."
    with pytest.raises(RegardError) as caught:
        compare_runs([])
    assert str(caught.value) == "compare: got no finished run, want at least one."
    with pytest.raises(RegardError, match="metric: got 'perplexity', want one that judges translations: bleu, "):
        compare_runs(runs, metric="perplexity")


def test_a_lower_score_wins_where_lower_is_better(runs: list[Run]) -> None:
    found = compare_runs(runs, metric="ter")
    means = [group.quantities["ter"].mean for group in found.groups]
    assert means == sorted(means)


def test_lengths_are_counted_in_words(runs: list[Run]) -> None:
    (group, *_) = compare_runs(runs[:3]).groups
    by_length = group.by_length(METRICS["bleu"]())
    assert [list(each) for each in by_length] == [["up to 5", "6-10"]] * 3
    assert {sum(score.segments for score in each.values()) for each in by_length} == {
        len(group.evaluations[0]["sentences"])
    }
    assert compare_runs(runs[:3]).pairs == ()


def test_pictures_say_how_many_sentences_and_how_sure(runs: list[Run], base: Path, tmp_path: Path) -> None:
    axes = draw_by_length(compare_runs(runs)).axes[0]
    counted = sum(int(label.get_text().partition("n=")[2]) for label in axes.get_xticklabels())
    assert counted == len(REFERENCES)
    assert axes.get_title(loc="left") == "BLEU"
    one = fake(base, tmp_path / "one", attention="none", seed=1, wrong=3)
    stored = one.evaluations()["test-greedy"]
    bleu = stored["scores"]["bleu"] | {"value": 50.0, "interval": [45.0, 52.0]}
    for name, search in (("greedy", "greedy"), ("beam2", str(Strategy(width=2)))):
        one.save_evaluation(f"test-{name}", stored | {"search": search, "scores": stored["scores"] | {"bleu": bleu}})
    figure = draw_by_beam(compare_runs([one]))
    (bars,) = [each for each in figure.axes[0].collections if isinstance(each, LineCollection)]
    assert [line[:, 1].tolist() for line in bars.get_segments()] == [[45.0, 52.0]] * 2
    assert figure.legends[0].get_title().get_text() == "bars: 95 % interval over sentences"


def test_few_sentences_are_told_in_a_terminal_too(base: Path, tmp_path: Path) -> None:
    run = fake(base, tmp_path / "one", attention="none", seed=1, wrong=3)
    first, *rest = run.evaluations()["test-greedy"]["sentences"]
    change(run.path / "evaluations" / "test-greedy.json", sentences=[first | {"source": "x " * 12}, *rest])
    figure = draw_by_length(compare_runs([run]))
    assert figure.notes[-1] == Note("grey: fewer than 10 sentences", "fewer than 10 sentences: 11-15")


def test_losses_of_different_vocabularies_have_a_note(base: Path, runs: list[Run], tmp_path: Path) -> None:
    told = "vocabularies differ: do not compare the height of the losses"
    other = fake(base, tmp_path / "other", attention="mean", seed=1, wrong=3)
    TokenizerPair.train(other.config.tokenizer, ["Hund"] * 9, ["dog"] * 9).save(other.path)
    groups = {"none": runs[:1], "mean": [other]}
    for figure in (draw_learning(groups), *draw_learning_apart(groups)):
        assert figure.legends[0].get_title().get_text().replace("\n", " ") == told
    assert draw_learning(groups).notes == (Note(told, told),)
    assert draw_learning({"none": runs[:1], "additive": runs[3:4]}).notes == ()


def test_every_single_run_has_intervals_by_length_whatever_was_stored(base: Path, tmp_path: Path) -> None:
    one, other = (fake(base, tmp_path / name, attention=name, seed=1, wrong=3) for name in ("none", "mean"))
    change(
        other.path / "evaluations" / "test-greedy.json", by_length={"bleu": {}}
    )  # lengths were once called otherwise
    bars = [
        each
        for each in draw_by_length(compare_runs([one, other])).axes[0].collections
        if isinstance(each, LineCollection)
    ]
    assert [len(each.get_segments()) for each in bars] == [2, 2]


def in_steps(run: Run, *ends: int) -> Run:
    """A run whose epochs ended after so many steps, of ten that an epoch has."""
    log = run.path / "log.jsonl"
    _, *lines = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    epochs = [line | {"step": step} for line, step in zip(lines, ends, strict=True)]
    log.write_text("\n".join(map(json.dumps, [{"event": "began", "steps_per_epoch": 10}, *epochs])), encoding="utf-8")
    return run


def test_part_of_an_epoch_counts_as_its_share(base: Path, tmp_path: Path) -> None:
    whole = in_steps(fake(base, tmp_path / "whole", attention="additive", seed=1, wrong=1), 10, 20, 30)
    cut = in_steps(fake(base, tmp_path / "cut", attention="mean", seed=1, wrong=1), 10, 20, 21)
    short = in_steps(fake(base, tmp_path / "short", attention="none", seed=1, wrong=1, losses=(3.0,)), 4)
    assert [run.epochs()[-1]["epoch"] for run in (whole, cut, short)] == pytest.approx([3, 2.1, 0.4])
    rows = {(name, label): values[0] for name, label, _, values in compare_runs([whole, cut, short]).rows()}
    assert rows["training_loss_end", "additive"] == pytest.approx(4.0)
    assert rows["training_loss_end", "mean"] == pytest.approx(2.0)
    assert rows["training_loss_end", "none"] == pytest.approx(6.0)
    assert rows["training_loss_mean", "mean"] == pytest.approx((6 + 2 + 0.4) / 2.1)
    assert rows["validation_loss_mean", "mean"] == pytest.approx((3 + 1 + 0.2) / 2.1 + 0.01)
    assert rows["validation_loss_end", "mean"] == pytest.approx(2.01)
    (cut.path / "attention.jsonl").unlink(missing_ok=True)
    for epoch in (1, 2, 3):
        sentence = {"source": ["Hund"], "target": ["dog"], "weights": [[1.0]], "links": None}
        cut.log({"epoch": epoch, "entropy_nats": 1.0, "sentences": [sentence]}, "attention")
    for draw in (draw_learning, draw_entropy):
        assert draw({"cut": [cut]}).axes[0].get_lines()[0].get_xdata() == pytest.approx([1, 2, 2.1])
    assert [diagram.title for diagram in epochs_of(cut)] == ["epoch 1", "epoch 2", "epoch 2.1"]


def configured(run: Run, **values: object) -> Run:
    config = json.loads((run.path / "config.json").read_text(encoding="utf-8"))
    config["model"] |= values
    (run.path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return Run.open(run.path)


def test_groups_are_named_by_what_differs(runs: list[Run], base: Path, tmp_path: Path) -> None:
    other = configured(fake(base, tmp_path / "one", attention="none", seed=1, wrong=3), dropout=0.4)
    labels = {group.label for group in compare_runs([runs[0], other]).groups}
    assert labels == {f"dropout={runs[0].config.model.dropout}", "dropout=0.4"}  # a number alone would say nothing
    other = configured(other, dropout=runs[0].config.model.dropout, attention="mean", cell="lstm")
    labels = {group.label for group in compare_runs([runs[0], other]).groups}
    assert labels == {"cell=gru attention=none", "cell=lstm attention=mean"}
    found = compare_runs([runs[0], other], axes=("train.clip", "model.attention"))  # as asked for, then the rest
    clip = runs[0].config.train.clip
    labels = {f"clip={clip} attention=none cell=gru", f"clip={clip} attention=mean cell=lstm"}
    assert {group.label for group in found.groups} == labels


def test_heads_are_named_only_where_attention_does_not_imply_them(runs: list[Run], base: Path, tmp_path: Path) -> None:
    two, four = (
        configured(fake(base, tmp_path / f"{heads}", attention="multi_head", seed=1, wrong=3), heads=heads)
        for heads in (2, 4)
    )
    assert {group.label for group in compare_runs([runs[0], four]).groups} == {"none", "multi_head"}
    labels = {group.label for group in compare_runs([runs[0], two, four]).groups}
    assert labels == {"attention=none heads=1", "attention=multi_head heads=2", "attention=multi_head heads=4"}


def test_groups_that_differ_in_many_settings_are_named_by_their_first_run(
    runs: list[Run], base: Path, tmp_path: Path
) -> None:
    many = {"cell": "lstm", "dropout": 0.4, "feature_dropout": 0.3, "embedding_gain": 2.0, "attention": "mean"}
    name = runs[0].path.name
    folders = [tmp_path / "other", tmp_path / name]
    others = [configured(fake(base, path, attention="mean", seed=1, wrong=3), **many) for path in folders]
    found = compare_runs([*runs[:3], others[0]])
    assert {group.label for group in found.groups} == {name, "other"}
    (note,) = found.notes
    assert note.startswith("groups are named by their first run: they differ in 5 settings (")
    assert "feature_dropout" in note
    assert {group.label for group in compare_runs([runs[0], others[1]]).groups} == {
        str(runs[0].path), str(others[1].path)
    }  # fmt: skip


def test_a_notebook_shows_a_comparison(runs: list[Run]) -> None:
    html = compare_runs(runs, notes=["one < two is missing."])._repr_html_()
    assert "<p>bleu</p>" in html
    assert "<p>one &lt; two is missing.</p>" in html
    assert "<p>bleu_lc does not compare with bleu" in html
    assert "<th>group</th>" in html
    assert " beats none: +" in html
    assert ">p corrected</th>" in html
    assert html.count("<svg ") == 1


def with_data(run: Run, sha256: str, **data: object) -> Run:
    config = json.loads((run.path / "config.json").read_text(encoding="utf-8"))
    change(run.path / "config.json", data=config["data"] | data)
    change(run.path / "run.json", training_sha256=sha256)
    return Run.open(run.path)


def test_the_same_data_at_two_paths_are_one_group(base: Path, tmp_path: Path) -> None:
    pairs = [
        with_data(fake(base, tmp_path / f"{seed}", attention="none", seed=seed, wrong=3), "aa", extra=f"/d{seed}/p.tsv")
        for seed in (1, 2)
    ]
    assert [len(group.runs) for group in compare_runs(pairs).groups] == [2]
    copy = with_data(fake(base, tmp_path / "copy", attention="none", seed=1, wrong=3), "aa", extra="")
    assert compare_runs([pairs[0], copy]).notes == (
        f"{copy.path} is left out: same settings and seed as {pairs[0].path}.",
    )
    other = with_data(fake(base, tmp_path / "other", attention="mean", seed=1, wrong=3), "aa", extra="/d3/p.tsv")
    assert {group.label for group in compare_runs([*pairs, other]).groups} == {"none", "mean"}


@pytest.mark.parametrize(
    ("paths", "labels"),
    [
        (("/d/p.tsv", "/d/q.tsv"), {"p.tsv", "q.tsv"}),
        (("/d/1/p.tsv", "/d/2/p.tsv"), {"1/p.tsv", "2/p.tsv"}),
        (("/d/p.tsv", "/d/p.tsv"), {"aaaaaaaa", "bbbbbbbb"}),
        (("/d/p.tsv", ""), {"p.tsv", "extra=none"}),
    ],
)
def test_other_data_are_named_by_their_files(
    base: Path, tmp_path: Path, paths: tuple[str, str], labels: set[str]
) -> None:
    runs = [
        with_data(fake(base, tmp_path / name, attention="none", seed=1, wrong=wrong), name * 9, extra=path)
        for name, wrong, path in zip("ab", (3, 9), paths, strict=True)
    ]
    assert {group.label for group in compare_runs(runs).groups} == labels


@pytest.mark.parametrize(("others", "is_told"), [([30.0, 30.0], True), ([25.0, 31.0], False)])
def test_seeds_that_do_not_differ_count_where_those_of_other_groups_do(others: list[float], is_told: bool) -> None:
    scores = {"a": [32.0, 32.0], "b": [20.0, 20.0]}
    better, worse = (
        SimpleNamespace(label=label, quantities={"bleu": Spread(tuple(values))}) for label, values in scores.items()
    )
    drawn = {label: np.random.default_rng(1).normal(values[0], 0.1, 500) for label, values in scores.items()}
    found = _pair(better, worse, drawn, "bleu", segments=500, seeds=[*scores.values(), others])
    (line,) = Comparison("bleu", "", (), (replace(found, p_value=0.01),)).verdict()
    assert (" over sentences alone: " in line) == is_told
