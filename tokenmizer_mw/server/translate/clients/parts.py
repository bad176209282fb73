"""What the request parsers of all client dialects share: attachments, tool results and tool names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import Final, Literal

import re2

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.server.translate.chat import Attachment, ChatTurn, ModelToolCall, ModelToolResult, Part, Role, Text

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
    told = tuple(part for part in parts if not (isinstance(part, Text) and not part.text))
    return [ChatTurn(role, told)] if told else []


def join_turns(told: Iterable[ChatTurn]) -> tuple[ChatTurn, ...]:
    """Merge consecutive assistant turns, and consecutive turns of tool results, into one turn each.

    Tool results get the names of their tools.
    """
    return _name_results([ChatTurn(role, tuple(chain(*parts))) for role, parts in _runs(told)])


def _runs(told: Iterable[ChatTurn]) -> Iterator[tuple[Role, list[tuple[Part, ...]]]]:
    for (role, alone), run in groupby(told, key=_sort):
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
