"""The grader's side of a student's process: start it, ask, and end it whatever it does."""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import regard
from regard.course.wire import Message
from regard.errors import RegardError

WORKER = (sys.executable, "-u", "-P", "-m", "regard.course.worker")
START_SECONDS = 300
"""Importing torch on a busy machine; no student's code runs yet."""
LARGEST_REPLY = 32 << 20
KEPT_OUTPUT = 2000


@dataclass(frozen=True, slots=True)
class Limits:
    """What one submission may use."""

    seconds: int = 30
    megabytes: int = 1024
    train: bool = False
    """Whether the process prepares the homework model to train with the student's class."""


class Stopped(Exception):
    """The student's process is over: out of time, ended by itself, or talking nonsense."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


class Sandbox:
    """A process with limits, in a folder and a session of its own; use it in a ``with`` statement."""

    def __init__(self, limits: Limits) -> None:
        if sys.platform == "win32":
            raise RegardError("regard check: got Windows, want Linux or macOS, which can limit a process.")
        self._limits = limits
        self._folder = TemporaryDirectory(prefix="regard-check-", ignore_cleanup_errors=True)
        self._talk, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [*WORKER, str(theirs.fileno()), json.dumps(asdict(limits))],
                cwd=self._folder.name,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self._pending = self._printed = b""
        self.printed_bytes = 0
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._set_clock(START_SECONDS)
        self.walls: dict[str, bool] = {}

    def __enter__(self) -> "Sandbox":
        """Wait until the walls stand; the clock starts then."""
        try:
            self.walls = self._exchange(b"")["ok"]
        except Stopped as stop:
            self.__exit__()
            last = self.printed.strip().rpartition("\n")[2]
            raise RegardError(f"regard check: the process for students' code does not start ({stop}): {last}") from None
        self._set_clock(self._limits.seconds)
        return self

    def __exit__(self, *_: object) -> None:
        """Kill whatever is left in the session and remove the folder."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self._listener.join(timeout=5)
        self._talk.close()
        self._folder.cleanup()

    def ask(self, request: Message) -> Message:
        """Send a request and wait for the reply, at most until the submission's time is up."""
        ticket = secrets.token_hex(8)  # code that writes into every file does not know it
        reply = self._exchange(json.dumps(request | {"id": ticket}).encode() + b"\n")
        if reply.get("id") != ticket:
            raise Stopped("garbled", str(reply)[:80])
        return reply

    @property
    def printed(self) -> str:
        """The first of what the student's code printed; all of that is here when the process is over."""
        return self._printed.decode("utf-8", "replace")

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            while got := stream.read(1 << 16):
                self.printed_bytes += len(got)
                self._printed += got[: KEPT_OUTPUT - len(self._printed)]

    def _exchange(self, data: bytes) -> Message:
        try:
            self._in_time().sendall(data)
            while b"\n" not in self._pending:
                got = self._in_time().recv(1 << 16)
                self._pending += got
                if not got:
                    raise Stopped("died", self._how_it_ended())
                if len(self._pending) > LARGEST_REPLY:
                    raise Stopped("garbled", "a reply of more than 32 MB")
        except TimeoutError:
            raise Stopped("timeout", f"{self._seconds} s") from None
        except ConnectionError:
            raise Stopped("died", self._how_it_ended()) from None
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise Stopped("garbled", line[:80].decode("utf-8", "replace"))
        return message

    def _set_clock(self, seconds: int) -> None:
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds

    def _in_time(self) -> socket.socket:
        """Return the socket, which waits until the deadline and no longer."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._talk.settimeout(left)
        return self._talk

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return "it closed its connection"
        return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"

    def _environment(self) -> dict[str, str]:
        """Nothing of the grader's environment but what Python needs to start, and one thread for every library."""
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        home = dict.fromkeys(("HOME", "TMPDIR", "MPLCONFIGDIR"), self._folder.name)
        package = str(Path(regard.__file__).resolve().parents[1])
        return threads | home | {
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "PYTHONPATH": package,
            "PYTHONDONTWRITEBYTECODE": "1",
            "CUDA_VISIBLE_DEVICES": "",
            "MPLBACKEND": "Agg",
        }  # fmt: skip
