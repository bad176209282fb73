"""The dashboard in a real browser: both themes, phone and desktop, mounted two prefixes deep, by keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.browser import Opened, opened
from tests.sampling import covering
from tests.savings.calling import answered, asked, call, chat, used
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.model.node import LABEL_MAX
from tokenmizer_mw.server.dashboard import dashboard

from .visiting import CHAT, LATER, TOKEN, served

HOSTILE = {
    "script": "<script>document.title='taken over'</script>",
    "svg": "<svg onload=\"document.title='taken over'\">",
    "markdown": "[a link](javascript:document.title='taken')",
    "escape": "\x1b[31mred\x1b[0m",
    "long": "x" * 10_000,
    "turned": "\u202egnp.exe\u202d",
}

PAGES = {
    "sessions": "",
    "found": "?find=village&sort=name&days=7",
    "overview": "session?id=hall",
    "block": "session?id=hall&level=full",
    "transcript": "transcript?id=hall",
    "compare": "compare?id=hall&from=checkpoint-1",
    "request": "request?id=hall",
    "cut": "request?id=s",
    "graph": "graph?id=hall",
    "facts": "facts?id=hall",
    "fact": "fact?id=hall&node=decision-1",
    "history": "history?id=hall&from=start",
    "search": "search?q=database",
    "savings": "savings",
    "savings-sorted": "savings?by_day=-cost&by_model=calls",
    "sessions-sorted": "?sort=open",
    "health": "status",
    "erase": "forget?id=hall",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionMemory]:
    settings = Settings(savings=True, context_window=1_500, block_tokens=120)
    found = SessionMemory.open(f"sqlite:///{tmp_path_factory.mktemp('board') / 'chat.db'}", settings)
    with ThreadPoolExecutor(1) as thread:  # this one counts as running an event loop
        thread.submit(_books, found).result()
    found.record("hall", CHAT)
    found.checkpoint("hall")
    found.record("hall", [*CHAT, *LATER])
    decision = next(node for node in found.graph("hall").nodes("decision") if node.value == "postgresql")
    found.pin("hall", decision.id)
    option = [{"role": "user", "content": "We will not use MongoDB for bookings, because nobody here knows it."}]
    found.record("hall", [*CHAT, *LATER, *option])
    found.record("hostile", CHAT)
    for node, text in zip(found.graph("hostile").nodes(), HOSTILE.values(), strict=False):
        found.correct("hostile", node.id, label=text[:LABEL_MAX], detail=text, reason=text)
    found.record("hostile", [*CHAT, *({"role": "user", "content": f"Let's fix {text}"} for text in HOSTILE.values())])
    yield found
    found.close()


def _books(memory: SessionMemory) -> None:
    """Four calls, the first of which is cut."""
    history = chat(14, words=60)
    for number in range(4):
        call(memory, asked(history, model="gpt-5.1"), answered(**used(1_100, 1_024)))
        history += [{"role": "assistant", "content": "Noted."}, {"role": "user", "content": f"And then? {number}"}]
    memory.flush()


@pytest.fixture(scope="module")
def address(memory: SessionMemory) -> Iterator[str]:
    board = dashboard(memory, token=TOKEN)
    app = Starlette(routes=[Mount("/desk", Starlette(routes=[Mount("/memory", board)]))])
    with served(app, board) as url:
        yield f"{url}/desk/memory/"


@pytest.fixture(scope="module")
def signed_in(browser: Any, address: str) -> Any:
    """What a browser keeps after the link with the token was opened."""
    with opened(browser, f"{address}login#token={TOKEN.replace(' ', '%20')}") as shown:
        shown.page.wait_for_selector("h1:has-text('Sessions')")
        assert TOKEN not in shown.page.url
        assert not [one for one in shown.requests if "secret" in one or "token=" in one]
        return shown.page.context.storage_state()


@pytest.mark.parametrize(("theme", "width"), covering(["light", "dark"], [1280, 390]))
def test_every_page(theme: Any, width: int, browser: Any, address: str, signed_in: Any) -> None:
    with opened(browser, theme=theme, width=width, storage_state=signed_in) as shown:
        for name, page in PAGES.items():
            shown.go(address + page)
            looked_at(shown, f"dashboard-{name}-{theme}-{width}")
        shown.page.context.clear_cookies()
        shown.go(f"{address}login")
        looked_at(shown, f"dashboard-sign-in-{theme}-{width}")
        assert {urlsplit(one).netloc for one in shown.requests} == {urlsplit(address).netloc}
        assert all(one.startswith(address) for one in shown.requests)


def looked_at(shown: Opened, name: str) -> None:
    """Pictured, and without a fault: one heading, nothing beside the screen, nothing that WCAG or the browser minds."""
    shown.picture(name)
    assert shown.page.locator("h1").count() == 1, name
    assert shown.page.evaluate(BESIDE) <= 0, name
    assert shown.violations() == [], name
    assert shown.complaints == [], name


@pytest.mark.parametrize("width", [1280, 760, 390])
def test_the_row_of_tabs_has_no_vertical_scrollbar(width: int, browser: Any, address: str, signed_in: Any) -> None:
    with opened(browser, f"{address}session?id=hall", width=width, storage_state=signed_in) as shown:
        assert shown.page.evaluate(TABS_BELOW) <= 0
        assert shown.page.evaluate(LINE_UNDER_TAB) == 0, "the mark of the current page covers the line under the row"


TABS_BELOW = """() => { const row = document.querySelector('.tabs ul'); return row.scrollHeight - row.clientHeight }"""
LINE_UNDER_TAB = """() => {
    const bottom = name => document.querySelector(name).getBoundingClientRect().bottom
    return innerWidth < 600 ? 0 : Math.round(bottom('.tabs') - bottom('.tabs [aria-current]')) }"""


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
@pytest.mark.parametrize("moment", ["", "&at=past", "&at=past&as=valid&type=decision"])
def test_the_drawing_begins_in_the_first_third_of_the_screen(
    moment: str, width: int, height: int, browser: Any, address: str, signed_in: Any, memory: SessionMemory
) -> None:
    graph = memory.graph("hall")
    second = sorted({graph.life(node.id).added for node in graph.nodes()})[1]
    page = f"{address}graph?id=hall{moment.replace('past', repr(second))}"
    with opened(browser, page, width=width, height=height, storage_state=signed_in) as shown:
        assert shown.page.evaluate(DRAWING_TOP) <= height / 3
        assert shown.page.evaluate(BESIDE) <= 0
        shown.page.click("summary:has-text('Options')")
        assert shown.page.locator("input[type=radio]").first.is_visible()
        looked_at(shown, f"dashboard-graph-options-{width}")


DRAWING_TOP = """() => Math.max(...[...document.querySelectorAll('.picture .drawing')]
    .filter(box => box.offsetParent).map(box => box.getBoundingClientRect().top))"""

BESIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize("page", ["", "session?id=hostile", "graph?id=hostile", "facts?id=hostile", "search?q=fix"])
def test_hostile_words_are_inert(page: str, browser: Any, address: str, signed_in: Any) -> None:
    with opened(browser, address + page, storage_state=signed_in, width=390) as shown:
        shown.picture(f"dashboard-hostile-{page.partition('?')[0] or 'sessions'}")
        assert not shown.page.title().startswith("taken")
        assert shown.page.locator("main script, main [onload]").count() == 0
        assert shown.page.evaluate(BESIDE) <= 0
        assert shown.complaints == []


def test_what_happens_shows_by_itself(browser: Any, address: str, memory: SessionMemory, signed_in: Any) -> None:
    with opened(browser, f"{address}session?id=hall", storage_state=signed_in) as shown:
        shown.page.wait_for_selector("#live:not([hidden])")
        history = [{"role": "user", "content": "Use Redis for the cache."}]
        memory.record("hall", [*CHAT, *LATER, *history])
        shown.page.wait_for_selector("#resume:has-text('Redis')")
        shown.page.goto(address)
        shown.page.wait_for_selector("#live:not([hidden])")
        memory.record("brand-new", [{"role": "user", "content": "Let's build a bird table for the garden."}])
        shown.page.wait_for_selector("#sessions:has-text('bird table')")
        assert shown.complaints == []


def test_a_form_that_is_being_filled_in_is_left_alone(
    browser: Any, address: str, memory: SessionMemory, signed_in: Any
) -> None:
    with opened(browser, f"{address}fact?id=hall&node=decision-1", storage_state=signed_in) as shown:
        shown.page.wait_for_selector("#live:not([hidden])")
        shown.page.click("summary:has-text('Correct')")
        shown.page.fill("textarea[name=label]", "half a sent")
        memory.archive("hall", "decision-1")
        shown.page.wait_for_selector("#edits:has-text('archived'), #fact:has-text('archived')")
        assert shown.page.input_value("textarea[name=label]") == "half a sent"
        memory.undo("hall", memory.edits("hall")[-1].edit.number)


def test_by_keyboard_alone(browser: Any, address: str, signed_in: Any) -> None:
    with opened(browser, address, storage_state=signed_in) as shown:
        page = shown.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        page.keyboard.press("Tab")
        page.keyboard.type("village")
        page.keyboard.press("Enter")
        page.wait_for_url("**find=village*")
        reached(page, "a.fact-link")
        page.keyboard.press("Enter")
        page.wait_for_selector("#resume")
        reached(page, ".levels a[href*=full]")
        page.keyboard.press("Enter")
        page.wait_for_url("**level=full*")
        page.goto(f"{address}graph?id=hall")
        reached(page, "input[type=range]")
        page.keyboard.press("Home")
        page.wait_for_url("**step=*")
        assert "change 1 of" in page.text_content("output")
        reached(page, ".drawing a")
        page.keyboard.press("Enter")
        page.wait_for_selector("#fact")
        reached(page, "summary:has-text('Archive')")
        page.keyboard.press("Enter")
        reached(page, "button:has-text('Archive')")
        page.keyboard.press("Enter")
        page.wait_for_selector(".note:has-text('Archived')")
        reached(page, "button:has-text('Undo')")
        page.keyboard.press("Enter")
        page.wait_for_selector(".note:has-text('Undone')")
        assert shown.complaints == []


def test_the_link_signs_in_where_the_page_is_open_already(browser: Any, address: str) -> None:
    with opened(browser, address) as shown:
        page = shown.page
        page.wait_for_url("**/login*")
        page.evaluate("token => { location.hash = 'token=' + encodeURIComponent(token) }", TOKEN)
        page.wait_for_selector("h1:has-text('Sessions')")
        assert "token=" not in page.url
        assert shown.complaints == []


WIDE = ".drawing:not(.is-narrow)"


def test_the_graph_grows_and_shrinks_by_buttons_and_keys(browser: Any, address: str, signed_in: Any) -> None:
    with opened(browser, f"{address}graph?id=hall", storage_state=signed_in, width=800) as shown:
        page = shown.page

        def width() -> float:
            return float(page.locator(WIDE + " > svg").evaluate("svg => svg.getBoundingClientRect().width"))

        natural = width()
        page.click("button[data-zoom=in]")
        assert width() == pytest.approx(natural * 1.25, rel=0.01)
        page.click("button[data-zoom=whole]")
        assert width() <= page.locator(WIDE).evaluate("box => box.clientWidth") + 1
        assert shown.page.evaluate(BESIDE) <= 0
        small = width()
        page.focus(".drawing")
        page.keyboard.press("+")
        assert width() == pytest.approx(small * 1.25, rel=0.01)
        page.keyboard.press("-")
        assert width() == pytest.approx(small, rel=0.01)
        assert shown.complaints == []


def test_the_slider_keeps_the_focus_from_key_to_key(browser: Any, address: str, signed_in: Any) -> None:
    with opened(browser, f"{address}graph?id=hall", storage_state=signed_in) as shown:
        page = shown.page
        assert page.evaluate("document.activeElement.id") != "at"
        page.focus("#at")
        for key in ("Home", "ArrowRight"):
            before = page.url
            page.keyboard.press(key)
            page.wait_for_url(lambda url, before=before: url != before and "step=" in url)
            page.wait_for_selector("#at:focus")
        assert page.input_value("#at") == "2"
        assert shown.violations() == []


def test_keys_in_quick_succession_ask_once(browser: Any, address: str, signed_in: Any) -> None:
    with opened(browser, f"{address}graph?id=hall", storage_state=signed_in) as shown:
        count = """() => new Promise(done => {
            let sent = 0;
            document.getElementById("slider").addEventListener("submit", event => {
                event.preventDefault();
                sent += 1;
                setTimeout(() => done(sent), 50);
            });
            for (let key = 0; key < 4; key += 1) document.getElementById("at").dispatchEvent(new Event("change"));
        })"""
        assert shown.page.evaluate(count) == 1


@pytest.mark.parametrize("width", [1280, 390])
def test_words_in_the_picture_can_be_read(width: int, browser: Any, address: str, signed_in: Any) -> None:
    with opened(browser, f"{address}graph?id=hall", storage_state=signed_in, width=width) as shown:
        box = shown.page.locator(".drawing:visible")
        assert box.count() == 1
        assert box.evaluate("box => box.querySelector('svg').getScreenCTM().a") == pytest.approx(1, abs=0.01)
        assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
        assert shown.page.evaluate("getComputedStyle(document.querySelector('.tm-label')).fontSize") == "13px"
        assert shown.page.evaluate(BESIDE) <= 0
        assert shown.violations() == []
        box.focus()
        assert shown.page.evaluate("document.activeElement.getAttribute('role')") == "region"


def reached(page: Any, selector: str) -> None:
    """Press Tab until the first such element has the focus, which must then be seen."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("one => document.activeElement === one", page.query_selector(selector)):
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none"
            return
    raise AssertionError(f"{selector} cannot be reached")


