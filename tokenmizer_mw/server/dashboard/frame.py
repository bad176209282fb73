"""The frame of all pages: head, navigation, and messages about the last action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokenmizer_mw.safety.labels import flatten

from .asked import Page, PageRequest
from .markup import Markup, join_markup, tag
from .words import link, quote_line, to

_PAGES: Final = (("", "Sessions"), ("search", "Search"), ("savings", "Savings"), ("status", "Health"))
_OF_SESSION: Final = (
    ("session", "Overview"),
    ("transcript", "Transcript"),
    ("facts", "Facts"),
    ("graph", "Graph"),
    ("history", "History"),
    ("request", "Requests"),
    ("savings", "Savings"),
)

NOTES: Final[Mapping[str, str]] = {
    "invalidate": "Declared wrong. Blocks list it under \u201cRuled out\u201d from now on.",
    "archive": "Put away. Blocks no longer hold it.",
    "pin": "Pinned. Blocks hold it before other facts.",
    "unpin": "No longer pinned.",
    "correct": "Corrected. What it said before stays on record.",
    "undo": "Taken back.",
    "checkpoint": "Checkpoint made.",
    "forget": "The session was erased for good.",
}
"""What was just done, by the name that an address carries."""


def render_document(page: Page, asked: PageRequest | None, *, leaves: bool = False) -> bytes:
    """Return the complete HTML document.

    ``asked`` is ``None`` if nobody is signed in; ``leaves``: whether to show the sign-out button.
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{page.title} - TokenMizer"),
        tag("link", rel="icon", href="static/icon.svg", type="image/svg+xml"),
        tag("link", rel="stylesheet", href="static/dashboard.css"),
        tag("link", rel="stylesheet", href="static/graph.css"),
        tag("script", src="static/dashboard.js", defer=True),
    )
    main = tag(
        "main",
        tag("p", page.note, class_="note", role="status") if page.note else None,
        page.body,
        id="main",
        tabindex="-1",
        data_events=page.live or None,
    )
    top = _top(page, asked, leaves) if asked is not None else _bare()
    body = tag("body", tag("a", "Skip to the content", href="#main", class_="skip"), top, main)
    return f"<!doctype html>{tag('html', head, body, lang='en')}".encode()


def _bare() -> Markup:
    return tag("header", tag("div", _brand(), class_="wide bar"), class_="top")


def _brand() -> Markup:
    mark = tag("img", src="static/icon.svg", alt="", width=28, height=28)
    return link("./", mark, tag("span", "TokenMizer"), class_="brand")


def _top(page: Page, asked: PageRequest, leaves: bool) -> Markup:
    items = [_item(link(to(name), title, aria_current="page" if page.here == name else None)) for name, title in _PAGES]
    out = asked.form_of("logout", tag("button", "Sign out", class_="quiet"), out="1") if leaves else None
    live = tag("span", "live", class_="live", id="live", hidden=True, title="Changes show by themselves")
    bar = tag(
        "div",
        _brand(),
        tag("nav", tag("ul", items), aria_label="Pages"),
        tag("div", live, out, class_="bar-end"),
        class_="wide bar",
    )
    return tag("header", bar, class_="top")


def _item(child: Markup) -> Markup:
    return tag("li", child)


def session_head(asked: PageRequest, here: str, title: str) -> Markup:
    """Return the heading of a session's pages: its title, its id, and links to its pages."""
    items = [
        _item(link(to(name, id=asked.id), text, aria_current="page" if name == here else None))
        for name, text in _OF_SESSION
    ]
    return tag(
        "div",
        tag("p", link("./", "Sessions"), " / ", tag("span", quote_line(asked.id), class_="id"), class_="crumbs"),
        tag("h1", quote_line(title), class_="goal one-line", title=flatten(title))
        if title
        else tag("h1", quote_line(asked.id)),
        tag("nav", tag("ul", items), class_="tabs", aria_label="About this session"),
        class_="session-head",
    )


def heading(title: str, *below: object) -> Markup:
    """Return the heading of a page."""
    return tag("div", tag("h1", title), *below, class_="page-head")  # type: ignore[arg-type]


def trouble(title: str, sentence: str, *more: Markup) -> Markup:
    """Return a page that explains a problem and what to do."""
    return tag("div", tag("h1", title), tag("p", sentence), join_markup(*more), class_="trouble")
