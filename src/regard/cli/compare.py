"""`regard compare`."""

import csv
import io
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.cli.options import TERMINAL, PictureType, beam_option, refuse, split_option
from regard.cli.terminal import say
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.cli.gather import Gathered
    from regard.compare import Comparison
    from regard.run import Run
    from regard.search.strategy import Strategy
    from regard.training.grid import Cell, Grid


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="EXPERIMENT [KEY=VALUE]... | RUN...")
@click.option(
    "--attention", metavar="NAME,...", help="Mechanisms to compare; short for --vary model.attention=NAME,..."
)
@click.option("--vary", multiple=True, metavar="KEY=VALUE,...", help="Values of any key; several --vary make a grid.")
@click.option("--seeds", type=click.IntRange(1), default=3, show_default=True, help="Trainings of each combination.")
@click.option("--jobs", type=click.IntRange(1), help="Trainings at a time; default: one on each core.")
@click.option(
    "--dir", "folder", type=click.Path(path_type=Path), help="Where the runs go; default: runs/compare-EXPERIMENT."
)
@beam_option(1)
@split_option
@click.option("--metric", help="Score of the verdict; default: BLEU, or token accuracy for strings.")
@click.option(
    "--curves", type=PictureType(), metavar="FILE", help="Draw the losses by epoch to FILE.png, .svg, .pdf or -."
)
@click.option("--by-length", type=PictureType(), metavar="FILE", help="Draw the score by source length.")
@click.option(
    "--by-beam", type=PictureType(), metavar="FILE", help="Draw the score by the beam widths evaluated so far."
)
@click.option("--entropy", type=PictureType(), metavar="FILE", help="Draw the entropy of attention by epoch.")
@click.option("--json", is_flag=True, help="Print everything as JSON.")
@click.option("--csv", is_flag=True, help="Print the table as CSV.")
@click.option("--markdown", is_flag=True, help="Print tables and verdict as Markdown.")
@click.option("--latex", is_flag=True, help="Print tables and verdict as LaTeX (booktabs).")
def compare(
    words: tuple[str, ...],
    attention: str | None,
    vary: tuple[str, ...],
    seeds: int,
    jobs: int | None,
    folder: Path | None,
    beam: int,
    split: str,
    metric: str | None,
    curves: Path | None,
    by_length: Path | None,
    by_beam: Path | None,
    entropy: Path | None,
    **forms: bool,
) -> None:  # fmt: skip
    """Compare mechanisms, or any settings, over several seeds: train what is missing, read what is there.

    The same command again goes on where it was stopped. With run directories, these are compared as they are.
    """
    from regard.cli.gather import gather
    from regard.compare import check_metric, compare_runs
    from regard.config import presets
    from regard.data.tested import stored_name
    from regard.run import boxed
    from regard.search.strategy import Strategy
    from regard.training.grid import Grid, parse_axes

    form = _form(forms)
    if metric:
        check_metric(metric)
    strategy = Strategy(width=beam)
    if any((os.path.isdir(word) or word in boxed()) and word not in presets() for word in words):
        if attention is not None or vary or folder or any("=" in word for word in words):
            raise click.UsageError("KEY=VALUE, --attention, --vary and --dir need an EXPERIMENT to train, not runs.")
        refuse(("seeds", "jobs"), "has no effect on runs that are there already.")
        gathered, advice = gather(words, strategy, split), "put them right, or leave them out"
    elif Path(words[0]).name != words[0] and not words[0].endswith(".toml") and not os.path.exists(words[0]):
        raise RegardError(f"{words[0]}: no such run or experiment. `regard train` makes a run.")
    else:
        axes = ([] if attention is None else [f"model.attention={attention}"]) + list(vary)
        grid = Grid(words[0], words[1:], parse_axes(axes), seeds)
        folder = folder or Path("runs") / f"compare-{Path(words[0]).stem}"
        gathered = _trained(
            grid, jobs=jobs, folder=folder, strategy=strategy, split=split, metric=metric, is_by_beam=bool(by_beam)
        )
        advice = "the same command tries again"
    if not gathered.runs:
        gathered.close(advice)
    evaluation = stored_name(split, strategy)
    found = compare_runs(gathered.runs, evaluation=evaluation, metric=metric, axes=gathered.axes, notes=gathered.notes)
    click.echo(FORMS[form](found), nl=False)
    _say_notes(found, gathered, form)
    _draw(found, form, curves=curves, by_length=by_length, by_beam=by_beam, entropy=entropy)
    gathered.close(advice)


def _form(forms: Mapping[str, bool]) -> str:
    """Return what to print the comparison as."""
    chosen = [name for name, is_chosen in forms.items() if is_chosen] or ["text"]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(f'--{name}' for name in chosen)}: want one of them at a time.")
    return chosen[0]


def _trained(
    grid: "Grid",
    *,
    jobs: int | None,
    folder: Path,
    strategy: "Strategy",
    split: str,
    metric: str | None,
    is_by_beam: bool,
) -> "Gathered":
    """Train what is missing of a grid; what cannot work is told before."""
    from regard.cli.fleet import train_cells
    from regard.cli.gather import Gathered, prepared
    from regard.data.tested import stored_name
    from regard.models.build import check_model
    from regard.run import Run

    cells = grid.cells(folder, check_model)
    scored = {cell: _evaluations(Run(cell.path)) for cell in cells}
    wanted = stored_name(split, strategy)
    missing = [cell for cell in cells if not cell.is_trained() or wanted not in scored[cell]]
    if missing:
        _check_corpora(cells, split, metric)
    if is_by_beam and not all(scored.values()):
        raise RegardError(
            f"--by-beam: {sum(not found for found in scored.values())} of {len(cells)} runs have no scores yet and "
            "will have those of one beam width, want two at least. Compare without it, then call "
            f"`regard evaluate RUN --split {split} --beam 1 5 10` for each run."
        )
    grid.save(folder)
    found = Gathered(axes=dict.fromkeys(grid.axes))
    found.failures = train_cells(cells, missing, folder, strategy=strategy, split=split, jobs=jobs)
    for cell in cells:
        if cell.path not in found.failures:
            with found.surviving(cell.path):
                found.runs.append(prepared(Run.open(cell.path), strategy, split))
    return found


