"""The process in which a student's code runs: raise the walls, then answer questions until the pipe closes."""

import json
import os
import stat
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from regard.course import contain


def main() -> None:
    """Serve requests; arguments are the two pipes and the limits."""
    requests, replies = (int(number) for number in sys.argv[1:3])
    limits = json.loads(sys.argv[3])
    walls = {"network": contain.cut_network()}
    torch: Any = import_module("torch")
    torch.set_num_threads = lambda _: None  # no thread can start here
    lesson = import_module("regard.course.lesson").Lesson() if limits["train"] else None
    desk: Any = import_module("regard.course.desk").Desk(lesson)
    sys.path[:] = [
        path for path in sys.path if "site-packages" in path or path.startswith((sys.prefix, sys.base_prefix))
    ]
    for name in [] if limits["train"] else [name for name in sys.modules if name.partition(".")[0] == "regard"]:
        del sys.modules[name]  # so that importing the solution is an import, which `watch` refuses
    folder = str(Path.cwd())
    contain.limit(memory_bytes=limits["megabytes"] << 20, cpu_seconds=limits["seconds"] + 5)
    is_open = _everybody_reads(sys.prefix) and _everybody_reads(sys.base_prefix)
    if os.getuid() != 0:
        walls["user"] = True
    else:
        walls["user"] = (is_open or contain.has_fences()) and contain.become_nobody(keep_reading=not is_open)
    walls["files"] = contain.fence_files(readable=contain.readable_places(), writable=folder)
    contain.watch(folder, desk.refused.append)
    with os.fdopen(requests, "rb") as asked, os.fdopen(replies, "wb") as answers:
        _send(answers, {"ok": walls})
        for line in asked:
            request = json.loads(line)
            _send(answers, desk.answer(request) | {"id": request["id"]})


def _send(stream: Any, message: dict[str, Any]) -> None:
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def _everybody_reads(path: str) -> bool:
    places = [Path(path), *Path(path).parents]
    return all(place.stat().st_mode & stat.S_IXOTH for place in places)


if __name__ == "__main__":
    main()
