"""`regard evaluate`."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regard.cli.options import DIGITS, RANKING, also_option, batch_option, refuse, search_options, split_option
from regard.cli.terminal import bar, say
from regard.errors import RegardError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from regard.evaluate import Evaluation
    from regard.run import Run
    from regard.search.strategy import Strategy

Shared = list[tuple[str, list[str]]]
"""Tables: why one stands apart from the first, and the metrics in it."""


@click.command()
@click.argument("run_and_widths", nargs=-1, required=True, metavar="RUN")
@also_option
@split_option
@click.option(
    "--beam",
    "widths",
    type=int,
    multiple=True,
    metavar="WIDTH...",
    help="Beam widths, such as --beam 1 5 10; 1 is greedy search, the default.",
)
@search_options
@click.option(
    "--alignments",
    type=click.Path(path_type=Path),
    help="Gold alignments in Pharaoh format (0-0 1-2), counted from 0: words and punctuation marks, or characters "
    "where the corpus has strings (reverse).",
)
@batch_option
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, hypotheses included.")
def evaluate(
    run_and_widths: tuple[str, ...],
    also: tuple[Path, ...],
    split: str,
    widths: tuple[int, ...],
    alignments: Path | None,
    batch: int,
    as_json: bool,
    **search: Any,
) -> None:  # fmt: skip
    """Score a run: BLEU, chrF, TER, perplexity, accuracy and, where words are aligned, attention.

    Several beam widths give one table with seconds and search errors. Every evaluation is stored in the run, with the
    hypotheses. Scores that do not compare stand in tables of their own.
    """
    from regard.run import Run
    from regard.search.strategy import strategy_of

    path, widths = _sort_out(run_and_widths, widths)
    run = Run.open(path)
    if search["unknown"] == "replace":
        raise RegardError("--unknown: got 'replace', want 'show' or 'forbid' to evaluate; translate can replace.")
    if max(widths, default=1) == 1:
        refuse(RANKING, "has no effect on greedy search, which has nothing to compare; want --beam 2 or more.")
    strategies = [strategy_of(width=width, **search) for width in widths or (1,)]
    others = [Run.open(other) for other in also]
    done = evaluate_run(run, split, strategies, also=others, alignments=alignments, batch=batch)
    if run.is_boxed:
        say(f"{run.path.name} comes with regard, so its evaluation is not stored in it; --json prints everything.")
    if as_json:
        click.echo(json.dumps([evaluation.to_json() for evaluation in done], ensure_ascii=False))
    else:
        print_scores(done)


def _sort_out(words: tuple[str, ...], widths: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """Tell the run from the widths: `--beam 1 5 10` reads as one option and two more words."""
    is_width = {word: bool(widths) and word.isdecimal() and len(word) < DIGITS for word in words}
    numbers = tuple(int(word) for word in words if is_width[word])
    runs = [word for word in words if not is_width[word]]
    if len(runs) != 1:
        raise click.UsageError(f"want one run, got {len(runs)}: {' '.join(runs) or 'none'}.")
    return runs[0], tuple(sorted({*widths, *numbers}))


def evaluate_run(
    run: "Run",
    split: str,
    strategies: "Sequence[Strategy]",
    *,
    also: "Sequence[Run]" = (),
    alignments: Path | None = None,
    batch: int = 64,
    is_told: bool = False,
) -> "list[Evaluation]":
    """Evaluate with every strategy, the narrowest first, store each evaluation, show progress; tell of which run."""
    from regard.evaluate import Evaluator

    evaluator = Evaluator(run, split, also=also, alignments=alignments, batch=batch)
    if is_told:
        say(f"evaluating {run.path}")
    done: list[Evaluation] = []
    with bar() as progress:
        reading = progress.add_task("reading references", total=len(evaluator.data), note="")
        evaluator.read(tick=partial(_advance, progress, reading))
        for strategy in strategies:
            task = progress.add_task(str(strategy), total=len(evaluator.data), note="")
            done.append(evaluator.evaluate(strategy, narrower=done, tick=partial(_advance, progress, task)))
            _store(run, done[-1])
    return done


def _store(run: "Run", evaluation: "Evaluation") -> None:
    """Store an evaluation, or keep it for now: scores that took minutes are not lost for want of a place."""
    from regard.disk import WriteError

    if run.is_boxed:
        run.keep_evaluation(evaluation.name, evaluation.to_json())
        return
    try:
        run.save_evaluation(evaluation.name, evaluation.to_json())
    except WriteError as error:
        run.keep_evaluation(evaluation.name, evaluation.to_json())
        say(f"{error} The evaluation is not stored.")


def _advance(progress: "Progress", task: "TaskID", done: int) -> None:
    progress.update(task, completed=done)


def print_scores(evaluations: "list[Evaluation]") -> None:
    """Print tables to stdout: one row a metric for one search, one row a search for several."""
    from regard.metrics.signature import Signature
    from regard.metrics.tables import check_column, share_out

    names = sorted(evaluations[0].scores, key=lambda name: name != evaluations[0].metric)
    for name in names:
        check_column(name, {each.search: Signature.parse(each.scores[name].signature) for each in evaluations})
    shared = share_out({name: Signature.parse(evaluations[0].scores[name].signature) for name in names})
    parts = [_metrics(evaluations[0], shared), _lengths(evaluations[0])]
    if len(evaluations) > 1:
        parts = [_widths(evaluations), _searches(evaluations, shared)]
        say("score up: sentences for which a search found a hypothesis of higher model score than the one it is")
        say(f"compared with; worse: how many of these have a lower {evaluations[0].metric} all the same")
        for name in names:
            say(evaluations[0].scores[name].signature)
    click.echo("\n\n".join(parts))


def columns(rows: list[list[str]]) -> str:
    """Align cells under one another; the last column is never cut."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def _metrics(evaluation: "Evaluation", shared: Shared) -> str:
    parts = []
    for why, names in shared:
        scores = [evaluation.scores[name] for name in names]
        rows = [["metric", "value", "95 % interval", "signature"], *(score.cells() for score in scores)]
        parts.append("\n".join(filter(None, (why, columns(rows)))))
    return "\n\n".join(parts)


