"""The process in which a student's code runs: raise the walls, then answer questions until nobody asks."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from regard.course import contain


def main() -> None:
    """Serve requests; the arguments are a socket and the limits."""
    line, limits = int(sys.argv[1]), json.loads(sys.argv[2])
    walls = {"network": contain.cut_network()}
    torch: Any = import_module("torch")
    torch.set_num_threads = lambda _: None  # no thread can start here
    lesson = import_module("regard.course.lesson").Lesson() if limits["train"] else None
    desk: Any = import_module("regard.course.desk").Desk(lesson)
    sys.path[:] = [p for p in sys.path if "site-packages" in p or p.startswith((sys.prefix, sys.base_prefix))]
    for name in [] if limits["train"] else [name for name in sys.modules if name.partition(".")[0] == "regard"]:
        del sys.modules[name]  # so that importing the solution is an import, which `watch` refuses
    folder = str(Path.cwd())
    contain.limit(memory_bytes=limits["megabytes"] << 20, cpu_seconds=limits["seconds"] + 5)
    walls |= {"user": contain.become_nobody(), "files": contain.fence_files(writable=folder)}
    contain.watch(folder, desk.refused.append)
    with open(line, "rb") as asked, open(line, "wb", closefd=False) as answers:

        def send(message: dict[str, Any]) -> None:
            answers.write(json.dumps(message).encode() + b"\n")
            answers.flush()

        send({"ok": walls})
        for request in map(json.loads, asked):
            send(desk.answer(request) | {"id": request["id"]})


if __name__ == "__main__":
    main()
