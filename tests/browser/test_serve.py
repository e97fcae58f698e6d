"""The page of the service in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest

from browser.chromium import PROGRAM, Page, browser
from regard.run import BOX, DEFAULT
from serving import serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]
EVIL = "<img src=x onerror=alert(1)>"
SET_BEAM = "(beam => {{ beam.value = {}; beam.dispatchEvent(new Event('change')); }})(document.getElementById('beam'))"
READY = (
    "document.querySelectorAll('.view').length && !document.querySelector('.waiting')"
    " && document.querySelectorAll('.view td[aria-label]').length && document.querySelectorAll('.node').length"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("browser") / "profile") as page:
        yield page


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as url:
        yield url


def visit(page: Page, url: str, *, width: int = 1400) -> None:
    page.open("about:blank")
    page.events.clear()
    page.open(url, width=width)
    page.wait(READY)


def type_over(page: Page, text: str) -> None:
    page.value("document.getElementById('text').select()")
    page.call("Input.insertText", text=text)


def text_of(page: Page, selector: str) -> str:
    return str(page.value(f"document.querySelector('{selector}').textContent"))


def check_manners(page: Page, url: str) -> None:
    assert page.complaints() == []
    assert [sent for sent in page.requests() if not sent.startswith((url, "about:"))] == []
    assert page.value("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [1400, 390], ids=["desk", "phone"])
def test_typing_translates_and_hover_lights_up(page: Page, url: str, width: int) -> None:
    visit(page, url, width=width)
    type_over(page, "Zwei Hunde spielen im Schnee.")
    page.wait("document.querySelector('.translation').textContent === 'Two dogs are playing in the snow.'")
    page.wait(READY)
    page.hover(".maps tbody tr:nth-child(2) td:nth-child(3)")
    page.wait("document.querySelectorAll('.maps td.on').length > 1")
    lit = page.value("[...document.querySelectorAll('.maps th.on')].map(th => th.textContent)")
    assert lit == ["Hunde", "dogs"]
    assert text_of(page, ".maps output").endswith("%")
    check_manners(page, url)


def test_the_tree_steps_and_the_winner_comes_last(page: Page, url: str) -> None:
    visit(page, url)
    last = page.value("document.querySelector('.steps input').max")
    assert page.value("document.querySelectorAll('.node.won').length") == int(last) + 1 - page.value(
        "document.querySelectorAll('.step').length - document.querySelectorAll('.step:has(.won)').length"
    )
    page.value("document.querySelector('.tree').focus()")
    for key, step in (("Home", "0"), ("ArrowRight", "1"), ("ArrowRight", "2"), ("ArrowLeft", "1")):
        page.call("Input.dispatchKeyEvent", type="keyDown", key=key)
        assert page.value("document.querySelector('.steps input').value") == step
    assert page.value("document.querySelectorAll('.node.won').length") == 0
    assert text_of(page, ".steps output") == f"step 1 of {last}: 5 continuations weighed, 5 kept"
    shown = "getComputedStyle(document.querySelectorAll('.step')[{}]).visibility"
    assert [page.value(shown.format(step)) for step in (0, 1, 2)] == ["visible", "visible", "hidden"]
    check_manners(page, url)


def test_a_bookmark_is_followed_while_the_page_is_open(page: Page, url: str) -> None:
    visit(page, f"{url}#50%")
    assert page.value("document.getElementById('text').value") == "50%"
    page.value("location.hash = 'Zwei%20Hunde%20spielen im Schnee.'")
    page.wait("document.querySelector('.translation').textContent === 'Two dogs are playing in the snow.'")
    assert page.value("document.getElementById('text').value") == "Zwei Hunde spielen im Schnee."
    page.wait(READY)
    check_manners(page, url)


def test_without_words_there_is_nothing_to_step_through(page: Page, url: str) -> None:
    visit(page, url)
    type_over(page, "")
    page.wait("document.querySelector('.translation').textContent === '' && !document.querySelector('.waiting')")
    assert page.value("document.querySelector('.steps').offsetHeight") == 0
    page.value("document.querySelectorAll('.steps button').forEach(button => button.click())")
    check_manners(page, url)


def test_a_setting_out_of_range_is_told_in_place_of_the_translation(page: Page, url: str) -> None:
    visit(page, url)
    page.value(SET_BEAM.format(60))
    page.wait("document.querySelector('.problem').textContent")
    assert text_of(page, ".problem") == "beam: got 60, want 1 to 20."
    shown = ".translation *, .best *, .maps *, .tree .all *, .tree svg *"
    assert page.value(f"document.querySelectorAll('{shown}').length") == 0
    assert page.value("document.querySelector('.steps').offsetHeight") == 0
    page.value(SET_BEAM.format(1))
    page.wait(READY)
    assert page.value("document.querySelector('.steps').offsetHeight") > 0
    assert text_of(page, ".problem") == ""
    check_manners(page, url)


def test_another_word_is_chosen_and_the_model_goes_on(page: Page, url: str) -> None:
    visit(page, f"{url}#Zwei%20Hunde%20spielen%20im%20Schnee.")
    page.value("document.querySelectorAll('.word')[2].click()")
    page.wait("document.querySelector('dialog').open")
    assert text_of(page, "dialog [aria-current] b") == "are"
    page.value("[...document.querySelectorAll('dialog li button')].find(b => b.textContent.startsWith('play')).click()")
    page.wait("document.querySelector('.translation').textContent === 'Two dogs play in the snow.'")
    assert page.value("document.querySelectorAll('.word.given').length") == 3
    page.value("document.querySelector('.forced button').click()")
    page.wait("document.querySelector('.translation').textContent === 'Two dogs are playing in the snow.'")
    check_manners(page, url)


def test_an_alternative_and_each_head_have_their_own_maps(page: Page, url: str) -> None:
    visit(page, url)
    second = page.value("document.querySelectorAll('.best bdi')[1].textContent")
    page.value("document.querySelectorAll('.best button')[1].click()")
    assert text_of(page, ".translation") == second
    page.value("(choice => { choice.value = 'all'; choice.dispatchEvent(new Event('change')); })"
               "(document.getElementById('heads'))")  # fmt: skip
    assert page.value("[...document.querySelectorAll('.maps figcaption')].map(one => one.textContent)") == [
        f"head {number}" for number in range(1, 5)
    ]
    check_manners(page, url)


def test_words_of_any_script_stay_words(page: Page, url: str) -> None:
    visit(page, url)
    type_over(page, f"كلبان {EVIL} كلبان يلعبان")
    page.wait("[...document.querySelectorAll('.maps th.column')].some(th => th.textContent === 'يلعبان')")
    assert page.value("document.querySelectorAll('img').length") == 0
    type_over(page, "")
    page.wait("document.querySelector('.translation').textContent === '' && !document.querySelector('.waiting')")
    check_manners(page, url)


def test_two_models_stand_side_by_side_whatever_they_are_called(page: Page, tmp_path: Path) -> None:
    runs = [Path(copytree(BOX / DEFAULT, tmp_path / name)) for name in (EVIL, "other")]
    with serving(*runs) as url:
        visit(page, url)
        assert page.value("[...document.querySelectorAll('h2')].map(one => one.textContent)") == [EVIL, "other"]
        first, second = page.value(
            "[...document.querySelectorAll('.maps')].map(one => (({x, y}) => [x, y])(one.getBoundingClientRect()))"
        )
        assert first[0] < second[0]
        assert first[1] == second[1]
        page.value("document.querySelector('#models input').click()")
        page.wait(f"document.querySelectorAll('.view').length === 1 && {READY}")
        check_manners(page, url)
