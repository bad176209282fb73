"""The page in a real browser: as it opens from a file, by hand and keyboard, at earlier times, on paper, attacked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.browser import opened
from tests.export.graphs import ATTACKS, booking, crowd, graph_of, hostile
from tokenmizer_mw.graph.export.page import html_page
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.views import as_valid
from tokenmizer_mw.model.node import NodeType, Status

GRAPHS: dict[str, Callable[[], SessionGraph]] = {
    "booking": booking,
    "crowd": lambda: crowd(500),
    "empty": lambda: graph_of([]),
    "hostile": hostile,
}

SHOWN = """() => Object.fromEntries([...document.querySelectorAll('.lane li:not([hidden])')]
    .map(card => [card.id.slice(2), card.className.slice(2)]))"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    for name, make in GRAPHS.items():
        (folder / f"{name}.html").write_text(html_page(make(), f"the {name} session"), encoding="utf-8")
    return folder


def shown(page: Any) -> dict[str, str]:
    """The facts that can be seen, with their statuses."""
    found: dict[str, str] = page.evaluate(SHOWN)
    return found


def statuses(graph: SessionGraph) -> dict[str, str]:
    return {node.id: node.status.value for node in graph.nodes()}


DESK, PHONE = (1280, 800), (390, 844)


@pytest.mark.parametrize(
    ("name", "size", "theme"),
    [
        ("booking", DESK, "light"),
        ("booking", PHONE, "dark"),
        *(
            pytest.param(*row, marks=pytest.mark.nightly)
            for row in (
                ("booking", DESK, "dark"),
                ("empty", DESK, "light"),
                ("hostile", PHONE, "light"),
                ("crowd", DESK, "light"),
            )
        ),
    ],
)
def test_it_opens_from_a_file_quietly_and_for_everybody(
    browser: Any, folder: Path, name: str, size: tuple[int, int], theme: Any
) -> None:
    path = folder / f"{name}.html"
    with opened(browser, path, theme=theme, width=size[0], height=size[1]) as page:
        card = page.page.query_selector(".lane li button")
        if card is not None:
            card.click()
        if name != "crowd":  # more of the same, which takes long to look at
            assert page.violations() == []
        assert page.complaints == []
        assert page.requests == [path.as_uri()]
        assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.page.evaluate("window.attacked") is None
        page.picture(f"export-{name}-{'phone' if size[0] < 500 else 'desk'}-{theme}")


def test_types_that_wrap_stay_beside_their_heading(browser: Any, folder: Path) -> None:
    with opened(browser, folder / "crowd.html", width=1000) as page:
        edges = """() => [...document.querySelectorAll('.chips')].map(box => {
            const chips = [...box.querySelectorAll('label')].map(chip => chip.getBoundingClientRect());
            return [
                box.querySelector('legend').getBoundingClientRect().right,
                Math.min(...chips.map(chip => chip.left)),
                new Set(chips.map(chip => chip.top)).size,
            ];
        })"""
        found = page.page.evaluate(edges)
        assert max(rows for _, _, rows in found) > 1
        assert all(left >= right for right, left, _ in found)


def test_500_facts_are_a_small_file(folder: Path) -> None:
    assert (folder / "crowd.html").stat().st_size <= 250_000


def test_without_scripts_it_reads_as_lists(browser: Any, folder: Path) -> None:
    with opened(browser, folder / "booking.html", scripts=False) as page:
        words = page.page.inner_text("main")
        assert not page.page.is_visible("#tools")
    assert words.index("Goals") < words.index("Decisions") < words.index("Tasks")
    assert "PostgreSQL 17" in words
    assert "SQLite locks under load" in words


def test_all_texts_of_an_attack_stay_text(browser: Any, folder: Path) -> None:
    with opened(browser, folder / "hostile.html") as page:
        for place in range(len(ATTACKS)):
            page.page.evaluate("place => document.querySelectorAll('.lane button')[place].click()", place)
        assert page.page.evaluate("window.attacked") is None
        assert page.page.locator("main img, main iframe, main script, main h1, main [onload]").count() == 0
        links = page.page.eval_on_selector_all("a", "all => all.map(one => one.getAttribute('href'))")
        assert all(re.fullmatch(r"#n-decision-\d+", link) for link in links)
        assert (page.complaints, len(page.requests)) == ([], 1)
        page.picture("export-hostile-details")


def test_data_cannot_end_its_element() -> None:
    page = html_page(hostile(), "</script><!--\u2028")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert not re.search("[<>&\u2028\u2029]", data[1])
    assert len(json.loads(data[1])["nodes"]) == len(ATTACKS)


def test_details_tell_who_said_it_and_the_chain_of_a_decision(browser: Any, folder: Path) -> None:
    with opened(browser, folder / "booking.html") as page:
        page.page.get_by_role("button", name="PostgreSQL 17").click()
        told = page.page.inner_text("#details")
        assert "PostgreSQL 17" in told
        assert "user, message 14" in told
        assert told.index("SQLite locks under load") < told.index("the host offers it")
        page.page.get_by_role("button", name=re.compile("^SQLite")).click()
        told = page.page.inner_text("#details")
        assert "We use SQLite, it is one file." in told
        assert "What took its place" in told
        page.page.keyboard.press("Escape")
        assert not page.page.is_visible("#details")


def test_an_address_leads_to_a_fact_and_links_from_one_to_the_next(browser: Any, folder: Path) -> None:
    with opened(browser, f"{(folder / 'booking.html').as_uri()}#n-task-2") as page:
        assert page.page.inner_text("#details-title") == "move the bookings"
        page.page.click("#details a:has-text('PostgreSQL')")
        page.page.wait_for_function("document.querySelector('#details-title').textContent === 'PostgreSQL'")


