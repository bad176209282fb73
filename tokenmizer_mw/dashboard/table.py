"""The one list of pages and changes: where, who may, and who does the work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from .asked import Asked, Page, See
from .changing import change, checkpoint
from .condition import page as condition
from .fact import page as fact
from .facts import page as facts
from .figures import page as figures
from .forgetting import forget
from .forgetting import page as forgetting
from .found import page as found
from .graph import page as graph
from .history import page as history
from .session import page as session
from .sessions import page as sessions

Scope = Literal["read", "write", "erase"]


@dataclass(frozen=True, slots=True)
class Route:
    """A row: the last part of a path, a method, and the scope that a caller needs. ``work`` runs in a worker thread."""

    name: str
    method: Literal["GET", "POST"]
    scope: Scope
    work: Callable[[Asked], Page | See]


ROUTES: Final = (
    Route("", "GET", "read", sessions),
    Route("session", "GET", "read", session),
    Route("graph", "GET", "read", graph),
    Route("facts", "GET", "read", facts),
    Route("fact", "GET", "read", fact),
    Route("history", "GET", "read", history),
    Route("search", "GET", "read", found),
    Route("savings", "GET", "read", figures),
    Route("status", "GET", "read", condition),
    Route("forget", "GET", "erase", forgetting),
    Route("change", "POST", "write", change),
    Route("checkpoint", "POST", "write", checkpoint),
    Route("forget", "POST", "erase", forget),
)
"""All but those that the application answers itself."""

LOGIN: Final = "login"
LOGOUT: Final = "logout"
EVENTS: Final = "events"
STATIC: Final = ("static/dashboard.css", "static/graph.css", "static/dashboard.js", "static/icon.svg")

NAMES: Final = frozenset({route.name for route in ROUTES} | {LOGIN, LOGOUT, EVENTS, *STATIC})
"""Every path below the prefix, without its leading slash."""