def test_without_scripts_everything_can_be_read_and_changed(browser: Any, address: str) -> None:
    with opened(browser, f"{address}session?id=hall", scripts=False) as shown:
        page = shown.page
        page.fill("#secret", TOKEN)
        page.click("button:has-text('Sign in')")
        page.click("a:has-text('Show the block')")
        page.wait_for_selector("#resume pre")
        page.click("a:has-text('Transcript')")
        page.click("mark a >> nth=0")
        page.wait_for_selector("#fact")
        page.click("a:has-text('Graph')")
        page.click("a:has-text('Earlier')")
        assert "at=" in page.url
        page.click(".drawing a >> nth=0")
        page.click("button:has-text('Pin')")
        page.wait_for_selector(".note:has-text('Pinned')")
        page.click("button:has-text('Unpin')")
        page.wait_for_selector(".note:has-text('No longer pinned')")
        page.click("button:has-text('Sign out')")
        page.wait_for_selector("#secret")


def test_where_there_is_nothing_yet(browser: Any, tmp_path: Path) -> None:
    memory = SessionMemory.open(f"sqlite:///{tmp_path / 'new.db'}")
    board = dashboard(memory, token=TOKEN)
    with served(board, board) as url, opened(browser, url) as shown:
        shown.page.fill("#secret", "a wrong token indeed")
        shown.page.keyboard.press("Enter")
        shown.page.wait_for_selector(".wrong")
        shown.complaints.clear()  # the browser itself notes that the answer was 401
        shown.page.fill("#secret", TOKEN)
        shown.page.keyboard.press("Enter")
        shown.page.wait_for_selector("h1:has-text('No sessions yet')")
        shown.picture("dashboard-empty")
        assert shown.violations() == []
        memory.record("first", [{"role": "user", "content": "Let's build a bird table for the garden."}])
        shown.page.wait_for_selector("#sessions:has-text('bird table')")
        assert shown.complaints == []
    memory.close()
