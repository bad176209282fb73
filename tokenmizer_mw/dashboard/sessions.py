"""The sessions, the most recently active first; and what to do where there are none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from tokenmizer_mw.model.session import SESSION_ID_MAX
from tokenmizer_mw.store.log import Place, SessionInfo

from .asked import Asked, Page
from .frame import heading
from .live import mark_of_tenant
from .markup import Markup, joined, tag
from .words import link, moment, nothing, to, told

PER_PAGE: Final = 25
SCANNED_MAX: Final = 2_000
"""Sessions that are looked at for an id that is looked for."""


def page(asked: Asked) -> Page:
    """A page of the listing, or of the sessions whose ids hold what is looked for."""
    wanted = "".join(filter(str.isprintable, asked.query.get("find", "").strip()))[:SESSION_ID_MAX]
    place = _place(asked.query)
    newest = asked.memory.log.sessions(asked.tenant, limit=1)
    if not newest:
        return Page("Sessions", _teaching(), "", live=_live(None))
    found = _matching(asked, wanted, place) if wanted else _listed(asked, place)
    shown, more = found[:PER_PAGE], len(found) > PER_PAGE
    body = joined(
        heading("Sessions", tag("p", "What each one believes, the most recently active first.", class_="lead")),
        _find(wanted),
        tag("div", _table(asked, shown), id="sessions", data_live=True),
        _pages(wanted, place, shown[-1] if shown and more else None),
    )
    return Page("Sessions", body, "", live=_live(newest[0]) if place is None and not wanted else "")


def _live(newest: SessionInfo | None) -> str:
    return to("events", since=mark_of_tenant(newest))


def _place(query: Mapping[str, str]) -> Place | None:
    try:
        seconds = float(query.get("before", ""))
    except ValueError:
        return None
    id = query.get("last", "")
    usable = math.isfinite(seconds) and 0 < len(id) <= SESSION_ID_MAX and id.isprintable()
    return (seconds, id) if usable else None


def _listed(asked: Asked, place: Place | None) -> list[SessionInfo]:
    return asked.memory.log.sessions(asked.tenant, after=place, limit=PER_PAGE + 1)


def _matching(asked: Asked, wanted: str, place: Place | None) -> list[SessionInfo]:
    text = wanted.casefold()
    infos = asked.memory.log.sessions(asked.tenant, after=place, limit=SCANNED_MAX)
    found: Iterator[SessionInfo] = (info for info in infos if text in info.key.id.casefold())
    return list(islice(found, PER_PAGE + 1))


def _find(wanted: str) -> Markup:
    return tag(
        "form",
        tag("label", "Find a session by its id", for_="find", class_="visually-hidden"),
        tag("input", type="search", name="find", id="find", value=wanted, placeholder="Find a session by its id"),
        tag("button", "Find"),
        link("./", "Show all", class_="quiet") if wanted else None,
        method="get",
        action="./",
        class_="find",
        role="search",
    )


def _table(asked: Asked, infos: Sequence[SessionInfo]) -> Markup:
    if not infos:
        return nothing("No session has such an id.")
    titles = asked.kept.titles.of(asked.memory, infos)
    head = tag("tr", [tag("th", title, scope="col") for title in ("Session", "Last active", "Started", "Events")])
    rows = [_row(info, titles.get(info.key.id, ""), asked.now) for info in infos]
    return tag("table", tag("thead", head), tag("tbody", rows), class_="list sessions")


def _row(info: SessionInfo, title: str, now: float) -> Markup:
    name = link(to("session", id=info.key.id), told(title or info.key.id), class_="fact-link")
    below = tag("span", told(info.key.id), class_="id") if title else None
    return tag(
        "tr",
        tag("td", name, below, class_="first"),
        tag("td", moment(info.updated_at, now), data_label="Last active"),
        tag("td", moment(info.created_at, now), data_label="Started"),
        tag("td", f"{info.seq:,}", data_label="Events", class_="number"),
    )


def _pages(wanted: str, place: Place | None, last: SessionInfo | None) -> Markup | None:
    newest = link(to("", find=wanted), "Newest") if place is not None else None
    older = None
    if last is not None:
        address = to("", find=wanted, before=repr(last.updated_at), last=last.key.id)
        older = link(address, "Older", class_="button", rel="next")
    return tag("nav", newest, older, class_="pages", aria_label="Pages of the listing") if newest or older else None


_WAYS: Final = (
    (
        "With a coding agent",
        "Claude Code remembers from its next chat on:",
        "tokenmizer-mw install claude-code",
    ),
    (
        "In your application",
        "On its chat routes, with streams untouched:",
        "app.add_middleware(TokenMizerMiddleware, memory=memory)",
    ),
    (
        "In front of a client",
        "Run the proxy and change the base URL of the client:",
        "tokenmizer-mw serve",
    ),
    (
        "From a transcript",
        "Read a chat that you have into a session:",
        "tokenmizer-mw import chat.jsonl",
    ),
)


def _teaching() -> Markup:
    """Where there is nothing to show: what would be here, and the shortest ways to it."""
    ways = [
        tag("li", tag("h2", title), tag("p", text), tag("pre", tag("code", code), tabindex="0"), class_="card")
        for title, text, code in _WAYS
    ]
    return joined(
        heading(
            "No sessions yet",
            tag(
                "p",
                "A session appears here with its first message: what was decided and why, what is open, what was ruled"
                " out, and the block that takes the place of an old transcript.",
                class_="lead",
            ),
        ),
        tag("ol", ways, class_="ways", id="sessions", data_live=True),
        tag("p", "This page shows the first session by itself.", class_="hint"),
    )
