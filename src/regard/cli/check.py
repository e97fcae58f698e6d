"""``regard check``: grade students' attention classes."""

import csv
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.cli.terminal import bar, say
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.course.grade import Report
    from regard.course.sandbox import Limits

KINDS = ("single_query", "dot_product", "additive", "multi_head")
MISSING = {
    "network": "the code can use the network",
    "user": "the code runs as root, so the number of its processes is not limited",
    "files": "the code can read and change the files that you can",
}


@click.command()
@click.argument("submissions", nargs=-1, required=True, metavar="FILE[:CLASS]...")
@click.option(
    "--as", "kind", type=click.Choice(KINDS), help="The assignment; guessed from the class's name if not given."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list for a grade book.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one row of CSV per submission.")
@click.option("--train", is_flag=True, help="Also train the homework model with the class, beside ours; takes minutes.")
@click.option("--seconds", type=click.IntRange(1), default=30, show_default=True, help="Time for one submission.")
@click.option(
    "--memory", type=click.IntRange(64), default=1024, show_default=True, help="Megabytes for one submission."
)
@click.option("--jobs", type=click.IntRange(1), default=min(4, os.cpu_count() or 1), help="Submissions at a time.")
@click.pass_context
def check(
    context: click.Context, submissions: tuple[str, ...], *, kind: str | None, as_json: bool, as_csv: bool,
    train: bool, seconds: int, memory: int, jobs: int,
) -> None:  # fmt: skip
    """Grade attention classes in FILEs (Python, notebooks, or folders of them) and say what is wrong with them.

    Each runs in a process of its own with limits. Exit code 0 means full points for all, 1 that points are missing.
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv: choose one.")
    places = [place for submission in submissions for place in _places(submission)]
    from regard.course.sandbox import Limits

    reports = _grade_all(places, kind, Limits(seconds=seconds, megabytes=memory), jobs)
    _tell_apart(places, reports)
    _warn(reports)
    if train:
        from regard.course.check import train as train_class

        for path, report in [(place[0], r) for place, r in zip(places, reports, strict=True) if r.name]:
            say(f"training {report.file}: three models, 450 steps each")
            try:
                train_class(path, report)
            except RegardError as error:  # the other submissions have their turn
                report.remarks.append(str(error))
    if as_json:
        click.echo(json.dumps([report.to_json() for report in reports], indent=2))
    elif as_csv:
        _print_csv(reports)
    elif len(reports) == 1:
        click.echo(reports[0].render())
    else:
        _print_table(reports)
    context.exit(0 if all(report.total == report.full for report in reports) else 1)


def _places(submission: str) -> list[tuple[Path, str | None]]:
    """Return files and class names: a folder stands for the files in it and below, but for hidden ones."""
    found = re.fullmatch(r"(.+\.(?:py|ipynb)):([A-Za-z_]\w*)", submission)
    path, name = (Path(found[1]), found[2]) if found else (Path(submission), None)
    inside = sorted(file for kind in ("py", "ipynb") for file in path.rglob(f"*.{kind}"))
    shown = [file for file in inside if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    if shown:
        return [(file, None) for file in shown]
    if not path.is_file():
        what = "holds no submission" if path.is_dir() else "is not there"
        raise click.UsageError(f"'{path}' {what}. Want a Python file, FILE.py:Class, a notebook, or a folder.")
    return [(path, name)]


def _grade_all(places: list[tuple[Path, str | None]], kind: str | None, limits: "Limits", jobs: int) -> "list[Report]":
    import torch

    from regard.course.check import check as grade

    torch.set_num_threads(1)  # matrices of the judge are tiny
    with ThreadPoolExecutor(jobs) as pool, bar() as progress:
        task = progress.add_task("checking", total=len(places), note="")
        reports = []
        for report in pool.map(lambda place: grade(place[0], place[1], kind, limits=limits), places):
            reports.append(report)
            progress.advance(task)
    return reports


def _tell_apart(places: list[tuple[Path, str | None]], reports: "list[Report]") -> None:
    """Name reports by as many folders as it takes: in a class, everybody's file is called homework.py."""
    names = [path.resolve().parts for path, _ in places]
    depth = 1
    while depth < max(map(len, names)) and len({name[-depth:] for name in names}) < len(set(names)):
        depth += 1
    for name, report in zip(names, reports, strict=True):
        report.file = "/".join(name[-depth:])


def _warn(reports: "list[Report]") -> None:
    for wall, meaning in MISSING.items():
        if any(not report.walls.get(wall, True) for report in reports):
            say(f"warning: this system does not contain everything: {meaning}.")


def _print_csv(reports: "list[Report]") -> None:
    from regard.course.grade import table

    csv.writer(sys.stdout, lineterminator="\n").writerows(table(reports))


def _print_table(reports: "list[Report]") -> None:
    width = max(len(report.file) for report in reports)
    for report in reports:
        first = report.findings[0].title if report.findings else ""
        more = f" (and {len(report.findings) - 1} more)" if len(report.findings) > 1 else ""
        click.echo(f"{report.file:{width}}  {report.total:3} / {report.full}  {first}{more}".rstrip())
