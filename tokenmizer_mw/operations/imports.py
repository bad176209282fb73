"""Imports an export or a foreign transcript into a session: validated, redacted, all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import Recorded, TurnClosed
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session.text_rewrite import Retouch

from .exports import Export, restore
from .sound import require_sound
from .transcripts import ImportedTranscript

COMPARED_MAX: Final = 8
"""Messages by which a session is known again."""

COMPARED_TEXT_MAX: Final = 1_000
"""Characters of a message that are compared."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What was imported (events or messages), how many, and how many were new to the session."""

    what: Literal["events", "messages"]
    count: int
    new: int


def import_into(memory: SessionMemory, key: SessionKey, found: Export | ImportedTranscript, *, now: float) -> Imported:
    """Import an export or a transcript into a session.

    An export gives the same graph with the original recording times; if the session already has its first events, the
    rest is appended. The facts of a transcript are extracted in the background. Raises ``CallerError`` for invalid
    events, and ``SessionDiffers`` if the session has different content.
    """
    if isinstance(found, ImportedTranscript):
        new = memory.record(key.id, found.messages, later=True, tenant=key.tenant)
        return Imported("messages", len(found.messages), new)
    require_sound(found.events, now)
    return Imported("events", len(found.events), restore(memory.log, key, _redact_events(memory, found.events)))


def continues_session(memory: SessionMemory, key: SessionKey, found: ImportedTranscript) -> bool:
    """Return whether a transcript begins like the session that its file names, or that session does not exist yet.

    The check is needed because the author of the file can choose any name, but does not know the session's messages.
    """
    known = [one.message for one in memory.messages(key.id, tenant=key.tenant) if one.number > 0]
    door = memory.service.redaction.ingress
    told = found.messages[: min(len(known), COMPARED_MAX)]
    cleaned = told if door is None else [door.message(message) for message in told]
    return all(
        (one.role, one.text[:COMPARED_TEXT_MAX]) == (other.role, other.text[:COMPARED_TEXT_MAX])
        for one, other in zip(cleaned, known, strict=False)
    )


def _redact_events(memory: SessionMemory, events: Sequence[Recorded]) -> Sequence[Recorded]:
    door = memory.service.redaction.ingress
    if door is None:
        return events
    for recorded in events:
        if isinstance(recorded.event, TurnClosed) and door.text(recorded.event.finish_reason) != (
            recorded.event.finish_reason
        ):
            raise CallerError("a finish_reason holds a secret")
    change = Retouch(door.message, door.text, door.document)
    return [replace(recorded, event=change(recorded)) for recorded in events]
