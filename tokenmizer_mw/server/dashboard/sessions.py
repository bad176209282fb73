"""The page with the list of sessions, which can be filtered by words, age and open work, and sorted. For an empty
store, the page says how to record a first session."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.model.session import SESSION_ID_MAX
from tokenmizer_mw.store.log import Place, SessionInfo

from .caches import Summary
from .live import mark_of_tenant
from .markup import (
    Markup,
    format_count,
    format_exact_time,
    join_markup,
    link,
    moment,
    nothing,
    quote_line,
    select_field,
    tag,
    to,
)
from .page import Page, PageRequest, file_links, heading

PER_PAGE: Final = 25

SCANNED_MAX: Final = 2_000
"""Number of the most recently active sessions from which a list with a search, a filter or another order is made."""

FOUND_EVENTS_MAX: Final = 5_000
"""Maximum number of events that a list with a search, a filter or another order may read for summaries that are not
cached yet."""

DAYS: Final = {"1": "the last day", "7": "the last week", "30": "the last month"}
SORTS: Final = {
    "active": "last active",
    "started": "started",
    "messages": "most messages",
    "facts": "most facts",
    "open": "most open work",
    "events": "most events",
    "name": "name",
}


@dataclass(frozen=True, slots=True)
class ListingFilter:
    """What a list of sessions shows: the parsed query of its address.

    - ``words``: each of these words must be in the id or the title, ignoring case; "" for any session.
    - ``days``: only sessions that were active within this many days; 0 for any time.
    - ``open``: only sessions with open work.
    - ``sort``: a key of ``SORTS``; any other value sorts as "active" (last active first).
    - ``place``: the last session of the page before; ``None`` for the first page. Only used if ``plain``.
    - ``number``: the number of the page, from 1. Only used if not ``plain``.
    """

    words: str = ""
    days: int = 0
    open: bool = False
    sort: str = "active"
    place: Place | None = None
    number: int = 1

    @property
    def plain(self) -> bool:
        """Whether the list shows all sessions, the most recently active ones first, without a filter."""
        return not (self.words or self.days or self.open) and self.sort == "active"

    def query(self) -> dict[str, str | int | None]:
        """Return the query parameters of the list's address, without those that select its page."""
        sort = self.sort if self.sort != "active" else None
        return {"find": self.words, "days": self.days or None, "open": 1 if self.open else None, "sort": sort}


@dataclass(frozen=True, slots=True)
class SessionListing:
    """A page of the list of sessions.

    - ``infos``: the sessions, in order. ``summaries``: id -> summary, for those whose summary is known.
    - ``more``: whether there are further sessions after this page.
    - ``unread``: number of sessions that may be missing, because their summary is not known yet.
    """

    infos: Sequence[SessionInfo]
    summaries: Mapping[str, Summary]
    more: bool
    unread: int = 0


def parse_filter(query: Mapping[str, str]) -> ListingFilter:
    """Parse the query parameters of a list of sessions. Invalid values are treated as missing."""
    words = "".join(filter(str.isprintable, query.get("find", "").strip()))[:SESSION_ID_MAX]
    sort, number = query.get("sort", ""), query.get("page", "")
    return ListingFilter(
        words,
        int(query["days"]) if query.get("days") in DAYS else 0,
        query.get("open") == "1",
        sort if sort in SORTS else "active",
        _place(query),
        int(number) if number.isdecimal() and 0 < len(number) < 7 else 1,
    )


def _place(query: Mapping[str, str]) -> Place | None:
    try:
        seconds = float(query.get("before", ""))
    except ValueError:
        return None
    id = query.get("last", "")
    usable = math.isfinite(seconds) and 0 < len(id) <= SESSION_ID_MAX and id.isprintable()
    return (seconds, id) if usable else None


def list_sessions(request: PageRequest, wish: ListingFilter) -> SessionListing:
    """Return the page of the list of sessions that ``wish`` asks for, with at most ``PER_PAGE`` sessions."""
    if wish.plain:
        infos = request.memory.log.sessions(request.tenant, after=wish.place, limit=PER_PAGE + 1)
        shown = infos[:PER_PAGE]
        return SessionListing(shown, request.caches.titles.of(request.memory, shown), len(infos) > PER_PAGE)
    chosen, summaries, unread = select_sessions(request, wish)
    start = (max(1, wish.number) - 1) * PER_PAGE
    return SessionListing(chosen[start : start + PER_PAGE], summaries, len(chosen) > start + PER_PAGE, unread)


