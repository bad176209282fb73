"""What all pages of the dashboard share: the request that page functions get, the page that they return, the HTML
document with its navigation, error pages, static files, and downloads of tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from starlette.responses import RedirectResponse, Response

from tokenmizer_mw.graph.export.svg import style
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.server.access.caller import Caller
from tokenmizer_mw.server.api.health import Health

from .caches import PastGraphs, Summaries
from .markup import Child, Markup, hidden_fields, join_markup, link, quote_line, tag, to

FORM_FIELD = "form_token"
"""Name of the hidden field in every form. Its value, a token, proves that a page of this dashboard made the form."""


@dataclass(frozen=True, slots=True)
class DashboardState:
    """Caches that a dashboard keeps between requests, each of limited size. ``titles``: summaries of sessions.
    ``pasts``: graphs of sessions at earlier times."""

    titles: Summaries
    pasts: PastGraphs


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request of somebody who is signed in. The function of a page gets it.

    - ``query``: the parameters of the address. ``form``: the fields of the submitted form; empty for GET.
    - ``form_token``: the token for every form of the page, see ``PageSigner.form_token``.
    - ``health``: the health check of the server. ``caches``: what the dashboard keeps between requests.
    - ``now``: time of the request, in seconds since the epoch.
    """

    memory: SessionMemory
    caller: Caller
    query: Mapping[str, str]
    form: Mapping[str, str]
    form_token: str
    health: Health
    caches: DashboardState
    now: float

    @property
    def tenant(self) -> str:
        """The caller's tenant: the owner of the sessions that the pages show."""
        return self.caller.tenant

    @property
    def id(self) -> str:
        """Id of the session that the form or, if there is none, the query names; "" if none is named."""
        return self.form.get("id") or self.query.get("id", "")

    @property
    def key(self) -> SessionKey:
        """Key of the session that the request names: the caller's tenant and the session id."""
        return SessionKey(self.tenant, self.id)

    def form_of(self, action: str, *children: object, **fields: str | int) -> Markup:
        """Return an HTML form that sends a POST request to the page ``action``. ``children``: its visible content.
        ``fields``: values that it sends by hidden fields, in addition to the form token."""
        hidden = hidden_fields({FORM_FIELD: self.form_token, **fields})
        return tag("form", hidden, *children, method="post", action=action)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Page:
    """A page before it is rendered as an HTML document.

    - ``title``: title of the browser window. ``body``: the content below the navigation. ``status``: the HTTP status.
    - ``here``: name of the navigation entry to mark as current, such as "savings"; "" is the list of sessions.
    - ``session_id``: the session that the page is about; "" for none.
    - ``live``: address of the event stream that makes the browser refresh the page; "" if it is never refreshed.
    - ``note``: a message about what was just done, such as "Pinned. ..."; "" for none.
    """

    title: str
    body: Markup
    here: str = ""
    session_id: str = ""
    live: str = ""
    note: str = ""
    status: int = 200


def redirect(address: str) -> Response:
    """Return a redirect (status 303) to ``address``, which is relative to the page."""
    return RedirectResponse(address, 303)


def download(name: str, media: str, text: str) -> Response:
    """Return a response that browsers save as a file with the name ``name``. ``media``: its media type. ``text``: its
    content."""
    disposition = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text.encode("utf-8", "replace"), headers=disposition, media_type=media)


Records = Sequence[Mapping[str, object]]

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""Characters at the start of a cell that make spreadsheets evaluate the cell as a formula."""


def csv_file(name: str, records: Records) -> Response:
    """Return ``records`` as a CSV file that browsers save under ``name`` (with its ending).

    The keys of the first record are the header; all records must have the same keys in the same order. ``None`` is
    written as an empty cell. Text that a spreadsheet would evaluate as a formula gets an apostrophe in front.
    """
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(records[0].keys() if records else ())
    writer.writerows([_cell(value) for value in record.values()] for record in records)
    return download(name, "text/csv; charset=utf-8", written.getvalue())


def json_file(name: str, records: Records) -> Response:
    """Return ``records`` as a JSON array in a file that browsers save under ``name`` (with its ending)."""
    text = json.dumps(records, ensure_ascii=False, indent=1)
    return download(name, "application/json", text)


def file_links(name: str, **query: str | int | None) -> Markup:
    """Return a paragraph with links that download a list as CSV and as JSON.

    ``name``: plural noun for the entries of the list, such as "facts"; the files are then "facts.csv" and "facts.json".
    ``query``: query parameters of the links.
    """
    as_csv, as_json = (link(to(f"{name}.{kind}", **query), kind.upper()) for kind in ("csv", "json"))
    return tag("p", f"These {name} as ", as_csv, " or ", as_json, class_="hint")


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value


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
    "withdraw": "Withdrawn. No model is shown it from now on.", "drop": "Invalidated. Blocks no longer state it.",
    "complete": "Completed. Blocks list it as done.",
    "archive": "Archived. Blocks no longer state it.", "separate": "It holds again, beside the fact that replaced it.",
    "pin": "Pinned. Blocks state it early.", "unpin": "No longer pinned.",
    "correct": "Corrected. The earlier words stay recorded.", "undo": "Undone.",
    "checkpoint": "Checkpoint made.", "forget": "The session was erased for good.",
}  # fmt: skip
"""Messages about what was just done. The keys are the values of the parameter ``done`` in the addresses to which
actions redirect."""


def render_document(page: Page, request: PageRequest | None, *, leaves: bool = False, up: str = "") -> bytes:
    """Return the complete HTML document of a page, as UTF-8 bytes.

    - ``request``: the request that it answers; ``None`` if nobody is signed in, then the page has no navigation.
    - ``leaves``: whether to show the sign-out button.
    - ``up``: relative address of the dashboard's root, such as "../"; "" if the page is directly below the root.
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
    bar = _bar(page, request, leaves) if request is not None else _brand(up)
    top = tag("header", tag("div", bar, class_="wide bar"), class_="top")
    body = tag("body", tag("a", "Skip to the content", href="#main", class_="skip"), top, main)
    return f"<!doctype html>{tag('html', head, body, lang='en')}".encode()


