"""The table of pages and actions: path, method, scope and function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from .asked import File, Page, PageRequest, See
from .changing import change, checkpoint
from .compare import page as compare
from .condition import page as condition
from .exporting import export
from .fact import page as fact
from .facts import csv as facts_csv
from .facts import json as facts_json
from .facts import page as facts
from .figures import page as figures
from .forgetting import forget
from .forgetting import page as forgetting
from .found import page as found
from .graph import page as graph
from .history import page as history
from .request import page as request
from .session import page as session
from .sessions import csv as sessions_csv
from .sessions import json as sessions_json
from .sessions import page as sessions
from .transcript import page as transcript

Scope = Literal["read", "write", "erase"]


@dataclass(frozen=True, slots=True)
class PageRoute:
    """One page or action: last path segment, method, and the scope that the caller needs. ``work`` runs in a worker
    thread."""

    name: str
    method: Literal["GET", "POST"]
    scope: Scope
    work: Callable[[PageRequest], Page | File | See]


ROUTES: Final = (
    PageRoute("", "GET", "read", sessions),
    PageRoute("sessions.csv", "GET", "read", sessions_csv),
    PageRoute("sessions.json", "GET", "read", sessions_json),
    PageRoute("session", "GET", "read", session),
    PageRoute("transcript", "GET", "read", transcript),
    PageRoute("graph", "GET", "read", graph),
    PageRoute("facts", "GET", "read", facts),
    PageRoute("facts.csv", "GET", "read", facts_csv),
    PageRoute("facts.json", "GET", "read", facts_json),
    PageRoute("export", "GET", "read", export),
    PageRoute("fact", "GET", "read", fact),
    PageRoute("history", "GET", "read", history),
    PageRoute("compare", "GET", "read", compare),
    PageRoute("request", "GET", "read", request),
    PageRoute("search", "GET", "read", found),
    PageRoute("savings", "GET", "read", figures),
    PageRoute("status", "GET", "read", condition),
    PageRoute("forget", "GET", "erase", forgetting),
    PageRoute("change", "POST", "write", change),
    PageRoute("checkpoint", "POST", "write", checkpoint),
    PageRoute("forget", "POST", "erase", forget),
)
"""All but those that the application answers itself."""

LOGIN: Final = "login"
LOGOUT: Final = "logout"
EVENTS: Final = "events"
STATIC: Final = ("static/dashboard.css", "static/graph.css", "static/dashboard.js", "static/icon.svg")

NAMES: Final = frozenset({route.name for route in ROUTES} | {LOGIN, LOGOUT, EVENTS, *STATIC})
"""Every path below the prefix, without its leading slash."""
