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

    kinds = ["presets", "keys", *ALL]
    if kind is None:
        for each in kinds:
            names = {"presets": _presets, "keys": lambda: {"regard list keys": ""}}.get(
                each, lambda k=each: dict.fromkeys(ALL[k])
            )
            click.echo(f"{each:<12} {', '.join(names())}")
        return
    if kind not in kinds:
        raise RegardError(f"Unknown kind '{kind}'. {did_you_mean(kind, kinds)}")
    rows = _presets() if kind == "presets" else _keys() if kind == "keys" else _parts(kind)
    width = max(map(len, rows))
    for name, summary in rows.items():
        click.echo(f"{name:<{width}}  {summary}")


def _presets() -> dict[str, str]:
    from regard.config import presets

    return {name: text.partition("\n")[0].removeprefix("# ") for name, text in presets().items()}


def _parts(kind: str) -> dict[str, str]:
    from regard.parts import ALL

    return {name: ALL[kind].summary(name) for name in ALL[kind]}


def _keys() -> dict[str, str]:
    from regard.config import Config
    from regard.parts import CORPORA

    sections = {name: field.annotation for name, field in Config.model_fields.items() if name != "data"}
    rows: dict[str, str] = {}
    for corpus in CORPORA:
        for key, field in CORPORA[corpus].model_fields.items():
            if key != "corpus":
                rows[f"data.{key}"] = f"{field.description} [{corpus}: {field.default}]"
    for section, model in sections.items():
        assert model is not None
        for key, field in model.model_fields.items():
            rows[f"{section}.{key}"] = f"{field.description} [{field.default}]"
    return rows
