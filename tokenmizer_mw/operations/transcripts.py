"""Parses transcripts in JSON, JSON Lines or Markdown, and records their messages and facts at the times at which the
messages were written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, TypeVar

from tokenmizer_mw.errors import CallerError, Conflict, InvalidMessage
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import Event, MessageRecorded, Recorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session import SessionState, find_new_messages, fold
from tokenmizer_mw.wire.messages import convert_langchain_message, history
from tokenmizer_mw.wire.request import get_text

from .agent_transcripts import folder_in, messages_in, session_in
from .exports import EXPORT_MARK, Export, read_export
from .foreign_transcripts import (
    is_chat_export,
    is_markdown_transcript,
    read_chat_export,
    read_markdown_transcript,
)

T = TypeVar("T")

SIZE_MAX: Final = 512 * 1024 * 1024
"""Maximum size of a transcript, in bytes; a larger one is refused."""

_JSON_START: Final = re.compile(r'\s*(?:[\[{"]|-?\d|(?:null|true|false|NaN|-?Infinity)\b)')
_FILLED: Final = re.compile(r"\S[^\n]*")


@dataclass(frozen=True, slots=True)
class ImportedTranscript:
    """A conversation that was read from a file, without its system messages.

    ``id``: its id in the file, "" if it has none. ``times``: for each message, when it was written, in seconds since
    the epoch (``None`` if the file does not say); () if the file states no time at all. ``folder``: where the coding
    agent was started, "" if unknown.
    """

    id: str
    messages: tuple[Message, ...]
    times: tuple[float | None, ...] = ()
    folder: str = ""


def _with_times(id_: str, found: Sequence[tuple[Message, float | None]]) -> ImportedTranscript:
    times = tuple(time for _, time in found)
    stated = any(time is not None for time in times)
    return ImportedTranscript(id_, tuple(message for message, _ in found), times if stated else ())


SHAPES: Final = (
    'lists of messages in the shape of OpenAI, Anthropic or LangChain, also under "messages" or one a line; exports of'
    " this package, of ChatGPT and of Claude (conversations.json); transcripts of Claude Code, Codex (.jsonl),"
    " SpecStory and aider (.md); Markdown whose messages begin with **User:** and **Assistant:**"
)
"""The formats that can be read, in words for error messages."""


def read_transcript(raw: bytes, name: str, *, size_max: int = SIZE_MAX) -> ImportedTranscript | Export:
    """Parse the file content ``raw``, which must contain exactly one conversation: an export of this package, or one in
    a format of ``SHAPES``.

    ``name``: name of the file for errors; ``size_max``: largest size of ``raw`` in bytes. Raises ``CallerError`` if the
    file is too large, empty, invalid, of no known format, or contains several conversations.
    """
    found = read_transcripts(raw, name, size_max=size_max)
    if len(found) > 1:
        raise CallerError(f"{name}: holds {len(found):,} conversations, expected one")
    return found[0]


def read_transcripts(raw: bytes, name: str, *, size_max: int = SIZE_MAX) -> list[ImportedTranscript | Export]:
    """Parse the file content ``raw``: an export of this package, or conversations in one of the formats ``SHAPES``.
    Returns at least one.

    ``name``: name of the file for errors; ``size_max``: largest size of ``raw`` in bytes. Raises ``CallerError`` that
    begins with ``name`` and names the invalid line, or says that the file is too large, empty or of no known format.
    """
    try:
        text = _text(raw, size_max)
        if is_markdown_transcript(text):
            return [ImportedTranscript("", tuple(_require_some(read_markdown_transcript(text))))]
        if not _JSON_START.match(text):
            raise CallerError(f"neither JSON nor a transcript that is known; what is: {SHAPES}")
        number, first, rest = _first(text)
        if isinstance(first, dict) and EXPORT_MARK in first:
            return [read_export(chain([(number, first)], rest))]
        if is_chat_export(first):
            return [_with_times(id_, values) for id_, values in _require_some(list(read_chat_export(first)))]
        if _may_be_of_an_agent(first) and (values := messages_in(raw + b"\n")[0]):
            found = _with_times(session_in(raw), [(one.message, one.time) for one in values])
            return [replace(found, folder=folder_in(raw))]
        following = next(rest, None)
        if following is None:
            return [_conversation(number, first)]
        return [ImportedTranscript("", _messages_by_line(chain([(number, first), following], rest)))]
    except CallerError as error:
        raise CallerError(f"{name}: {error}") from None


def _may_be_of_an_agent(first: object) -> bool:
    return isinstance(first, dict) and "role" not in first and isinstance(first.get("type"), str)


def _require_some(found: list[T]) -> list[T]:
    if not found:
        raise CallerError("there are no messages in it")
    return found


_Line = tuple[int, Any]
"""The number of a line, and the value parsed from it."""


def _text(raw: bytes, size_max: int) -> str:
    if len(raw) > size_max:
        raise CallerError(f"larger than {size_max:,} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise CallerError(f"line {line}: not UTF-8 text") from None
    if not text.strip():
        raise CallerError("the file is empty")
    return text


def _first(text: str) -> tuple[int, Any, Iterator[_Line]]:
    """Return the number of the first line with content, its JSON value, and an iterator over the values of the lines
    after it.

    The value may span all lines; nothing is left then. The iterator raises ``CallerError`` at an invalid line.
    """
    lines = text_lines(text)
    number, line = next(lines)
    try:
        return number, _load_json(text), iter(())
    except _MoreFollows as more:
        try:
            first = _load_json(line)
        except CallerError:
            raise more from None
        return number, first, ((number, _load_json(line, number)) for number, line in lines)


def text_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the non-blank lines, each with its line number from 1 on. Many blank lines in a row cost almost nothing."""
    number, counted = 1, 0
    for match in _FILLED.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        number += text.count("\n", counted, start)
        counted = start
        yield number, text[start : match.end()]


