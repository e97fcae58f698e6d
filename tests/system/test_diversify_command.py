"""diversify through the command line, and a training that takes what it printed."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from regard.cli import main
from regard.config import load_config
from regard.data.corpus import load_corpus
from regard.training.session import Session
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
        files = {"pairs": "train", "validation_pairs": "validation", "test_pairs": "test"}
        keys = [f"data.{key}={folder / f'{name}.{part}'}" for key, part in files.items()]
        made[name] = train(folder / name, "data.corpus=files", *keys)
    return made


def test_both_directions_make_pairs_in_the_direction_of_the_first(runs: dict[str, Path], tmp_path: Path) -> None:
    known = (runs["there"].parent / "there.train").read_text(encoding="utf-8").splitlines()
    result = call("diversify", runs["there"], "--back", runs["back"], "--beam", "1")
    assert result.exit_code == 0
    made = result.stdout.splitlines()
    assert made
    sources, targets = (set(side) for side in zip(*(line.split("\t") for line in known), strict=True))
    assert all(source in sources or target in targets for source, target in (line.split("\t") for line in made))
    assert len(set(made)) == len(made)
    assert not set(made) & set(known)
    assert result.stderr == f"{len(made):,} new pairs of 220 translations\n"
    extra = tmp_path / "extra.tsv"
    extra.write_text(result.stdout, encoding="utf-8")
    keys = [f"data.{key}={runs['there'].parent / name}" for key, name in (("pairs", "there.train"),)]
    more = train(tmp_path / "more", "data.corpus=files", *keys, f"data.extra={extra}")
    assert call("evaluate", more).exit_code == 0


def test_a_run_in_the_wrong_direction_is_refused(runs: dict[str, Path]) -> None:
    there, back = runs["there"], runs["back"]
    for words, wrong, side in (((there, "--back", there), there, "targets"), ((there, back), back, "sources")):
        result = call("diversify", *words)
        assert result.exit_code == 1
        assert result.stderr == f"Error: {wrong}: has no source sentence in common with the {side} of {there}.\n"
