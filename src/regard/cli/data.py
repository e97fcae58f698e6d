"""``regard data``: which corpora there are, and getting their files."""

from typing import get_args

import click

from regard.errors import RegardError, did_you_mean
from regard.parts import CORPORA


@click.group(invoke_without_command=True)
@click.pass_context
def data(context: click.Context) -> None:
    """List corpora, which is what happens without a COMMAND, and fetch their files."""
    if context.invoked_subcommand is None:
        context.invoke(list_corpora)


@data.command("list")
def list_corpora() -> None:
    """List the corpora, and where the files of multi30k are."""
    width = max(map(len, CORPORA))
    for name in CORPORA:
        click.echo(f"{name:{width}}  {CORPORA.summary(name)}")
        if name == "multi30k":
            click.echo(f"{'':{width}}  {_whereabouts()}")


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
    from regard.data import multi30k

    for name in _names(source, target, everything=everything):
        click.echo(multi30k.fetch(name))


def _names(source: str, target: str, *, everything: bool) -> list[str]:
    from regard.data import multi30k

    languages = get_args(multi30k.Language)
    for option, language in (("--source", source), ("--target", target)):
        if language not in languages:
            raise RegardError(f"{option}: got '{language}'. {did_you_mean(language, languages)}")
    if source == target:
        raise RegardError(f"--target: got '{target}', the source language too, want another.")
    known = multi30k.parts(source, target).values() if everything else multi30k.FILES.values()
    return [f"{part}.{language}" for part in dict.fromkeys(known) for language in (source, target)]


def _whereabouts() -> str:
    from regard.data import multi30k

    names = _names("de", "en", everything=False)
    try:
        found = [path for path in map(multi30k.find, names) if path]
    except RegardError as error:
        return str(error)
    if len(found) == len(names):
        return f"Its files are in {', '.join(dict.fromkeys(str(path.parent) for path in found))}."
    places = ", ".join(map(str, multi30k.folders()))
    return f"{len(found)} of its {len(names)} files are in {places}; `regard data fetch multi30k` downloads the others."
