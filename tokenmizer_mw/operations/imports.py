"""Imports an export or a transcript into a session: validated, redacted, all or nothing.

Events from outside are validated: types, sizes, numbers, times, and that they can be folded into a session. An exported
session is always valid; a file edited by hand must not create a session that cannot be read.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Final, Literal, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from tokenmizer_mw.chat.content_redaction import EventRedaction
from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import (
    Checkpointed,
    DecisionReplaced,
    EdgeAdded,
    Event,
    MessageRecorded,
    NodeAdded,
    NodeEdited,
    NodeRevised,
    NodesPruned,
    Recorded,
    Refined,
    Reminded,
    StatusChanged,
    TurnClosed,
)
from tokenmizer_mw.model.node import LABEL_MAX, Node
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session import fold

from .exports import Export, restore
from .transcripts import ImportedTranscript, record_at

TEXT_MAX: Final = 4_000
"""Maximum length, in characters, of texts of a fact other than its label, such as a detail, a quote or a reason."""

CLOCKS_APART: Final = 86_400.0
"""Seconds by which the clock of another machine may be ahead of this one."""

_ID: Final = re.compile(r"[a-z_]{1,24}-[0-9]{1,9}")
_DIGEST: Final = re.compile(r"[0-9a-f]{0,64}")
_NAME: Final = re.compile(r"[A-Za-z0-9 _.:-]{0,64}")
_BY_HAND_TOO: Final = frozenset({"id", "type"})

_FIXED: Final = _BY_HAND_TOO | {"status"}
"""Members of a fact that a change must not contain; a manual edit (``_BY_HAND_TOO``) may change the status."""


def require_valid_events(events: Sequence[Recorded], now: float) -> None:
    """Raise ``CallerError``, which names the first invalid event, unless the events make a session. ``now``: the
    current time, in seconds since the epoch; an event more than ``CLOCKS_APART`` seconds later is invalid."""
    heard = 0
    for place, recorded in enumerate(events, 1):
        heard += isinstance(recorded.event, MessageRecorded)
        wrong = _type_error(recorded.event) or next(_find_errors(recorded.event, heard), None)
        if wrong is None and not recorded.recorded_at <= now + CLOCKS_APART:
            wrong = "recorded in the future"
        if wrong is None and recorded.recorded_at < 0:
            wrong = "recorded before 1970"
        if wrong is not None:
            raise CallerError(f"event {place}: {wrong}")
    try:
        fold(events)
    except Exception as error:  # whatever a made-up order of sound events can do
        raise CallerError(f"the events do not make a session ({type(error).__name__})") from None


def _type_error(event: Event) -> str | None:
    """Return a text that names the first field of ``event`` whose value does not have its declared type; ``None`` if
    there is none. The changes in an edit or a revision of a fact are checked like fields of the fact."""
    for name, value, hint in _declared_fields(event):
        if not _fits(value, hint):
            return f"{name} is not what it should be"
    return None


def _declared_fields(event: Event) -> Iterator[tuple[str, object, Any]]:
    kind: Any = type(event)
    hints = _hints(kind)
    for one in fields(event):
        yield one.name, getattr(event, one.name), hints[one.name]
    if isinstance(event, NodeRevised):
        yield from _of_node(event.changes, _FIXED)
    if isinstance(event, NodeEdited):
        yield from _of_node(event.changes, _BY_HAND_TOO)
        yield from _of_node(event.before, _BY_HAND_TOO)


def _of_node(changes: Mapping[str, Any], fixed: frozenset[str]) -> Iterator[tuple[str, object, Any]]:
    of_node = _hints(Node)
    for name, value in changes.items():
        yield name, value, types.NoneType if name in fixed else of_node.get(name, types.NoneType)


def _fits(value: object, hint: Any) -> bool:
    """Return whether ``value`` has exactly the type ``hint``, without any conversion ("1" is no ``int``). Infinity and
    NaN are no numbers here."""
    try:
        _adapter(hint).validate_python((value,))
    except ValidationError:
        return False
    return True


@cache
def _adapter(hint: Any) -> TypeAdapter[Any]:
    # pydantic lets no dataclass have a configuration from outside, but what is in a tuple takes the tuple's
    strict = ConfigDict(strict=True, allow_inf_nan=False, revalidate_instances="always")
    return TypeAdapter(tuple[hint], config=strict)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _find_errors(event: Event, heard: int) -> Iterator[str]:
    """Yield a text for each error in an event: message numbers out of order or unknown, and invalid ids, digests,
    names, labels or long texts. ``heard``: number of messages among the events up to this one, itself included."""
    if isinstance(event, MessageRecorded):
        if event.turn != heard or not 0 <= event.after < event.turn:
            yield f"message {event.turn} cannot follow message {event.after} as number {heard}"
    elif not all(0 <= number <= heard for number in _turns(event)):
        yield "speaks of a message that is not there"
    for what, check, values in _worded_fields(event):
        if not all(map(check, values)):
            yield f"{what} is not what it should be"


def _turns(event: Event) -> tuple[int, ...]:
    """Return the numbers of the messages that ``event`` refers to, at least one; 0 stands for no message."""
    match event:
        case NodeAdded(node):
            return (node.source.turn,)
        case EdgeAdded(edge):
            return (edge.turn,)
        case DecisionReplaced(step):
            return (step.trigger,)
        case Checkpointed():
            return event.turn, event.anchor_turn
        case Reminded():
            return event.turn, *event.messages
        case Refined():
            return event.turn, event.first
        case _:
            return (getattr(event, "turn", 0),)


_Worded = tuple[str, Callable[[str], object], tuple[str, ...]]


def _worded_fields(event: Event) -> Iterator[_Worded]:
    """Yield the texts of an event by kind (such as ids, digests and labels): the kind's name, a function that returns
    whether a text is valid, and the texts."""
    match event:
        case MessageRecorded():
            yield "digest", _DIGEST.fullmatch, (event.digest,)
        case TurnClosed():
            yield "finish_reason", _NAME.fullmatch, (event.finish_reason,)
            yield "usage", _NAME.fullmatch, tuple(event.usage)
        case NodeAdded(node):
            yield from _node(node)
        case NodeRevised(id, changes):
            yield from _changed_fields(id, changes)
        case NodeEdited():
            yield from (*_changed_fields(event.id, event.changes), *_changed_fields(event.id, event.before))
            yield "text", _is_short, (event.reason,)
        case StatusChanged(id):
            yield "id", _ID.fullmatch, (id,)
            yield "text", _is_short, (event.reason, event.quote)
        case DecisionReplaced(step):
            yield "id", _ID.fullmatch, (step.old, step.new)
            yield "text", _is_short, (step.reason, step.evidence)
        case Checkpointed():
            yield "id", _ID.fullmatch, (event.id, *event.carried)
            yield "anchor", _DIGEST.fullmatch, (event.anchor,)
        case EdgeAdded() | NodesPruned() | Reminded():
            yield "id", _ID.fullmatch, _named_ids(event)
        case _:
            yield "text", _is_short, getattr(event, "handover", ())


def _named_ids(event: EdgeAdded | NodesPruned | Reminded) -> tuple[str, ...]:
    if isinstance(event, Reminded):
        return event.cut, *event.nodes
    return event.ids if isinstance(event, NodesPruned) else (event.edge.source, event.edge.target)


def _changed_fields(id: str, changes: Mapping[str, Any]) -> Iterator[_Worded]:
    yield "id", _ID.fullmatch, (id,)
    yield "label", _is_one_line, (changes["label"],) if "label" in changes else ()
    yield "text", _is_short, tuple(changes[name] for name in ("detail", "slot", "value") if name in changes)


def _node(node: Node) -> Iterator[_Worded]:
    yield "id", _ID.fullmatch, (node.id,)
    yield "role", _NAME.fullmatch, (node.source.role,)
    yield "label", _is_one_line, (node.label,)
    yield "text", _is_short, (node.detail, node.slot, node.value, node.source.quote)


def _is_short(text: str) -> bool:
    return len(text) <= TEXT_MAX


def _is_one_line(text: str) -> bool:
    return 0 < len(text) <= LABEL_MAX and not any(character < " " or character == "\x7f" for character in text)


COMPARED_MAX: Final = 8
"""Number of first messages by which ``continues_session`` recognises a session."""

COMPARED_TEXT_MAX: Final = 1_000
"""Characters of each message that ``continues_session`` compares."""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What was imported: ``what`` is "events" (of an export) or "messages" (of a transcript), ``count`` their number in
    the file, ``new`` how many of them the session did not have before."""

    what: Literal["events", "messages"]
    count: int
    new: int