class _MoreFollows(CallerError):
    """Raised by ``_load_json`` if more text follows after the JSON value, as in JSON Lines."""


def _load_json(text: str, line: int = 1) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        complaint = f"line {line + error.lineno - 1}, column {error.colno}: not valid JSON: {error.msg}"
        raise (_MoreFollows if error.msg == "Extra data" else CallerError)(complaint) from None
    except RecursionError:
        raise CallerError(f"line {line}: JSON nested too deeply") from None
    except ValueError as error:
        raise CallerError(f"line {line}: not valid JSON: {error}") from None


def _conversation(number: int, first: Any) -> ImportedTranscript:
    if not isinstance(first, dict | list):
        return ImportedTranscript("", _messages_by_line([(number, first)]))
    if isinstance(first, dict) and "role" in convert_langchain_message(first):
        first = [first]
    if isinstance(first, list):
        return ImportedTranscript("", _messages(first))
    return ImportedTranscript(get_text(first, "id"), _messages(first.get("turns", first.get("messages"))))


def _messages(values: Any) -> tuple[Message, ...]:
    if not isinstance(values, list):
        raise CallerError(f"expected a list of messages, or another shape that is known: {SHAPES}")
    found = history(values).without_system()[:]
    if not found:
        raise CallerError("there are no messages in it")
    return found


def _messages_by_line(lines: Iterable[_Line]) -> tuple[Message, ...]:
    found: list[Message] = []
    for number, value in lines:
        try:
            found.extend(history([value]).without_system())
        except InvalidMessage as error:
            raise CallerError(f"line {number}: the {str(error).replace('message 1', 'message', 1)}") from None
    return tuple(found)


def record_at(
    memory: SessionMemory,
    key: SessionKey,
    messages: Sequence[Message],
    times: Sequence[float | None],
    now: float,
    *,
    later: bool = False,
    advance: Callable[[int], object] = int,
) -> int:
    """Add the messages that the session does not have yet, and their facts, at the times of the messages.

    Returns the number of new messages. All or nothing. System messages are left out; secrets are redacted if
    ``Settings.redact`` is true.

    - ``times``: one per message, in seconds since the epoch; ``None``: unknown. Times never go back within a session: a
      message without a time, or with one that is too early, gets that of the message before it. The first messages of a
      session get the first time that is known, else ``now``. No time is later than ``now``.
    - ``later``: true to add the messages alone, and extract their facts in the background.
    - ``advance``: called with 1 for each new message; again from the first one after a conflict with another writer.

    Raises ``InvalidMessage`` for anything that is not a chat message, and ``ValueError`` if ``times`` has another
    length than ``messages``.
    """
    redactor = memory.service.redaction.redactor
    whole = history(messages)
    known_times = [time for role, time in zip(whole.roles, times, strict=True) if role is not Role.SYSTEM]
    spoken = whole.without_system().through(memory.service.redaction.remove_echoes)
    if redactor is not None:
        spoken = spoken.through(redactor.message)
    while True:
        state = fold(memory.log.read(key))
        end = state.seq
        new = find_new_messages(state.transcript, spoken)
        settled = _settle([known_times[index] for index, _ in new], state.recorded_at, now)
        try:
            recorded = _record(memory, state, [event for _, event in new], settled, advance, later)
            memory.log.load(key, recorded, expected_seq=end)
        except Conflict:
            continue
        if later and new:
            memory.service.extraction.schedule(key)
        return len(new)


def _settle(times: Sequence[float | None], earliest: float, now: float) -> list[float]:
    last = earliest or min(now, next((time for time in times if time is not None), now))
    settled = []
    for time in times:
        last = max(last, min(time, now)) if time is not None else last
        settled.append(last)
    return settled


def _record(
    memory: SessionMemory,
    state: SessionState,
    news: Sequence[MessageRecorded],
    times: Sequence[float],
    advance: Callable[[int], object],
    later: bool,
) -> list[Recorded]:
    """Apply the new messages ``news`` to ``state``, and return the events to store: the messages at ``times``, one for
    each, and, unless ``later``, after the messages of each turn the facts that are extracted from them, at the same
    time. ``advance``: called with 1 for each message."""
    found: list[Recorded] = []

    def add(event: Event, time: float) -> None:
        found.append(Recorded(state.seq + 1, time, event))
        state.apply(found[-1])

    for place, (event, time) in enumerate(zip(news, times, strict=True), 1):
        add(event, time)
        advance(1)
        if not later and (place == len(news) or news[place].message.role is Role.USER):
            for fact in memory.service.access.derivation.facts(state):
                add(fact, time)
    return found
