"""The web application: routes, who may use it, and how mistakes are told."""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from importlib.resources import files
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException

import regard
from regard.config import problem
from regard.errors import RegardError
from regard.pictures.html import attention_script, attention_style
from regard.serve.api import ChoicesQuestion, Models, ShowQuestion, TranslateQuestion, TreeQuestion

MOST_BYTES = 1_000_000
QUESTIONS = {
    "translate": TranslateQuestion, "show": ShowQuestion, "search-tree": TreeQuestion, "choices": ChoicesQuestion,
}  # fmt: skip
"""What is asked of each route, by the end of its name."""
TYPES = {"": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def create_app(models: Models, *, names: frozenset[str] = frozenset({"localhost"})) -> FastAPI:
    """Return the application; ``names`` are what the machine may be called besides its numbers."""
    app = FastAPI(
        title="regard", version=regard.__version__, openapi_url="/api/openapi.json", docs_url=None, redoc_url=None
    )
    _add_guard(app, names)
    _add_errors(app)
    _add_api(app, models)
    for name, content in _files().items():
        app.add_api_route(f"/{name}", _constant(content, TYPES[name.rpartition(".")[2]]), include_in_schema=False)
    return app


def listen(host: str, port: int) -> socket.socket:
    """Take a port; 0 takes any that is free."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address, family=family)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while")[0]
        raise RegardError(
            f"--host {host} --port {port}: cannot be used ({reason}); --port 0 takes any that is free."
        ) from None


class Server(uvicorn.Server):
    """Serves until it is interrupted; what is under way then is not waited for."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__(uvicorn.Config(app, log_level="error", access_log=False, lifespan="off"))

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave Ctrl-C to Python, which is quicker than waiting for every browser to hang up."""
        try:
            yield
        except asyncio.CancelledError:
            logging.disable()  # requests that are cut off are no news
            raise


def _add_api(app: FastAPI, models: Models) -> None:
    # The question is read when a function begins: all that `request.receive` can still tell is that the asker hung up.
    @app.get("/api/health")
    async def health() -> dict[str, Any]:
        return {"status": "ok", "regard": regard.__version__, "models": list(models.all)}

    @app.get("/api/models")
    async def describe() -> list[dict[str, Any]]:
        return models.descriptions

    @app.post("/api/translate")
    async def translate(asked: TranslateQuestion, request: Request) -> Any:
        return await models.answer(models[asked.model].translate, asked, hung_up=request.receive)

    @app.post("/api/show")
    async def show(asked: ShowQuestion, request: Request) -> Any:
        return await models.answer(models[asked.model].show, asked, hung_up=request.receive)

    @app.post("/api/search-tree")
    async def tree(asked: TreeQuestion, request: Request) -> Any:
        return await models.answer(models[asked.model].tree, asked, hung_up=request.receive)

    @app.post("/api/choices")
    async def choices(asked: ChoicesQuestion, request: Request) -> Any:
        return await models.answer(models[asked.model].choices, asked, hung_up=request.receive)


def _files() -> dict[str, str]:
    """Return the files of the page by name; the page itself has none."""
    found = {each.name: each.read_text(encoding="utf-8") for each in files("regard.serve").joinpath("static").iterdir()}
    found[""] = found.pop("index.html")
    return found | {"attention.css": attention_style(), "attention.js": attention_script()}


def _constant(content: str, kind: str) -> Callable[[], Awaitable[Response]]:
    async def answer() -> Response:
        return Response(content, media_type=kind)

    return answer


def _add_guard(app: FastAPI, names: frozenset[str]) -> None:
    @app.middleware("http")
    async def guard(request: Request, go_on: Callable[[Request], Awaitable[Response]]) -> Response:
        refused = _refusal(request, names)
        # Every question is JSON, also that of `curl -d`, which calls whatever it sends a form.
        MutableHeaders(scope=request.scope)["Content-Type"] = "application/json"
        response = _error(*refused) if refused else await go_on(request)
        response.headers.update(HEADERS)
        return response


def _refusal(request: Request, names: frozenset[str]) -> tuple[int, str] | None:
    """Say why a request is refused, if it is.

    A page from elsewhere can reach this service through its visitor's browser: openly, which its Origin tells, or
    after its own name was made to point here, which the Host tells: it is a name, and none of ours.
    """
    host = request.headers.get("host", "")
    if not _is_own(host, names):
        return 403, f"host: got '{host}', want the address that `regard serve` printed."
    origin = request.headers.get("origin")
    if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
        return 403, f"origin: got '{origin}', want a page of this service."
    if request.method == "POST":
        length = request.headers.get("content-length", "")
        if not length.isdecimal():
            return 411, "content-length: missing; tell the size of the request."
        if int(length) > MOST_BYTES:
            return 413, f"request: got {int(length):,} bytes, want at most {MOST_BYTES:,}."
    return None


def _is_own(host: str, names: frozenset[str]) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name in names or bool(ip_address(name))
    except ValueError:
        return False


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(RegardError)
    async def of_user(_: Request, error: RegardError) -> Response:
        return _error(400, str(error))

    @app.exception_handler(RequestValidationError)
    async def of_values(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return _error(422, f"request: not valid JSON ({first['ctx']['error']}).")
        if len(first["loc"]) == 1:
            return _error(422, f"request: got {first['input']!r}, want a JSON object.")
        asked = QUESTIONS[request.url.path.rpartition("/")[2]]
        return _error(422, problem({**first, "loc": first["loc"][1:]}, asked))

    @app.exception_handler(HTTPException)
    async def of_route(request: Request, error: HTTPException) -> Response:
        return _error(error.status_code, f"{request.method} {request.url.path}: {error.detail}.")

    @app.exception_handler(Exception)
    async def of_ours(_: Request, error: Exception) -> Response:
        return _error(500, f"{type(error).__name__}: a mistake of regard's own; its log is in the terminal.")


def _error(status: int, message: str) -> Response:
    return JSONResponse({"error": message}, status)
