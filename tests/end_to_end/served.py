"""An example application that is being served, and what its memory holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import eventually
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.event import MessageRecorded, TurnClosed
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.store.log import EventLog

EXAMPLES = Path(__file__).parents[2] / "integrations" / "examples"
APPS = ("fastapi", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("starlette", "django")))


@dataclass(frozen=True, slots=True)
class Served:
    """The application's name and address, its memory and the log below."""

    app: str
    url: str
    memory: SessionMemory
    log: EventLog

    def messages(self, session: str) -> list[Message]:
        """All messages of a session, in order."""
        return [event.message for event in self._events(session, MessageRecorded)]

    def outcomes(self, session: str) -> list[tuple[str, str]]:
        """Outcome and finish reason of every turn."""
        return [(event.outcome.value, event.finish_reason) for event in self._events(session, TurnClosed)]

    def closed(self, session: str, turns: int = 1) -> list[tuple[str, str]]:
        """``outcomes`` once there are as many ``turns``: what was broken off is committed in the background."""
        eventually(lambda: len(self.outcomes(session)) >= turns)
        return self.outcomes(session)

    def _events(self, session: str, kind: type) -> list[Any]:
        self.memory.flush()
        recorded = self.log.read(SessionKey(LOCAL_TENANT, session))
        return [item.event for item in recorded if isinstance(item.event, kind)]
