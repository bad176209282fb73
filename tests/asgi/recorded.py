"""What a log holds of a session, in short."""

from __future__ import annotations

from typing import Any

from tokenmizer_mw.model.event import MessageRecorded, TurnClosed
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.store.log import EventLog

from .driving import SESSION

ASKED = "Wie heißt du? \U0001f642"


def said(log: EventLog, session: str = SESSION, tenant: str = LOCAL_TENANT) -> list[tuple[str, str]]:
    """Role and text of every message, in order."""
    return [(event.message.role.value, event.message.text) for event in _events(log, session, tenant, MessageRecorded)]


def closed(log: EventLog, session: str = SESSION, tenant: str = LOCAL_TENANT) -> list[tuple[str, str]]:
    """Outcome and finish reason of every turn."""
    return [(event.outcome.value, event.finish_reason) for event in _events(log, session, tenant, TurnClosed)]


def _events(log: EventLog, session: str, tenant: str, kind: type) -> list[Any]:
    recorded = log.read(SessionKey(tenant, session))
    return [item.event for item in recorded if isinstance(item.event, kind)]
