"""The report in a real browser."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from browser.chromium import PROGRAM, Page, browser
from regard.cli import main
from regard.pictures.diagram import Diagram
from regard.pictures.html import attention_html
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


def put_on_paper(page: Page, place: Path) -> None:
    """Open a page on a desk and lay it out as on A4: 190 by 277 mm at 96 dots an inch."""
    page.open(place, width=1400)
    page.value("dispatchEvent(new Event('beforeprint'))")
    page.call("Emulation.setEmulatedMedia", media="print")
    page.call("Emulation.setDeviceMetricsOverride", width=718, height=1047, deviceScaleFactor=1, mobile=False)


@pytest.mark.parametrize(("columns", "rows"), [(17, 17), (40, 20), (10, 50)])
def test_a_diagram_fits_its_page(tmp_path: Path, columns: int, rows: int) -> None:
    weights = np.full((2, rows, columns), 1 / columns)
    words = [f"Quellwort{number}" for number in range(columns)], [f"word{number}" for number in range(rows)]
    (tmp_path / "wide.html").write_text(attention_html(Diagram(*words, weights, title="a", texts=("b", "c"))))
    with browser(tmp_path / "profile") as page:
        put_on_paper(page, tmp_path / "wide.html")
        assert page.value("document.documentElement.scrollWidth") <= 718
        last = "[...document.querySelectorAll('th.column span')].at(-1).getBoundingClientRect().right"
        assert page.value(last) <= 718
        assert page.value("document.querySelector('.regard-sentence').getBoundingClientRect().bottom") <= 1047
        assert page.value("getComputedStyle(document.querySelector('.frame')).overflowX") == "visible"
        assert page.value("document.querySelector('select').checkVisibility()") is False
        assert "show" not in page.value("document.querySelector('.key').innerText")


def test_a_space_among_characters_is_seen(tmp_path: Path) -> None:
    (tmp_path / "letters.html").write_text(attention_html(Diagram(tuple("a b"), tuple("c "), np.full((2, 3), 1 / 3))))
    with browser(tmp_path / "profile") as page:
        page.open(tmp_path / "letters.html")
        page.wait("document.querySelectorAll('th').length > 0")
        assert page.value("[...document.querySelectorAll('th')].map(th => th.textContent)") == ["a", "␣", "b", "c", "␣"]


def test_signatures_and_configuration_are_printed_and_all_sentences_only_when_open(
    report: Path, tmp_path: Path
) -> None:
    with browser(tmp_path / "profile") as page:
        put_on_paper(page, report)
        told = page.value("document.body.innerText")
        assert "corpus_sha256" in told
        assert told.count("metric:chrf") == 2
        assert page.value("document.documentElement.scrollWidth") <= 718


def test_a_phone_shows_readable_charts_and_tells_that_tables_go_on(report: Path, tmp_path: Path) -> None:
    with browser(tmp_path / "profile") as page:
        page.open(report, width=390)
        boxes = "[...document.querySelectorAll('.charts %s')].map(one => one.getBoundingClientRect().%s)"
        assert round(min(page.value(boxes % ("text", "height"))), 1) >= 10
        assert max(page.value(boxes % ("svg", "right"))) <= 390
        page.value("document.querySelector('.scroll').scrollLeft = 1000")
        assert page.value("document.querySelector('.scroll').scrollLeft") > 0
        assert page.value("document.querySelector('.scroll td').getBoundingClientRect().left") == 16