def _evaluations(run: "Run") -> set[str]:
    try:
        return set(run.evaluations())
    except RegardError:  # damaged: the process that is to make them tells how
        return set()


def _check_corpora(cells: "Sequence[Cell]", split: str, metric: str | None) -> None:
    """Find a download or a mistake once, and before the training, not in every process.

    Models that are trained need none of their data to be tested on others.
    """
    from regard.compare import check_metric
    from regard.data.corpus import Recipe, load_corpus
    from regard.data.tested import is_own, own_pairs

    recipes = [cell.config.data for cell in cells if not (is_own(split) and cell.is_trained())]
    corpora = [load_corpus(data) for data in {data.model_dump_json(): data for data in recipes}.values()]
    parts = [own_pairs(split)] if is_own(split) else [corpus[split] for corpus in corpora]
    if not len(parts[0]):
        raise RegardError(f"--split: '{split}' of corpus {corpora[0].name} has no pairs, want at least 1.")
    if any(part.table != parts[0].table for part in parts[1:]):
        raise RegardError(
            f"--vary: the data differ in what the split '{split}' is, want the same sentences for all runs: "
            "scores of different sentences do not belong into one table."
        )
    if metric:
        data = cells[0].config.data
        assert isinstance(data, Recipe)
        check_metric(metric, data.unit)


def _say_notes(found: "Comparison", gathered: "Gathered", form: str) -> None:
    """Tell what the form of the table does not, and what was not told yet."""
    from regard.compare import tables

    whys = [why for why, _ in tables(found) if why] if form == "csv" else []  # the other forms have tables apart
    notes = [] if form in ("json", "markdown", "latex") else found.notes
    for note in (*notes, *whys):
        if note not in gathered.notes:
            say(note)


def _draw(found: "Comparison", form: str, **places: Path | None) -> None:
    """Draw to files, and to the terminal after the table, or beside it where a program reads the table."""
    if not any(places.values()):
        return
    from rich.console import Console

    from regard.pictures.chart import TerminalChart
    from regard.pictures.comparison import draw_by_beam, draw_by_length, draw_entropy, draw_learning
    from regard.pictures.files import save

    groups = {group.label: group.runs for group in found.groups}
    pictures = {
        "curves": lambda: draw_learning(groups),
        "by_length": lambda: draw_by_length(found),
        "by_beam": lambda: draw_by_beam(found),
        "entropy": lambda: draw_entropy(groups),
    }
    problems = []
    for name, path in places.items():
        if path:
            try:
                figure = pictures[name]()
                if path == TERMINAL:
                    Console(stderr=form != "text").print(TerminalChart(figure))
                else:
                    save(figure, path)
                    say(f"drawn in {path}")
            except RegardError as error:
                problems.append(str(error))
    if problems:
        raise RegardError("\n".join(problems))


def _text(found: "Comparison") -> str:
    from regard.cli.evaluate import columns
    from regard.compare import pair_rows, tables

    parts = ["\n".join(filter(None, (why, columns(rows)))) for why, rows in tables(found)]
    parts += [f"{found.metric}, {found.signature}"]
    if found.pairs:
        parts[-1] += f"\n{columns(pair_rows(found))}"
        parts += ["\n".join(found.verdict())]
    return "\n\n".join(parts) + "\n"


def _json(found: "Comparison") -> str:
    return json.dumps(found.to_json(), ensure_ascii=False, indent=1) + "\n"


def _csv(found: "Comparison") -> str:
    from regard.compare import HEAD

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    for name, label, seeds, values in found.rows():
        writer.writerow([name, label, seeds, *("" if math.isnan(value) else repr(value) for value in values)])
    return out.getvalue()


def _markdown(found: "Comparison") -> str:
    from regard.compare import pair_rows, tables

    parts = [part for why, rows in tables(found) for part in (why, _pipes(rows)) if part]
    parts += [f"`{found.metric}` with `{found.signature}`" + ":" * bool(found.pairs)]
    if found.pairs:
        parts += [_pipes(pair_rows(found)), "\n".join(f"- {line}" for line in found.verdict())]
    return "\n\n".join([*parts, *found.notes]) + "\n"


def _pipes(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def _latex(found: "Comparison") -> str:
    from regard.compare import PAIR_HEAD, pair_rows, tables

    lines = []
    signature = f"{found.metric}, {found.signature}"
    pairs = [(signature, pair_rows(found))] if found.pairs else []
    for why, cells in tables(found) + pairs:
        head, *rows = [" & ".join(cell.translate(LATEX) for cell in row) + r" \\" for row in cells]
        names = 1 if cells[0][0] == PAIR_HEAD[0] else 2
        columns = "l" * names + "r" * (len(cells[0]) - names)
        lines += [rf"% {why}"] * bool(why) + [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
    told = [*([] if pairs else [signature]), *found.notes, *found.verdict()]
    return "\n".join([*lines, *(f"% {line}" for line in told)]) + "\n"


LATEX = str.maketrans(
    {mark: "\\" + mark for mark in "_%&#${}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"–": "--", "−": "$-$", "<": "$<$", ">": "$>$"}
)
FORMS = {"text": _text, "json": _json, "csv": _csv, "markdown": _markdown, "latex": _latex}
