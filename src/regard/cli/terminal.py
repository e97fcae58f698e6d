"""Talk on stderr: messages, and progress bars that keep quiet when nobody watches."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

console = Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """Print a message on stderr, as it is."""
    console.print(text, markup=False)


def say_how_to_type() -> None:
    """Tell whoever sits at the terminal that sentences are read from there."""
    say("Type a sentence and Enter; Ctrl-D ends.")


def bar(*, counts: bool = True, is_shown: bool = True) -> Progress:
    """Return a progress bar with the time left; it shows nothing when stderr is not a terminal."""
    columns = [TextColumn("{task.description}"), BarColumn(bar_width=24)]
    columns += [MofNCompleteColumn()] if counts else []
    return Progress(
        *columns,
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
        disable=not (is_shown and console.is_terminal),
        transient=True,
    )
