"""Selects the sessions of a list page: by words, age and open work, sorted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.model.session import SESSION_ID_MAX
from tokenmizer_mw.store.log import Place, SessionInfo

from .asked import PageRequest
from .titles import Summary

PER_PAGE: Final = 25
SCANNED_MAX: Final = 2_000
"""Sessions that are looked at for a search, a filter or an order of their own: those last active."""

FOUND_EVENTS_MAX: Final = 5_000
"""Events that a search or a filter reads for goals that are not known yet."""

DAYS: Final = {"1": "the last day", "7": "the last week", "30": "the last month"}
SORTS: Final = {"active": "last active", "started": "started", "events": "most events", "name": "name"}


@dataclass(frozen=True, slots=True)
class ListingFilter:
    """The query of a session list.

    ``words``: occur in the id or the goal; ``days``: active within so many days, 0 for any; ``open``: only with open
    work. ``place``: cursor of the page in the order of activity; ``number``: page number in another order.
    """

    words: str = ""
    days: int = 0
    open: bool = False
    sort: str = "active"
    place: Place | None = None
    number: int = 1

    @property
    def plain(self) -> bool:
        """Whether it asks for the most recently active sessions without a filter."""
        return not (self.words or self.days or self.open) and self.sort == "active"

    def query(self) -> dict[str, str | int | None]:
        """Return the query parameters for the same list."""
        sort = self.sort if self.sort != "active" else None
        return {"find": self.words, "days": self.days or None, "open": 1 if self.open else None, "sort": sort}


@dataclass(frozen=True, slots=True)
class SessionListing:
    """A page of sessions, with their known summaries, and whether there are more."""

    infos: Sequence[SessionInfo]
    summaries: Mapping[str, Summary]
    more: bool


def wish_of(query: Mapping[str, str]) -> ListingFilter:
    """Parse the query of an address; invalid values count as missing."""
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


def list_sessions(asked: PageRequest, wish: ListingFilter) -> SessionListing:
    """Return a page of sessions."""
    if wish.plain:
        infos = asked.memory.log.sessions(asked.tenant, after=wish.place, limit=PER_PAGE + 1)
        shown = infos[:PER_PAGE]
        return SessionListing(shown, asked.kept.titles.of(asked.memory, shown), len(infos) > PER_PAGE)
    chosen, summaries = matching(asked, wish)
    start = (max(1, wish.number) - 1) * PER_PAGE
    return SessionListing(chosen[start : start + PER_PAGE], summaries, len(chosen) > start + PER_PAGE)


def matching(asked: PageRequest, wish: ListingFilter) -> tuple[list[SessionInfo], Mapping[str, Summary]]:
    """Return all matching sessions among the ``SCANNED_MAX`` most recently active ones, sorted."""
    infos = asked.memory.log.sessions(asked.tenant, limit=SCANNED_MAX)
    if wish.days:
        infos = [info for info in infos if asked.now - info.updated_at <= wish.days * 86_400]
    summaries = asked.kept.titles.of(asked.memory, infos, FOUND_EVENTS_MAX)
    if wish.open:
        infos = [info for info in infos if summaries.get(info.key.id, Summary()).open]
    words = wish.words.casefold().split()
    infos = [info for info in infos if _holds(info, summaries.get(info.key.id), words)]
    return _sort_sessions(infos, summaries, wish.sort), summaries


def _holds(info: SessionInfo, summary: Summary | None, words: Sequence[str]) -> bool:
    text = f"{info.key.id} {summary.title if summary is not None else ''}".casefold()
    return all(word in text for word in words)


def _sort_sessions(infos: list[SessionInfo], summaries: Mapping[str, Summary], sort: str) -> list[SessionInfo]:
    def name(info: SessionInfo) -> str:
        summary = summaries.get(info.key.id)
        return ((summary.title if summary is not None else "") or info.key.id).casefold()

    if sort == "started":
        return sorted(infos, key=lambda info: -info.created_at)
    if sort == "events":
        return sorted(infos, key=lambda info: -info.seq)
    return sorted(infos, key=name) if sort == "name" else infos
