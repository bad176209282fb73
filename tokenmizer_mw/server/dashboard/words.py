"""Formats numbers, times, addresses and facts for people. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode

from tokenmizer_mw.graph.export.appearance import STATUSES, TYPES
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status
from tokenmizer_mw.safety.labels import flatten

from .markup import Markup, join_markup, tag

QUOTE_MAX: Final = 1_000
_STEPS: Final = ((60, "second"), (3_600, "minute"), (86_400, "hour"), (86_400 * 60, "day"))
_SIZES: Final = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}


def to(page: str, /, **query: str | int | float | None) -> str:
    """Return the relative address of a page; parameters that are ``None`` are omitted."""
    told = {key.removesuffix("_"): value for key, value in query.items() if value not in (None, "")}
    return f"{page or './'}?{urlencode(told)}" if told else page or "./"


def link(address: str, /, *children: object, **more: str | bool | None) -> Markup:
    """Return a link. ``children`` as in ``tag``."""
    return tag("a", *children, href=address, **more)  # type: ignore[arg-type]


def moment(seconds: float, now: float) -> Markup:
    """Return a time as "... ago", with the exact time in the tooltip and in machine-readable form."""
    exact = datetime.fromtimestamp(seconds, UTC)
    return tag(
        "time", ago(now - seconds), datetime=exact.isoformat(timespec="seconds"), title=f"{exact:%Y-%m-%d %H:%M:%S} UTC"
    )


def exactly(seconds: float) -> str:
    """Format a time to the second."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def ago(seconds: float) -> str:
    """Format how long ago a time was, roughly."""
    if seconds < 2:
        return "just now"
    for limit, unit in _STEPS:
        if seconds < limit:
            return f"{format_count(int(seconds // _SIZES[unit]) or 1, unit)} ago"
    return f"{format_count(int(seconds // 86_400), 'day')} ago"


def format_count(number: int, what: str, many: str | None = None) -> str:
    """Format a number with its noun."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def quote_line(text: str, limit: int = QUOTE_MAX) -> Markup:
    """Return user text on one line, isolated in its writing direction."""
    return tag("bdi", flatten(text, limit))


def icon(type_: NodeType, *, done: bool = False) -> Markup:
    """Return the icon of a fact type; callers print the word beside it. ``done``: show a task as ticked."""
    path = tag("path", d=TYPES[type_].shape(done), class_="tm-icon")
    return tag("svg", path, class_=f"icon tm-type-{type_.value}", viewBox="0 0 20 20", aria_hidden="true")


def type_of(node: Node) -> Markup:
    """Return the type of a fact, as icon and word."""
    kind = node.kind.value if node.kind not in (None, DecisionKind.CHOICE) else TYPES[node.type].word
    return tag("span", icon(node.type, done=node.status is Status.COMPLETED), kind, class_="type")


def status_of(status: Status) -> Markup:
    """Return the status of a fact, as sign and word."""
    look = STATUSES[status]
    return tag("span", tag("span", look.mark, aria_hidden="true"), " ", look.word, class_=f"status is-{status.value}")


def fact_link(session_id: str, node: Node) -> Markup:
    """Return the label of a fact, linked to its page."""
    return link(to("fact", id=session_id, node=node.id), quote_line(node.label), class_="fact-link")


def message_link(session_id: str, number: int) -> Markup:
    """Return the number of a message, linked to its place in the transcript; plain text if it refers to no message."""
    if number < 1:
        return tag("span", "no message", class_="turn")
    return link(f"{to('transcript', id=session_id, message=number)}#m{number}", f"message {number}", class_="turn")


def nothing(text: str) -> Markup:
    """Return the placeholder for an empty list."""
    return tag("p", text, class_="nothing")


def card(
    title: str,
    *children: object,
    id: str | None = None,
    live: bool = False,
    load: str | None = None,
    more: object = None,
    goal: bool = False,
) -> Markup:
    """Return a section of a page with its own heading.

    ``live``: refresh it when the session changes; ``load``: address from which to load it after the page; ``goal``:
    whether the heading is a goal, which is formatted like a sentence (names of files and values keep their spelling).
    """
    head = tag("div", tag("h2", title, class_="goal" if goal else None), more, class_="card-head")  # type: ignore[arg-type]
    return tag("section", head, join_markup(*children), class_="card", id=id, data_live=live, data_load=load)  # type: ignore[arg-type]
