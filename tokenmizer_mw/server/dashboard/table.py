"""The table of all pages and actions of the dashboard, each with its path, method, scope (permission) and function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from starlette.responses import Response

from .actions import apply_edit, confirm_erasure, erase_session, make_checkpoint
from .fact import show_fact
from .facts import fact_records, search_facts, show_facts
from .graph import download_graph, show_graph
from .health import show_health
from .history import show_comparison, show_history
from .page import STATIC_MEDIA, Page, PageRequest, csv_file, json_file
from .request import show_request
from .savings import savings_file, savings_records, show_savings
from .session import show_session
from .sessions import session_records, show_sessions
from .transcript import show_transcript

Scope = Literal["read", "write", "erase"]


@dataclass(frozen=True, slots=True)
class PageRoute:
    """One page, file or action of the dashboard.

    - ``name``: its path below the mount prefix, such as "facts"; "" for the list of sessions.
    - ``scope``: the permission that the caller needs.
    - ``work``: the function that answers a request; it is called in a worker thread.
    """

    name: str
    method: Literal["GET", "POST"]
    scope: Scope
    work: Callable[[PageRequest], Page | Response]


ROUTES: Final = (
    PageRoute("", "GET", "read", show_sessions),
    PageRoute("sessions.csv", "GET", "read", lambda request: csv_file("sessions.csv", session_records(request))),
    PageRoute("sessions.json", "GET", "read", lambda request: json_file("sessions.json", session_records(request))),
    PageRoute("session", "GET", "read", show_session),
    PageRoute("transcript", "GET", "read", show_transcript),
    PageRoute("graph", "GET", "read", show_graph),
    PageRoute("facts", "GET", "read", show_facts),
    PageRoute("facts.csv", "GET", "read", lambda request: csv_file("facts.csv", fact_records(request))),
    PageRoute("facts.json", "GET", "read", lambda request: json_file("facts.json", fact_records(request))),
    PageRoute("export", "GET", "read", download_graph),
    PageRoute("fact", "GET", "read", show_fact),
    PageRoute("history", "GET", "read", show_history),
    PageRoute("compare", "GET", "read", show_comparison),
    PageRoute("request", "GET", "read", show_request),
    PageRoute("search", "GET", "read", search_facts),
    PageRoute("savings", "GET", "read", show_savings),
    PageRoute(
        "savings.csv", "GET", "read", lambda request: csv_file(savings_file(request, "csv"), savings_records(request))
    ),
    PageRoute(
        "savings.json",
        "GET",
        "read",
        lambda request: json_file(savings_file(request, "json"), savings_records(request)),
    ),
    PageRoute("status", "GET", "read", show_health),
    PageRoute("forget", "GET", "erase", confirm_erasure),
    PageRoute("change", "POST", "write", apply_edit),
    PageRoute("checkpoint", "POST", "write", make_checkpoint),
    PageRoute("forget", "POST", "erase", erase_session),
)
"""All pages, files and actions except those that ``Dashboard`` answers itself: sign-in, sign-out, the event stream, and
static files."""

LOGIN: Final = "login"
LOGOUT: Final = "logout"
EVENTS: Final = "events"
NAMES: Final = frozenset({route.name for route in ROUTES} | {LOGIN, LOGOUT, EVENTS, *STATIC_MEDIA})
"""Every path that the dashboard answers, without the mount prefix and the slash at the start."""
