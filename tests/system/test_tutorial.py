"""The tutorial runs from start to end, and its page shows what it prints and draws."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_tutorial_runs_and_its_page_is_up_to_date(tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    command = [sys.executable, str(ROOT / "examples" / "tutorial.py"), str(pictures)]
    environment = os.environ | {"TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    assert sorted(path.name for path in pictures.iterdir()) == sorted(re.findall(r"images/tutorial/(.+?)\)", page))
    printed = [line for line in done.stdout.splitlines() if not line.startswith("[picture ")]
    trained = next(i for i, line in enumerate(printed) if line.startswith("none "))
    assert trained == 8
    for line in printed[:trained]:  # what follows are results of a training, which differ between processors
        assert line in page.splitlines(), line
