"""``regard data``: which corpora there are, and getting their files."""

from typing import TYPE_CHECKING

import click

from regard.errors import RegardError, did_you_mean
from regard.parts import CORPORA

if TYPE_CHECKING:
    from regard.data.multi30k import Multi30k


@click.group()
def data() -> None:
    """List corpora and fetch their files."""


@data.command("list")
def list_corpora() -> None:
    """List the corpora, and where the files of multi30k are."""
    width = max(map(len, CORPORA))
    for name in CORPORA:
        click.echo(f"{name:{width}}  {CORPORA.summary(name)}")
        if name == "multi30k":
            click.echo(f"{'':{width}}  {_whereabouts(_recipe('de', 'en'))}")


@data.command()
@click.argument("corpus")
@click.option("--source", default="de", show_default=True, help="Language to translate from: de, en, fr or cs.")
@click.option("--target", default="en", show_default=True, help="Language to translate into: de, en, fr or cs.")
@click.option("--all", "everything", is_flag=True, help="Every test set of the pair, not the one of 2016 only.")
def fetch(corpus: str, source: str, target: str, everything: bool) -> None:
    """Find or download the files of CORPUS, check them, and print where they are."""
    CORPORA.place(corpus)
    if corpus != "multi30k":
        raise RegardError(f"Corpus '{corpus}' has nothing to fetch; only multi30k is downloaded.")
    from regard.data.multi30k import fetch as fetch_file

    for name in _names(_recipe(source, target), everything=everything):
        click.echo(fetch_file(name))


def _recipe(source: str, target: str) -> "Multi30k":
    from typing import get_args

    from regard.data.multi30k import Language, Multi30k

    for option, language in (("--source", source), ("--target", target)):
        if language not in get_args(Language):
            raise RegardError(f"{option}: got '{language}'. {did_you_mean(language, get_args(Language))}")
    if source == target:
        raise RegardError(f"--target: got '{target}', the source language too, want another.")
    return Multi30k.model_validate({"source": source, "target": target})


def _names(recipe: "Multi30k", *, everything: bool) -> list[str]:
    from regard.data.multi30k import FILES

    parts = dict.fromkeys(recipe.parts().values() if everything else FILES.values())
    return [f"{part}.{language}" for part in parts for language in (recipe.source, recipe.target)]


def _whereabouts(recipe: "Multi30k") -> str:
    from regard.data.multi30k import find, folders

    names = _names(recipe, everything=False)
    try:
        found = [path for path in map(find, names) if path]
    except RegardError as error:
        return str(error)
    if len(found) == len(names):
        return f"found in {', '.join(dict.fromkeys(str(path.parent) for path in found))}"
    return f"{len(found)} of {len(names)} files found in {', '.join(map(str, folders()))}; `regard data fetch multi30k` downloads them"
