"""Walls around a student's code, as high as the system builds them. Linux has all of them; each says whether it stands.

Only the standard library is imported here: the worker calls this before anything else.
"""

import contextlib
import ctypes
import os
import resource
import stat
import struct
import sys
from collections.abc import Callable
from pathlib import Path

NEW_USER, NEW_NET = 0x10000000, 0x40000000
KEEP_CAPABILITIES, NO_NEW_PRIVILEGES = 8, 38
READ_ANY_FILE = 1 << 2
NOBODY = 65534
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE, READ, READ_DIRECTORY = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFUSED = (
    "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.kill", "os.killpg",
    "subprocess.Popen", "socket.connect", "socket.bind", "socket.getaddrinfo", "pty.spawn", "ctypes.dlopen",
)  # fmt: skip
LISTING = ("os.listdir", "os.scandir")
OUTSIDE = (
    *LISTING, "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate", "os.link", "os.symlink",
)  # fmt: skip


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def cut_network() -> bool:
    """Move into a network namespace of our own, with no way out; needs to come before the first thread."""
    if not sys.platform.startswith("linux"):
        return False
    return bool(_libc().unshare(NEW_NET) == 0 or _libc().unshare(NEW_USER | NEW_NET) == 0)


def limit(*, memory_bytes: int, cpu_seconds: int) -> None:
    """Bound memory beyond what is in use already, processor time, files; allow no new process or thread."""
    used = 0
    with contextlib.suppress(OSError):  # only Linux says
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    bounds = {
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_FSIZE: 1 << 20,
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: used + memory_bytes,
    }
    for kind, bound in bounds.items():
        with contextlib.suppress(ValueError, OSError):  # macOS knows RLIMIT_AS but does not take it
            resource.setrlimit(kind, (bound, bound))


def become_nobody() -> bool:
    """Give up root, which no process limit binds; say whether a limit on processes holds.

    Where nobody cannot read our Python (in /root), the right to read stays; the fence around files must bound it then.
    """
    if os.getuid() != 0:
        return True
    places = [place for path in (sys.prefix, sys.base_prefix) for place in (Path(path), *Path(path).parents)]
    is_open = all(place.stat().st_mode & stat.S_IXOTH for place in places)
    if not is_open and not _fence_version():
        return False
    if not is_open:
        _libc().prctl(KEEP_CAPABILITIES, 1, 0, 0, 0)
    os.chown(".", NOBODY, NOBODY)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    if not is_open:
        header, sets = struct.pack("Ii", 0x20080522, 0), struct.pack("6I", READ_ANY_FILE, READ_ANY_FILE, 0, 0, 0, 0)
        _libc().capset(header, sets)
    return True


def _fence_version() -> int:
    """Return which Landlock the kernel has (Linux 5.13 and later), 0 for none."""
    return max(0, int(_libc().syscall(CREATE_RULESET, None, 0, 1))) if sys.platform.startswith("linux") else 0


def fence_files(*, writable: str) -> bool:
    """Let this process read only what Python reads, write only below ``writable``, use no TCP, signal nobody."""
    version, libc = _fence_version(), _libc()
    if not version:
        return False
    everything = (1 << (13 + (version >= 2) + (version >= 3))) - 1
    net, scope = (3 if version >= 4 else 0), (3 if version >= 6 else 0)
    attributes = struct.pack("QQQ", everything, net, scope)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    rules = libc.syscall(CREATE_RULESET, attributes, len(attributes), 0)
    readable = EXECUTE | READ | READ_DIRECTORY
    for path, rights in [*((path, readable) for path in _readable_places()), (writable, everything)]:
        with contextlib.suppress(FileNotFoundError):
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            allowed = rights if os.path.isdir(path) else rights & (EXECUTE | READ | WRITE)
            libc.syscall(ADD_RULE, rules, 1, struct.pack("=Qi", allowed & everything, place), 0)
            os.close(place)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return bool(libc.syscall(RESTRICT_SELF, rules, 0) == 0)


def _readable_places() -> list[str]:
    """Name what Python itself reads: its own folders, system libraries, and little else."""
    own = {sys.prefix, sys.base_prefix, *(path for path in sys.path if "site-packages" in path)}
    system = ("/usr", "/lib", "/lib64", "/opt", "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom")
    return [*own, *system, "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu"]


def watch(folder: str, report: Callable[[str], None]) -> None:
    """Refuse in Python what the walls refuse in the kernel, so that the report can name it."""
    readable = tuple(os.path.realpath(path) for path in [*_readable_places(), folder])
    folder = os.path.realpath(folder)

    def inside(path: object, places: tuple[str, ...]) -> bool:
        real = os.path.realpath(os.fsdecode(path)) if isinstance(path, str | bytes) else folder
        return any(real == place or real.startswith(place + os.sep) for place in places)

    def refuse(what: str) -> None:
        report(what)
        raise PermissionError(f"not allowed while being checked: {what}")

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and arguments and isinstance(arguments[0], str | bytes):
            mode, flags = str(arguments[1] or ""), arguments[2] if isinstance(arguments[2], int) else 0
            writes = any(letter in mode for letter in "wax+") or bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
            if not inside(arguments[0], (folder,) if writes else readable):
                refuse(f"{'writing' if writes else 'reading'} {os.fsdecode(arguments[0])}")
        elif event in REFUSED:
            refuse(event)
        elif event in OUTSIDE and not inside(arguments[0], readable if event in LISTING else (folder,)):
            refuse(f"{event} {arguments[0]}")

    class NoSolution:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name.partition(".")[0] == "regard":
                refuse(f"import {name}")

    sys.meta_path.insert(0, NoSolution)
    sys.addaudithook(hook)
