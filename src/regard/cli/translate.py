"""`regard translate`."""

import json
import os
import queue
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import click

from regard.cli.options import RANKING, also_option, batch_option, beam_option, refuse, search_options
from regard.cli.terminal import bar, say, say_how_to_type
from regard.disk import telling, writing
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.translate import Unknown
    from regard.translation import Translation

AHEAD = 4096
"""Lines read ahead of the translation: what bounds the memory."""
NAMED = 10
"""Lines left empty that are named; more are counted."""
PIPE = "A sentence comes through standard input: echo SENTENCE | regard translate"


@click.command()
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.argument("file", required=False, type=click.Path(path_type=Path))
@also_option
@beam_option(5)
@click.option("--n-best", type=int, default=1, metavar="N", help="Print the N best, each after its line number.")
@search_options
@click.option("--sample", is_flag=True, help="Draw translations at random instead; --n-best says how many.")
@click.option("--temperature", type=float, default=1.0, help="Of --sample: below 1 is bolder, above 1 wilder.")
@click.option("--top-k", type=int, help="Of --sample: draw from the K most probable tokens only.")
@click.option("--top-p", type=float, default=1.0, help="Of --sample: draw from the fewest tokens that hold this share.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of --sample.")
@click.option("--prefix", default="", help="Begin every translation with this text.")
@click.option("--scores", is_flag=True, help="Print the score and a tab before each translation.")
@click.option(
    "--alignments",
    is_flag=True,
    help="Print alignments (0-0 1-2: source-target) after a tab: where attention is strongest. They count words and "
    "punctuation marks from 0, or characters if these are the model's tokens; --json tells them.",
)
@click.option("--attention", type=click.Path(path_type=Path), help="Write the attention to FILE, a JSON object a line.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line instead, attention included.")
@batch_option
def translate(
    run: Path | None,
    file: Path | None,
    also: tuple[Path, ...],
    beam: int,
    n_best: int,
    sample: bool,
    temperature: float,
    top_k: int | None,
    top_p: float,
    seed: int,
    prefix: str,
    scores: bool,
    alignments: bool,
    attention: Path | None,
    as_json: bool,
    batch: int,
    **search: Any,
) -> None:  # fmt: skip
    """Translate FILE or standard input: one line in, one line out; an empty line stays empty.

    Without RUN, the model in the box translates German into English. A line too long for the memory is left empty and
    named; the exit code is 1 then.
    """
    from regard.search import Sampling
    from regard.search.strategy import strategy_of
    from regard.translate import load

    run, file = _chosen(run, file)
    if (file is None and sys.stdin is None) or sys.stdout is None:
        raise RegardError(f"standard {'output' if sys.stdin else 'input'}: closed, want it open.")
    _refuse_what_is_without_effect(sample=sample, beam=beam, as_json=as_json)
    sampling = Sampling(temperature, top_k, top_p) if sample else None
    width = 1 if sample else beam
    strategy = strategy_of(width=width, n_best=n_best, sampling=sampling, seed=seed, **search)
    unknown: Unknown = "replace" if search["unknown"] == "replace" else "show"
    translator = load(run, *also)
    total, done, left_empty = _count(file), 0, _LeftEmpty(str(file or "standard input"))
    if is_typed := file is None and sys.stdin.isatty():
        say_how_to_type()
    # A bar would run over what is typed, or printed, on the same terminal.
    is_shown = not is_typed and not sys.stdout.isatty()
    with _sink(attention) as keep, bar(counts=total is not None, is_shown=is_shown) as progress:
        task = progress.add_task("translating", total=total, note="")
        for chunk in _arriving(_lines(file)):
            for one in translator.translate_all(
                chunk, strategy, batch=batch, unknown=unknown, prefix=prefix, first=done, refused=left_empty
            ):
                done += 1
                label = f"{done}\t" if n_best > 1 else ""
                _print(one, label, as_json=as_json, scores=scores, alignments=alignments)
                if keep:
                    keep(json.dumps(one.to_json(), ensure_ascii=False) + "\n")
                progress.update(task, completed=done)
            sys.stdout.flush()
    left_empty.close(done)


