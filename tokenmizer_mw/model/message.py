"""``Message``, the neutral form of a chat message that all dialects are parsed into."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from enum import StrEnum
from json.encoder import encode_basestring_ascii
from typing import Final


class Role(StrEnum):
    """The speaker of a message. The role "developer" of some APIs counts as ``system``, and "function" as ``tool``."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Outcome(StrEnum):
    """How a model call ended.

    - ``complete``: the whole reply was received.
    - ``truncated``: the stream ended before the end of the reply, or the model reached its length limit.
    - ``aborted``: the client disconnected, or the caller stopped reading.
    - ``error``: the provider or the application failed.
    """

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    ABORTED = "aborted"
    ERROR = "error"


REPR_MAX: Final = 120
"""Longest text that ``repr`` returns for an object of this package, in characters."""


def short_repr(of: object, content: str) -> str:
    """Return the ``repr`` of the object ``of``, such as "<Message user: 'hi'>": the name of its class and ``content``,
    on one line of at most ``REPR_MAX`` characters. Characters that cannot be printed become spaces; a longer
    ``content`` ends with "..."."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in content).split())
    room = REPR_MAX - len(f"<{type(of).__name__} >")
    return f"<{type(of).__name__} {line if len(line) <= room else line[: room - 3] + '...'}>"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool by the assistant. ``id``: pairs it with its result, "" if there is none; ``arguments``: JSON
    text exactly as sent, which may be truncated or invalid."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call. ``call_id``: id of the call; "" if the API has no ids (results are then matched by
    order). ``is_error``: whether the tool reported a failure."""

    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat, in a form that is the same for all APIs.

    - ``text``: the visible text, "" if there is none.
    - ``thinking`` (the model's reasoning) and ``refusal``: stored separately; no facts are extracted from them.
    - ``attachments``: the kinds of parts that are not text, such as "image_url"; their content is not stored.
    """

    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    thinking: str = ""
    refusal: str = ""
    attachments: tuple[str, ...] = ()

    @property
    def opens_turn(self) -> bool:
        """Whether the message begins a turn (a message of the user, with all messages that answer it). True for a
        message of the user, unless it only carries results of tools."""
        return self.role is Role.USER and (bool(self.text.strip() or self.attachments) or not self.tool_results)

    def __repr__(self) -> str:
        parts = [f"{len(self.tool_calls)} calls"] if self.tool_calls else []
        parts += [f"{len(self.tool_results)} results"] if self.tool_results else []
        parts += [repr(self.text[:REPR_MAX])] if self.text or not parts else []
        return short_repr(self, f"{self.role.value}: {', '.join(parts)}")


@dataclass(frozen=True, slots=True)
class Written:
    """A message together with ``original``, the form in which its framework (such as LangChain) stores it, as JSON
    text; "" if there is none.

    - ``number``: the message's number in its session, from 1; 0 for a message that is not stored yet.
    - ``archived``: true if the message is only stored and no longer sent to the model.
    - ``recorded_at``: when it was recorded, in seconds since the epoch; 0 for a message that is not stored yet. It does
      not count when two messages are compared.
    """

    message: Message
    original: str = ""
    number: int = 0
    archived: bool = False
    recorded_at: float = field(default=0.0, compare=False)

    def __repr__(self) -> str:
        return short_repr(self, f"{self.number or 'new'}{', archived' if self.archived else ''} {self.message!r}")


_SPACE: Final = b" \t\r\n"
_LENIENT: Final = ("utf-8", "surrogatepass")
_to_json: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
"""What ``json.dumps`` does, which makes an encoder each time that it is given separators."""


def digest(message: Message) -> str:
    """Return 16 hexadecimal digits by which a message is recognised when a client sends it again.

    They depend on the role, the text followed by the refusal, the names and arguments of tool calls, the call ids and
    texts of tool results, and the kinds of attachments. Clients that send a message again may change details of it.
    Therefore spaces, tabs and line breaks in texts do not count, arguments are compared in the spelling of
    ``canonical_arguments``, and thinking, the ids of tool calls and ``is_error`` are left out.
    """
    text = (message.text + message.refusal).encode(*_LENIENT).translate(None, _SPACE).decode(*_LENIENT)
    if not (message.tool_calls or message.tool_results or message.attachments):  # the same, in a quarter of the time
        spelled = f'["{message.role}",{encode_basestring_ascii(text)},[]]'
        return hashlib.blake2b(spelled.encode("ascii"), digest_size=8).hexdigest()
    parts: list[object] = [message.role.value, text]
    if message.tool_calls:
        parts += [[call.name, canonical_arguments(call.arguments)] for call in message.tool_calls]
    if message.tool_results:
        parts += [[result.call_id, _remove_space(result.text)] for result in message.tool_results]
    parts.append(message.attachments)
    return hashlib.blake2b(_to_json(parts).encode("ascii"), digest_size=8).hexdigest()


def _remove_space(text: str) -> str:
    return text.encode(*_LENIENT).translate(None, _SPACE).decode(*_LENIENT)


def _number(spelled: str) -> float:
    """Return a number of a JSON text as a float, and -0 as 0: clients written in JavaScript send 1.0 back as 1."""
    return float(spelled) + 0.0


_decode: Final = json.JSONDecoder(parse_int=_number, parse_float=_number).decode


def canonical_arguments(arguments: str) -> str:
    """Return the arguments of a tool call (JSON text) in one spelling: with sorted keys, without spaces, and with all
    numbers as floats. "" becomes "{}". Text that is not JSON is only stripped of white space at its ends."""
    try:
        return json.dumps(_decode(arguments or "{}"), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return arguments.strip()
