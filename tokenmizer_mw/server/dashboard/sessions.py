"""The list of sessions, most recently active first, and a hint for an empty store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokenmizer_mw.store.log import SessionInfo

from .asked import File, Page, PageRequest
from .files import csv_file, json_file
from .frame import heading
from .listing import DAYS, SORTS, ListingFilter, SessionListing, list_sessions, matching, wish_of
from .live import mark_of_tenant
from .markup import Markup, join_markup, tag
from .titles import Summary
from .words import exactly, link, moment, nothing, quote_line, to


def page(asked: PageRequest) -> Page:
    """Return a page of the list, filtered as the query says."""
    wish = wish_of(asked.query)
    newest = asked.memory.log.sessions(asked.tenant, limit=1)
    if not newest:
        return Page("Sessions", _teaching(), "", live=_live(None))
    found = list_sessions(asked, wish)
    body = join_markup(
        heading("Sessions"),
        _find(wish),
        tag("div", _table(asked, wish, found), id="sessions", data_live=True),
        _pages(wish, found),
        _files(wish),
    )
    return Page("Sessions", body, "", live=_live(newest[0]) if wish.plain and wish.place is None else "")


def csv(asked: PageRequest) -> File:
    """Return the matching sessions as a CSV file."""
    return csv_file("sessions.csv", _records(asked))


def json(asked: PageRequest) -> File:
    """Return the matching sessions as a JSON file."""
    return json_file("sessions.json", _records(asked))


def _records(asked: PageRequest) -> list[dict[str, object]]:
    infos, summaries = matching(asked, wish_of(asked.query))
    return [_record(info, summaries.get(info.key.id)) for info in infos]


def _record(info: SessionInfo, summary: Summary | None) -> dict[str, object]:
    known = summary is not None
    return {
        "session": info.key.id,
        "goal": summary.title if summary is not None else "",
        "last_active": exactly(info.updated_at),
        "started": exactly(info.created_at),
        "messages": summary.messages if known and summary else None,
        "facts": summary.facts if known and summary else None,
        "open": summary.open if known and summary else None,
        "events": info.seq,
    }


def _live(newest: SessionInfo | None) -> str:
    return to("events", since=mark_of_tenant(newest))


def _find(wish: ListingFilter) -> Markup:
    open_ = tag("input", type="checkbox", name="open", value="1", checked=wish.open)
    days = {"": "any time", **DAYS}
    return tag(
        "form",
        tag(
            "label",
            tag("span", "Words of a goal or an id"),
            tag("input", type="search", name="find", id="find", value=wish.words),
            class_="field",
        ),
        _select("days", "Active in", days, str(wish.days or "")),
        _select("sort", "Sorted by", SORTS, wish.sort),
        tag("label", open_, " with open work", class_="radio"),
        tag("button", "Find"),
        None if wish.plain else link("./", "Show all", class_="quiet"),
        method="get",
        action="./",
        class_="filters",
        role="search",
    )


def _select(name: str, title: str, options: Mapping[str, str], value: str) -> Markup:
    given = [tag("option", text, value=key, selected=key == value) for key, text in options.items()]
    return tag("label", tag("span", title), tag("select", given, name=name), class_="field")


_COLUMNS: Final = (("Session", "name"), ("Last active", "active"), ("Started", "started"))
_COUNTS: Final = ("Messages", "Facts", "Open")


def _table(asked: PageRequest, wish: ListingFilter, found: SessionListing) -> Markup:
    if not found.infos:
        return nothing("No session is like that.")
    sortable = [_head(wish, title, sort) for title, sort in _COLUMNS]
    counts = [tag("th", title, scope="col", class_="number") for title in _COUNTS]
    rows = [_row(info, found.summaries.get(info.key.id), asked.now) for info in found.infos]
    head = tag("tr", sortable, counts, _head(wish, "Events", "events"))
    return tag("table", tag("thead", head), tag("tbody", rows), class_="list sessions")


def _head(wish: ListingFilter, title: str, sort: str) -> Markup:
    chosen = wish.sort == sort
    address = to("", **{**wish.query(), "sort": sort})
    order = ("ascending" if sort == "name" else "descending") if chosen else None
    return tag("th", link(address, title), scope="col", aria_sort=order)


def _row(info: SessionInfo, summary: Summary | None, now: float) -> Markup:
    title = summary.title if summary is not None else ""
    name = link(to("session", id=info.key.id), quote_line(title or info.key.id), class_="fact-link")
    below = tag("span", quote_line(info.key.id), class_="id") if title else None
    counts = ("", "", "") if summary is None else (summary.messages, summary.facts, summary.open)
    cells = [
        tag("td", f"{count:,}" if isinstance(count, int) else "\u2013", data_label=label, class_="number")
        for label, count in zip(_COUNTS, counts, strict=True)
    ]
    return tag(
        "tr",
        tag("td", name, below, class_="first"),
        tag("td", moment(info.updated_at, now), data_label="Last active"),
        tag("td", moment(info.created_at, now), data_label="Started"),
        cells,
        tag("td", f"{info.seq:,}", data_label="Events", class_="number"),
    )


def _files(wish: ListingFilter) -> Markup:
    csv_, json_ = (link(to(f"sessions.{kind}", **wish.query()), kind.upper()) for kind in ("csv", "json"))
    return tag("p", "These sessions as ", csv_, " or ", json_, class_="hint")


def _pages(wish: ListingFilter, found: SessionListing) -> Markup | None:
    older, newest = None, None
    if wish.plain:
        newest = link("./", "Newest") if wish.place is not None else None
        if found.more:
            last = found.infos[-1]
            address = to("", before=repr(last.updated_at), last=last.key.id)
            older = link(address, "Older", class_="button", rel="next")
    else:
        at = wish.query()
        if wish.number > 1:
            newest = link(to("", **at, page=wish.number - 1), "Back", class_="button", rel="prev")
        if found.more:
            older = link(to("", **at, page=wish.number + 1), "More", class_="button", rel="next")
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
    return join_markup(
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