class _LeftEmpty:
    """Lines without a translation: each is named when it comes up, and they are an error at the end."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.count = 0

    def __call__(self, index: int, reason: str) -> None:
        self.count += 1
        if self.count <= NAMED:
            say(f"{self.where}, line {index + 1}: left empty. {reason}")

    def close(self, lines: int) -> None:
        if self.count:
            raise RegardError(f"{self.where}: {self.count} of {lines} lines left empty, since they are too long.")


def _chosen(run: Path | None, file: Path | None) -> tuple[Path, Path | None]:
    """Return the run and the file that are meant; a lone file is translated by the model in the box."""
    from regard.run import DEFAULT, boxed

    given = file or run
    if given and len(str(given).split()) > 1 and not given.exists():
        raise RegardError(f"{textwrap.shorten(str(given), 80)}: no such file. {PIPE}")
    if file is None and run is not None:
        if run.is_file() or str(run) == "-":
            run, file = None, run
        elif not run.exists() and str(run) not in boxed():
            raise RegardError(f"{run}: no such file, and no such run; `regard train` makes one.")
    return run or Path(DEFAULT), None if file == Path("-") else file


def _refuse_what_is_without_effect(*, sample: bool, beam: int, as_json: bool) -> None:
    if sample:
        refuse(("beam", *RANKING), "has no effect with --sample, which draws translations and compares none.")
    else:
        refuse(("temperature", "top_k", "top_p", "seed"), "has no effect without --sample.")
    if beam == 1:
        refuse(RANKING, "has no effect on greedy search, which has nothing to compare; want --beam 2 or more.")
    if as_json:
        refuse(("scores", "alignments"), "has no effect with --json, which has everything.")


def _print(one: "Translation", label: str, *, as_json: bool, scores: bool, alignments: bool) -> None:
    if as_json:
        click.echo(json.dumps(one.to_json(), ensure_ascii=False))
        return
    for each in (one, *one.alternatives):
        fields = [f"{each.score:.4f}"] if scores else []
        fields += [each.text]
        fields += [str(each.aligned.alignment)] if alignments else []
        click.echo(label + "\t".join(fields))


def _arriving(lines: Iterator[str]) -> Iterator[list[str]]:
    """Give what has arrived, up to a bound: a pipe that pauses is answered without waiting for its end."""
    arrived: queue.Queue[str | BaseException] = queue.Queue(maxsize=AHEAD)

    def read() -> None:
        try:
            for line in lines:
                arrived.put(line)
            arrived.put(StopIteration())
        except BaseException as error:  # whatever stops the reader must reach the user
            arrived.put(error)

    threading.Thread(target=read, daemon=True).start()
    last: str | BaseException = ""
    while isinstance(last, str):
        chunk: list[str] = []
        last = arrived.get()
        while isinstance(last, str):
            chunk.append(last)
            if len(chunk) == AHEAD or arrived.empty():
                break
            last = arrived.get()
        if chunk:
            yield chunk
    if not isinstance(last, StopIteration):
        raise last


def _lines(file: Path | None) -> Iterator[str]:
    from regard.data.lines import decoded, lines_of

    return lines_of(file) if file else decoded(_standard_input(), "standard input")


def _standard_input() -> BinaryIO:
    """Open standard input anew: a reader thread must not hold the lock of sys.stdin when the program is interrupted."""
    try:
        return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    except OSError:  # not a file, as in tests
        return sys.stdin.buffer


def _count(file: Path | None) -> int | None:
    """Count the lines of a file, so that what is wrong with it is said at once; a pipe's length is not known."""
    if file is None or not file.is_file():
        return None
    from regard.data.lines import lines_of

    return sum(1 for _ in lines_of(file))


@contextmanager
def _sink(path: Path | None) -> Iterator[Callable[[str], None] | None]:
    """Give what writes to a file that appears when it is complete; what goes wrong elsewhere is not put down to it."""
    if path is None:
        yield None
        return
    with ExitStack() as stack:
        with telling(path):
            file = stack.enter_context(writing(path)).open("w", encoding="utf-8")
        stack.callback(_close_quietly, file)

        def keep(text: str) -> None:
            with telling(path):
                file.write(text)

        yield keep
        with telling(path):
            file.close()


def _close_quietly(file: IO[str]) -> None:
    with suppress(OSError):  # told before, or of no account any more
        file.close()
