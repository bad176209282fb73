"""What the request parsers of all client dialects share: attachments, tool results and tool names."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import Final, Literal

import re2

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.server.translate.chat import (
    Attachment,
    ChatTurn,
    ModelToolCall,
    ModelToolResult,
    Part,
    Role,
    Text,
    Thought,
)

_DATA_URL = re2.compile(r"(?is)data:([^;,]*)((?:;[^;,]*)*),(.*)")

_BASE64: Final = ";base64"

_Kind = Literal["image", "document", "audio"]


def attachment(kind: _Kind, link: str, *, at: str, detail: str = "", name: str = "") -> Attachment:
    """Return an attachment for a link; a data URL is decoded into its media type and base64 data.

    ``detail`` "auto" means the provider's default. ``at``: path of the field for errors. Raises ``MalformedRequest``
    for a data URL that is not base64.
    """
    detail = "" if detail == "auto" else detail
    found = _DATA_URL.fullmatch(link) if link[:5].lower() == "data:" else None
    if found is None:
        return Attachment(kind, url=link, detail=detail, name=name)
    media_type, options, data = found.groups()
    if not options.lower().endswith(_BASE64):
        raise MalformedRequest(f"{at}: data in base64 are needed")
    return Attachment(kind, media_type.lower(), data, detail=detail, name=name)


def make_turns(role: Role, parts: Iterable[Part]) -> list[ChatTurn]:
    """Return one turn as a list; an empty list if ``parts`` contains nothing but empty texts."""
    values = tuple(part for part in parts if not (isinstance(part, Text) and not part.text))
    return [ChatTurn(role, values)] if values else []


def join_turns(values: Iterable[ChatTurn]) -> tuple[ChatTurn, ...]:
    """Merge consecutive assistant turns, and consecutive turns of tool results, into one turn each.

    Tool results get the names of their tools.
    """
    return _name_results([ChatTurn(role, tuple(chain(*parts))) for role, parts in _runs(values)])


def _runs(values: Iterable[ChatTurn]) -> Iterator[tuple[Role, list[tuple[Part, ...]]]]:
    for (role, alone), run in groupby(values, key=_sort):
        if alone:
            yield from ((role, [one.parts]) for one in run)
        else:
            yield role, [one.parts for one in run]


def _sort(one: ChatTurn) -> tuple[Role, bool]:
    """Who speaks, and whether each time stands alone: what people and systems say does, results do not."""
    results = all(isinstance(part, ModelToolResult) for part in one.parts)
    return one.role, not (one.role == "assistant" or (one.role == "user" and results))


def _name_results(pieces: Sequence[ChatTurn]) -> tuple[ChatTurn, ...]:
    names: dict[str, str] = {}
    named = []
    for one in pieces:
        names |= {part.id: part.name for part in one.parts if isinstance(part, ModelToolCall)}
        parts = tuple(_with_name(part, names) if isinstance(part, ModelToolResult) else part for part in one.parts)
        named.append(ChatTurn(one.role, parts))
    return tuple(named)


def _with_name(result: ModelToolResult, names: dict[str, str]) -> ModelToolResult:
    return result if result.name else replace(result, name=names.get(result.call_id, ""))


_TAGGED = re2.compile(r"(?s)(anthropic|cohere|gemini|ollama|openai_chat|openai_responses):(.*)")

_IN_ID = re2.compile(r"(?s)(.*?)__sealed_by_([a-z_]+?)__([A-Za-z0-9_-]*)")


def tag_seal(seal: str, sealed_by: str, dialect: str) -> str:
    """Return a signature in the form sent to a client of ``dialect``; "" if there is none."""
    alone = sealed_by in ("", dialect) and not _TAGGED.fullmatch(seal)
    return seal if alone or not seal else f"{sealed_by}:{seal}"


def untag_seal(seal: str, dialect: str) -> tuple[str, str]:
    """Return a signature that a client of ``dialect`` sent, and the dialect that made it; two empty strings if there is
    none."""
    found = _TAGGED.fullmatch(seal)
    if found is not None:
        return found.group(2), found.group(1)
    return seal, dialect if seal else ""


def call_id(call: ModelToolCall) -> str:
    """Return the id of a call with its signature inside; the client sends it back with the call and with the result."""
    if not call.seal:
        return call.id
    seal = urlsafe_b64encode(call.seal.encode("utf-8", "replace")).decode("ascii").rstrip("=")
    return f"{call.id}__sealed_by_{call.sealed_by}__{seal}"


def bare_id(sent: str) -> str:
    """Return the id of a call without its signature."""
    return sealed_call(sent, "", "").id


def sealed_call(sent: str, name: str, arguments: str) -> ModelToolCall:
    """Return a tool call, with the signature that its id may contain."""
    found = _IN_ID.fullmatch(sent)
    if found is None:
        return ModelToolCall(sent, name, arguments)
    bare, sealed_by, packed = found.groups()
    try:
        seal = urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode()
    except ValueError:
        return ModelToolCall(sent, name, arguments)
    return ModelToolCall(bare, name, arguments, seal, sealed_by)


def make_thought(text: str, seal: str, dialect: str, *, hidden: bool = False) -> Thought:
    """Return a reasoning part that a client of ``dialect`` sent."""
    proof, sealed_by = untag_seal(seal, dialect)
    return Thought(text, proof, sealed_by, hidden=hidden)
