"""`regard show`."""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from regard.cli.options import DIGITS, beam_option, folder_problem
from regard.cli.terminal import say, say_how_to_type
from regard.errors import RegardError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from regard.pictures.diagram import Diagram
    from regard.pictures.examples import Pair
    from regard.pictures.tree import Node
    from regard.run import Run
    from regard.translation import Translation

Heads = Literal["mean", "all"]
SUFFIXES = (".png", ".svg", ".pdf", ".html")
UNSPACED = re.compile(r"[^/\\A-Za-z0-9_]*[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u9fff][^/\\A-Za-z0-9_]*")
"""A sentence of a script that puts no spaces between words; with a Latin letter or digit it may be a run's name."""


@click.command()
@click.argument("run", required=False)
@click.argument("sentence", required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw to FILE.png, .svg, .pdf or .html instead of the terminal; --epochs also to .gif.",
)
@beam_option(5)
@click.option(
    "--against",
    "others",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Another model on the same sentence, below the first; with -o side by side. May be repeated.",
)
@click.option(
    "--heads",
    type=click.Choice(["mean", "all"]),
    default="mean",
    show_default=True,
    help="Average the heads, or show each.",
)
@click.option("--tokens", is_flag=True, help="Show word pieces as they are, not joined to words.")
@click.option(
    "--tree",
    is_flag=True,
    help="Show the beam search instead: kept and winning hypotheses; with -o also the best of what was thrown away.",
)
@click.option(
    "--split",
    metavar="NAME|FILE",
    help="SENTENCE is a number in this part of the run's corpus, whose reference and gold alignment are shown too, or "
    "in a file of your own with lines source<TAB>target.",
)
@click.option("--epochs", is_flag=True, help="Show validation sentence 1, 2 or 3 after each epoch of the training.")
def show(
    run: str | None,
    sentence: str | None,
    output: Path | None,
    beam: int,
    others: tuple[Path, ...],
    heads: Heads,
    tokens: bool,
    tree: bool,
    split: str | None,
    epochs: bool,
) -> None:  # fmt: skip
    """Show where a model looks while it translates SENTENCE, or its beam search, or how it learnt where to look.

    Source words are columns, produced words rows. Without SENTENCE, or with -, it is read from standard input.
    Without RUN, the model in the box translates German into English.
    With --epochs SENTENCE is the number of a validation sentence: 1 (the default) is short, 3 is long.
    """
    suffixes = SUFFIXES + (".gif",) * epochs
    if output and output.suffix.lower() not in suffixes:
        raise RegardError(f"-o: got '{output}', want a name that ends in {', '.join(suffixes)}.")
    if output and (problem := folder_problem(output)):
        raise RegardError(f"-o: {problem}")
    if epochs and (tree or others or tokens or split or heads == "all"):
        raise click.UsageError("--epochs: not together with --tree, --against, --tokens, --split or --heads all.")
    if tree and (tokens or heads == "all"):
        raise click.UsageError("--tree: not together with --tokens or --heads all, which are about attention.")
    if others and (tree or heads == "all"):
        raise click.UsageError(
            f"--against: not together with {'--tree' if tree else '--heads all'}, which shows one model."
        )
    run, sentence = _chosen(run, sentence)
    runs = [_opened(run), *map(_opened, others)]
    _say_if_of_other_languages(runs)
    if epochs:
        _show_epochs(runs[0], sentence, output)
    else:
        pair = _pair(runs[0], split, sentence)
        if tree:
            _show_tree(_nodes(runs[0], pair.source, beam), pair.source, output)
        else:
            _show_attention(_diagrams(runs, pair, beam, joins_pieces=not tokens), heads, output)
    if output:
        say(f"drawn in {output}")


