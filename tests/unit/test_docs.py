"""What is documented is true: the reference is the code's own, and every command and name in the text exists."""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from regard.cli import COMMANDS, main
from regard.config import load_config, presets
from regard.parts import ALL

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_reference_is_what_the_code_says() -> None:
    # In a process of its own: click remembers the help options of commands that other tests have called.
    code = "import runpy; print(runpy.run_path('docs/make_reference.py')['reference'](), end='')"
    command = [sys.executable, "-X", "utf8", "-c", code]
    done = subprocess.run(
        command, capture_output=True, check=True, cwd=ROOT, env={**os.environ, "PYTHONIOENCODING": "utf-8"}
    )
    wanted = "docs/reference.md is out of date: run python docs/make_reference.py"
    assert (ROOT / "docs" / "reference.md").read_bytes() == done.stdout, wanted


def test_the_readme_is_short_and_has_a_picture() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 200
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert pictures
    assert all((ROOT / path).is_file() for path in pictures)


def commands(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:sh|text)\n(.*?)```", text, flags=re.DOTALL)
    lines = [line.split("#")[0].strip() for block in blocks for line in block.splitlines()]
    lines += re.findall(r"(?<!`)`(regard [^`\n]+)`(?!`)", text)
    return [match[1] for line in lines if (match := re.match(r"(?:echo .*\| )?(regard [a-z].*)", line))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_in_the_text_exists_with_its_options(page: Path) -> None:
    for line in commands(page):
        _, name, *words = line.split()
        assert name in COMMANDS, f"{page.name}: {line}"
        command = main.get_command(click.Context(main), name)
        assert command is not None
        known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        if isinstance(command, click.Group):
            continue
        used = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert used <= known, f"{page.name}: {line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_train_command_in_the_text_has_a_valid_configuration(page: Path) -> None:
    for line in commands(page):
        words = line.split()
        if words[1] == "train" and words[2] in presets():
            overrides = [word for word in words[3:] if re.match(r"[a-z].*=[^A-Z]", word)]
            load_config(words[2], overrides)


@pytest.mark.parametrize("kind", list(ALL))
def test_every_part_is_documented(kind: str) -> None:
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in ALL[kind])


def test_the_repository_names_no_machine() -> None:
    for page in PAGES:
        assert not re.search(r"(?<![\w.])/(?:work|root|farm)/", page.read_text(encoding="utf-8")), page.name