def select_sessions(request: PageRequest, wish: ListingFilter) -> tuple[list[SessionInfo], Mapping[str, Summary], int]:
    """Return three values for ``wish``: all sessions that match it among the ``SCANNED_MAX`` most recently active ones,
    sorted; the summaries that are known, by session id; and the number of sessions that may match but are left out,
    because their summary is not known yet."""
    infos = request.memory.log.sessions(request.tenant, limit=SCANNED_MAX)
    if wish.days:
        infos = [info for info in infos if request.now - info.updated_at <= wish.days * 86_400]
    summaries = request.caches.titles.of(request.memory, infos, FOUND_EVENTS_MAX)
    words = wish.words.casefold().split()
    matching = [info for info in infos if _has_words(info, summaries.get(info.key.id), words)]
    if wish.open:
        matching = [info for info in matching if summaries.get(info.key.id, Summary()).open]
    unread = {info.key.id for info in infos} - summaries.keys() - {info.key.id for info in matching}
    return _sort_sessions(matching, summaries, wish.sort), summaries, len(unread)


def _has_words(info: SessionInfo, summary: Summary | None, words: Sequence[str]) -> bool:
    text = f"{info.key.id} {summary.title if summary is not None else ''}".casefold()
    return all(word in text for word in words)


def _sort_sessions(infos: list[SessionInfo], summaries: Mapping[str, Summary], sort: str) -> list[SessionInfo]:
    def name(info: SessionInfo) -> str:
        summary = summaries.get(info.key.id)
        return ((summary.title if summary is not None else "") or info.key.id).casefold()

    def count(info: SessionInfo) -> int:
        return -getattr(summaries.get(info.key.id), sort, -1)  # unknown counts come last

    orders: dict[str, Callable[[SessionInfo], str | float]] = {
        "started": lambda info: -info.created_at,
        "events": lambda info: -info.seq,
        "name": name,
        **dict.fromkeys(_COUNTS, count),
    }
    return sorted(infos, key=orders[sort]) if sort in orders else infos


def show_sessions(request: PageRequest) -> Page:
    """Return the page with the list of sessions that the query selects. If the tenant has no sessions, the page says
    how to record one."""
    wish = parse_filter(request.query)
    newest = request.memory.log.sessions(request.tenant, limit=1)
    if not newest:
        return Page("Sessions", _empty_store_hint(), "", live=_live(None))
    found = list_sessions(request, wish)
    body = join_markup(
        heading("Sessions"),
        _filter_form(wish),
        tag("div", _table(request, wish, found), id="sessions", data_live=True),
        tag("p", _UNREAD.format(format_count(found.unread, "long session")), class_="hint") if found.unread else None,
        _pages(wish, found),
        file_links("sessions", **wish.query()),
    )
    return Page("Sessions", body, "", live=_live(newest[0]) if wish.plain and wish.place is None else "")


_UNREAD: Final = "Goals and open work of {} are not known yet: load this list again, or open the sessions."


def session_records(request: PageRequest) -> list[dict[str, object]]:
    """Return the sessions that match the query, among the ``SCANNED_MAX`` most recently active ones, as dictionaries
    for a file. Numbers that are not known are ``None``."""
    infos, summaries, _ = select_sessions(request, parse_filter(request.query))
    return [_record(info, summaries.get(info.key.id)) for info in infos]


def _record(info: SessionInfo, summary: Summary | None) -> dict[str, object]:
    return {
        "session": info.key.id,
        "goal": summary.goal if summary is not None else "",
        "title": summary.title if summary is not None else "",
        "last_active": format_exact_time(info.updated_at),
        "started": format_exact_time(info.created_at),
        **{name: getattr(summary, name, None) for name in _COUNTS},
        "events": info.seq,
    }


def _live(newest: SessionInfo | None) -> str:
    return to("events", since=mark_of_tenant(newest))


