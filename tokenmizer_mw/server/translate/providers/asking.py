"""What provider dialects share in serialising a request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from string import ascii_letters, digits
from typing import Any, Final

from tokenmizer_mw.errors import Untranslatable
from tokenmizer_mw.server.translate.chat import (
    Attachment,
    ChatCall,
    ChatTurn,
    ModelToolCall,
    ModelToolResult,
    Part,
    Sampling,
    Text,
    Thought,
)

NO_PARAMETERS: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}
"""The schema of a tool that takes nothing."""

EFFORTS: Final = {"none": 0, "minimal": 512, "low": 1_024, "medium": 8_192, "high": 24_576, "xhigh": 32_768,
                  "max": 65_536}  # fmt: skip
"""Words for how much a model may think, and the tokens that they stand for where a dialect counts them."""

ONE_CALL: Final = "Call at most one tool at a time."
"""What a model is told by a dialect that has no field for it."""

_NEUTRAL: Final = {"frequency_penalty": 0, "presence_penalty": 0}
"""Values that change nothing, wherever they are told."""

_ID_LENGTH: Final = 24
_FAILED: Final = "The tool failed: "


def attached_to(*places: str) -> frozenset[str]:
    """Return the names (as ``list_features`` yields them) of all kinds of attachments at ``places``: "system",
    "assistant", "result"."""
    return frozenset(f"{place}.{kind}" for place in places for kind in ("image", "document", "audio"))


def refuse(call: ChatCall, lacks: frozenset[str]) -> None:
    """Raise ``Untranslatable`` for the first feature of ``call`` that is in ``lacks``."""
    if lacks and (name := next((name for name in list_features(call) if name in lacks), "")):
        raise Untranslatable(name)


def list_features(call: ChatCall) -> Iterator[str]:
    """Yield the names of the optional features that a call uses, such as "sampling.seed", "format.schema",
    "choice.named", "image.url" or "result.image".

    Texts, tool calls and results, which every dialect has, are not among them.
    """
    for field in fields(Sampling):
        if getattr(call.sampling, field.name) not in (None, (), _NEUTRAL.get(field.name)):
            yield f"sampling.{field.name}"
    if call.format is not None:
        yield "format.schema" if call.format.schema is not None else "format.object"
    if any(tool.strict for tool in call.tools):
        yield "tools.strict"
    if call.choice is not None:
        yield f"choice.{call.choice.mode}"
    if call.thinking is not None:
        yield from (
            f"thinking.{name}" for name in ("effort", "tokens") if getattr(call.thinking, name) not in ("", None)
        )
    yield from (name for said in call.said for part in said.parts for name in _attachment_features(said, part))


def _attachment_features(said: ChatTurn, part: Part) -> Iterator[str]:
    if isinstance(part, ModelToolResult):
        attachments = (inner for inner in part.parts if isinstance(inner, Attachment))
        yield from (f"result.{attachment.kind}" for attachment in attachments)
    elif isinstance(part, Attachment):
        where = "" if said.role == "user" else f"{said.role}."
        yield f"{where}{part.kind}"
        yield f"{where}{part.kind}.{'url' if part.url else 'data'}"


def one_call_at_most(call: ChatCall) -> str:
    """Return the instruction not to call several tools at once, for dialects without a field for it; "" if not
    needed."""
    return ONE_CALL if call.parallel is False and call.tools else ""


def split_prefix(said: Sequence[ChatTurn]) -> tuple[Sequence[ChatTurn], Sequence[ChatTurn]]:
    """Split the messages into the system messages at the start and the rest."""
    prefix = next((place for place, one in enumerate(said) if one.role != "system"), len(said))
    return said[:prefix], said[prefix:]


def join_texts(parts: Iterable[Part]) -> str:
    """Return the texts among ``parts``, joined by line ends."""
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def thoughts(parts: Iterable[Part]) -> str:
    """Return the visible reasoning among ``parts``, joined by line ends."""
    return "\n".join(part.text for part in parts if isinstance(part, Thought) and part.text)


def result_text(result: ModelToolResult) -> str:
    """Return the text of a tool result; a failure is marked at its start, for dialects without a field for it."""
    text = join_texts(result.parts)
    return _FAILED + text if result.failed else text


def arguments_of(call: ModelToolCall) -> dict[str, Any]:
    """Return the arguments of a call as an object. Raises ``Untranslatable`` if they are not a JSON object."""
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Untranslatable("call.arguments", f"the arguments of a call of {call.name!r} are no JSON object")
    return value


def names_of_calls(said: Iterable[ChatTurn]) -> dict[str, str]:
    """Return the tool name of each call by the call's id."""
    return {part.id: part.name for one in said for part in one.parts if isinstance(part, ModelToolCall)}


def turns(said: Sequence[ChatTurn]) -> list[ChatTurn]:
    """Merge consecutive turns of one role."""
    merged: list[tuple[ChatTurn, list[Part]]] = []
    for one in said:
        if merged and merged[-1][0].role == one.role:
            merged[-1][1].extend(one.parts)
        else:
            merged.append((one, list(one.parts)))
    return [ChatTurn(first.role, tuple(parts)) for first, parts in merged]


def effort_for(tokens: int) -> str:
    """Return the smallest effort that covers this many reasoning tokens.

    At most "high", because not every model knows higher ones.
    """
    return next((word for word in ("none", "low", "medium", "high") if tokens <= EFFORTS[word]), "high")


CHARACTERS: Final[Mapping[str, frozenset[str]]] = {
    "printable": frozenset(map(chr, range(0x21, 0x7F))),
    "word": frozenset(ascii_letters + digits + "_-"),
    "alphanumeric": frozenset(ascii_letters + digits),
}
"""What ids may be made of."""


@dataclass(frozen=True, slots=True)
class CallIds:
    """The tool call ids that a provider accepts.

    ``characters``: a name in ``CHARACTERS``; ``least`` and ``most``: length. Other ids are replaced, the same id always
    by the same one.
    """

    characters: str
    least: int
    most: int

    def fit(self, id: str) -> str:
        """Return the id to send for ``id``."""
        if self.least <= len(id) <= self.most and CHARACTERS[self.characters].issuperset(id):
            return id
        return blake2b(id.encode("utf-8", "replace"), digest_size=16).hexdigest()[: min(_ID_LENGTH, self.most)]


def present(**members: Any) -> dict[str, Any]:
    """Return the members that are neither ``None`` nor empty."""
    return {name: value for name, value in members.items() if value is not None and value not in ("", [], (), {})}
