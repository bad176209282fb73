"""Parser of coding agents' transcripts (Claude Code, Codex): one JSON value per line, in undocumented formats that
change.

Reads the lines that contain messages; all others are skipped, also truncated lines and unknown kinds. Pure.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

from tokenmizer_mw.errors import InvalidMessage
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.safety.fence import own_blocks
from tokenmizer_mw.wire.dialects import openai_responses_item as codex
from tokenmizer_mw.wire.messages import history
from tokenmizer_mw.wire.request import get_text

_HEAD_LINES: Final = 100
"""Number of lines at the start of a transcript that are searched for the session's id and folder."""

LINE_MAX: Final = 8 * 1024 * 1024
"""Maximum length of a line in bytes; longer lines are skipped, because they contain pictures."""

_CLIENTS: Final = ("<command-name>", "<local-command-", "<command-message>")
_LEFT_OUT: Final = ("isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
_WRITTEN_BY_HOST: Final = "<synthetic>"
"""Name of the model in messages that Claude Code writes in the model's place, such as "No response requested."."""

_BLOCK: Final = b"session-record"
_COMPACTED: Final = (b"compact_boundary", b'"compacted"')
_SPEAKS: Final = (b'"assistant"', b'"function_call"', b'"reasoning"')


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """A message of a transcript. ``place``: byte position at which its line begins. ``time``: when it was written, in
    seconds since the epoch; ``None`` if the line does not say."""

    place: int
    message: Message
    time: float | None = None


@dataclass(frozen=True, slots=True)
class ShownContext:
    """What the model's context contains, according to a transcript.

    ``present``: true if it contains a resume block of this package. ``last``: true if the model has said nothing since
    the newest block. ``last`` without ``present``: a block was returned to the host, but the transcript does not have
    it yet.
    """

    present: bool = False
    last: bool = False


def messages_in(raw: bytes, start: int = 0) -> tuple[list[TranscriptMessage], int]:
    """Return the messages in ``raw``, and the byte position in the transcript at which its last complete line ends.

    ``raw``: a part of a transcript that begins at byte ``start``. An incomplete last line is ignored; so are lines that
    are too long, not JSON, or no message.
    """
    found = [
        TranscriptMessage(start + place, message, read_time(value.get("timestamp")))
        for place, line in _lines(raw)
        if (message := _message(value := _value(line))) is not None
    ]
    return found, start + raw.rfind(b"\n") + 1


def session_in(raw: bytes) -> str:
    """Return the session id that the first 100 lines of a transcript name; "" if they name none."""
    for _, line in islice(_lines(raw + b"\n"), _HEAD_LINES):
        value = _value(line)
        inner = value.get("payload") if value.get("type") == "session_meta" else None
        found = value.get("sessionId") or (inner.get("id") if isinstance(inner, dict) else None)
        if isinstance(found, str) and found:
            return found
    return ""


def folder_in(raw: bytes) -> str:
    """Return the folder in which the agent was started, as the first 100 lines of a transcript name it; "" if they name
    none."""
    for _, line in islice(_lines(raw + b"\n"), _HEAD_LINES):
        value = _value(line)
        inner = value.get("payload") if value.get("type") == "session_meta" else None
        found = value.get("cwd") or (inner.get("cwd") if isinstance(inner, dict) else None)
        if isinstance(found, str) and found:
            return found
    return ""


def find_shown_context(raw: bytes, secret: bytes, given: int = -1) -> ShownContext:
    """Return what the model has in its context, from the transcript ``raw``.

    ``secret``: the store's secret, which tells blocks of this store from others. ``given``: length of the transcript
    when a block was last returned to the host (-1 for never); hosts write the block into the transcript later.
    """
    present, last, name = False, False, ""
    for place, line in _lines(raw):
        if any(mark in line for mark in _COMPACTED) and _is_cut(value := _value(line)):
            present = last = present and name in _preserved_names(value)
            given = -1 if place >= given else given
        if _BLOCK in line and own_blocks(line.decode("utf-8", "replace"), secret):
            present = last = True
            name = get_text(_value(line), "uuid")
        elif any(mark in line for mark in _SPEAKS) and _speaks(_value(line)):
            last = False
            given = -1 if place >= given else given
    return ShownContext(present, last or given >= 0)


def _lines(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of ``raw`` that end with a line break, are not empty, and have at most ``LINE_MAX`` bytes, each
    as its byte position and its content without the line break."""
    place = 0
    while (end := raw.find(b"\n", place)) >= 0:
        if 0 < end - place <= LINE_MAX:
            yield place, raw[place:end]
        place = end + 1


def _value(line: bytes) -> dict[str, Any]:
    """Return the JSON object that ``line`` contains; ``{}`` if it is not JSON or another kind of value."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _message(value: dict[str, Any]) -> Message | None:
    kind, inner = value.get("type"), value.get("payload")
    if kind == "response_item" and isinstance(inner, dict):
        return _of_codex(inner)
    if kind not in ("user", "assistant") or any(value.get(name) is True for name in _LEFT_OUT):
        return None
    try:
        if value["message"].get("model") == _WRITTEN_BY_HOST:
            return None
        (message,) = history([value["message"]])[:]
    except (InvalidMessage, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return (
        None if message.role is Role.SYSTEM or message.text.lstrip().startswith(_CLIENTS) else _visible_message(message)
    )


def _of_codex(item: dict[str, Any]) -> Message | None:
    if codex.role_of(item) in (None, Role.SYSTEM):
        return None
    try:
        return _visible_message(codex.read_message(item))
    except (InvalidMessage, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _visible_message(message: Message) -> Message | None:
    """Return ``message``; ``None`` if it has no content that a user would see, such as a line with reasoning only."""
    values = message.text.strip() or message.tool_calls or message.tool_results or message.attachments
    return message if values else None


def _is_cut(value: dict[str, Any]) -> bool:
    return value.get("subtype") == "compact_boundary" or value.get("type") == "compacted"


def _preserved_names(value: dict[str, Any]) -> list[str]:
    """Return the ids of the lines before a compaction that stay in the model's context after it. ``value``: the line
    that reports the compaction; ``[]`` if it names none."""
    values = value.get("compactMetadata")
    preserved = values.get("preservedMessages") if isinstance(values, dict) else None
    names = preserved.get("allUuids", preserved.get("uuids")) if isinstance(preserved, dict) else None
    return [name for name in names if isinstance(name, str) and name] if isinstance(names, list) else []


def _speaks(value: dict[str, Any]) -> bool:
    message = _message(value)
    return message is not None and message.role is Role.ASSISTANT


_MILLISECONDS: Final = 1e11
"""Times from this number on are milliseconds: as seconds they would be beyond the year 5000."""


def read_time(value: object) -> float | None:
    """Return the time that a transcript states as ``value``, in seconds since the epoch; ``None`` if it is not a time.

    ``value``: seconds or milliseconds, or text in ISO 8601, which is in UTC unless it names a zone.
    """
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return None
        value = (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        return None
    return value / 1_000 if value >= _MILLISECONDS else float(value)
