"""Who may use the service, and what the page is made of."""

import json
import re
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from importlib.resources import files
from threading import Event, Semaphore
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from regard.cli import main
from regard.serve.api import GivenUp, Models, Served, ShowQuestion, TranslateQuestion
from regard.serve.app import MOST_BYTES, listen
from serving import OPENER, ask, serving

QUESTION = {"text": "Hunde."}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as url:
        yield url


def read(url: str) -> tuple[str, str]:
    with OPENER.open(url, timeout=60) as response:
        return response.read().decode(), response.headers["Content-Type"].partition(";")[0]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[", "localhost.evil"]
)
def test_another_name_that_points_here_is_refused(url: str, host: str) -> None:
    wanted = f"host: got '{host}', want the address that `regard serve` printed."
    assert ask(f"{url}api/translate", QUESTION, {"Host": host}) == (403, {"error": wanted})
    assert ask(url, None, {"Host": host})[0] == 403


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8321", "192.168.0.7:8321"])
def test_numbers_and_own_names_are_welcome(url: str, host: str) -> None:
    assert ask(f"{url}api/translate", QUESTION, {"Host": host, "Origin": f"http://{host}"})[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_a_page_from_elsewhere_is_refused(url: str, origin: str) -> None:
    wanted = f"origin: got '{origin}', want a page of this service."
    assert ask(f"{url}api/translate", QUESTION, {"Origin": origin}) == (403, {"error": wanted})


@pytest.mark.parametrize(
    ("header", "value", "status", "error"),
    [
        ("Content-Length", str(MOST_BYTES + 1), 413, "request: got 1,000,001 bytes, want at most 1,000,000."),
        ("Transfer-Encoding", "chunked", 411, "content-length: missing; tell the size of the request."),
    ],
)
def test_a_request_has_a_size_and_a_limit(url: str, header: str, value: str, status: int, error: str) -> None:
    connection = HTTPConnection(urlsplit(url).netloc)
    connection.putrequest("POST", "/api/translate")
    connection.putheader(header, value)
    connection.endheaders()  # answered before anything is sent
    response = connection.getresponse()
    assert (response.status, json.loads(response.read())) == (status, {"error": error})
    connection.close()


def test_questions_are_dropped_when_their_askers_hang_up(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[str] = []
    begun, came, went = Event(), Semaphore(0), Semaphore(0)
    answer = Models.answer

    async def noted(*args: Any, **named: Any) -> Any:
        came.release()
        found = await answer(*args, **named)
        went.release()
        return found

    def think_long(served: Served, _: ShowQuestion) -> None:
        begun.set()
        end = time.monotonic() + 20
        try:
            while time.monotonic() < end:
                served.translate(TranslateQuestion(text="Hunde."))
            ends.append("went on")
        except GivenUp:
            ends.append("stopped")
            raise

    monkeypatch.setattr(Served, "show", think_long)
    monkeypatch.setattr(Models, "answer", noted)
    under_way, in_the_queue = (HTTPConnection(urlsplit(url).netloc) for _ in range(2))
    for connection in (under_way, in_the_queue):
        connection.request("POST", "/api/show", json.dumps(QUESTION), {"Content-Type": "application/json"})
        assert begun.wait(20)
        assert came.acquire(timeout=20)
    for connection in (in_the_queue, under_way):
        connection.close()
        assert went.acquire(timeout=20)
    assert ask(f"{url}api/translate", QUESTION)[0] == 200
    assert ends == ["stopped"]


def test_the_page_and_its_parts_are_served(url: str) -> None:
    page, kind = read(url)
    assert (kind, page[:15]) == ("text/html", "<!doctype html>")
    named = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert sorted(named) == ["attention.css", "attention.js", "icon.svg", "page.css", "page.js"]
    kinds = {name: read(url + name)[1] for name in named}
    assert set(kinds.values()) == {"text/css", "text/javascript", "image/svg+xml"}


def test_the_page_is_alone_in_the_world() -> None:
    folder = files("regard.serve").joinpath("static")
    for part in folder.iterdir():
        text = part.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//cdn|@import|url\(|innerHTML|insertAdjacentHTML|eval\(", text), part.name


def test_a_browser_is_told_to_load_nothing_else(url: str) -> None:
    with OPENER.open(url, timeout=60) as response:
        assert response.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
        assert "access-control-allow-origin" not in {name.lower() for name in response.headers}


def test_a_port_that_is_taken_is_one_line() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        told = CliRunner().invoke(main, ["serve", "--port", port])
    wanted = (
        f"--host 127.0.0.1 --port {port}: cannot be used (Address already in use); --port 0 takes any that is free."
    )
    assert (told.exit_code, told.stderr, told.stdout) == (1, f"Error: {wanted}\n", "")


def test_an_unknown_run_is_one_line() -> None:
    told = CliRunner().invoke(main, ["serve", "nowhere", "--port", "0"])
    assert (told.exit_code, told.stderr) == (1, "Error: nowhere: no such run. `regard train` makes one.\n")
