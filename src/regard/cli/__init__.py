"""The command line: one file per command, loaded when asked for."""

import atexit
import errno
import gc
import io
import os
import signal
import sys
import textwrap
from collections.abc import Sequence
from importlib import import_module
from types import FrameType
from typing import Any

import click

from regard import __version__
from regard.errors import RegardError, did_you_mean

INTERRUPTED = 130
"""Exit code of what Ctrl-C has stopped, as shells expect it."""
IMPORTER = "<frozen importlib._bootstrap>"
"""Where Python imports modules, as frames of the stack say it."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What goes wrong where there is no room."""
MANY = 50_000
"""New objects between two looks of Python's garbage collector at them, which are at most 2,000 unless it is told.

Importing torch makes a quarter of a million, and looking through all of them again and again takes 7 % of a short
command's time.
"""
OPTIONS = {
    "width": "--beam", "alpha": "--length-penalty", "coverage": "--coverage", "n_best": "--n-best",
    "draws": "--n-best", "max_length": "--max-length", "min_length": "--min-length", "no_repeat": "--no-repeat",
    "temperature": "--temperature", "top_k": "--top-k", "top_p": "--top-p", "prefix": "--prefix",
}  # fmt: skip
"""What settings of a search are called on the command line."""
COMMANDS = {
    "demo": "regard.cli.demo:demo",
    "train": "regard.cli.train:train",
    "resume": "regard.cli.train:resume",
    "translate": "regard.cli.translate:translate",
    "evaluate": "regard.cli.evaluate:evaluate",
    "show": "regard.cli.show:show",
    "compare": "regard.cli.compare:compare",
    "report": "regard.cli.report:report",
    "serve": "regard.cli.serve:serve",
    "score": "regard.cli.score:score",
    "diversify": "regard.cli.diversify:diversify",
    "export": "regard.cli.export:export",
    "lab": "regard.cli.lab:lab",
    "check": "regard.cli.check:check",
    "bench": "regard.cli.bench:bench",
    "list": "regard.cli.list:list_parts",
    "data": "regard.cli.data:data",
}


class UserError(click.ClickException):
    """What the user can mend on its way to the terminal: one line, exit code 1."""

    exit_code = 1


def _as_typed(problem: str) -> str:
    """Call a setting of a search by the option that a user gives it with."""
    name, colon, rest = problem.removeprefix("search.").partition(":")
    is_option = problem.startswith("search.") and name in OPTIONS
    return f"{OPTIONS[name]}{colon}{rest}" if is_option else problem


def _discard_output() -> None:
    """Let what is still to be written go nowhere: it would fail once more when the program ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refused(error: OSError) -> Exception:
    """Return one line about what the system refuses, or the error itself where click or Python know what to do."""
    if error.errno in FULL and not error.filename:
        _discard_output()
        return UserError(f"standard output: {error.strerror}.")
    if error.errno == errno.EPIPE or not error.filename:  # click ends quietly when nobody reads any more
        return error
    return UserError(f"{textwrap.shorten(str(error.filename), 80)}: {error.strerror}.")


def interrupt(number: int, frame: FrameType | None) -> None:
    """Stop what Ctrl-C is to stop: by an exception, but at once while something is imported.

    Libraries make another error, or nothing at all, of an exception in the middle of their import.
    """
    inner = frame
    while inner:
        if inner.f_code.co_filename == IMPORTER:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.write(sys.stderr.fileno(), b"stopped\n")
            os._exit(INTERRUPTED)
        inner = inner.f_back
    signal.default_int_handler(number, frame)


class Commands(click.Group):
    """Commands by name; none is imported before it is needed."""

    is_whole_process = False

    def main(self, args: Sequence[str] | None = None, *others: Any, **extra: Any) -> Any:
        """Run what the command line says, or the words given, as tests do."""
        self.is_whole_process = args is None
        if self.is_whole_process:
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, interrupt)
            gc.set_threshold(MANY, *gc.get_threshold()[1:])
            atexit.register(gc.freeze)  # looking through all memory before the system takes it back is for nothing
        return super().main(args, *others, **extra)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Before anything is told, let nothing fail for want of a character.

        On a terminal a question mark stands for it; in a file its number does, so that nothing is lost.
        """
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace" if stream.isatty() else "backslashreplace")
        try:
            return super().parse_args(ctx, args)
        except OSError as error:
            raise _refused(error) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of first use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest command for a mistyped one."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            ctx.fail(f"No such command '{args[0]}'. {did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Turn what the user can fix, and Ctrl-C, into one line on stderr."""
        try:
            return super().invoke(ctx)
        except RegardError as error:
            raise UserError(_as_typed(str(error))) from None
        except click.NoSuchOption as error:
            hint = "" if error.possibilities else " A text that begins with - goes after --."
            raise UserError(error.format_message() + hint) from None
        except click.UsageError as error:
            raise UserError(error.format_message()) from None
        except OSError as error:
            raise _refused(error) from None
        except KeyboardInterrupt:
            if self.is_whole_process:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would be told by whatever ends here
            click.echo("stopped", err=True)
            raise SystemExit(INTERRUPTED) from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="regard")
def main() -> None:
    """Train sequence-to-sequence models whose attention you can see."""
