"""The grader's side of a student's process: start it, ask, and end it whatever it does."""

import contextlib
import json
import os
import secrets
import selectors
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import regard
from regard.course.wire import Message
from regard.errors import RegardError

WORKER = (sys.executable, "-u", "-P", "-m", "regard.course.worker")
START_SECONDS = 90.0
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
        self._folder = TemporaryDirectory(prefix="regard-check-", ignore_cleanup_errors=True)
        self._limits = limits
        self._pending = b""
        self._output = b""
        self.output_bytes = 0
        child_reads, self._write = os.pipe()
        self._read, child_writes = os.pipe()
        self._process = subprocess.Popen(
            [*WORKER, str(child_reads), str(child_writes), json.dumps(asdict(limits))],
            cwd=self._folder.name,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(child_reads, child_writes),
            start_new_session=True,
        )
        os.close(child_reads)
        os.close(child_writes)
        assert self._process.stdout is not None
        self._printed = self._process.stdout.fileno()
        for pipe in (self._write, self._read, self._printed):
            os.set_blocking(pipe, False)
        self._deadline = time.monotonic() + START_SECONDS
        self.walls: dict[str, bool] = {}

    def __enter__(self) -> "Sandbox":
        """Wait until the walls stand; the clock starts then."""
        try:
            self.walls = self._exchange(b"")["ok"]
        except Stopped as stop:
            self.__exit__()
            last = self.output.strip().rpartition("\n")[2]
            raise RegardError(f"regard check: the process for students' code does not start ({stop}): {last}") from None
        self._deadline = time.monotonic() + self._limits.seconds
        return self

    def __exit__(self, *_: object) -> None:
        """Kill whatever is left in the session and remove the folder."""
        self._kill()
        for pipe in (self._write, self._read):
            os.close(pipe)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._folder.cleanup()

    def ask(self, request: Message) -> Message:
        """Send a request and wait for the reply, at most until the submission's time is up."""
        ticket = secrets.token_hex(8)  # code that writes into all pipes does not know it
        reply = self._exchange(json.dumps(request | {"id": ticket}).encode() + b"\n")
        if reply.get("id") != ticket:
            raise Stopped("garbled", str(reply)[:80])
        return reply

    @property
    def output(self) -> str:
        """The first of what the student's code printed."""
        return self._output.decode("utf-8", "replace")

    def _exchange(self, data: bytes) -> Message:
        with selectors.DefaultSelector() as selector:
            selector.register(self._read, selectors.EVENT_READ)
            with contextlib.suppress(ValueError, KeyError):
                selector.register(self._printed, selectors.EVENT_READ)
            if data:
                selector.register(self._write, selectors.EVENT_WRITE)
            while b"\n" not in self._pending:
                left = self._deadline - time.monotonic()
                if left <= 0:
                    self._kill()
                    raise Stopped("timeout", f"{self._limits.seconds} s")
                for key, _ in selector.select(left):
                    data = self._serve(key.fd, data, selector)
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            message = json.loads(line)
            assert isinstance(message, dict)
            return message
        except (ValueError, AssertionError):
            raise Stopped("garbled", line[:80].decode("utf-8", "replace")) from None

    def _serve(self, pipe: int, data: bytes, selector: selectors.BaseSelector) -> bytes:
        """Move bytes along one pipe; return what is still to be sent."""
        try:
            if pipe == self._write:
                data = data[os.write(pipe, data) :]
                if not data:
                    selector.unregister(pipe)
                return data
            got = os.read(pipe, 1 << 16)
        except BlockingIOError:
            return data
        except BrokenPipeError:
            got, pipe = b"", self._read
        if pipe == self._printed:
            self.output_bytes += len(got)
            self._output += got[: KEPT_OUTPUT - len(self._output)]
            if not got:
                selector.unregister(pipe)
        elif not got:
            raise Stopped("died", self._how_it_ended())
        else:
            self._pending += got
            if len(self._pending) > LARGEST_REPLY:
                raise Stopped("garbled", "a reply of more than 32 MB")
        return data

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return "it closed its pipes"
        return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)

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
