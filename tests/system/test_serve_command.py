"""`regard serve` from the outside."""

import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from regard.cli import interrupt, main
from regard.serve.app import Server
from serving import ask

pytestmark = pytest.mark.slow


def test_it_serves_the_box_tells_its_address_and_ends_at_once() -> None:
    command = [sys.executable, "-m", "regard", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stderr
        url = process.stdout.readline().strip()
        assert ask(f"{url}api/translate", {"text": "Zwei Hunde spielen im Schnee."})[0] == 200
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=30) == 130
        finally:
            process.kill()
        assert process.stderr.read() == f"de-en: at {url}; Ctrl-C ends it\nstopped\n"
        assert process.stdout.read() == ""


def test_ctrl_c_is_left_to_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    # In the middle of sending an answer asyncio takes an exception of another handler for a broken connection.
    handlers = []
    monkeypatch.setattr(Server, "run", lambda *_, **__: handlers.append(signal.getsignal(signal.SIGINT)))
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        assert CliRunner().invoke(main, ["serve", "--port", "0"], catch_exceptions=False).exit_code == 0
    finally:
        signal.signal(signal.SIGINT, before)
    assert handlers == [signal.default_int_handler]