def _brand(up: str = "") -> Markup:
    mark = tag("img", src=f"{up}static/icon.svg", alt="", width=28, height=28)
    return link(up or "./", mark, tag("span", "TokenMizer"), class_="brand")


def _bar(page: Page, request: PageRequest, leaves: bool) -> Markup:
    items = [
        tag("li", link(to(name), title, aria_current="page" if page.here == name else None))
        for name, title in _NAVIGATION
    ]
    out = request.form_of("logout", tag("button", "Sign out", class_="quiet"), out="1") if leaves else None
    live = tag("span", "live", class_="live", id="live", hidden=True, title="Changes show by themselves")
    pages = tag("nav", tag("ul", items), aria_label="Pages")
    return join_markup(_brand(), pages, tag("div", live, out, class_="bar-end"))


def session_page(
    request: PageRequest, tab: str, title: str, *parts: Child, name: str = "", seq: int | None = None
) -> Page:
    """Return a page about the session that ``request`` names, with the content ``parts``.

    - ``tab``: the tab to mark as current among the session's pages, such as "transcript"; "" for none.
    - ``title``: the goal of the session. If it is "", the heading is the first question, else the session id.
    - ``name``: beginning of the window's title, such as "Facts"; "" if that is only the session's title.
    - ``seq``: number of the newest event that the page shows. The browser refreshes the page after the next event.
      ``None``: never.
    """
    named = title or request.id
    body = join_markup(session_head(request, tab, title), *parts)
    live = to("events", id=request.id, since=seq) if seq is not None else ""
    return Page(f"{name} - {named}" if name else named, body, "", request.id, live)


def session_head(request: PageRequest, here: str, title: str) -> Markup:
    """Return the heading of a session's page, and tabs that link to the session's pages. The heading is the goal
    ``title``; if that is "", the first question, else the session id. ``here``: the tab to mark as current, such as
    "facts"; "" for none."""
    question = "" if title else request.caches.titles.find_question(request.memory, request.key)
    items = [
        tag("li", link(to(name, id=request.id), text, aria_current="page" if name == here else None))
        for name, text in _OF_SESSION
    ]
    return tag(
        "div",
        tag("p", link("./", "Sessions"), " / ", tag("span", quote_line(request.id), class_="id"), class_="crumbs"),
        tag("h1", quote_line(title), class_="goal one-line", title=flatten(title))
        if title
        else tag("h1", quote_line(question or request.id), class_="one-line", title=question or None),
        tag("nav", tag("ul", items), class_="tabs", aria_label="About this session"),
        class_="session-head",
    )


def heading(title: str, *below: object) -> Markup:
    """Return the heading ``title`` of a page as HTML. ``below``: further content under it."""
    return tag("div", tag("h1", title), *below, class_="page-head")  # type: ignore[arg-type]


def trouble(title: str, sentence: str, *more: Markup) -> Markup:
    """Return the content of an error page: the heading ``title``, ``sentence`` (which says what the problem is and what
    to do), and ``more`` below."""
    return tag("div", tag("h1", title), tag("p", sentence), join_markup(*more), class_="trouble")


# fmt: off
_WHY: Final[Mapping[str, tuple[int, str, str]]] = {
    "host": (421, "Unknown host name",
        "The dashboard does not answer at the host name of this request. Its owner can add the name to hosts."),
    "afar": (403, "Only for this machine",
        "Without a token the dashboard answers only this machine. Its owner can set a token or authorize."),
    "nowhere": (404, "Page not found", "The dashboard has no page at this address."),
    "method": (405, "Method not allowed", "This page does not accept requests with this method."),
    "foreign": (403, "Not from here", "The request comes from a page that is not part of the dashboard."),
    "form": (400, "Not readable", "The form or the address could not be read."),
    "stale_form": (403, "This form is too old",
        "Nothing was changed: go back, load the page again, and repeat it there. The browser must take cookies."),
    "unauthorized": (401, "Not signed in", "The application around the dashboard did not say who you are."),
    "forbidden": (403, "Not allowed", "You may not do this with these sessions."),
    "no_verdict": (503, "Not now", "The dashboard cannot check at the moment who you are: try again in a few seconds."),
    "too_many": (429, "Too many tries", "There were too many wrong tries: wait a minute."),
    "fault": (500, "Something went wrong here", "Nothing was changed that is not shown: load the page again."),
}
# fmt: on
"""The error pages: name, as ``failure`` takes it -> HTTP status, heading and sentence."""


class PageRefusal(Exception):
    """Raised while a request is handled. The browser then gets the error page ``page``, which has the status."""

    def __init__(self, page: Page) -> None:
        super().__init__(page.title)
        self.page = page


def failure(name: str, status: int = 0, sentence: str = "", *, up: str = "") -> PageRefusal:
    """Return (not raise) the exception for the error page ``name``, such as "host" or "stale_form". For a name without
    a page, such as "problem", the page is made of ``status`` and ``sentence``. ``up``: relative address of the
    dashboard's root, such as "../"; "" if the page is directly below it."""
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
    """Return the content of the static file ``name``, a key of ``STATIC_MEDIA``. The content of "static/graph.css" is
    generated."""
    if name == "static/graph.css":
        return style().encode()
    return files(__package__).joinpath(name).read_bytes()
