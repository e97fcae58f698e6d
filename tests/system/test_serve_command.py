"""`regard serve` from the outside."""

import signal
import subprocess
import sys

import pytest

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
        assert process.wait(timeout=30) == 130
        assert process.stderr.read() == f"de-en: at {url}; Ctrl-C ends it\nstopped\n"
        assert process.stdout.read() == ""
