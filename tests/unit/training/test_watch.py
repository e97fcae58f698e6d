"""What a training remembers of its attention, epoch by epoch."""

from pathlib import Path

import numpy as np
import pytest
import torch

from regard.config import load_config
from regard.data.corpus import load_corpus
from regard.data.tokenizers import TokenizerPair
from regard.errors import RegardError
from regard.evaluate import Evaluator
from regard.pictures.comparison import draw_entropy
from regard.pictures.timelapse import epochs_of, stills
from regard.run import Run
from regard.training.session import Session
from regard.training.watch import SHOWN, Watch
from tiny_runs import REVERSE, SCENES, make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("watch") / "scenes"
    return make_run(path, "scenes", "train.epochs=3", "train.ema=0.9", "data.validation=7", is_evaluated=False)


def test_each_epoch_has_the_entropy_of_the_kept_weights_and_the_same_sentences(run: Run) -> None:
    seen = run.attention()
    assert [epoch["epoch"] for epoch in seen] == [1, 2, 3]
    words = [[(each["source"], each["target"], each["links"]) for each in epoch["sentences"]] for epoch in seen]
    assert words[0] == words[1] == words[2]
    assert len(words[0]) == SHOWN
    best = max(range(3), key=lambda i: run.epochs()[i]["is_best"] * (i + 1))  # the last epoch that was best
    evaluation = Evaluator(run, "validation")
    scores = [reference.words.attention.mean(axis=0) for reference in evaluation.read().references]
    entropies = np.concatenate([-(w * np.log(np.where(w > 0, w, 1))).sum(1) for w in scores])
    assert seen[best]["entropy_nats"] == pytest.approx(entropies.mean(), abs=1e-4)


def test_diagrams_have_gold_links_and_a_title_and_stills_keep_the_ends(run: Run) -> None:
    diagrams = epochs_of(run, 2)
    assert [diagram.title for diagram in diagrams] == ["epoch 1", "epoch 2", "epoch 3"]
    assert all(diagram.links for diagram in diagrams)
    pairs = load_corpus(run.config.data)["validation"]
    assert {diagram.texts for diagram in diagrams} <= set(zip(pairs.sources, pairs.targets, strict=True))
    np.testing.assert_allclose(diagrams[0].mean.sum(axis=1), 1, atol=0.01)
    assert [diagram.title for diagram in stills(diagrams * 9, 3)] == ["epoch 1", "epoch 2", "epoch 3"]
    assert stills(diagrams, 6) == diagrams
    assert stills(diagrams[:1]) == diagrams[:1]


def test_looking_changes_nothing(tmp_path: Path) -> None:
    weights = []
    for name in ("watched", "alone"):
        session = Session.begin(load_config("reverse", [*REVERSE]), tmp_path / name)
        if name == "alone":
            session.watch.look = lambda *_: None  # type: ignore[method-assign]
        list(session.fit())
        weights.append(session.trainer.weights())
    assert not Run(tmp_path / "alone").attention()
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])


def test_no_attention_leaves_no_trace_and_is_told(tmp_path: Path) -> None:
    run = make_run(tmp_path / "none", "reverse", "model.attention=none", "train.epochs=1", is_evaluated=False)
    assert not (run.path / "attention.jsonl").exists()
    told = f"{run.path}: has no attention to show (model.attention is none)."
    for call in (lambda: epochs_of(run), lambda: draw_entropy({"none": [run]})):
        with pytest.raises(RegardError) as caught:
            call()
        assert str(caught.value) == told


def test_a_copy_is_not_asked_to_be_trained(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "reverse", "train.epochs=1", is_evaluated=False)
    copy = run.export(tmp_path / "copy")
    with pytest.raises(RegardError, match=r"copy: does not know its training, .* want the run that the training made"):
        draw_entropy({"dot": [copy]})
    (run.path / "attention.jsonl").unlink()
    with pytest.raises(RegardError, match=r"has no attention\.jsonl.*; train it again\.$"):
        draw_entropy({"dot": [run]})


def test_a_sentence_that_was_not_watched_is_refused(run: Run) -> None:
    with pytest.raises(RegardError) as caught:
        epochs_of(run, 4)
    assert str(caught.value) == "sentence: got 4, want 1 to 3, which training watched."


def test_an_epoch_that_was_done_again_counts_once(run: Run, tmp_path: Path) -> None:
    again = Run(tmp_path)
    for record in [*run.attention(), run.attention()[1] | {"entropy_nats": 9.0}]:
        again.log(record, "attention")
    figure = draw_entropy({"none": [Run(tmp_path / "nothing")], "additive": [again]})
    (line,) = figure.axes[0].lines
    assert line.get_marker() == "s"  # the second group, as in every picture of these
    assert line.get_xdata().tolist() == [1, 2, 3]
    assert line.get_ydata()[1] == 9.0


def test_entropy_has_a_readable_axis_and_names_who_is_left_out(run: Run, tmp_path: Path) -> None:
    close, empty = Run(tmp_path / "close"), Run(tmp_path / "seed-2")
    close.path.mkdir()
    for number, entropy in enumerate((2.35801, 2.35802), start=1):
        close.log({"epoch": number, "entropy_nats": entropy, "sentences": []}, "attention")
    figure = draw_entropy({"dot": [close], "additive": [run, empty]})
    low, high = figure.axes[0].get_ylim()
    assert high - low == pytest.approx(0.5)
    assert low < 2.358 < high
    figure.draw_without_rendering()
    assert figure.axes[0].yaxis.get_offset_text().get_text() == ""
    about = figure.legends[0].get_title().get_text()
    assert about.splitlines()[-1] == "left out: additive, since seed-2 has no attention.jsonl"


def test_few_sentences_are_enough() -> None:
    config = load_config("scenes", [*SCENES, "data.validation=1"])
    corpus = load_corpus(config.data)
    train = corpus["train"]
    watch = Watch(corpus, TokenizerPair.train(config.tokenizer, train.sources, train.targets))
    assert watch._shown == [0]