def test_search_and_filters(browser: Any, folder: Path) -> None:
    with opened(browser, folder / "booking.html") as page:
        assert shown(page.page) == statuses(booking())
        page.page.fill("#query", "LOCKED")
        assert list(shown(page.page)) == ["error-1"]
        assert page.page.inner_text("#found") == f"1 of {len(booking())} shown"
        page.page.keyboard.press("Enter")
        assert page.page.inner_text("#details-title") == "database is locked"
        page.page.keyboard.press("Escape")
        assert not page.page.is_visible("#details")
        assert page.page.evaluate("document.activeElement.id") == "query"
        page.page.fill("#query", "")
        page.page.uncheck("input[value=decision]")
        assert not [id for id in shown(page.page) if id.startswith("decision")]
        page.page.check("input[value=decision]")
        page.page.uncheck("input[value=superseded]")
        assert set(statuses(booking())) - set(shown(page.page)) == {"decision-1", "decision-3"}


def test_the_slider_shows_what_was_believed_and_what_was_true(browser: Any, folder: Path) -> None:
    graph = booking()
    moves = {at for node in graph.nodes() for at, _ in graph.life(node.id).moves}
    bounds = {at for node in graph.nodes() for at in (node.valid_from, node.valid_until) if at is not None}
    with opened(browser, folder / "booking.html") as page:
        believed = [(at, believed_at(graph, at)) for at in sorted(moves)]
        assert at_every_step(page.page) == [told for _, told in believed]
        page.page.check("input[value=valid]")
        assert at_every_step(page.page) == [statuses(as_valid(graph, at)) for at in sorted(moves | bounds)]


def believed_at(graph: SessionGraph, at: float) -> dict[str, str]:
    found = {}
    for node in graph.nodes():
        known = [status for since, status in graph.life(node.id).moves if since <= at]
        if known:
            found[node.id] = known[-1].value
    return found


def at_every_step(page: Any) -> list[dict[str, str]]:
    found = []
    for step in range(int(page.get_attribute("#at", "max")) + 1):
        page.eval_on_selector(
            "#at", "(range, to) => { range.value = to; range.dispatchEvent(new Event('input')) }", step
        )
        found.append(shown(page))
    return found


def test_the_keyboard_alone(browser: Any, folder: Path) -> None:
    focused = "document.activeElement.closest('li')?.id"
    with opened(browser, folder / "booking.html") as page:
        keyboard = page.page.keyboard
        page.page.focus("#at")
        keyboard.press("Tab")
        if page.page.evaluate(focused) is None:  # the map itself scrolls, so a browser may stop there
            keyboard.press("Tab")
        assert page.page.evaluate(focused) == "n-goal-1"
        keyboard.press("ArrowDown")
        keyboard.press("ArrowRight")
        assert page.page.evaluate(focused) == "n-decision-3"
        keyboard.press("Enter")
        assert page.page.inner_text("#details-title") == "PostgreSQL"
        keyboard.press("Escape")
        assert page.page.evaluate(focused) == "n-decision-3"
        keyboard.press("End")
        assert page.page.evaluate(focused) == "n-agent-1"
        keyboard.press("Home")
        assert page.page.evaluate(focused) == "n-goal-1"


def test_a_card_in_the_map_is_not_under_another(browser: Any, folder: Path) -> None:
    boxes = """() => [...document.querySelectorAll('.lane li')].map(card => {
        const box = card.getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom] })"""
    with opened(browser, folder / "crowd.html") as page:
        found = page.page.evaluate(boxes)
    assert len(found) == 500
    rows: dict[float, list[tuple[float, float]]] = {}
    for left, top, right, _ in found:
        rows.setdefault(round(top), []).append((left, right))
    for row in rows.values():
        ends = sorted(row)
        assert all(right <= left for (_, right), (left, _) in pairwise(ends))


def test_on_paper_it_is_lists_without_tools(browser: Any, folder: Path) -> None:
    with opened(browser, folder / "booking.html") as page:
        page.page.emulate_media(media="print")
        assert not page.page.is_visible("#tools")
        assert not page.page.is_visible(".edges")
        places = page.page.eval_on_selector_all(".lane", "all => all.map(one => one.getBoundingClientRect().left)")
        assert len(set(places)) == 1
        assert page.page.pdf()[:5] == b"%PDF-"


def test_the_theme_changes_by_hand(browser: Any, folder: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    with opened(browser, folder / "booking.html", theme="light") as page:
        before = page.page.evaluate(ground)
        page.page.click("#theme")
        assert page.page.evaluate(ground) != before
        page.page.click("#theme")
        assert page.page.evaluate(ground) == before


def test_a_very_large_graph_is_cut_to_what_matters_and_says_so() -> None:
    graph = crowd(100)
    page = html_page(graph, "large", most=30)
    assert page.count("<li id=") == 30
    assert "70 less important facts left out" in page
    assert all(f'id="n-{node.id}"' in page for node in graph.nodes(NodeType.GOAL, Status.ACTIVE))


def test_on_a_phone_details_come_up_from_below(browser: Any, folder: Path) -> None:
    with opened(browser, folder / "booking.html", width=390, height=844) as page:
        assert not page.page.is_visible("input[value=superseded]")
        page.page.click("summary")
        page.page.uncheck("input[value=superseded]")
        assert "decision-1" not in shown(page.page)
        page.page.get_by_role("button", name="PostgreSQL 17").click()
        box = page.page.locator("#details").bounding_box()
        assert (box["x"], box["width"], box["y"] + box["height"]) == (0, 390, 844)
        page.page.click("#close")
        assert not page.page.is_visible("#details")