def _pair(run: "Run", split: str | None, sentence: str) -> "Pair":
    from regard.data.tested import load_tested
    from regard.pictures.examples import Pair

    if split is None:
        return Pair(_sentence(sentence))
    corpus = load_tested(run.config.data, split, tokens=run.config.tokenizer.kind)
    row, size = int(sentence) - 1 if sentence.isdecimal() and len(sentence) < DIGITS else -1, len(corpus[split])
    if not 0 <= row < size:
        raise RegardError(f"sentence: got '{sentence}', want the number of a sentence of {split}: 1 to {size}.")
    return Pair.of(corpus, split, row)


def _chosen(run: str | None, sentence: str | None) -> tuple[str, str]:
    """Return the run and the sentence that are meant; a lone word is a run, several are a sentence."""
    from regard.run import DEFAULT, boxed

    if run is not None and not run.strip():
        raise RegardError("RUN: got an empty text, want a run, or a sentence for the model in the box.")
    if sentence is None and run is not None and run not in boxed() and not os.path.exists(run):
        if " " not in run and run != "-" and not UNSPACED.fullmatch(run):
            raise RegardError(
                f"{run}: no such run. `regard train` makes one; a sentence of one word comes after its run."
            )
        run, sentence = None, run
    return run or DEFAULT, "-" if sentence is None else sentence


def _opened(path: str | Path) -> "Run":
    from regard.run import Run
    from regard.training.grid import Grid

    if grid := Grid.load(Path(path)):
        there = [run for run in grid.paths(Path(path)) if run.is_dir()]
        such = "".join(f", such as {run}" for run in there[:1])
        raise RegardError(f"{path}: a comparison, want one of its runs{such}.")
    return Run.open(path)


def _say_if_of_other_languages(runs: "Sequence[Run]") -> None:
    """Compare with the first model that names its languages; not every corpus has a choice."""
    from regard.data.corpus import Recipe

    recipes = [(run.path, run.config.data) for run in runs]
    languages_of = [(path, data.languages) for path, data in recipes if isinstance(data, Recipe)]
    named = [(path, " into ".join(map(str, pair))) for path, pair in languages_of if None not in pair]
    for path, languages in named[1:]:
        if languages != named[0][1]:
            say(f"{path}: translates {languages}, but {named[0][0]} {named[0][1]}.")


def _sentence(given: str) -> str:
    from regard.data.lines import decoded

    if given == "-" and sys.stdin.isatty():
        say_how_to_type()
    text = "\n".join(decoded(sys.stdin.buffer, "standard input")) if given == "-" else given
    lines = text.strip().splitlines()
    if len(lines) != 1:
        raise RegardError(f"sentence: got {len(lines) or 'no'} lines, want one sentence to translate.")
    return lines[0].strip()


def _diagrams(runs: "Sequence[Run]", pair: "Pair", beam: int, *, joins_pieces: bool) -> "list[Diagram]":
    names = [run.path.name for run in runs]
    titles = names if len(set(names)) == len(names) else [str(run.path) for run in runs]
    if len(runs) == 1:
        titles = [""]
        if runs[0].config.model.attention == "none":
            told = "has no attention to show (model.attention is none); --tree shows its search."
            raise RegardError(f"{runs[0].path}: {told}")
    return [
        _diagram(run, pair, beam, title=title, joins_pieces=joins_pieces)
        for run, title in zip(runs, titles, strict=True)
    ]


def _diagram(run: "Run", pair: "Pair", beam: int, *, title: str, joins_pieces: bool) -> "Diagram":
    """Translate; with a title, that is beside others, a model that says nothing has an empty row."""
    from dataclasses import replace

    import numpy as np

    from regard.pictures.diagram import Diagram
    from regard.search.strategy import Strategy
    from regard.translate import load

    translation = load(run.path).translate(pair.source, Strategy(width=beam))
    _say_if_cut_off(run, translation)
    if not translation.has_words:
        if not title:
            raise RegardError(f"{run.path}: produced no words for this sentence; there is nothing to show.")
        source = translation.aligned.source if joins_pieces else translation.source_tokens
        return Diagram(source, ("",), np.zeros((1, len(source))), title=f"{title} (no words)", texts=(pair.source, ""))
    if title and run.config.model.attention == "none":
        title += " (no attention)"
    return replace(pair.beside(translation, joins_pieces=joins_pieces), title=title)


