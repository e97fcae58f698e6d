"""What teachers expect of the training data, and how a run learns from it."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.config import ModelConfig, load_config
from regard.data.batches import EncodedPairs
from regard.data.vocabulary import EOS
from regard.errors import RegardError
from regard.evaluate import Evaluator
from regard.groups import distinct, grouped
from regard.models.build import build_model
from regard.models.scoring import read_batch
from regard.models.seq2seq import Seq2Seq
from regard.run import Run
from regard.search.strategy import Strategy
from regard.training import lesson as module
from regard.training.lesson import Lesson
from regard.training.session import Session
from regard.training.shares import Shares
from regard.types import Tensor
from tiny_runs import SCENES, make_run

WORDS = 13
PAIRS = EncodedPairs.of([[4, 5, 6], [7], [8, 9, 10, 11], [5, 5]], [[4, 5], [10, 9, 8, 7, 6], [12], []])


def teacher(seed: int, *, hidden: int = 7) -> Seq2Seq:
    torch.manual_seed(seed)
    sizes = {"embedding": 6, "encoder_hidden": 5, "hidden": hidden, "attention_size": 4}
    model = build_model(ModelConfig(**sizes, dropout=0.5), source_words=WORDS, target_words=WORDS).eval()
    with torch.no_grad():
        model.output.weight *= 20  # knows what it wants
    return model


def expected(models: list[Seq2Seq], row: int) -> Tensor:
    """Return the mean probabilities of all words at every token of one pair that is read alone."""
    batch = PAIRS.batch(np.array([row]))
    return torch.stack([torch.softmax(m.output(read_batch(m, batch).features[0]), dim=1) for m in models]).mean(dim=0)


@pytest.mark.parametrize("threads", [1, 2])
def test_every_token_has_the_likeliest_words_of_all_teachers(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 3)
    monkeypatch.setattr(module, "BATCH", 6)
    monkeypatch.setattr(module, "CHUNK", 4)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    teachers = [teacher(1), teacher(2, hidden=9)]
    lesson = Lesson.empty(PAIRS, words=WORDS)
    rows = np.array([0, 1, 3])
    assert sum(lesson.read(teachers, rows, precision=torch.float32)) == 3
    for row in rows:
        advice = lesson.advice(np.array([row]), share=0.5)
        probabilities, words = expected(teachers, row).topk(3, dim=1)
        assert advice.words.tolist() == words.tolist()
        torch.testing.assert_close(
            advice.shares, 0.5 * probabilities / probabilities.sum(1, keepdim=True), atol=1e-3, rtol=0
        )
    assert not lesson.advice(np.array([2]), share=0.5).shares.any()  # was not asked about


def test_advice_stands_where_its_tokens_stand_in_the_batch() -> None:
    size = len(PAIRS.target.ids)
    lesson = Lesson(torch.tensor(PAIRS.target.ids)[:, None], torch.ones(size, 1), PAIRS)
    batch = PAIRS.batch(np.array([2, 0, 3, 1]))
    for number in (0, 1):
        share = batch.share(number, 2)
        assert lesson.advice(share.rows, share=0.3).words[:, 0].tolist() == share.target_out[share.is_target].tolist()


def test_no_more_words_are_kept_than_there_are() -> None:
    lesson = Lesson.empty(PAIRS, words=5)
    assert lesson.words.shape == (len(PAIRS.target.ids), 5)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_gradient_is_that_of_the_mixture(threads: int) -> None:
    pupil, teachers = teacher(3).requires_grad_(requires_grad=True), [teacher(1)]
    lesson = Lesson.empty(PAIRS, words=WORDS)
    list(lesson.read(teachers, np.arange(4), precision=torch.float32))
    batch = PAIRS.batch(np.arange(4))
    shares = Shares(
        pupil, threads=threads, precision=torch.float32, smoothing=0.0, seed=2, device=torch.device("cpu"),
        advise=lambda rows: lesson.advice(rows, share=0.25),
    )  # fmt: skip
    for replica in shares.replicas:
        replica.eval()
    found = shares.gradient(batch, step=1).tensors
    words, probabilities = lesson.words.long(), lesson.probabilities.float()
    wanted = torch.zeros(len(words), WORDS).scatter_(1, words, 0.25 * probabilities)
    gold = torch.from_numpy(PAIRS.target.ids).long()
    wanted[torch.arange(len(gold)), gold] += 1 - 0.25 * probabilities.sum(dim=1)
    logits = pupil.output(read_batch(pupil, batch).features[batch.is_target])
    torch.nn.functional.cross_entropy(logits, wanted, reduction="sum").backward()
    for one, parameter in zip(found, pupil.parameters(), strict=True):
        torch.testing.assert_close(one, parameter.grad, atol=1e-4, rtol=1e-4)


@pytest.fixture(scope="module")
def teachers(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("teachers")
    return [make_run(folder / f"{n}", "scenes", f"train.seed={n}", is_evaluated=False).path for n in (1, 2)]


def pupil(path: Path, teachers: list[Path], *others: str) -> Session:
    config = load_config("scenes", [*SCENES, f"train.teachers={[str(t) for t in teachers]}", "train.seed=3", *others])
    return Session.begin(config, path)


def test_a_run_learns_from_its_teachers(teachers: list[Path], tmp_path: Path) -> None:
    runs = []
    for name, words in {
        "alone": ["train.teachers=[]"],
        "taught": [],
        "again": [],
        "more": ["train.advice=0.9"],
    }.items():
        session = pupil(tmp_path / name, teachers, *words)
        assert [type(event).__name__ for event in session.fit()][-1] == "Ended"
        runs.append(session.run.load_weights()[0]["output.bias"])
    alone, taught, again, more = runs
    assert torch.equal(taught, again)
    assert not torch.equal(taught, alone)
    assert not torch.equal(taught, more)
    assert not Run(tmp_path / "alone").has_weights("lesson")


def test_teachers_are_asked_once(teachers: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pupil(tmp_path / "whole", teachers)
    list(whole.fit())
    session = pupil(tmp_path / "cut", teachers)
    for event in session.fit():
        if event.kind == "epoch":
            break
    monkeypatch.setattr(Lesson, "read", None)
    taken_up = Session.resume(Run.open(tmp_path / "cut"))
    list(taken_up.fit())
    for name in ("best", "last"):
        one, other = (Run(tmp_path / which).load_weights(name)[0] for which in ("whole", "cut"))
        assert all(torch.equal(one[key], other[key]) for key in one | other)


def test_whoever_stops_while_teachers_read_can_go_on(teachers: list[Path], tmp_path: Path) -> None:
    config = load_config("scenes", [*SCENES, f"train.teachers={[str(t) for t in teachers]}"])
    told = []
    with pytest.raises(KeyboardInterrupt):
        Session.begin(config, tmp_path / "run", should_stop=lambda: bool(told), tick=lambda *n: told.append(n))
    assert len(told) == 1
    run = Run.open(tmp_path / "run")
    assert not run.has_weights("lesson")
    list(Session.resume(run, tick=lambda *n: told.append(n)).fit())
    assert told[-1] == (150, 150)
    assert run.description["status"] == "finished"


def cut_off(path: Path, teachers: list[Path], *, is_begun: bool) -> Run:
    """Return a run that was stopped while its teachers were reading, or after its first epoch."""
    if is_begun:
        session = pupil(path, teachers)
        next(event for event in session.fit() if event.kind == "epoch")
    else:
        config = load_config("scenes", [*SCENES, f"train.teachers={[str(t) for t in teachers]}", "train.seed=3"])
        with pytest.raises(KeyboardInterrupt):
            Session.begin(config, path, should_stop=lambda: True)
    return Run.open(path)


@pytest.mark.parametrize("is_begun", [False, True])
def test_teachers_that_have_changed_are_not_asked(is_begun: bool, teachers: list[Path], tmp_path: Path) -> None:
    own = [Path(shutil.copytree(path, tmp_path / path.name)) for path in teachers]
    run = cut_off(tmp_path / "run", own, is_begun=is_begun)
    if is_begun:
        (run.path / "lesson.safetensors").unlink()
    shutil.copy(own[1] / "best.safetensors", own[0])
    with pytest.raises(RegardError, match=r"train.teachers: have learnt more since .*run began; train a new run\.$"):
        Session.resume(run)
    shutil.rmtree(own[0])
    make_run(own[0], "scenes", "data.seed=9", is_evaluated=False)
    with pytest.raises(RegardError, match=r"train.teachers: .* learnt from other data than this run will"):
        Session.resume(run)
    shutil.rmtree(own[0])
    with pytest.raises(RegardError, match=r"^train.teachers: .*1: no such run\. `regard train` makes one\.$"):
        Session.resume(run)
    assert not run.has_weights("lesson")


@pytest.mark.parametrize(
    "damage",
    [
        lambda t: {"words": t["words"]},
        lambda t: {name: tensor[1:] for name, tensor in t.items()},
        lambda t: {name: tensor.repeat(2, 1) for name, tensor in t.items()},
        lambda t: {name: tensor.half() for name, tensor in t.items()},
        lambda t: t | {"words": t["words"] + 100_000},
        lambda t: t | {"words": -t["words"]},
        lambda t: t | {"probabilities": t["probabilities"] * torch.nan},
    ],
)
def test_a_damaged_lesson_is_told_and_can_be_had_anew(
    damage: Callable[[dict[str, Tensor]], dict[str, Tensor]], teachers: list[Path], tmp_path: Path
) -> None:
    run = cut_off(tmp_path / "run", teachers, is_begun=True)
    lesson = run.load_weights("lesson")[0]
    run.save_weights(damage(lesson), "lesson")
    where = re.escape(str(run.path / "lesson.safetensors"))
    with pytest.raises(RegardError, match=f"^{where}: does not fit the training data. Remove it, and the teachers"):
        Session.resume(run)
    (run.path / "lesson.safetensors").unlink()
    Session.resume(run)
    assert all(torch.equal(lesson[name], tensor) for name, tensor in run.load_weights("lesson")[0].items())


def test_who_does_not_listen_asks_nobody(teachers: list[Path], tmp_path: Path) -> None:
    assert not pupil(tmp_path / "run", teachers, "train.advice=0").run.has_weights("lesson")


def test_a_run_and_its_copy_are_one_experiment_wherever_teachers_lie(teachers: list[Path], tmp_path: Path) -> None:
    runs = []
    for name, words in {"taught": [], "seed": ["train.seed=4"], "alone": ["train.teachers=[]"]}.items():
        session = pupil(tmp_path / name, teachers, *words)
        list(session.fit())
        runs.append(session.run)
    copy = runs[0].export(tmp_path / "copy")
    kept, _ = distinct([copy, *runs])
    assert [run.path.name for run in kept] == ["taught", "seed", "alone"]
    for run in (*kept, copy):
        evaluation = Evaluator(run, "test").evaluate(Strategy())
        run.save_evaluation(evaluation.name, evaluation.to_json())
    groups, _ = grouped([*kept, copy], "test-greedy", ())
    assert [(group.label, len(group.runs)) for group in groups] == [("1+2", 3), ("teachers=none", 1)]


def test_a_copy_to_give_away_names_no_teachers(teachers: list[Path], tmp_path: Path) -> None:
    session = pupil(tmp_path / "run", teachers)
    list(session.fit())
    copy = session.run.export(tmp_path / "copy")
    assert not copy.config.train.teachers
    assert not copy.has_weights("lesson")
    assert str(tmp_path.parent) not in "".join(p.read_text() for p in copy.path.glob("*.json"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["data.seed=9"], r"train.teachers: .*1 learnt from other data than this run will, or in the other direction"),
        (["data.swap=true"], r"train.teachers: .* Want runs of the same data\.$"),
        (["tokenizer.lowercase=true"], r"train.teachers: .* has other tokens than this run; want the same"),
        (["train.teachers=nowhere"], r"^train.teachers: nowhere: no such run"),
        (["train.teachers=['']"], r"train.teachers.0: got '', want the directory of a run\.$"),
        (["train.teachers=de-en"], r"^train.teachers: .*de-en learnt from other data"),
        (["tokenizer.kind=subword", "tokenizer.dropout=0.1"], r"tokenizer.dropout: got 0.1 with train.teachers"),
        (["train.teachers=5"], r"train.teachers: got 5, want a list of runs, such as \['runs/a', 'runs/b'\]\.$"),
    ],
)  # fmt: skip
def test_what_cannot_teach_is_refused_before_anything_is_made(
    words: list[str], message: str, teachers: list[Path], tmp_path: Path
) -> None:
    with pytest.raises(RegardError, match=message):
        pupil(tmp_path / "run", teachers, *words)
    assert not (tmp_path / "run").exists()


def test_a_lone_end_is_a_token_too() -> None:
    assert PAIRS.batch(np.array([3])).target_out.tolist() == [[EOS]]
