from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.browser import opened
from tests.export.graphs import added, booking, crowd, graph_of, hostile
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.graph.export.documents import notebook, tree
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import DecisionReplaced
from tokenmizer_mw.model.node import Transition
from tokenmizer_mw.runtime.installing import install_hint

CELL = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A notebook</title></head>
<body><main><h1>Cells</h1>{}</main></body></html>"""


def printed(graph: SessionGraph, *, colours: bool = False, width: int = 160) -> str:
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=colours, color_system="truecolor" if colours else None).print(graph)
    return out.getvalue()


def test_a_graph_shows_itself_in_a_notebook() -> None:
    shown = booking()._repr_html_()
    assert shown == notebook(booking())
    assert shown.count('class="tm-node') == len(booking())
    assert "19 facts, 8 relations" in shown


def test_a_notebook_gets_the_most_important_part_of_a_large_graph() -> None:
    shown = notebook(crowd(500))
    assert shown.count('class="tm-node') == 120
    assert "380 less important facts are not in the picture" in shown
    assert len(shown) < 150_000


def test_an_empty_graph_in_a_notebook() -> None:
    assert "0 facts" in notebook(SessionGraph())


def test_hostile_labels_in_a_notebook_are_text(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "cells.html"
    page.write_text(CELL.format(notebook(hostile())), encoding="utf-8")
    with opened(browser, page) as shown:
        assert shown.page.evaluate("window.attacked") is None
        assert shown.page.locator("main script, main img, main a, main iframe, main [onload]").count() == 0
        assert (shown.complaints, shown.requests, shown.violations()) == ([], [page.as_uri()], [])
        shown.picture("export-notebook-hostile")


def test_a_graph_prints_as_a_tree() -> None:
    lines = printed(booking()).splitlines()
    assert lines[0] == "session"
    place = next(place for place, line in enumerate(lines) if "PostgreSQL 17" in line)
    assert [re.sub(r"^[^a-z]*", "", line) for line in lines[place + 1 : place + 3]] == [
        "replaced PostgreSQL in message 14: the host offers it",
        "replaced SQLite in message 7: SQLite locks under load",
    ]
    assert any("\u2298 MongoDB  option, rejected, user, message 8" in line for line in lines)


def test_a_tree_says_what_was_replaced_by_hand() -> None:
    with SessionMemory.open() as memory:
        memory.remember("s", "database: SQLite", create=True)
        memory.remember("s", "database: PostgreSQL")
        assert "replaced database: SQLite by hand" in printed(memory.graph("s"))


def test_every_fact_is_in_the_tree_once() -> None:
    graph = graph_of(
        [
            added("decision-1", "tabs"),
            added("decision-2", "spaces"),
            DecisionReplaced(Transition("decision-1", "decision-2", 2)),
            DecisionReplaced(Transition("decision-2", "decision-1", 3)),
            added("decision-3", "both"),
        ]
    )
    words = printed(graph)
    assert [words.count(label) for label in ("tabs", "spaces", "both")] == [1, 1, 1]


def test_hostile_labels_in_a_terminal_are_text() -> None:
    words = printed(hostile(), colours=True)
    steering = set(re.findall(r"\x1b.[^m]*m?", words))
    assert steering
    assert all(re.fullmatch(r"\x1b\[[0-9;]*m", one) for one in steering)  # colours, all of them ours
    plain = re.sub(r"\x1b\[[0-9;]*m", "", words)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", plain)
    assert "[bold red]markup[/bold red]" in plain


def test_hostile_labels_in_a_terminal_pictured(browser: Any, tmp_path: Path) -> None:
    console = Console(record=True, width=120, file=io.StringIO(), force_terminal=True)
    console.print(hostile())
    page = tmp_path / "terminal.html"
    page.write_text(console.export_html(inline_styles=True), encoding="utf-8")
    with opened(browser, page, width=1100) as shown:
        assert shown.page.evaluate("window.attacked") is None
        assert "[bold red]markup[/bold red]" in shown.page.inner_text("body")
        shown.picture("export-terminal-hostile")


def test_a_large_tree_is_cut_and_says_so() -> None:
    out = io.StringIO()
    Console(file=out, width=200).print(tree(crowd(100), "large", most=30))
    assert "70 less important facts are not shown" in out.getvalue()


def test_without_rich_it_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['rich.text'] = None\n"
        "from tokenmizer_mw.graph.export.documents import tree\n"
        "from tokenmizer_mw.graph.fold import SessionGraph\n"
        "try: tree(SessionGraph())\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"ConfigError a tree needs rich: {install_hint('cli')}\n"
