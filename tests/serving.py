"""A service on a free port, and questions to it."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from regard.serve.api import Models
from regard.serve.app import Server, create_app, listen

OPENER = build_opener(ProxyHandler({}))


@contextmanager
def serving(*runs: str | Path) -> Iterator[str]:
    """Serve runs, or the model in the box, in a thread; gives the address, which ends in a slash."""
    taken, models = listen("127.0.0.1", 0), Models(runs)
    server = Server(create_app(models))
    thread = threading.Thread(target=server.run, args=([taken],))
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()
        models.close()


def ask(url: str, question: Any = None, headers: Mapping[str, str] | None = None) -> tuple[int, Any]:
    """Return status and answer: of a GET, or of a POST where there is a question."""
    body = question if question is None or isinstance(question, bytes) else json.dumps(question).encode()
    request = Request(url, body, {"Content-Type": "application/json", **(headers or {})})
    try:
        with OPENER.open(request, timeout=60) as response:
            return response.status, json.loads(response.read())
    except HTTPError as error:
        with error:
            return error.code, json.loads(error.read())
