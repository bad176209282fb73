"""A conversation through an SDK, as its users hold one: the history, in the SDK's own types, is sent back."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final, TypeVar

Client = TypeVar("Client")
SYSTEM: Final = "You are brief."
KEY: Final = "none"
LOOKUP: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"topic": {"type": "string"}, "deep": {"type": "boolean"}, "limit": {"type": "integer"}},
}
TOOLS: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("lookup", "Look something up.", LOOKUP),
    ("today", "The date of today.", {"type": "object", "properties": {}}),
)
"""Name, description and parameters of the tools that every request offers."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the SDK hands it over; ``id`` is "" where there are none."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """What the SDK handed to its user of one reply."""

    text: str
    calls: tuple[Call, ...] = ()
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """An error of the provider as the SDK told it: the status and the header that says when to come again."""

    status: int
    retry_after: str | None


class Talk(ABC):
    """One session with one SDK. ``history`` holds what the SDK's user would keep."""

    name: ClassVar[str]
    failures: ClassVar[tuple[type[BaseException], ...]]
    """What the SDK raises when a stream breaks or says that it failed."""

    def __init__(self, url: str, session: str) -> None:
        self.url = url
        self.session = session
        self.history: list[Any] = []
        self.begin()

    @abstractmethod
    def begin(self) -> None:
        """Put the system's message where it belongs."""

    tears_at_separators: ClassVar[bool] = False
    """Whether the SDK takes a line separator of Unicode within JSON text for the end of a line."""

    @property
    def headers(self) -> dict[str, str]:
        return {"x-session-id": self.session}

    @abstractmethod
    def user(self, text: str) -> None:
        """The user says something."""

    @abstractmethod
    def result(self, call: Call, text: str) -> None:
        """A tool returned something; results are given in the order of their calls."""

    @abstractmethod
    def whole(self, model: str) -> Any:
        """Ask and get the SDK's response."""

    @abstractmethod
    def stream(self, model: str) -> Iterable[Any]:
        """Ask and get the SDK's events as they come."""

    @abstractmethod
    async def awhole(self, model: str) -> Any:
        """``whole`` of the asynchronous client."""

    @abstractmethod
    def astream(self, model: str) -> AsyncIterator[Any]:
        """``stream`` of the asynchronous client."""

    @abstractmethod
    def take(self, response: Any) -> Said:
        """Put a response into the history as users do; what it says."""

    @abstractmethod
    def take_events(self, events: list[Any]) -> Said:
        """The same with a stream's events."""

    @abstractmethod
    def refused(self, error: BaseException) -> Refused | None:
        """What an error of the SDK tells of a response's status; ``None`` when there was no response."""

    def ask(self, model: str, *, stream: bool) -> Said:
        """One call, synchronously."""
        return self.take_events(list(self.stream(model))) if stream else self.take(self.whole(model))

    async def aask(self, model: str, *, stream: bool) -> Said:
        """One call, asynchronously."""
        if not stream:
            return self.take(await self.awhole(model))
        return self.take_events([event async for event in self.astream(model)])


class Clients:
    """The clients of all SDKs, which are made once for each address: they are slow to make. ``close`` and ``aclose``
    hold what closes them; whoever asks again is given new ones."""

    def __init__(self) -> None:
        self.close: list[Callable[[], object]] = []
        self.aclose: list[Callable[[], Awaitable[object]]] = []
        self._forget: list[Callable[[], None]] = []

    def once(self, make: Callable[[str], Client]) -> Callable[[str], Client]:
        """Decorate what makes a client of an address: one client for each, until all are closed."""
        cached = lru_cache(make)
        self._forget.append(cached.cache_clear)
        return cached

    def close_all(self) -> None:
        """Close the synchronous ones."""
        self._forget_all()
        while self.close:
            self.close.pop()()

    async def aclose_all(self) -> None:
        """Close the asynchronous ones, on the loop that they were used on."""
        self._forget_all()
        while self.aclose:
            await self.aclose.pop()()

    def _forget_all(self) -> None:
        for forget in self._forget:
            forget()


CLIENTS: Final = Clients()


def parsed(arguments: str) -> dict[str, Any]:
    """Arguments of a call that come as JSON text."""
    found: dict[str, Any] = json.loads(arguments)
    return found
