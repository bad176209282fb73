"""A request that was let in and understood, as the work of a route sees it."""

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
    """Who asks for what.

    ``prefix`` is what the application is mounted under, ``session_id`` the one of the path, "" where it has none.
    ``body`` is checked, or the bytes as they came where the route reads them itself.
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
        """Whose sessions."""
        return self.caller.tenant


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer that is no JSON, or has a status or ``headers`` of its own."""

    body: bytes
    media: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
