"""`regard report`."""

from pathlib import Path

import click

from regard.cli.options import beam_option, folder_problem, split_option
from regard.cli.terminal import say
from regard.errors import RegardError


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="RUN|COMPARISON...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="File to write.",
)
@beam_option(1)
@split_option
@click.option("--metric", help="Score to sort sentences by; default: BLEU, or token accuracy for strings.")
def report(paths: tuple[str, ...], output: Path, beam: int, split: str, metric: str | None) -> None:  # fmt: skip
    """Write all about a run or a comparison into one HTML file, which needs no network and prints well."""
    from regard.cli.gather import gather
    from regard.compare import check_metric
    from regard.pictures.files import write
    from regard.report import report as write_report
    from regard.search.strategy import Strategy

    if output.suffix.lower() not in (".html", ".htm"):
        raise RegardError(f"-o: got '{output}', want a name that ends in .html.")
    if problem := folder_problem(output):
        raise RegardError(f"-o: {problem}")
    if metric:
        check_metric(metric)
    strategy = Strategy(width=beam)
    found = gather(paths, strategy, split, needs_weights=True)
    if not found.runs:
        found.close()
    title = " · ".join(Path(path).resolve().name for path in paths)
    html = write_report(
        found.runs, title=title, split=split, strategy=strategy, metric=metric, axes=found.axes, notes=found.notes
    )
    write(output, html.encode())
    say(f"written to {output}")
    found.close()
