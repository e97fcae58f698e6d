"""Options that commands share: how to search, where to draw."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.search.rules import Length

RANKING = ("length_penalty", "gnmt", "coverage")
"""Options that say how finished hypotheses are compared."""
TERMINAL = Path("-")
DIGITS = 10
"""Of a number that somebody may mean; Python reads only so many."""
Command = TypeVar("Command", bound=Callable[..., Any])


class LengthType(click.ParamType["Length"]):
    """A length relative to the source, such as 1.5x+10, or absolute, such as 40."""

    name = "length"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "Length":
        """Read what `Length.parse` does."""
        from regard.search.rules import Length

        try:
            return Length.parse(str(value))
        except RegardError as error:
            self.fail(str(error), param, ctx)


class PictureType(click.ParamType[Path]):
    """A file to draw to, or - for the terminal; what cannot work is better told before hours of training than after."""

    name = "picture"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Refuse other suffixes, and folders that are not there."""
        path = Path(value)
        if path == TERMINAL:
            return path
        if path.suffix.lower() not in (".png", ".svg", ".pdf"):
            self.fail(f"got '{value}', want a name that ends in .png, .svg or .pdf, or -.", param, ctx)
        if problem := folder_problem(path):
            self.fail(problem, param, ctx)
        return path


def folder_problem(path: Path) -> str:
    """Say why no file of this name can be written, as far as its folder tells; nothing if it can."""
    folder = path.parent
    if folder.is_dir():
        return ""
    if folder.exists():
        return f"got '{path}', but '{folder}' is no directory; choose another place."
    return f"got '{path}', but there is no directory '{folder}'; make it first."


also_option = click.option(
    "--also",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Another run with the same vocabulary: an ensemble. May be repeated.",
)

batch_option = click.option(
    "--batch", type=click.IntRange(1), default=64, show_default=True, help="Sentences at a time."
)

split_option = click.option(
    "--split",
    default="test",
    show_default=True,
    metavar="NAME|FILE",
    help="Which part of the corpus, or a file of your own with lines source<TAB>target.",
)


def beam_option(default: int) -> Callable[[Command], Command]:
    """Take the width of one search."""
    return click.option(
        "--beam",
        type=click.IntRange(1),
        default=default,
        show_default=True,
        metavar="WIDTH",
        help="Beam width; 1 is greedy search.",
    )


OPTIONS = (
    click.option("--length-penalty", type=float, metavar="ALPHA",
                 help="Divide log P by length^ALPHA; 0 compares whole probabilities.  [default: 0.7, with --gnmt 0.6]"),
    click.option("--gnmt", is_flag=True, help="Divide by ((5 + length) / 6)^ALPHA instead."),
    click.option("--coverage", type=float, default=0.0, metavar="BETA", help="Penalty for source words left unread."),
    click.option("--max-length", type=LengthType(), metavar="N|Rx+N", help="Longest output  [default: 2x+10]"),
    click.option("--min-length", type=LengthType(), metavar="N|Rx+N", help="Shortest output, its end included."),
    click.option("--no-repeat", type=int, metavar="N", help="Never produce the same N tokens in a row twice."),
    click.option("--unknown", type=click.Choice(["show", "forbid", "replace"]), default="show", show_default=True,
                 help="Unknown words: show ⁇, search without them, or copy the source word most attended."),
)  # fmt: skip


def search_options(command: Command) -> Command:
    """Add the options that `strategy_of` understands."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def refuse(options: Iterable[str], reason: str) -> None:
    """Refuse options that would change nothing: what a user asks for is done, or it is said why not."""
    context = click.get_current_context()
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in options and source is ParameterSource.COMMANDLINE:
            raise RegardError(f"{parameter.opts[0]}: {reason}")