def _filter_form(wish: ListingFilter) -> Markup:
    open_ = tag("input", type="checkbox", name="open", value="1", checked=wish.open)
    days = {"": "any time", **DAYS}
    return tag(
        "form",
        tag(
            "label",
            tag("span", "Words of a goal, a first question or an id"),
            tag("input", type="search", name="find", id="find", value=wish.words),
            class_="field",
        ),
        select_field("days", "Active in", days.items(), str(wish.days or "")),
        select_field("sort", "Sorted by", SORTS.items(), wish.sort),
        tag("label", open_, " with open work", class_="radio"),
        tag("button", "Find"),
        None if wish.plain else link("./", "Show all", class_="quiet"),
        method="get",
        action="./",
        class_="filters",
        role="search",
    )


_COLUMNS: Final = (("Session", "name"), ("Last active", "active"), ("Started", "started"))

_COUNTS: Final = {
    "messages": "Messages of users, assistants and tools",
    "facts": "All facts, those that were replaced, rejected or finished included",
    "open": "Open tasks and tests, and errors that are not fixed",
}
"""The numbers of a summary that a list shows: name -> what it counts."""

_EVENTS: Final = "Entries of the session's log: messages, facts, changes of facts, checkpoints"


def _table(request: PageRequest, wish: ListingFilter, found: SessionListing) -> Markup:
    if not found.infos:
        return nothing("No session matches.")
    sortable = [_head(wish, title, sort) for title, sort in _COLUMNS]
    counts = [_head(wish, name.capitalize(), name, text) for name, text in _COUNTS.items()]
    rows = [_row(info, found.summaries.get(info.key.id), request.now) for info in found.infos]
    head = tag("tr", sortable, counts, _head(wish, "Events", "events", _EVENTS))
    return tag("table", tag("thead", head), tag("tbody", rows), class_="list sessions")


def _head(wish: ListingFilter, title: str, sort: str, explained: str | None = None) -> Markup:
    chosen = wish.sort == sort
    address = to("", **{**wish.query(), "sort": sort})
    order = ("ascending" if sort == "name" else "descending") if chosen else None
    class_ = "number" if explained else None
    return tag("th", link(address, title), scope="col", class_=class_, aria_sort=order, title=explained)


def _row(info: SessionInfo, summary: Summary | None, now: float) -> Markup:
    title = summary.title if summary is not None else ""
    name = link(to("session", id=info.key.id), quote_line(title or info.key.id), class_="fact-link")
    below = tag("span", quote_line(info.key.id), class_="id") if title else None
    cells = [
        tag("td", "\u2013" if count is None else f"{count:,}", data_label=label.capitalize(), class_="number")
        for label in _COUNTS
        for count in [getattr(summary, label, None)]
    ]
    return tag(
        "tr",
        tag("td", name, below, class_="first goal" if summary is not None and summary.goal else "first"),
        tag("td", moment(info.updated_at, now), data_label="Last active"),
        tag("td", moment(info.created_at, now), data_label="Started"),
        cells,
        tag("td", f"{info.seq:,}", data_label="Events", class_="number"),
    )


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
    ("With a coding agent", "Claude Code remembers from its next chat on:", "tokenmizer-mw install claude-code"),
    (
        "In your application",
        "On its chat routes, with streams untouched:",
        "app.add_middleware(TokenMizerMiddleware, memory=memory)",
    ),
    ("In front of a client", "Run the proxy and change the base URL of the client:", "tokenmizer-mw serve"),
    ("From a transcript", "Read a chat that you have into a session:", "tokenmizer-mw import chat.jsonl"),
)


def _empty_store_hint() -> Markup:
    """Return the content of the page for an empty store: what would be here, and four ways to record a session."""
    ways = [
        tag("li", tag("h2", title), tag("p", text), tag("pre", tag("code", code), tabindex="0"), class_="card")
        for title, text, code in _WAYS
    ]
    return join_markup(
        heading(
            "No sessions yet",
            tag(
                "p",
                "A session appears here with its first message: what was decided and why, what is open, what was"
                " rejected, and the block that takes the place of an old transcript.",
                class_="lead",
            ),
        ),
        tag("ol", ways, class_="ways", id="sessions", data_live=True),
        tag("p", "This page shows the first session by itself.", class_="hint"),
    )
