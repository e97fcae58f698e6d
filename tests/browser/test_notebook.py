"""What a notebook shows, in a real browser: every output brings the script along."""

import json
from pathlib import Path

import numpy as np
import pytest

from browser.chromium import PROGRAM, browser
from regard.pictures.html import page as page_of
from regard.translation import Translation

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]
GRIDS = "[...document.querySelectorAll('.regard-attention')].map(one => one.querySelectorAll('[role=grid]').length)"
INSERT = """
(html => {
  const place = document.createElement("div");
  document.body.append(place);
  place.innerHTML = html;
  for (const old of place.querySelectorAll("script:not([type])")) {
    const script = document.createElement("script");
    script.textContent = old.textContent;
    old.replaceWith(script);
  }
})
"""


def outputs(count: int) -> list[str]:
    weights = np.full((1, 2, 2), 0.5, np.float32)
    return [Translation(f"{n} a", (str(n), "a"), f"{n} b", (str(n), "b"), weights)._repr_html_() for n in range(count)]


def test_every_diagram_is_drawn_once(tmp_path: Path) -> None:
    (tmp_path / "notebook.html").write_text(page_of("".join(outputs(3)), title="notebook"))
    with browser(tmp_path / "profile") as page:
        page.open(tmp_path / "notebook.html", height=4000)
        page.wait(f"{GRIDS}.every(count => count > 0)")
        page.value("dispatchEvent(new Event('beforeprint'))")
        assert page.value(GRIDS) == [1, 1, 1]
        assert page.complaints() == []


def test_every_diagram_is_drawn_once_where_outputs_come_one_after_another(tmp_path: Path) -> None:
    (tmp_path / "notebook.html").write_text(page_of("", title="notebook"))
    with browser(tmp_path / "profile") as page:
        page.open(tmp_path / "notebook.html", height=4000)
        page.value(f"{json.dumps(outputs(3))}.forEach({INSERT})")
        page.wait(f"{GRIDS}.every(count => count > 0)")
        page.value("dispatchEvent(new Event('beforeprint'))")
        assert page.value(GRIDS) == [1, 1, 1]
        assert page.complaints() == []
