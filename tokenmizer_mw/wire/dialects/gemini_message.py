"""One Gemini content object (a message), in requests and in responses, and its parts.

Lenient: a field of the wrong type counts as absent, and nothing here raises. Members may be named in camelCase, as in
the API's own responses, or in snake_case, which it also accepts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.wire.dialects.openai_message import KIND_MAX
from tokenmizer_mw.wire.json_text import json_text, storable
from tokenmizer_mw.wire.request import text_of

_SYSTEM, _USER, _ASSISTANT, _TOOL = Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL  # an enum's look-up is slow
_ROLES: Final = {"user": _USER, "model": _ASSISTANT, "function": _TOOL, "tool": _TOOL, "": _USER, None: _USER}
_RESULTS: Final = ("functionResponse", "function_response")
_BESIDE: Final = frozenset(
    {
        "text",
        "thought",
        "thoughtSignature",
        "videoMetadata",
        "mediaResolution",
        "mediaProcessing",
        "partMetadata",
        "speechMetadata",
        "documentMetadata",
        "spreadsheetMetadata",
        "audioMetadata",
    }
)
"""Members of a part that describe its content, and are not content themselves."""

_OUTPUT_ONLY: Final = frozenset({"output", "error"})
_RESULT_ONLY: Final = frozenset({"result"})


def member(raw: Mapping[str, Any], name: str) -> Any:
    """Return the value of a member: the one named ``name``, in camelCase, else the one with the same name in
    snake_case; ``None`` if there is neither."""
    value = raw.get(name)
    return raw.get(_snake(name)) if value is None else value


@dataclass(slots=True)
class GeminiContent:
    """Collects the parts of one message, from one content object or from the chunks of a stream.

    Its texts can be stored only once they are complete, because a stream may split a character into two halves.
    """

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)

    def add(self, content: object) -> None:
        """Add the parts of the next content object."""
        for part in _parts(content):
            if not isinstance(part, dict):
                continue
            text = part.get("text")
            if isinstance(text, str):
                (self.thinking if part.get("thought") is True else self.text).append(text)
            if len(part) > 1 or text is None:
                self._add_data(part)

    def message(self, role: Role) -> Message:
        """Return the collected parts as a message of ``role``. Texts of the model are joined without anything between
        them, because they are pieces of one text; all others with line feeds. Tool calls are kept only for the model,
        tool results only for other roles."""
        own = role is _ASSISTANT
        between = "" if own else "\n"
        return Message(
            role,
            storable(between.join(self.text)),
            tool_calls=tuple(self.calls) if own else (),
            tool_results=() if own else tuple(self.results),
            thinking=storable(between.join(self.thinking)),
            attachments=tuple(self.attachments),
        )

    def _add_data(self, part: dict[str, Any]) -> None:
        for spelled, value in part.items():
            name = _camel(spelled)
            if name in _BESIDE or not isinstance(value, dict):
                continue
            if name == "functionCall":
                self._add_call(value)
            elif name == "functionResponse":
                self._add_result(value)
            else:
                self.attachments.append(storable(name[:KIND_MAX]))

    def _add_call(self, raw: dict[str, Any]) -> None:
        if name := text_of(raw, "name"):  # without a name it only goes on, or ends, the call before it
            arguments = raw.get("args")
            spelled = arguments if isinstance(arguments, str) else json_text(arguments or {})
            self.calls.append(ToolCall(text_of(raw, "id"), name, storable(spelled)))

    def _add_result(self, raw: dict[str, Any]) -> None:
        response = raw.get("response")
        failed = isinstance(response, dict) and bool(response.get("error"))
        self.results.append(ToolResult(text_of(raw, "id"), storable(_output(response)), failed))
        for part in _parts(raw):
            self.attachments += [
                storable(_camel(name)[:KIND_MAX])
                for name, value in (part.items() if isinstance(part, dict) else ())
                if isinstance(value, dict) and _camel(name) not in _BESIDE
            ]


def role_of(raw: Any) -> Role | None:
    """Return the role of a content object; for a tuple of content objects, the role of the first. An object without a
    role is the user's; if all parts of a user's content are tool results, the role is that of a tool. ``None`` for an
    unknown role and for anything but an object."""
    if isinstance(raw, tuple):
        raw = raw[0]
    if not isinstance(raw, dict):
        return None
    spelled = raw.get("role")
    role = _ROLES.get(spelled) if spelled is None or isinstance(spelled, str) else None
    return _TOOL if role is _USER and _only_results(_parts(raw)) else role


def roles_of(sent: Sequence[Any]) -> list[Role]:
    """Return the roles of many content objects; an unknown role counts as system."""
    return [role_of(raw) or _SYSTEM for raw in sent]


def read_message(raw: object, _: int) -> Message:
    """Parse one content object, or a tuple of consecutive ones of the model (see ``group``), as one message.

    An unknown role gives a system message: it begins no turn, and no facts are extracted from it. Never raises; what
    cannot be read gives no content. The second argument is not used.
    """
    read = GeminiContent()
    for content in raw if isinstance(raw, tuple) else (raw,):
        read.add(content)
    return read.message(role_of(raw) or _SYSTEM)


def group(sent: Sequence[Any]) -> Sequence[int]:
    """Return how many consecutive content objects form each message; empty if it is one each.

    A client that streams may resend a reply as it came, with one content object per chunk. Consecutive contents of the
    model are therefore one message.
    """
    sizes: list[int] = []
    goes_on = False
    for raw in sent:
        is_model = isinstance(raw, dict) and raw.get("role") == "model"
        if is_model and goes_on:
            sizes[-1] += 1
        else:
            sizes.append(1)
        goes_on = is_model
    return sizes if len(sizes) < len(sent) else ()


def _parts(content: object) -> Sequence[object]:
    """Return the parts of a content. A single part without a list is accepted, as the API does."""
    parts = content.get("parts") if isinstance(content, dict) else None
    return parts if isinstance(parts, list) else (parts,)


def _only_results(parts: Sequence[object]) -> bool:
    return bool(parts) and all(isinstance(part, dict) and not part.keys().isdisjoint(_RESULTS) for part in parts)


def _output(response: object) -> str:
    """Return what a tool returned. If the API or its SDK wrapped it in an object, this is the value inside."""
    if not isinstance(response, dict):
        return response if isinstance(response, str) else ""
    if response and (response.keys() <= _OUTPUT_ONLY or response.keys() == _RESULT_ONLY):
        return "\n".join(value if isinstance(value, str) else json_text(value) for value in response.values())
    return json_text(response)


@lru_cache(maxsize=64)
def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


def _camel(name: str) -> str:
    if "_" not in name:
        return name
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)
