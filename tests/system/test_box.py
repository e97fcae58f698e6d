"""A small copy of a run, given away or in the box."""

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner, Result

import regard.run
from regard.cli import main
from regard.data.scenes import Scenes
from regard.run import Run, boxed
from regard.search.strategy import Strategy
from regard.translate import load
from tiny_runs import make_run

SENTENCE = "Der Hund schläft ."


def call(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, list(words), input=stdin, catch_exceptions=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("box") / "large", "scenes")


@pytest.fixture(scope="module")
def copy(run: Run) -> Path:
    path = run.path.with_name("de-en")
    told = call("export", str(run.path), str(path))
    assert told.exit_code == 0
    assert told.stdout == f"{path}\n"
    return path


@pytest.fixture
def box(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regard.run, "BOX", copy.parent)


def test_a_copy_is_small_and_translates_alike(run: Run, copy: Path) -> None:
    assert (copy / "best.safetensors").stat().st_size < 0.45 * (run.path / "best.safetensors").stat().st_size
    names = {"run.json", "config.json", "source_tokens.json", "target_tokens.json", "best.safetensors", "scores.json"}
    assert {path.name for path in copy.iterdir()} == names
    large, small = run.model().state_dict(), Run.open(copy).model().state_dict()
    for name, tensor in large.items():
        assert (small[name] - tensor).abs().max() <= tensor.abs().max() / 127 + 1e-3


def test_a_copy_keeps_its_scores_and_no_sentences(run: Run, copy: Path) -> None:
    wanted = {name: evaluation["scores"] for name, evaluation in run.evaluations().items()}
    assert json.loads((copy / "scores.json").read_text()) == wanted != {}


def test_a_copy_does_not_name_the_file_of_extra_pairs(tmp_path: Path) -> None:
    (tmp_path / "extra.tsv").write_text("Der Hund\tThe dog\n", encoding="utf-8")
    made = make_run(tmp_path / "run", "scenes", f"data.extra={tmp_path / 'extra.tsv'}", is_evaluated=False)
    copy = made.export(tmp_path / "copy")
    assert (made.config.data.extra, copy.config.data.extra) == (str(tmp_path / "extra.tsv"), "")
    assert copy.description["training_sha256"] == made.description["training_sha256"]


def test_a_copy_of_a_copy_is_the_same(copy: Path, tmp_path: Path) -> None:
    assert call("export", str(copy), str(tmp_path / "again")).exit_code == 0
    first, second = (Run.open(path).model().state_dict() for path in (copy, tmp_path / "again"))
    for name, tensor in first.items():
        torch.testing.assert_close(second[name], tensor, rtol=1e-3, atol=1e-6)
    assert (tmp_path / "again" / "scores.json").read_text() == (copy / "scores.json").read_text()


def test_a_copy_is_not_trained_further(copy: Path) -> None:
    before = sorted(copy.iterdir())
    told = call("resume", str(copy))
    assert told.exit_code == 1
    assert "finished" in told.stderr
    assert sorted(copy.iterdir()) == before


def test_what_is_there_is_not_overwritten(run: Run, copy: Path) -> None:
    again = call("export", str(run.path), str(copy))
    assert again.exit_code == 1
    assert again.stderr == f"Error: {copy}: exists already. Choose another directory, or remove it.\n"


@pytest.mark.usefixtures("box")
def test_the_model_in_the_box_is_meant_where_none_is_named(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text(SENTENCE + "\n", encoding="utf-8")
    wanted = call("translate", str(copy), stdin=SENTENCE).stdout
    assert call("translate", stdin=SENTENCE).stdout == wanted
    assert call("translate", str(tmp_path / "lines.txt")).stdout == wanted
    assert call("translate", "de-en", str(tmp_path / "lines.txt")).stdout == wanted
    assert call("show", SENTENCE).stdout == call("show", str(copy), SENTENCE).stdout
    assert call("show", stdin=SENTENCE).stdout == call("show", SENTENCE).stdout


@pytest.mark.usefixtures("box")
def test_a_mistyped_run_is_no_sentence() -> None:
    told = "no such run. `regard train` makes one; a sentence of one word comes after its run."
    assert call("show", "runs/dmo").stderr == f"Error: runs/dmo: {told}\n"
    told = "Error: runs/dmo: no such file, and no such run; `regard train` makes one.\n"
    assert call("translate", "runs/dmo").stderr == told


@pytest.mark.usefixtures("box")
def test_a_model_in_the_box_is_scored_and_not_written_to(copy: Path) -> None:
    before = sorted(copy.iterdir())
    told = call("evaluate", "de-en")
    assert told.stdout.startswith("metric")
    assert told.stderr == "de-en comes with regard, so its evaluation is not stored in it; --json prints everything.\n"
    assert sorted(copy.iterdir()) == before


@pytest.mark.usefixtures("box")
def test_a_directory_comes_before_the_box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert boxed() == ["de-en", "large"]
    assert Run.open("de-en").path == regard.run.BOX / "de-en"
    (tmp_path / "de-en").mkdir()
    assert "not a run" in call("translate", "de-en").stderr


def test_the_model_that_comes_with_the_package_is_small_and_knows_german() -> None:
    folder = Path(regard.run.BOX) / "de-en"
    assert sum(path.stat().st_size for path in folder.iterdir()) < 8_000_000
    done = call("translate", stdin="Zwei Hunde spielen im Schnee.\nZwei Hunde spielen im Schnee\nEin Hund\n")
    assert done.stdout == "Two dogs are playing in the snow.\nTwo dogs are playing in the snow\nA dog\n"


def test_its_translations_do_not_depend_on_the_batch() -> None:
    sources = Scenes(train=1, validation=1, test=24).load()["test"].sources
    translator, strategy = load(), Strategy(width=3, n_best=3)
    alone, *together = (list(translator.translate_all(sources, strategy, batch=size)) for size in (1, 7, 24))
    assert len({one.text for one in alone}) > 20
    for batched in together:
        for one, other in zip(alone, batched, strict=True):
            for mine, same in zip((one, *one.alternatives), (other, *other.alternatives), strict=True):
                assert mine.tokens == same.tokens
                assert mine.score == pytest.approx(same.score, abs=1e-5)


def test_its_card_tells_the_stored_scores() -> None:
    folder = Path(regard.run.BOX) / "de-en"
    card = (folder / "CARD.md").read_text(encoding="utf-8")
    scores = json.loads((folder / "scores.json").read_text())["test-beam5-power1"]
    for name in ("bleu", "bleu_lc", "chrf"):
        assert f"{scores[name]['value']:.2f}" in card
