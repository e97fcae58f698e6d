"""The report in a real browser."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from browser.chromium import PROGRAM, browser
from regard.cli import main
from tiny_runs import make_run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    runs = [make_run(folder / name, "scenes", f"model.attention={name}").path for name in ("additive", "mean")]
    result = CliRunner().invoke(
        main, ["report", *map(str, runs), "-o", str(folder / "report.html")], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return folder / "report.html"


@pytest.mark.parametrize("width", [1000, 360], ids=["desk", "phone"])
def test_it_opens_without_a_complaint_or_a_request_and_hover_lights_up(
    report: Path, tmp_path: Path, width: int
) -> None:
    with browser(tmp_path / "profile") as page:
        page.open(report, width=width)
        page.value("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        page.value("document.querySelector('.regard-attention').scrollIntoView()")
        page.wait("document.querySelectorAll('.regard-attention[data-built] td[aria-label]').length > 0")
        page.hover(".regard-attention td[aria-label]")
        page.wait("document.querySelectorAll('.regard-attention td.on').length > 1")
        lit = page.value("[...document.querySelectorAll('.regard-attention th.on')].map(th => th.className)")
        assert sorted(lit) == ["column on", "row on"]
        assert page.value("document.querySelector('.regard-attention output').textContent").endswith("%")
        assert page.value("document.documentElement.scrollWidth <= innerWidth")
        assert page.complaints() == []
        assert [url for url in page.requests() if not url.startswith("data:")] == [report.resolve().as_uri()]
