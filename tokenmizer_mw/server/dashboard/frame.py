"""What all pages share: the HTML document, navigation, error pages and static files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from tokenmizer_mw.graph.export.svg import style
from tokenmizer_mw.safety.labels import flatten

from .markup import Markup, join_markup, link, quote_line, tag, to
from .page import Page, PageRequest

_NAVIGATION: Final = (("", "Sessions"), ("search", "Search"), ("savings", "Savings"), ("status", "Health"))

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
    "invalidate": "Invalidated. Blocks list it under \u201cRejected\u201d from now on.",
    "archive": "Archived. Blocks no longer hold it.",
    "pin": "Pinned. Blocks hold it before other facts.",
    "unpin": "No longer pinned.",
    "correct": "Corrected. What it said before stays on record.",
    "undo": "Taken back.",
    "checkpoint": "Checkpoint made.",
    "forget": "The session was erased for good.",
}
"""What was just done, by the name that an address carries."""


def render_document(page: Page, request: PageRequest | None, *, leaves: bool = False, up: str = "") -> bytes:
    """Return the complete HTML document.

    ``request`` is ``None`` if nobody is signed in; ``leaves``: whether to show the sign-out button; ``up``: the way
    from the page's folder to that of the dashboard, such as "../".
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{page.title} - TokenMizer"),
        tag("link", rel="icon", href=f"{up}static/icon.svg", type="image/svg+xml"),
        tag("link", rel="stylesheet", href=f"{up}static/dashboard.css"),
        tag("link", rel="stylesheet", href=f"{up}static/graph.css"),
        tag("script", src=f"{up}static/dashboard.js", defer=True),
    )
    main = tag(
        "main",
        tag("p", page.note, class_="note", role="status") if page.note else None,
        page.body,
        id="main",
        tabindex="-1",
        data_events=page.live or None,
    )
    top = _top(page, request, leaves) if request is not None else _top_signed_out(up)
    body = tag("body", tag("a", "Skip to the content", href="#main", class_="skip"), top, main)
    return f"<!doctype html>{tag('html', head, body, lang='en')}".encode()


def _top_signed_out(up: str) -> Markup:
    return tag("header", tag("div", _brand(up), class_="wide bar"), class_="top")


def _brand(up: str = "") -> Markup:
    mark = tag("img", src=f"{up}static/icon.svg", alt="", width=28, height=28)
    return link(up or "./", mark, tag("span", "TokenMizer"), class_="brand")


def _top(page: Page, request: PageRequest, leaves: bool) -> Markup:
    items = [
        _item(link(to(name), title, aria_current="page" if page.here == name else None)) for name, title in _NAVIGATION
    ]
    out = request.form_of("logout", tag("button", "Sign out", class_="quiet"), out="1") if leaves else None
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


def session_head(request: PageRequest, here: str, title: str) -> Markup:
    """Return the heading of a session's pages: its title, its id, and links to its pages."""
    items = [
        _item(link(to(name, id=request.id), text, aria_current="page" if name == here else None))
        for name, text in _OF_SESSION
    ]
    return tag(
        "div",
        tag("p", link("./", "Sessions"), " / ", tag("span", quote_line(request.id), class_="id"), class_="crumbs"),
        tag("h1", quote_line(title), class_="goal one-line", title=flatten(title))
        if title
        else tag("h1", quote_line(request.id)),
        tag("nav", tag("ul", items), class_="tabs", aria_label="About this session"),
        class_="session-head",
    )


def heading(title: str, *below: object) -> Markup:
    """Return the heading of a page."""
    return tag("div", tag("h1", title), *below, class_="page-head")  # type: ignore[arg-type]


def trouble(title: str, sentence: str, *more: Markup) -> Markup:
    """Return a page that explains a problem and what to do."""
    return tag("div", tag("h1", title), tag("p", sentence), join_markup(*more), class_="trouble")


_WHY: Final[Mapping[str, tuple[int, str, str]]] = {
    "host": (
        421,
        "Not known by this name",
        "The dashboard does not answer for the host that the request names: its owner can add it to hosts.",
    ),
    "afar": (
        403,
        "Only for this machine",
        "Without a token the dashboard answers this machine alone: give it a token, or authorize.",
    ),
    "nowhere": (404, "Page not found", "The dashboard has no page at this address."),
    "method": (405, "Not like this", "This page does not take such a request."),
    "foreign": (403, "Not from here", "The request comes from a page that is not part of the dashboard."),
    "form": (400, "Not readable", "The form or the address could not be read."),
    "stale_form": (
        403,
        "This form is too old",
        "Nothing was changed: go back, load the page again, and repeat it there. The browser must take cookies.",
    ),
    "unauthorized": (401, "Not signed in", "The application around the dashboard did not say who you are."),
    "forbidden": (403, "Not allowed", "You may not do this with these sessions."),
    "no_verdict": (503, "Not now", "Who asks cannot be told at the moment: try again in a few seconds."),
    "too_many": (429, "Too many tries", "There were too many wrong tries: wait a minute."),
    "fault": (500, "Something went wrong here", "Nothing was changed that is not shown: load the page again."),
}
"""By a name of ours: the status, a heading and a sentence."""


class PageRefusal(Exception):
    """Raised to answer a request with the error ``page``."""

    def __init__(self, page: Page) -> None:
        super().__init__(page.title)
        self.page = page


def failure(name: str, status: int = 0, sentence: str = "", *, up: str = "") -> PageRefusal:
    """Return the error of that name. A name that is not in the table becomes "problem", with ``status`` and
    ``sentence``. ``up`` as for ``render_document``."""
    if name in _WHY:
        status, title, sentence = _WHY[name]
    else:
        title = "Not found" if status == 404 else "That did not work"
    back = tag("p", link(up or "./", "To the sessions", class_="button"))
    return PageRefusal(Page(title, trouble(title, sentence, back), status=status))


STATIC_MEDIA: Final[Mapping[str, str]] = {
    "static/dashboard.css": "text/css; charset=utf-8",
    "static/graph.css": "text/css; charset=utf-8",
    "static/dashboard.js": "text/javascript; charset=utf-8",
    "static/icon.svg": "image/svg+xml",
}


@cache
def read_static(name: str) -> bytes:
    """Return the content of a file in ``MEDIA``."""
    if name == "static/graph.css":
        return style().encode()
    return files(__package__).joinpath(name).read_bytes()
