"""Write docs/tutorial.md by running examples/tutorial.py: its text, its code, what it printed, its pictures.

python docs/make_tutorial.py          (takes as long as the tutorial: a few minutes)
"""

import contextlib
import io
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "examples" / "tutorial.py"
PICTURES = ROOT / "docs" / "images" / "tutorial"


def main() -> None:
    """Run the cells one after another and write the page."""
    sys.argv = [str(SOURCE), str(PICTURES)]
    names: dict[str, object] = {"__name__": "__main__"}
    pieces = []
    for kind, body in cells(SOURCE.read_text(encoding="utf-8")):
        if kind == "markdown":
            pieces.append(re.sub(r"^# ?", "", body, flags=re.MULTILINE))
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(body, str(SOURCE), "exec"), names)
        code = body.replace("  # noqa: E402", "")
        pieces += [f"```python\n{code}\n```", *outputs(printed.getvalue())]
    (ROOT / "docs" / "tutorial.md").write_text("\n\n".join(pieces) + "\n", encoding="utf-8")


def cells(source: str) -> list[tuple[str, str]]:
    """Cut a script at its cell marks."""
    found = re.split(r"^# %%( \[markdown\])?\n", source, flags=re.MULTILINE)[1:]
    pairs = zip(found[::2], found[1::2], strict=True)
    return [("markdown" if mark else "code", body.strip()) for mark, body in pairs]


def outputs(printed: str) -> list[str]:
    """Turn printed lines into a block, and the names of pictures into pictures."""
    pictures = re.findall(r"^\[picture (.+)\.png\]$", printed, flags=re.MULTILINE)
    lines = [line for line in printed.splitlines() if not line.startswith("[picture ")]
    blocks = [f"```text\n{chr(10).join(lines)}\n```"] if lines else []
    return [*blocks, *(f"![{name}](images/tutorial/{name}.png)" for name in pictures)]


if __name__ == "__main__":
    main()
