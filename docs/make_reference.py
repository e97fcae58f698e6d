"""Write docs/reference.md from the code: every part by name, every key, the help of every command.

python docs/make_reference.py          (a test compares the file with what this prints)
"""

from pathlib import Path

import click

from regard.cli import COMMANDS, main
from regard.cli.list import keys, parts, preset_summaries
from regard.parts import ALL

PATH = Path(__file__).with_name("reference.md")


def reference() -> str:
    """Return the page as Markdown."""
    sections = ["# Reference\n\nMade by `docs/make_reference.py` from the code; a test keeps it true."]
    sections.append("## Presets\n\n" + _table(("preset", "what it is"), preset_summaries()))
    sections += [f"## {kind.capitalize()}\n\n" + _table(("name", "what it does"), parts(kind)) for kind in ALL]
    sections.append("## Configuration keys\n\n" + _table(("key", "meaning and default"), keys()))
    sections += [f"## regard {name}\n\n```text\n{_help(name)}\n```" for name in COMMANDS]
    return "\n\n".join(sections) + "\n"


def _table(head: tuple[str, str], rows: dict[str, str]) -> str:
    lines = [f"| {head[0]} | {head[1]} |", "|---|---|"]
    lines += [f"| `{name}` | {text.replace('|', chr(92) + '|')} |" for name, text in rows.items()]
    return "\n".join(lines)


def _help(name: str) -> str:
    context = click.Context(main, info_name="regard", help_option_names=["-h", "--help"])
    command = main.get_command(context, name)
    assert command is not None
    own = click.Context(command, info_name=name, parent=context, terminal_width=100, max_content_width=100)
    texts = [command.get_help(own)]
    if isinstance(command, click.Group):
        for sub in command.list_commands(own):
            child = command.get_command(own, sub)
            assert child is not None
            texts.append(child.get_help(click.Context(child, info_name=sub, parent=own, terminal_width=100)))
    return "\n\n".join(texts)


if __name__ == "__main__":
    PATH.write_text(reference(), encoding="utf-8")
