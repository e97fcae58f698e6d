"""The tutorial page shows the tutorial's code as it is."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_page_was_made_from_the_script() -> None:
    spec = importlib.util.spec_from_file_location("make_tutorial", ROOT / "docs" / "make_tutorial.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page, at = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"), 0
    cells = module.cells((ROOT / "examples" / "tutorial.py").read_text(encoding="utf-8"))
    assert len(cells) > 20
    for kind, body in cells:
        text = (
            re.sub(r"^# ?", "", body, flags=re.MULTILINE) if kind == "markdown" else body.replace("  # noqa: E402", "")
        )
        at = page.find(text, at)
        assert at >= 0, f"run python docs/make_tutorial.py: the page lacks {text[:60]!r}"


def test_its_pictures_are_there_and_small() -> None:
    names = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    assert len(names) == 7
    assert all((ROOT / "docs" / name).stat().st_size < 150_000 for name in names)
