"""A parsed and authorized API request, as the route functions receive it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.server.access.caller import Caller

from .health import Health

Query = TypeVar("Query")
Body = TypeVar("Body")


@dataclass(frozen=True, slots=True)
class ApiRequest(Generic[Query, Body]):
    """One API request.

    ``prefix``: path prefix the application is mounted under. ``session_id``: from the path, "" if the route has none.
    ``body``: the validated model, or raw bytes for a route that parses the body itself.
    """

    memory: SessionMemory
    caller: Caller
    prefix: str
    session_id: str
    query: Query
    body: Body
    health: Health
    clock: Callable[[], float]

    @property
    def tenant(self) -> str:
        """Tenant of the caller."""
        return self.caller.tenant


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """A response that is not JSON, or that has its own status or ``headers``."""

    body: bytes
    media: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
