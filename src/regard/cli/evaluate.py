"""`regard evaluate`."""

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regard.cli.options import search_options, strategy_for
from regard.cli.terminal import bar, say
from regard.errors import RegardError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from regard.evaluate import Evaluation
    from regard.metrics.alignment import Alignment
    from regard.run import Run
    from regard.search.strategy import Strategy


@click.command()
@click.argument("run_and_widths", nargs=-1, required=True, metavar="RUN")
@click.option("--split", default="test", show_default=True, help="Which part of the corpus.")
@click.option(
    "--beam",
    "widths",
    type=int,
    multiple=True,
    metavar="WIDTH...",
    help="Beam widths, such as --beam 1 5 10; 1 is greedy search, the default.",
)
@search_options
@click.option("--alignments", type=click.Path(path_type=Path), help="Gold word alignments in Pharaoh format (0-0 1-2).")
@click.option("--batch", type=click.IntRange(1), default=64, show_default=True, help="Sentences at a time.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, hypotheses included.")
def evaluate(
    run_and_widths: tuple[str, ...],
    split: str,
    widths: tuple[int, ...],
    alignments: Path | None,
    batch: int,
    as_json: bool,
    **search: Any,
) -> None:  # fmt: skip
    """Score a run: BLEU, chrF, TER, perplexity, accuracy and, where words are aligned, attention.

    Several beam widths give one table with seconds and search errors. Every evaluation is stored in the run, with the
    hypotheses.
    """
    from regard.run import Run

    path, widths = _sort_out(run_and_widths, widths)
    run = Run.open(path)
    if search["unknown"] == "replace":
        raise RegardError("--unknown: got 'replace', want 'show' or 'forbid' to evaluate; translate can replace.")
    strategies = [strategy_for(search, width=width) for width in widths or (1,)]
    done = evaluate_run(run, split, strategies, alignments=alignments, batch=batch)
    if as_json:
        click.echo(json.dumps([evaluation.to_json() for evaluation in done], ensure_ascii=False))
    else:
        print_scores(done)


def _sort_out(words: tuple[str, ...], widths: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """Tell the run from the widths: `--beam 1 5 10` reads as one option and two more words."""
    numbers = tuple(int(word) for word in words if word.isdigit() and widths)
    runs = [word for word in words if not (word.isdigit() and widths)]
    if len(runs) != 1:
        raise click.UsageError(f"want one run, got {len(runs)}: {' '.join(runs) or 'none'}.")
    return runs[0], tuple(sorted({*widths, *numbers}))


def evaluate_run(
    run: "Run",
    split: str,
    strategies: "list[Strategy]",
    *,
    alignments: Path | None = None,
    batch: int = 64,
) -> "list[Evaluation]":
    """Evaluate with every strategy, store each evaluation, show progress."""
    from regard.evaluate import Evaluator

    evaluator = Evaluator(run, split, batch=batch, gold=_gold(run, split, alignments))
    done = []
    with bar() as progress:
        reading = progress.add_task("reading references", total=len(evaluator.data), note="")
        evaluator.read(tick=partial(_advance, progress, reading))
        for strategy in strategies:
            task = progress.add_task(str(strategy), total=len(evaluator.data), note="")
            done.append(evaluator.evaluate(strategy, tick=partial(_advance, progress, task)))
            run.save_evaluation(done[-1].name, done[-1].to_json())
    return done


def _advance(progress: "Progress", task: "TaskID", done: int) -> None:
    progress.update(task, completed=done)


def _gold(run: "Run", split: str, path: Path | None) -> "tuple[Alignment, ...] | None":
    if path is None:
        return None
    from regard.data.corpus import load_corpus
    from regard.metrics.alignment import read_pharaoh

    return read_pharaoh(path, sentences=len(load_corpus(run.config.data)[split]))


def print_scores(evaluations: "list[Evaluation]") -> None:
    """Print a table to stdout: one row a metric for one search, one row a search for several."""
    if len(evaluations) == 1:
        click.echo(columns(_metrics(evaluations[0])))
        return
    click.echo(columns(_searches(evaluations)))
    say("score up: sentences for which this search found a hypothesis of higher model score than the row above;")
    say("BLEU down: how many of these have a lower sentence BLEU all the same")
    for name in _compared(evaluations[0]):
        say(f"{name}: {evaluations[0].scores[name].signature}")


def columns(rows: list[list[str]]) -> str:
    """Align cells under one another; the last column is never cut."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def _metrics(evaluation: "Evaluation") -> list[list[str]]:
    return [["metric", "value", "95 % interval", "signature"], *(s.cells() for s in evaluation.scores.values())]


def _searches(evaluations: "list[Evaluation]") -> list[list[str]]:
    from regard.evaluate import search_errors

    names = _compared(evaluations[0])
    rows = [["search", *names, "seconds", "score up", "BLEU down"]]
    for evaluation, errors in zip(evaluations, [None, *search_errors(evaluations)], strict=True):
        scores = [evaluation.scores[name].number for name in names]
        found = ["", ""] if errors is None else [str(errors.better_score), str(errors.worse_bleu)]
        rows.append([evaluation.search, *scores, f"{evaluation.seconds:.1f}", *found])
    return rows


def _compared(evaluation: "Evaluation") -> list[str]:
    """Name the metrics that depend on the search."""
    of_search = ("bleu", "bleu_lc", "bleu_tok_lc", "chrf", "ter", "token_accuracy", "sentence_accuracy")
    return [name for name in of_search if name in evaluation.scores]
