"""The scripted upstream, a memory over a log that tests can look into, and clients of all faces."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.upstream.server import Upstream
from tests.waiting import eventually
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.model.event import MessageRecorded, TurnClosed
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.store.memory import MemoryLog

from .faces import FACES, Client, Face

_sessions = itertools.count(1)


@dataclass(frozen=True)
class Kept:
    """A memory and what its log holds."""

    memory: SessionMemory
    log: MemoryLog

    def said(self, session: str, tenant: str = LOCAL_TENANT) -> list[tuple[str, str]]:
        """Role and text of every message, in order."""
        self.memory.flush()
        events = self._events(session, tenant, MessageRecorded)
        return [(event.message.role.value, event.message.text) for event in events]

    def ended(self, session: str, tenant: str = LOCAL_TENANT) -> list[tuple[str, str]]:
        """Outcome and finish reason of every turn."""
        self.memory.flush()
        events = self._events(session, tenant, TurnClosed)
        return [(event.outcome.value, event.finish_reason) for event in events]

    def _events(self, session: str, tenant: str, kind: type) -> list[Any]:
        recorded = self.log.read(SessionKey(tenant, session))
        return [item.event for item in recorded if isinstance(item.event, kind)]


@pytest.fixture(scope="session")
def _running() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


@pytest.fixture
def upstream(_running: Upstream) -> Iterator[Upstream]:
    _running.script.clear()
    _running.calls.clear()
    yield _running
    assert eventually(lambda: _running.statistics.active == 0)


@pytest.fixture
def url(upstream: Upstream) -> str:
    return f"{upstream.url}/v1/chat/completions"


@pytest.fixture
def open_kept() -> Iterator[Callable[..., Kept]]:
    """Opens memories with changed settings; all are closed at the end."""
    opened: list[Kept] = []

    def open_one(**changes: Any) -> Kept:
        log = MemoryLog()
        opened.append(Kept(SessionMemory(log, Settings(**changes)), log))
        return opened[-1]

    yield open_one
    for kept in opened:
        kept.memory.close()


@pytest.fixture
def kept(open_kept: Callable[..., Kept]) -> Kept:
    return open_kept()


@pytest.fixture
def session() -> str:
    """The id of a session that no other test has."""
    return f"session-{next(_sessions)}"


@pytest.fixture(params=FACES, ids=lambda face: face.name)
def face(request: pytest.FixtureRequest) -> Face:
    found: Face = request.param
    return found


@pytest.fixture
def connect(face: Face) -> Iterator[Callable[..., Client]]:
    """Opens clients of a face: ``connect(memory, transport)``. All are closed at the end."""
    opened: list[Client] = []

    def open_one(memory: SessionMemory | None = None, transport: Any = None) -> Client:
        opened.append(Client(face, transport, memory))
        return opened[-1]

    yield open_one
    for client in opened:
        client.close()
