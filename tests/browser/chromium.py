"""A headless Chromium, driven through its debugging pipe; the machine needs nothing but the browser."""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SWITCHES = ("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
            "--disable-background-networking", "--disable-dev-shm-usage")  # fmt: skip
PATIENCE = 60.0


class Page:
    """One tab: calls of the debugging protocol, and what happened meanwhile."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._buffer, self._number, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        found = self._read_until(lambda answer: answer.get("id") == self._number)
        assert "error" not in found, found
        result: dict[str, Any] = found["result"]
        return result

    def open(self, place: Path | str, *, width: int = 1000, height: int = 900) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=place if isinstance(place, str) else place.resolve().as_uri())
        self._read_until(lambda event: event.get("method") == "Page.loadEventFired")

    def value(self, script: str) -> Any:
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, script: str) -> None:
        end = time.monotonic() + PATIENCE
        while not self.value(script):
            assert time.monotonic() < end, script
            time.sleep(0.05)

    def hover(self, selector: str) -> None:
        element = f"document.querySelector({json.dumps(selector)})"
        self.value(f"{element}.scrollIntoView({{block: 'center'}})")
        x, y = self.value(
            f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({element}.getBoundingClientRect())"
        )
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]))

    def complaints(self) -> list[dict[str, Any]]:
        """What a developer would see in red."""
        return [
            event for event in self.events
            if event["method"] == "Runtime.exceptionThrown"
            or (event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error")
            or (event["method"] == "Runtime.consoleAPICalled" and event["params"]["type"] in {"error", "warning"})
        ]  # fmt: skip

    def requests(self) -> list[str]:
        sent = (event for event in self.events if event["method"] == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in sent]

    def _read_until(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while True:
            while b"\0" in self._buffer:
                text, self._buffer = self._buffer.split(b"\0", 1)
                message: dict[str, Any] = json.loads(text)
                if "method" in message:
                    self.events.append(message)
                if is_it(message):
                    return message
            ready, _, _ = select.select([self._from], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            more = os.read(self._from, 1 << 16)
            assert more, "the browser has ended"
            self._buffer += more


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """Start a browser with an empty profile, and end it."""
    assert PROGRAM is not None
    (its_in, ours_out), (ours_in, its_out) = os.pipe(), os.pipe()
    command = f'exec "$@" 3<&{its_in} 4>&{its_out}'  # the protocol asks for these numbers
    process = subprocess.Popen(
        ["bash", "-c", command, "-", PROGRAM, *SWITCHES, f"--user-data-dir={profile}"],
        pass_fds=(its_in, its_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(its_in)
    os.close(its_out)
    try:
        page = Page(ours_out, ours_in)
        yield page
        page.call("Browser.close")
    finally:
        os.close(ours_out)
        os.close(ours_in)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
