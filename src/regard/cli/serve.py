"""`regard serve`."""

import os
import signal
import sys
from pathlib import Path

import click

from regard.cli import interrupt
from regard.cli.terminal import say

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@click.command()
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN]...")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at; 0.0.0.0 lets others in.")
@click.option("--port", type=click.IntRange(0, 65535), default=8321, show_default=True, help="0 takes any free one.")
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
def serve(runs: tuple[Path, ...], host: str, port: int, opens: bool) -> None:
    """Show attention and beam search live on a page, and answer the same questions as JSON.

    Several runs can be compared side by side. Without RUN, the model in the box translates German into English. The
    address is printed on standard output. Ctrl-C ends the service.
    """
    from regard.serve.api import Models
    from regard.serve.app import Server, create_app, listen

    with listen(host, port) as taken:
        models = Models(runs)
        server = Server(create_app(models, names=_names(host)))
        url = _url(host, taken.getsockname()[1])
        if host not in LOOPBACK:
            say(f"--host {host}: whoever reaches this machine can use the service.")
        say(f"{', '.join(models.all)}: at {url}; Ctrl-C ends it")
        if signal.getsignal(signal.SIGINT) is interrupt:  # asyncio takes Ctrl-C over from Python's own handler alone
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            click.echo(url)
            if opens:
                click.launch(url)
            server.run(sockets=[taken])
        except KeyboardInterrupt:
            _leave()


def _url(host: str, port: int) -> str:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _names(host: str) -> frozenset[str]:
    """Say what browsers may call this machine."""
    import socket

    own = socket.gethostname().lower()
    return frozenset({"localhost", host.lower(), own, f"{own}.local"})


def _leave() -> None:
    from regard.cli import INTERRUPTED

    say("stopped")
    sys.stdout.flush()
    os._exit(INTERRUPTED)  # Python would wait for a search that is under way
