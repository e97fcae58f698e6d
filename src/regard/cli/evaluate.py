"""`regard evaluate`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from regard.cli.options import search_options, strategy_for
from regard.cli.terminal import bar, say
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.evaluate import Evaluation
    from regard.metrics.alignment import Alignment
    from regard.run import Run


@click.command()
@click.argument("run_and_widths", nargs=-1, required=True, metavar="RUN")
@click.option("--split", default="test", show_default=True, help="Which part of the corpus.")
@click.option("--beam", "widths", type=int, multiple=True, metavar="WIDTH...",
              help="Beam widths, such as --beam 1 5 10; 1 is greedy search, the default.")
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
    done = evaluate_run(run, split, widths or (1,), search, alignments=alignments, batch=batch)
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
    widths: tuple[int, ...],
    search: dict[str, Any],
    *,
    alignments: Path | None = None,
    batch: int = 64,
) -> "list[Evaluation]":
    """Evaluate with every width, store each evaluation, show progress."""
    from regard.evaluate import Evaluator

    if search["unknown"] == "replace":
        raise RegardError("--unknown: got 'replace', want 'show' or 'forbid' to evaluate; translate can replace.")
    strategies = [strategy_for(search, width=width) for width in widths]
    evaluator = Evaluator(run, split, batch=batch, gold=_gold(run, split, alignments))
    done = []
    with bar() as progress:
        for strategy in strategies:
            task = progress.add_task(str(strategy), total=len(evaluator.data), note="")
            done.append(evaluator.evaluate(strategy, tick=lambda n, task=task: progress.update(task, completed=n)))
            run.save_evaluation(done[-1].name, done[-1].to_json())
    return done


def _gold(run: "Run", split: str, path: Path | None) -> "tuple[Alignment, ...] | None":
    if path is None:
        return None
    from regard.data.corpus import load_corpus
    from regard.metrics.alignment import read_pharaoh

    return read_pharaoh(path, sentences=len(load_corpus(run.config.data)[split]))


def print_scores(evaluations: "list[Evaluation]") -> None:
    """Print a table to stdout: one row a metric for one search, one row a search for several."""
    from regard.evaluate import search_errors

    console = Console(width=None if Console().is_terminal else 200)
    if len(evaluations) == 1:
        console.print(_one(evaluations[0]))
        return
    table = Table("search", "BLEU", "BLEU lc", "BLEU tok lc", "chrF", "TER", "seconds", box=None, pad_edge=False)
    for heading in ("score up", "of these BLEU down"):
        table.add_column(heading, justify="right")
    for evaluation, errors in zip(evaluations, [None, *search_errors(evaluations)], strict=True):
        scores = [f"{evaluation.scores[n].value:.2f}" for n in ("bleu", "bleu_lc", "bleu_tok_lc", "chrf", "ter")]
        found = ["", ""] if errors is None else [str(errors.better_score), str(errors.worse_bleu)]
        table.add_row(evaluation.search, *scores, f"{evaluation.seconds:.1f}", *found)
    console.print(table)
    say("score up: sentences for which this search found a hypothesis of higher model score than the row above")
    for score in evaluations[0].scores.values():
        if score.name.startswith(("bleu", "chrf", "ter")):
            say(f"{score.name}: {score.signature}")


def _one(evaluation: "Evaluation") -> Table:
    table = Table("metric", "value", "95 % interval", "signature", box=None, pad_edge=False)
    for score in evaluation.scores.values():
        low, high = score.interval or (score.value, score.value)
        unit = f" {score.unit}" if score.unit else ""
        table.add_row(score.name, f"{score.value:.2f}{unit}", f"{low:.2f} to {high:.2f}", score.signature)
    return table
