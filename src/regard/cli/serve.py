"""`regard serve`."""

import os
import sys
from pathlib import Path

import click

from regard.cli.terminal import say

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@click.command()
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN]...")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen at; others than you reach 0.0.0.0."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8321, show_default=True, help="0 takes any that is free."
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
def serve(runs: tuple[Path, ...], host: str, port: int, opens: bool) -> None:
    """Show attention and beam search live on a page of its own, and answer the same questions as JSON.

    Several runs can be compared side by side. Without RUN, the model in the box translates German into English. The
    address is printed on standard output. Ctrl-C ends the service.
    """
    from regard.cli import INTERRUPTED
    from regard.serve.api import Models
    from regard.serve.app import Server, create_app, listen

    taken = listen(host, port)
    models = Models(runs)
    app = create_app(models, names=frozenset({"localhost", host, *_own_names()}))
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{taken.getsockname()[1]}/"
    if host not in LOOPBACK:
        say(f"--host {host}: everyone who reaches this machine can use the service.")
    say(f"{', '.join(models.all)}: at {url}; Ctrl-C ends it")
    click.echo(url)
    if opens:
        click.launch(url)
    try:
        Server(app).run(sockets=[taken])
    except KeyboardInterrupt:
        say("stopped")
        sys.stdout.flush()
        os._exit(INTERRUPTED)  # Python would wait for a search that is under way


def _own_names() -> set[str]:
    import socket

    name = socket.gethostname().lower()
    return {name, f"{name}.local"}
