"""Transcripts as people have them, read from JSON or JSON Lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from tokenmizer_mw.errors import CallerError, InvalidMessage
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.wire.messages import history

from .exports import EXPORT_MARK, Export, read_export

SIZE_MAX: Final = 512 * 1024 * 1024
"""Bytes of a transcript; a larger one is refused."""

_FILLED: Final = re.compile(r"\S[^\n]*")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation without its system messages. ``id`` is what the file calls it, "" for nothing."""

    id: str
    messages: tuple[Message, ...]


def read_transcript(raw: bytes, name: str, *, size_max: int = SIZE_MAX) -> Transcript | Export:
    """What ``raw`` holds: one of our exports, or messages.

    Read are a list of OpenAI- or Anthropic-shaped messages, an object with such a list under "messages" (a request
    body), an object with "turns" (a labelled session), or one message a line. Raises ``CallerError`` that starts
    with ``name`` and says which line is wrong.
    """
    try:
        number, first, rest = _first(_text(raw, size_max))
        if isinstance(first, dict) and EXPORT_MARK in first:
            return read_export(chain([(number, first)], rest))
        following = next(rest, None)
        if following is None:
            return _conversation(number, first)
        return Transcript("", _messages_by_line(chain([(number, first), following], rest)))
    except CallerError as error:
        raise CallerError(f"{name}: {error}") from None


_Line = tuple[int, Any]
"""A value and the number of the line that it starts on."""


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
    """The first JSON value of ``text``, the number of its line, and the values of the lines behind it, read one by one:
    a line that is wrong ends the reading there."""
    lines = text_lines(text)
    number, line = next(lines)
    try:
        return number, _loaded(text), iter(())
    except _MoreFollows as more:
        try:
            first = _loaded(line)
        except (CallerError, _MoreFollows):
            raise CallerError(str(more)) from None
        return number, first, ((number, _loaded_line(line, number)) for number, line in lines)


def text_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers. Runs of blank ones cost next to nothing."""
    number, counted = 1, 0
    for match in _FILLED.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        number += text.count("\n", counted, start)
        counted = start
        yield number, text[start : match.end()]


class _MoreFollows(Exception):
    """A JSON value ended before the text did."""


def _loaded(text: str, line: int = 1) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        complaint = f"line {line + error.lineno - 1}, column {error.colno}: not valid JSON: {error.msg}"
        raise _MoreFollows(complaint) if error.msg == "Extra data" else CallerError(complaint) from None
    except RecursionError:
        raise CallerError(f"line {line}: JSON nested too deeply") from None
    except ValueError as error:
        raise CallerError(f"line {line}: not valid JSON: {error}") from None


def _loaded_line(text: str, line: int) -> Any:
    try:
        return _loaded(text, line)
    except _MoreFollows as more:
        raise CallerError(str(more)) from None


def _conversation(number: int, first: Any) -> Transcript:
    if not isinstance(first, dict | list):
        return Transcript("", _messages_by_line([(number, first)]))
    if isinstance(first, dict) and "role" in first:
        first = [first]
    if isinstance(first, list):
        return Transcript("", _messages(first))
    id_ = first.get("id")
    return Transcript(id_ if isinstance(id_, str) else "", _messages(first.get("turns", first.get("messages"))))


def _messages(values: Any) -> tuple[Message, ...]:
    if not isinstance(values, list):
        raise CallerError('expected a list of messages, or an object with one under "messages" or "turns"')
    found = history(values).spoken()[:]
    if not found:
        raise CallerError("there are no messages in it")
    return found


def _messages_by_line(lines: Iterable[_Line]) -> tuple[Message, ...]:
    found: list[Message] = []
    for number, value in lines:
        try:
            found.extend(history([value]).spoken())
        except InvalidMessage as error:
            raise CallerError(f"line {number}: the {str(error).replace('message 1', 'message', 1)}") from None
    return tuple(found)
