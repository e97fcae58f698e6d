import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Literal

import numpy as np
import pytest

from regard.pictures.diagram import Diagram, draw_attention
from regard.pictures.html import (
    Look,
    attention_assets,
    attention_fragment,
    attention_html,
    figure_to_html,
    sentence_html,
    table,
)

EVIL = "</script><script>alert(1)</script><!--\u2028&\"'"


def diagram(word: str = "Hund", *, heads: int = 1) -> Diagram:
    weights = np.array([[[0.904, 0.096, 0.0], [0.004, 0.5, 0.496]]] * heads)
    return Diagram(
        ("der", word, "."), (word, "runs"), weights, frozenset({(2, 1), (0, 0)}), f"ref {word}", f"title {word}"
    )


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"src", "href", "xlink:href"}]


def read(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    return tags


def data(fragment: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json">(.*?)</script>', fragment, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_the_fragment_holds_the_diagram() -> None:
    assert data(attention_fragment(diagram())) == {
        "title": "title Hund",
        "source": ["der", "Hund", "."],
        "target": ["Hund", "runs"],
        "maps": [{"name": "attention", "rows": [[90, 10, 0], [0, 50, 50]]}],
        "gold": [[0, 0], [2, 1]],
        "isMirrored": False,
    }
    several = data(attention_fragment(diagram(heads=2)))
    assert [each["name"] for each in several["maps"]] == ["mean of 2 heads", "head 1", "head 2"]
    assert data(attention_fragment(Diagram(("كلب",), ("dog",), np.ones((1, 1)))))["isMirrored"] is True


def test_words_cannot_become_markup() -> None:
    plain, evil = read(attention_html(diagram())), read(attention_html(diagram(EVIL)))
    assert evil.opened == plain.opened
    assert data(attention_fragment(diagram(EVIL)))["source"] == ["der", EVIL, "."]
    assert "innerHTML" not in attention_assets()


def test_models_stand_side_by_side_under_one_source_and_reference() -> None:
    texts = ("Der <Hund>.", "The dog.")
    seen = replace(diagram(), title="one", texts=texts)
    blind = replace(seen, title="two", texts=("", "A cat."), weights=np.zeros((2, 3)))
    page = attention_html(seen, blind)
    for once in ("Der &lt;Hund&gt;.", "ref Hund", "<b>one</b>", "<b>two</b>", "The dog.", "A cat."):
        assert page.count(once) == 1, once
    assert page.count('<div class="models">') == 1
    assert page.count('<div class="model" ') == 2
    assert page.count("<figure ") == 1
    assert "<bdi>A</bdi>" in sentence_html("S", [Look("", "A", None)], number="7")
    assert "<small>7 source</small> <bdi>S</bdi>" in sentence_html("S", [], number="7")


def test_a_page_has_the_source_of_whichever_diagram_knows_it() -> None:
    page = attention_html(diagram(), replace(diagram(), texts=("Der Hund.", "The dog.")))
    assert "<small>source</small> <bdi>Der Hund.</bdi>" in page


@pytest.mark.parametrize("rows", ["translation", "reference"])
def test_a_text_that_all_diagrams_have_in_their_rows_is_told_once(rows: Literal["translation", "reference"]) -> None:
    both = replace(diagram(heads=2), texts=("Der Hund.", "The dog."), reference="").split("all")
    assert [each.texts for each in both] == [("Der Hund.", "The dog.")] * 2
    page = attention_html(*both, rows=rows)
    assert page.count("The dog.") == page.count(f"<small>{rows}</small> <bdi>The dog.</bdi>") == 1
    assert page.count("<figure ") == 2


def test_the_page_needs_nothing_from_elsewhere() -> None:
    page = attention_html(diagram())
    assert read(page).links == []
    assert not re.search(r"https?:|@import|url\(", page)
    assert page.startswith("<!doctype html>")
    assert "__" not in page
    shades, inks = re.findall(r'"([0-9a-f]{606})"', page)
    assert shades.startswith("440154")
    assert shades.endswith("fde725")
    assert re.fullmatch("(f{6})+(0{6})+", inks)


def test_a_fragment_is_small_enough_for_a_thousand_in_one_report() -> None:
    words = tuple(f"word{number}" for number in range(20))
    weights = np.random.default_rng(0).dirichlet(np.ones(20), size=20)
    assert len(attention_fragment(Diagram(words, words, weights, None, "r" * 120))) < 3_000


def test_a_figure_becomes_one_inline_svg() -> None:
    svg = figure_to_html(draw_attention(diagram()), description='a "quoted" picture')
    assert svg.startswith("<svg ")
    assert svg.rstrip().endswith("</svg>")
    assert 'aria-label="a &quot;quoted&quot; picture"' in svg
    assert ">Hund</text>" in svg
    used = set(re.findall(r'(?:url\(#|xlink:href="#)([^)"]+)', svg))
    assert used <= set(re.findall(r' id="([^"]+)"', svg))
    assert 'id="text_1"' not in svg


@pytest.mark.parametrize("word", [EVIL, "中文", "كلب"])
def test_a_figure_escapes_its_words(word: str) -> None:
    assert read(figure_to_html(draw_attention(diagram(word)))).opened.count("script") == 0


def test_numbers_stand_flush_right() -> None:
    cells = [["a", "1.5", "-1.00 to 2.00", "x|y"], ["7", "–", "–", "< 3"], ["<b>", "+12.25", "3", ""]]
    html = table(["name", "value", "range", "signature"], cells)
    right = re.findall(r'<(t[hd]) style="text-align: right">(.*?)</', html)
    assert right == [("th", "value"), ("th", "range"), *(("td", row[i]) for row in cells for i in (1, 2))]
    assert "<td>x|<wbr>y</td>" in html
    assert "<td>&lt;b&gt;</td>" in html
    assert "<th>a</th>" in table(["a"], [])


def test_short_names_are_not_broken_at_a_hyphen() -> None:
    html = table(["pair", "x"], [["q160-5 − q80", "a-b"], ["a-very-long-name-of-a-run-in-a-folder", ""]])
    assert '<td><span style="white-space: nowrap">q160-5</span> − q80</td><td>a-b</td>' in html
    assert "<td>a-very-long-name-of-a-run-in-a-folder</td>" in html