def _lengths(evaluation: "Evaluation") -> str:
    """Return the table of the first metric by length of the source."""
    rows = [["source length", "sentences", evaluation.metric, "95 % interval"]]
    for label, score in evaluation.by_length[evaluation.metric].items():
        rows.append([label, str(score.segments), score.number, score.range])
    return columns(rows)


def _widths(evaluations: "list[Evaluation]") -> str:
    """Return the table of the first metric with seconds and search errors."""
    metric, narrowest = evaluations[0].metric, evaluations[0].search
    compared = [f"score up on {narrowest}", "worse", "score up on row above", "worse"]
    rows = [["search", metric, "95 % interval", "seconds", *compared]]
    for each in evaluations:
        score = each.scores[metric]
        errors = list(each.search_errors.values())
        found = [str(n) for missed in (errors[:1] + errors[-1:]) for n in (missed.better_score, missed.worse_quality)]
        rows.append([each.search, score.number, score.range, f"{each.seconds:.1f}", *(found or [""] * 4)])
    return columns(rows)


def _searches(evaluations: "list[Evaluation]", shared: Shared) -> str:
    """Return the tables of the other metrics that depend on the search."""
    from regard.parts import METRICS

    parts = []
    for why, names in shared:
        told = [name for name in names if METRICS[name].depends_on_search() and name != evaluations[0].metric]
        rows = [["search", *(cell for name in told for cell in (name, "95 % interval"))]]
        for each in evaluations:
            scores = [each.scores[name] for name in told]
            rows.append([each.search, *(cell for score in scores for cell in (score.number, score.range))])
        if told:
            parts.append("\n".join(filter(None, (why, columns(rows)))))
    return "\n\n".join(parts)
