import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from regard.cli.lab import lab


def run(*arguments: str) -> str:
    result = CliRunner().invoke(lab, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_one_experiment_with_figure(tmp_path: Path) -> None:
    out = run("copy", "-o", str(tmp_path), "-m", "4", "-d", "9", "-c", "12")
    assert out.startswith("copy: m = 4, d = 9, c = 12; scores are q . k / sqrt(d)\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.png", "copy.svg", "lab.json"]
    assert json.loads((tmp_path / "lab.json").read_text())["experiments"][0]["settings"] == {"m": 4, "d": 9, "c": 12}


def test_a_header_names_what_was_used_and_nothing_else() -> None:
    rest = "; scores are q . k / sqrt(d)"
    assert run("average").splitlines()[0] == f"average: m = 8, d = 16, c = 20{rest}"
    noisy = run("noisy", "--resamplings", "200", "--beta", "0.05", "--seed", "12345678").splitlines()[0]
    assert noisy == f"noisy: m = 8, d = 16, c = 20, beta = 0.05, resamplings = 200, seed = 12345678{rest}"


def test_json() -> None:
    data = json.loads(run("heads", "--json", "--resamplings", "200", "--seed", "4"))
    assert [experiment["name"] for experiment in data["experiments"]] == ["heads"]
    assert len(data["experiments"][0]["shows"]) == 3


def test_noisy_and_heads_share_a_figure(tmp_path: Path) -> None:
    run("noisy", "-o", str(tmp_path), "--resamplings", "200")
    assert (tmp_path / "noisy_heads.png").exists()


def test_exercises_in_three_formats() -> None:
    assert "Errata\n------" in run("exercises")
    assert "\\subsection*{Errata}" in run("exercises", "--format", "latex")
    assert "## Errata" in run("exercises", "--format", "markdown")


def test_new_exercise_keeps_its_solution_back() -> None:
    problem = run("exercises", "--new", "--seed", "7", "--size", "4x3", "--heads", "2")
    solved = run("exercises", "--new", "--seed", "7", "--size", "4x3", "--heads", "2", "--solution")
    assert "softmax" not in problem
    assert solved.startswith(problem.rstrip("\n"))
    assert json.loads(run("exercises", "--new", "--json"))["exercises"][0]["steps"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["copy", "--new"], "--new: has no effect on 'regard lab copy'."),
        (["average", "--beta", "0.2"], "--beta: has no effect on 'regard lab average'."),
        (["copy", "--seed", "3"], "--seed: has no effect on 'regard lab copy'."),
        (["exercises", "--seed", "3"], "--seed: is for a new exercise; add --new."),
        (["exercises", "-m", "5"], "-m: has no effect on 'regard lab exercises'."),
        (["exercises", "--heads", "3"], "--heads: is for a new exercise; add --new."),
    ],
)
def test_what_would_be_ignored_is_refused(arguments: list[str], message: str) -> None:
    assert str(CliRunner().invoke(lab, arguments).exception) == message


def test_an_experiment_that_is_not_there() -> None:
    result = CliRunner().invoke(lab, ["cpoy"])
    assert result.exit_code == 2
    assert "'cpoy' is not one of" in result.stderr


def test_size_that_is_none() -> None:
    result = CliRunner().invoke(lab, ["exercises", "--new", "--size", "4by3"])
    assert str(result.exception) == "--size: got '4by3', want positions x size, such as 4x3."


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = CliRunner().invoke(lab, ["copy", "-o", str(tmp_path / "file" / "inside")])
    assert str(result.exception) == (f"{tmp_path}/file/inside: Not a directory. -o wants a folder that can be written.")