def _say_if_cut_off(run: "Run", translation: "Translation") -> None:
    if not translation.is_finished:
        say(f"{run.path}: did not end by itself; the output is cut off after {len(translation.tokens)} tokens.")


def _show_attention(
    diagrams: "list[Diagram]", heads: Heads, output: Path | None, *, rows: Literal["", "translation", "reference"] = ""
) -> None:
    from regard.pictures.diagram import draw_attention, draw_side_by_side
    from regard.pictures.files import write
    from regard.pictures.html import attention_html
    from regard.pictures.terminal import TerminalDiagram

    apart = [each for diagram in diagrams for each in diagram.split(heads)]
    if output is None:
        _print(*map(TerminalDiagram, apart))
    elif output.suffix.lower() == ".html":
        # A page has a menu of heads: it is left to that which one is seen, unless all are asked for.
        found = attention_html(*apart, rows="translation") if heads == "all" else attention_html(*diagrams, rows=rows)
        write(output, found.encode())
    else:
        figure = draw_attention(diagrams[0], heads=heads) if len(diagrams) == 1 else draw_side_by_side(diagrams)
        _save(
            figure,
            output,
            [word for each in diagrams for word in (*each.source, *each.target, each.title, each.reference)],
        )


def _show_epochs(run: "Run", sentence: str, output: Path | None) -> None:
    from regard.pictures.timelapse import epochs_of, save_timelapse, stills

    if not sentence.isdecimal() and sentence != "-":
        raise RegardError(f"sentence: got '{sentence}', want 1, 2 or 3: --epochs shows what training watched.")
    diagrams = epochs_of(run, int(sentence) if sentence != "-" else 1)
    if output and output.suffix.lower() == ".gif":
        save_timelapse(diagrams, output)
    else:
        _show_attention(stills(diagrams) if output else diagrams, "mean", output, rows="reference")


def _nodes(run: "Run", sentence: str, beam: int) -> "list[Node]":
    from regard.pictures.tree import best_of, nodes_of
    from regard.search.strategy import Strategy
    from regard.translate import load

    translator = load(run.path)
    translation, recorder = translator.tree(sentence, Strategy(width=beam))
    _say_if_cut_off(run, translation)
    found, pieces = recorder.tree(), translator.tokenizers.target.pieces
    return nodes_of(found, lambda token: pieces([token])[0], best=best_of(found, translation.score))


def _show_tree(nodes: "list[Node]", sentence: str, output: Path | None) -> None:
    from regard.pictures.files import write
    from regard.pictures.html import figure_to_html, page
    from regard.pictures.terminal import terminal_tree
    from regard.pictures.tree import draw_tree

    if output is None:
        _print(terminal_tree(nodes))
        say(
            "* the winner; probability of each token after those before it. -o FILE.png also draws what was thrown away"
        )
    elif output.suffix.lower() == ".html":
        body = figure_to_html(draw_tree(nodes, title=sentence), description=f"beam search of {sentence}")
        write(output, page(body, title=sentence).encode())
    else:
        _save(draw_tree(nodes, title=sentence), output, [sentence, *(node.text for node in nodes)])


def _save(figure: "Figure", output: Path, texts: list[str]) -> None:
    from regard.pictures.files import save
    from regard.pictures.fonts import typeface

    save(figure, output)
    if note := typeface(texts).note:
        say(note)


def _print(*parts: object) -> None:
    from rich.console import Console

    console = Console(highlight=False)  # colours and the width of the terminal, plain text in a pipe
    for part in parts:
        console.print(part)
