"""``Message``, the neutral form of a chat message that all dialects are parsed into."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """Who speaks. ``developer`` is read as ``system``; ``function`` as ``tool``."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Outcome(StrEnum):
    """How a turn ended on the wire.

    ``complete``: the dialect's terminal event was seen. ``truncated``: the stream ended without it, or the model
    hit its length limit. ``aborted``: the client left. ``error``: the provider or the application failed.
    """

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    ABORTED = "aborted"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the assistant made. ``arguments`` is JSON text exactly as sent (it may be cut or malformed)."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returned. ``call_id`` is empty where the dialect has no ids (pairing is then by order)."""

    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat, one to one with the wire.

    ``text`` is the visible text ("" when there is none). ``thinking`` and ``refusal`` are kept apart and are never
    read as fact. ``attachments`` names the kinds of parts that are not text, such as "image_url"; their content is
    not kept.
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
        """True for a message that a person wrote."""
        return self.role is Role.USER and (bool(self.text.strip() or self.attachments) or not self.tool_results)


@dataclass(frozen=True, slots=True)
class Written:
    """A message with the JSON text that its own library writes it as, "" where it has none.

    ``number`` is the message's in its session, from 1; 0 for one that is in none yet. ``archived``: it is out of use,
    and only kept.
    """

    message: Message
    original: str = ""
    number: int = 0
    archived: bool = False


_SPACE: Final = b" \t\r\n"
_LENIENT: Final = ("utf-8", "surrogatepass")
_to_json: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
"""What ``json.dumps`` does, which makes an encoder each time that it is given separators."""


def digest(message: Message) -> str:
    """Identity of a message across resends: 16 hex digits over what the model sees.

    Clients that send the history back change what does not matter: null for an empty text, a text in one block or in
    several with white space between, a refusal as text, the spelling of tool arguments and of the numbers in them,
    thinking left out. Two such spellings have one digest.
    """
    text = message.text + message.refusal
    parts: list[object] = [message.role.value, text.encode(*_LENIENT).translate(None, _SPACE).decode(*_LENIENT)]
    if message.tool_calls:
        parts += [[call.name, canonical_arguments(call.arguments)] for call in message.tool_calls]
    if message.tool_results:
        parts += [[result.call_id, _remove_space(result.text)] for result in message.tool_results]
    parts.append(message.attachments)
    return hashlib.blake2b(_to_json(parts).encode("ascii"), digest_size=8).hexdigest()


def _remove_space(text: str) -> str:
    return text.encode(*_LENIENT).translate(None, _SPACE).decode(*_LENIENT)


def _number(spelled: str) -> float:
    """A number as JavaScript knows it, without a sign of zero: clients in it send 1.0 back as 1."""
    return float(spelled) + 0.0


_decode: Final = json.JSONDecoder(parse_int=_number, parse_float=_number).decode


def canonical_arguments(arguments: str) -> str:
    """Arguments in one spelling; none at all are an empty object."""
    try:
        return json.dumps(_decode(arguments or "{}"), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return arguments.strip()