def import_into(
    memory: SessionMemory, key: SessionKey, found: Export | ImportedTranscript, *, now: float
) -> ImportResult:
    """Import an export or a transcript into the session ``key``.

    An export gives the same graph with the original recording times; if the session already has its first events, the
    rest is appended. If a transcript states the times of messages, these and their facts get these times; the facts of
    any other transcript are extracted in the background. ``now``: the current time, in seconds since the epoch.

    Raises ``CallerError`` for invalid events, and ``SessionDiffers`` if the session's events are not the first ones of
    the export; nothing is imported then. Of a transcript, the messages that the session does not have yet are added.
    """
    if isinstance(found, ImportedTranscript):
        if found.times:
            new = record_at(memory, key, found.messages, found.times, now)
        else:
            new = memory.record(key.id, found.messages, later=True, tenant=key.tenant)
        return ImportResult("messages", len(found.messages), new)
    require_valid_events(found.events, now)
    return ImportResult("events", len(found.events), restore(memory.log, key, _redact_events(memory, found.events)))


def continues_session(memory: SessionMemory, key: SessionKey, found: ImportedTranscript) -> bool:
    """Return whether a transcript begins with the same messages as the session ``key``, which its file names; also true
    if that session does not exist yet. Compared are the first ``COMPARED_MAX`` messages that both have, by role and by
    the first ``COMPARED_TEXT_MAX`` characters, after redaction.

    The check is needed because the author of the file can choose any name, but does not know the session's messages.
    """
    known = [one.message for one in memory.messages(key.id, tenant=key.tenant) if one.number > 0]
    door = memory.service.redaction.redactor
    values = found.messages[: min(len(known), COMPARED_MAX)]
    cleaned = values if door is None else [door.message(message) for message in values]
    return all(
        (one.role, one.text[:COMPARED_TEXT_MAX]) == (other.role, other.text[:COMPARED_TEXT_MAX])
        for one, other in zip(cleaned, known, strict=False)
    )


def _redact_events(memory: SessionMemory, events: Sequence[Recorded]) -> Sequence[Recorded]:
    door = memory.service.redaction.redactor
    if door is None:
        return events
    for recorded in events:
        if isinstance(recorded.event, TurnClosed) and door.text(recorded.event.finish_reason) != (
            recorded.event.finish_reason
        ):
            raise CallerError("a finish_reason holds a secret")
    change = EventRedaction(door.message, door.text, door.document)
    return [replace(recorded, event=change(recorded)) for recorded in events]
