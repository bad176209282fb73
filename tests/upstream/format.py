"""What a dialect of the scripted upstream is: how it reads what was asked, what it refuses, how it answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from .answer import Answer, Asked, Invalid

CREATED = 1_700_000_000


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream: its data (a value that is written as JSON, or text as it stands), its name where the
    dialect names events, whether it is the one that ends the stream, and whether it stands without a field name, as
    Gemini sends its errors."""

    data: Any
    name: str = ""
    terminal: bool = False
    bare: bool = False


class Format(Protocol):
    """One wire format, from the provider's side."""

    media_type: str
    """Of streams: "text/event-stream", "application/x-ndjson", or "application/json" for a streamed array."""

    def asked(self, body: dict[str, Any]) -> Asked:
        """What the request asks. Raises ``Invalid`` for what the provider refuses."""

    def whole(self, answer: Answer) -> dict[str, Any]:
        """The answer as one document."""

    def stream(self, answer: Answer, body: dict[str, Any], *, usage: bool) -> Iterator[Event]:
        """The answer as a stream; with ``usage`` figures of tokens even when nobody asked for them."""

    def failed(self) -> Event:
        """The event by which a stream says that it failed."""

    def error(self, status: int, text: str) -> dict[str, Any]:
        """The body of an error response."""


def demand(holds: bool, text: str) -> None:
    """Raise ``Invalid`` with ``text`` unless ``holds``."""
    if not holds:
        raise Invalid(text)


def items(body: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The list of messages. Raises ``Invalid`` when there is none, or an empty one."""
    found = body.get(name)
    demand(isinstance(found, list) and bool(found), f"{name}: a list that is not empty is needed")
    demand(all(isinstance(item, dict) for item in found), f"{name}: objects only")
    return found


def text_of(content: object) -> str:
    """The visible text of a content: text itself, or that of its text parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def as_json(value: object) -> str:
    """Compact JSON with its characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def fragments(text: str, size: int = 9) -> list[str]:
    """Text in pieces, as arguments of tool calls are streamed."""
    return [text[start : start + size] for start in range(0, len(text), size)]
