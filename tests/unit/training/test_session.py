"""A training bound to its run."""

from pathlib import Path

import pytest
import torch

from regard.cli.train import resume_run
from regard.config import load_config
from regard.data.corpus import load_corpus
from regard.errors import RegardError
from regard.run import Run
from regard.training.session import Session
from tiny_runs import REVERSE, SCENES


def test_embeddings_begin_as_the_experiment_says(tmp_path: Path) -> None:
    starts = {
        start: Session.begin(load_config("reverse", [*REVERSE, f"train.start={start}"]), tmp_path / start)
        for start in ("random", "cooccurrence")
    }
    random, together = (starts[start].trainer.weights() for start in ("random", "cooccurrence"))
    changed = {name for name in random if not random[name].equal(together[name])}
    assert changed == {"encoder.embedding.weight", "decoder.embedding.weight"}


@pytest.mark.parametrize(("asked", "is_told"), [(12, False), (5000, True)])
def test_fewer_subwords_than_asked_for_are_told(asked: int, is_told: bool, tmp_path: Path) -> None:
    words = [*REVERSE, "tokenizer.kind=subword", f"tokenizer.vocabulary={asked}"]
    session = Session.begin(load_config("reverse", words), tmp_path / "run")
    size = session.run.tokenizers.source.size
    assert (size < asked) is is_told
    note = f"tokenizer.vocabulary: asked for {asked} pieces, the training data yield {size}."
    assert session.notes == (*session.corpus.notes, *([note] if is_told else []))


def test_extra_pairs_are_trained_on_and_belong_to_the_run(tmp_path: Path) -> None:
    extra = tmp_path / "extra.tsv"
    extra.write_text("abcdabcdabcd\tdcbadcbadcba\n\nbbbbbbbbb\tbbbbbbbbb\n", encoding="utf-8")
    plain = Session.begin(load_config("reverse", REVERSE), tmp_path / "plain")
    more = Session.begin(load_config("reverse", [*REVERSE, f"data.extra={extra}"]), tmp_path / "more")
    assert [len(each.trainer.data.epoch(1)) for each in (plain, more)] == [200, 202]
    assert more.notes == (*plain.notes, f"{extra}: 1 of 3 pairs left out: empty, validated or tested on.")
    assert more.run.description["corpus_sha256"] == plain.run.description["corpus_sha256"]
    assert more.run.tokenizers.target.encode("abcd") == plain.run.tokenizers.target.encode("abcd")
    Session.resume(more.run)
    extra.write_text("abcdabcdabcd\tdcbadcbadcba\n", encoding="utf-8")
    with pytest.raises(RegardError) as caught:
        Session.resume(more.run)
    assert str(caught.value) == f"{extra}: gives other training data than when {more.run.path} began; train a new run."


def test_a_run_resumes_with_the_data_that_were_made_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [*SCENES, "data.bare=0.5", "data.phrases=3"]
    begun = Session.begin(load_config("scenes", words), tmp_path / "run")
    again = Session.resume(begun.run)
    assert again.corpus["train"] == begun.corpus["train"]
    assert [note.partition(":")[0] for note in again.notes] == ["data.bare", "data.phrases"]
    monkeypatch.setattr("regard.data.phrases.LONGEST", 1)
    with pytest.raises(RegardError) as caught:
        Session.resume(begun.run)
    wanted = f"data.bare or data.phrases: gives other training data than when {begun.run.path} began; train a new run."
    assert str(caught.value) == wanted


def test_extra_pairs_never_hold_what_is_validated_or_tested_on(tmp_path: Path) -> None:
    corpus = load_corpus(load_config("reverse", REVERSE).data)
    test, extra = corpus["test"], tmp_path / "extra.tsv"
    extra.write_text(f"{test.sources[0]}\tab\nabababababab\t{test.targets[0]}\n", encoding="utf-8")
    with pytest.raises(RegardError) as caught:
        Session.begin(load_config("reverse", [*REVERSE, f"data.extra={extra}"]), tmp_path / "run")
    assert str(caught.value) == f"{extra}: none of 2 pairs can be trained on: empty, validated or tested on."
    assert not (tmp_path / "run").exists()


def test_weights_begin_with_the_threads_that_they_are_trained_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    monkeypatch.setattr(
        "regard.training.session.begin_with_cooccurrence", lambda *_, **__: seen.append(torch.get_num_threads())
    )
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        Session.begin(
            load_config("reverse", [*REVERSE, "train.start=cooccurrence", "train.threads=1"]), tmp_path / "run"
        )
    finally:
        torch.set_num_threads(threads)
    assert seen == [1]


def test_a_run_keeps_the_threads_that_it_began_with(tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        begun = Session.begin(load_config("reverse", [*REVERSE, "train.threads=0"]), tmp_path / "run")
        torch.set_num_threads(1)
        resumed = Session.resume(begun.run)
    finally:
        torch.set_num_threads(threads)
    assert begun.trainer.config.threads == resumed.trainer.config.threads == 2
    assert len(resumed.trainer.shares.replicas) == 2


def test_an_lstm_in_bfloat16_is_refused_where_the_machine_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.training.session.has_bfloat16", lambda device: False)
    config = load_config("reverse", [*REVERSE, "model.cell=lstm", "train.precision=bfloat16"])
    with pytest.raises(RegardError, match=r"train\.precision: got 'bfloat16' with model\.cell 'lstm'"):
        Session.begin(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_epoch_is_logged_before_its_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session.begin(load_config("reverse", REVERSE), tmp_path / "run")
    logged = []
    save = session._save_last
    monkeypatch.setattr(session, "_save_last", lambda: (logged.append(len(session.run.epochs())), save()))
    for _ in session.fit():
        pass
    assert logged == [1, 2], "a process that is killed in between would lose the epoch"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ("train.ema=0.9", "encoder.embedding.weight"),
        ("model.embedding=9", "encoder.embedding.weight"),
        ("model.attention=bilinear", "decoder.attention.key.weight"),
    ],
)
def test_a_checkpoint_of_another_configuration_is_told(tmp_path: Path, change: str, name: str) -> None:
    session = Session.begin(load_config("reverse", REVERSE), tmp_path / "run", should_stop=lambda: True)
    for _ in session.fit():
        pass
    other = load_config("reverse", [*REVERSE, change]).model_dump_json()
    (session.run.path / "config.json").write_text(other, encoding="utf-8")
    with pytest.raises(RegardError) as caught:
        Session.resume(Run.open(session.run.path))
    place = session.run.path / "last.safetensors"
    assert str(caught.value) == f"{place}: does not fit config.json at '{name}'; put that back as it was."


def test_a_training_that_diverged_does_not_go_on(tmp_path: Path) -> None:
    run = Session.begin(load_config("reverse", REVERSE), tmp_path / "run").run
    run.describe(status="diverged")
    with pytest.raises(RegardError) as caught:
        Session.resume(run)
    told = "its loss is not a number. Train a new run, at a lower train.learning_rate."
    assert str(caught.value) == f"{run.path}: {told}"


def test_resuming_removes_what_was_left_half_written(tmp_path: Path) -> None:
    run = Session.begin(load_config("reverse", REVERSE), tmp_path / "run").run
    (left := run.path / ".last.safetensors.123.partial").write_bytes(b"half")
    assert resume_run(run.path)
    assert not left.exists()
