"""`regard list`."""

import click

from regard.errors import RegardError, did_you_mean


@click.command("list")
@click.argument("kind", required=False)
def list_parts(kind: str | None) -> None:
    """List presets, configuration keys, and the parts they name: attention, decoders, corpora ...

    Without KIND, names everything there is.
    """
    from regard.parts import ALL

    kinds = ("presets", "keys", *ALL)
    if kind is None:
        names = {"presets": ", ".join(preset_summaries()), "keys": "every configuration key"}
        names |= {each: ", ".join(ALL[each]) for each in ALL}
        _print(names)
    elif kind in ALL:
        _print(parts(kind))
    elif kind in kinds:
        _print(preset_summaries() if kind == "presets" else keys())
    else:
        raise RegardError(f"Unknown kind '{kind}'. {did_you_mean(kind, kinds)}")


def _print(rows: dict[str, str]) -> None:
    width = max(map(len, rows))
    for name, text in rows.items():
        click.echo(f"{name:<{width}}  {text}")


def preset_summaries() -> dict[str, str]:
    """Return what each preset is and what to expect of it."""
    from regard.config import presets

    rows = {}
    for name, text in presets().items():
        comments = [line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ")]
        expect = next((line for line in comments if line.startswith("Expect:")), "")
        rows[name] = f"{comments[0]} {expect}".strip()
    return rows


def parts(kind: str) -> dict[str, str]:
    """Return what each part of a registry is."""
    from regard.parts import ALL

    return {name: ALL[kind].summary(name) for name in ALL[kind]}


def keys() -> dict[str, str]:
    """Return meaning and default of each configuration key."""
    from regard.config import Config
    from regard.parts import CORPORA

    rows = {"data.corpus": "Name of the corpus."}
    for corpus in CORPORA:
        for key, field in CORPORA[corpus].model_fields.items():
            if key != "corpus":
                rows[f"data.{key} ({corpus})"] = f"{field.description} [{field.default}]"
    for section, part in Config.model_fields.items():
        for key, field in () if section == "data" else part.annotation.model_fields.items():  # type: ignore[union-attr]
            rows[f"{section}.{key}"] = f"{field.description} [{field.default}]"
    return rows
