"""``regard lab``: the thought experiments and the exercises, run."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from regard.cli.options import refuse
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.lab.derivation import Exercise, Format
    from regard.lab.experiments import Experiment

NAMES = ("copy", "average", "noisy", "heads")
ENDINGS = {"text": "txt", "markdown": "md", "latex": "tex"}
GOES_WITH = {
    "m": (*NAMES, "all"),
    "d": (*NAMES, "all"),
    "c": (*NAMES, "all"),
    "beta": ("noisy", "heads", "all"),
    "resamplings": ("noisy", "heads", "all"),
    "seed": ("noisy", "heads", "exercises", "all"),
    "form": ("exercises", "all"),
    **dict.fromkeys(("new", "size", "heads", "solution"), ("exercises",)),
}


@click.command()
@click.argument("what", type=click.Choice([*NAMES, "exercises", "all"]), default="all")
@click.option("-o", "folder", type=click.Path(path_type=Path, file_okay=False), help="Write figures and results there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-m", default=8, show_default=True, help="Number of keys.")
@click.option("-d", default=16, show_default=True, help="Size of a key; scores are divided by its root.")
@click.option("-c", default=20.0, show_default=True, help="Scale of the query.")
@click.option("--beta", default=0.1, show_default=True, help="Variance of the keys' lengths (noisy, heads).")
@click.option("--resamplings", default=10_000, show_default=True, help="Draws of the keys' lengths (noisy, heads).")
@click.option("--seed", default=1, show_default=True, help="Of the draws (noisy, heads), or of a new exercise.")
@click.option(
    "--format", "form", type=click.Choice(list(ENDINGS)), default="text", show_default=True, help="Of exercises."
)
@click.option("--new", is_flag=True, help="Make a new exercise instead of solving the known ones.")
@click.option("--size", default="4x3", show_default=True, help="Of a new exercise: positions x size of each vector.")
@click.option("--heads", default=2, show_default=True, help="Of a new exercise.")
@click.option("--solution", is_flag=True, help="Print the solution of a new exercise too.")
def lab(
    what: str, *, folder: Path | None, as_json: bool, m: int, d: int, c: float, beta: float,
    resamplings: int, seed: int, form: str, new: bool, size: str, heads: int, solution: bool,
) -> None:  # fmt: skip
    """Run a thought experiment on attention, or work through the exercises."""
    _refuse_ignored(what, new=new)
    from regard.lab.experiments import EXPERIMENTS, Settings

    settings = Settings(m=m, d=d, c=c, beta=beta, resamplings=resamplings, seed=seed)
    results = [EXPERIMENTS[name](settings) for name in NAMES if what in (name, "all")]
    output: dict[str, Any] = {"experiments": [result.to_json() for result in results]} if results else {}
    parts = [_table(result) for result in results]
    if what in ("exercises", "all"):
        data, text = _new(seed, size, heads, form, solution) if new else _known(form)
        output |= data
        parts.append(text)
    if folder:
        _write(folder, results, output, parts, form)
    click.echo(json.dumps(output, indent=2) if as_json else "\n\n\n".join(parts))


def _refuse_ignored(what: str, *, new: bool) -> None:
    refuse([name for name, places in GOES_WITH.items() if what not in places], f"has no effect on 'regard lab {what}'.")
    if what == "exercises" and not new:
        refuse(("seed", "size", "heads", "solution"), "is for a new exercise; add --new.")


def _new(seed: int, size: str, heads: int, form: str, solution: bool) -> tuple[dict[str, Any], str]:
    from regard.lab.exercises import new_exercise

    found = re.fullmatch(r"(\d+)x(\d+)", size)
    if not found:
        raise RegardError(f"--size: got '{size}', want positions x size, such as 4x3.")
    exercise = new_exercise(seed=seed, positions=int(found[1]), size=int(found[2]), heads=heads)
    data = exercise.to_json()
    return {"exercises": [data if solution else data | {"steps": []}]}, _rendered([exercise], form, solution)


def _known(form: str) -> tuple[dict[str, Any], str]:
    from regard.lab.errata import all_errata
    from regard.lab.exercises import all_exercises

    exercises, errata = all_exercises(), all_errata()
    data = {"exercises": [e.to_json() for e in exercises], "errata": [e.to_json() for e in errata]}
    title = {"text": "Errata\n------", "markdown": "## Errata", "latex": r"\subsection*{Errata}"}[form]
    listed = [e.render() for e in errata]
    body = "\n".join(listed) if form != "latex" else "\\begin{verbatim}\n" + "\n".join(listed) + "\n\\end{verbatim}"
    return data, f"{_rendered(exercises, form, True)}\n\n{title}\n{body}"


def _rendered(exercises: "Iterable[Exercise]", form: str, solution: bool) -> str:
    from regard.lab.derivation import render

    return "\n\n".join(render(exercise, cast("Format", form), with_solution=solution) for exercise in exercises)


def _table(result: "Experiment") -> str:
    width = max(len(row.what) for row in result.rows)
    lines = [f"{'':{width}}     measured  closed form  standard error"]
    for row in result.rows:
        error = "" if row.error is None else f"{row.error:14.6f}"
        lines.append(f"{row.what:{width}} {row.measured:12.6f} {row.closed_form:12.6f}  {error}".rstrip())
    used = ", ".join(f"{name} = {value:.15g}" for name, value in result.used().items())
    return "\n".join([f"{result.name}: {used}; scores are q . k / sqrt(d)", *lines, "", *result.sentences])


def _write(folder: Path, results: "list[Experiment]", output: dict[str, Any], parts: list[str], form: str) -> None:
    from regard.cli.terminal import say
    from regard.pictures.files import render, write

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RegardError(f"{folder}: {error.strerror}. -o wants a folder that can be written.") from None
    shared = {"noisy": "noisy_heads", "heads": "noisy_heads"}  # one figure shows both
    figures = {shared.get(result.name, result.name): result for result in results}
    contents = {
        f"{name}.{kind}": render(figure, kind, dpi=160)
        for name, figure in ((name, result.figure) for name, result in figures.items())
        for kind in ("png", "svg")
    }
    contents["lab.json"] = (json.dumps(output, indent=2) + "\n").encode()
    if "exercises" in output:
        contents[f"exercises.{ENDINGS[form]}"] = (parts[-1] + "\n").encode()
    for name, content in contents.items():
        write(folder / name, content)
        say(f"wrote {folder / name}")
