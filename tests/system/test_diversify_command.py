"""diversify through the command line, and a training that takes what it printed."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from regard.cli import main
from regard.config import load_config
from regard.data.corpus import load_corpus
from regard.run import Run
from regard.search.strategy import Strategy
from regard.training.session import Session
from regard.translate import Translator, load
from regard.translation import Translation, nothing_from
from tiny_runs import SCENES

SMALL = [word for word in SCENES if not word.startswith("data.")]
ENOUGH = ["model.hidden=32", "model.encoder_hidden=32", "train.epochs=10", "train.batch=16", "train.warmup_steps=5"]
"""Of training, for translations that end."""


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def train(path: Path, *words: str) -> Path:
    for _ in Session.begin(load_config("scenes", [*words, *SMALL, *ENOUGH]), path).fit():
        pass
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    data = load_corpus(load_config("scenes", list(SCENES)).data)["train"]
    there = [f"{source}\t{target}\n" for source, target in zip(data.sources, data.targets, strict=True)]
    back = [f"{target}\t{source}\n" for source, target in zip(data.sources, data.targets, strict=True)]
    made = {}
    for name, lines in (("there", there), ("back", back)):
        for part, rows in (("train", lines[:110]), ("validation", lines[110:130]), ("test", lines[130:])):
            (folder / f"{name}.{part}").write_text("".join(rows), encoding="utf-8")
        made[name] = train(folder / name, *own_data(folder / name))
    return made


def own_data(stem: Path) -> list[str]:
    """Return the options of a corpus in files of this name, one for each part."""
    files = {"pairs": "train", "validation_pairs": "validation", "test_pairs": "test"}
    return ["data.corpus=files", *(f"data.{key}={stem}.{part}" for key, part in files.items())]


def test_both_directions_make_pairs_in_the_direction_of_the_first(runs: dict[str, Path], tmp_path: Path) -> None:
    known = (runs["there"].parent / "there.train").read_text(encoding="utf-8").splitlines()
    result = call("diversify", runs["there"], "--back", runs["back"], "--beam", "1")
    assert result.exit_code == 0
    made = result.stdout.splitlines()
    assert made
    sources, targets = (set(side) for side in zip(*(line.split("\t") for line in known), strict=True))
    pairs = [tuple(line.split("\t")) for line in made]
    assert all(source in sources or target in targets for source, target in pairs)
    assert any(source in sources and target not in targets for source, target in pairs)  # by the first run
    assert any(source not in sources and target in targets for source, target in pairs)  # by the other
    assert len(set(made)) == len(made)
    assert not set(made) & set(known)
    assert result.stderr == f"{len(made):,} new pairs of 220 translations\n"
    extra = tmp_path / "extra.tsv"
    extra.write_text(result.stdout, encoding="utf-8")
    keys = [f"data.{key}={runs['there'].parent / name}" for key, name in (("pairs", "there.train"),)]
    more = train(tmp_path / "more", "data.corpus=files", *keys, f"data.extra={extra}")
    assert call("evaluate", more).exit_code == 0


def test_a_run_of_the_other_direction_is_enough(runs: dict[str, Path]) -> None:
    result = call("diversify", "--back", runs["back"], "--beam", "1")
    assert result.exit_code == 0
    data = load_corpus(Run.open(runs["there"]).config.data)["train"]
    known = set(zip(data.sources, data.targets, strict=True))
    made = {(source, target) for target, source in translations((runs["back"],), data.targets)} - known
    assert made
    assert {tuple(line.split("\t")) for line in result.stdout.splitlines()} == made


def test_pairs_that_the_corpus_has_are_no_news(runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    data = load_corpus(Run.open(runs["back"]).config.data)["train"]
    gold = dict(zip(data.sources, data.targets, strict=True))

    def perfect(_: Translator, texts: Sequence[str], *__: object, **___: object) -> list[Translation]:
        return [replace(nothing_from(text), text=gold[text]) for text in texts]

    monkeypatch.setattr(Translator, "translate_all", perfect)
    result = call("diversify", "--back", runs["back"])
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "0 new pairs of 110 translations\n")


def test_several_back_runs_have_pairs_in_common(runs: dict[str, Path]) -> None:
    result = call("diversify", "--back", runs["back"], "--back", runs["there"])
    problem = f"{runs['there']}: has no training pair in common with {runs['back']}."
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"Error: {problem}\n")


def test_something_has_to_translate() -> None:
    result = call("diversify")
    assert (result.exit_code, result.stderr) == (1, "Error: want a RUN, a --back RUN, or both.\n")


def test_runs_that_translate_together_make_one_translation_of_a_sentence(runs: dict[str, Path]) -> None:
    there, back = runs["there"], runs["back"]
    folder = there.parent
    twins = [train(folder / f"twin{seed}", *own_data(there), f"train.seed={seed}") for seed in (2, 3)]
    other = train(folder / "other", *own_data(back), "train.seed=2")
    words = ("diversify", there, *twins, "--back", back, "--back", other, "--beam", "1")
    apart, together = call(*words), call(*words, "--together")
    assert "of 550 translations" in apart.stderr
    assert "of 220 translations" in together.stderr
    data = load_corpus(Run.open(there).config.data)["train"]
    known = set(zip(data.sources, data.targets, strict=True))
    forward = translations((there, *twins), data.sources) - known
    backward = {(target, source) for source, target in translations((back, other), data.targets)} - known
    assert {tuple(line.split("\t")) for line in together.stdout.splitlines()} == forward | backward
    assert forward != translations((there, twins[0]), data.sources) - known
    assert backward


def translations(runs: tuple[Path, ...], texts: Sequence[str]) -> set[tuple[str, str]]:
    made = load(*runs).translate_all(texts, Strategy(width=1))
    return {(one.source, one.text) for one in made if one.is_finished and one.text}


def test_a_run_of_other_pairs_is_refused(runs: dict[str, Path], tmp_path: Path) -> None:
    there, back = runs["there"], runs["back"]
    folder = there.parent
    other = train(tmp_path / "other", "data.corpus=files", f"data.pairs={folder / 'back.test'}", "data.test_size=1")
    both = tmp_path / "both.tsv"
    both.write_bytes((folder / "back.train").read_bytes() + (folder / "back.test").read_bytes())
    files = [f"data.validation_pairs={folder / 'back.validation'}", f"data.test_pairs={folder / 'back.validation'}"]
    knows = train(tmp_path / "knows", "data.corpus=files", f"data.pairs={both}", *files)
    for words, problem in (
        ((there, "--back", there), f"{there}: given twice, want each run once, as RUN or as --back RUN."),
        ((there, f"{there}/../there"), f"{there}: given twice, want each run once, as RUN or as --back RUN."),
        ((there, back), f"{back}: has no training pair in common with {there}."),
        ((there, "--back", other), f"{other}: has no training pair turned round in common with {there}."),
        (
            (there, "--back", knows),
            f"{knows}: was trained on 20 of the pairs that {there} is validated and tested on; "
            "train both on the same data, those of one direction with data.swap=true.",
        ),
    ):
        result = call("diversify", *words)
        assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"Error: {problem}\n")


def test_a_corpus_that_has_changed_is_refused(runs: dict[str, Path], tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_bytes((runs["there"].parent / "there.train").read_bytes())
    run = train(tmp_path / "run", "data.corpus=files", f"data.pairs={pairs}")
    with pairs.open("a", encoding="utf-8") as file:
        file.write("Der Hund schläft.\tThe dog sleeps.\n")
    result = call("diversify", run)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {run}: the corpus has changed since this run was trained (sha256 ")
