"""What the request readers of all clients share: media, results and the names of what was called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import Final, Literal

import re2

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.server.translate.chat import Attachment, Part, Role, Said, Text, ToolCall, ToolResult

_DATA_URL = re2.compile(r"(?is)data:([^;,]*)((?:;[^;,]*)*),(.*)")
_BASE64: Final = ";base64"

_Kind = Literal["image", "document", "audio"]


def attachment(kind: _Kind, link: str, *, at: str, detail: str = "", name: str = "") -> Attachment:
    """What a link shows: the data in it where it holds them. Raises ``MalformedRequest`` for data that are not base64.

    ``detail`` "auto" is the provider's default.
    """
    detail = "" if detail == "auto" else detail
    found = _DATA_URL.fullmatch(link) if link[:5].lower() == "data:" else None
    if found is None:
        return Attachment(kind, url=link, detail=detail, name=name)
    media_type, options, data = found.groups()
    if not options.lower().endswith(_BASE64):
        raise MalformedRequest(f"{at}: data in base64 are needed")
    return Attachment(kind, media_type.lower(), data, detail=detail, name=name)


def said(role: Role, parts: Iterable[Part]) -> list[Said]:
    """What one side said; nothing when it said nothing. An empty text tells nothing."""
    told = tuple(part for part in parts if not (isinstance(part, Text) and not part.text))
    return [Said(role, told)] if told else []


def joined(told: Iterable[Said]) -> tuple[Said, ...]:
    """What was said, with what the assistant said in one go in one piece, and the results of its calls likewise.

    Results get the names of their tools.
    """
    return _named([Said(role, tuple(chain(*parts))) for role, parts in _runs(told)])


def _runs(told: Iterable[Said]) -> Iterator[tuple[Role, list[tuple[Part, ...]]]]:
    for (role, alone), run in groupby(told, key=_sort):
        if alone:
            yield from ((role, [one.parts]) for one in run)
        else:
            yield role, [one.parts for one in run]


def _sort(one: Said) -> tuple[Role, bool]:
    """Who speaks, and whether each time stands alone: what people and systems say does, results do not."""
    results = all(isinstance(part, ToolResult) for part in one.parts)
    return one.role, not (one.role == "assistant" or (one.role == "user" and results))


def _named(pieces: Sequence[Said]) -> tuple[Said, ...]:
    names: dict[str, str] = {}
    named = []
    for one in pieces:
        names |= {part.id: part.name for part in one.parts if isinstance(part, ToolCall)}
        parts = tuple(_with_name(part, names) if isinstance(part, ToolResult) else part for part in one.parts)
        named.append(Said(one.role, parts))
    return tuple(named)


def _with_name(result: ToolResult, names: dict[str, str]) -> ToolResult:
    return result if result.name else replace(result, name=names.get(result.call_id, ""))
