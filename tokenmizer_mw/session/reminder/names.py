"""Find names in the newest tool output or reply that nothing else in the request explains. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import re2

from tokenmizer_mw.model.message import Role
from tokenmizer_mw.model.reminder import ReminderPart
from tokenmizer_mw.wire.dialect import ChatRequest

from .question import text_of

NAMES_MAX: Final = 6
"""Where a text holds more unknown names, it is a listing that asks for none of them."""

_LOOKED_AT: Final = 60
_LEAST: Final = 5
_NAME = re2.compile(r"[A-Za-z_][A-Za-z0-9]*(?:[_./:-][A-Za-z0-9]+)+|[A-Za-z][a-z0-9]+(?:[A-Z][a-z0-9]+)+")


def asked_names(
    request: ChatRequest, kept: Sequence[int], newest: int, block: str, given: Sequence[ReminderPart]
) -> list[str]:
    """Return the names in message ``newest``, and in the assistant's text directly before it, that occur nowhere else
    in the request: not in the messages at indexes ``kept``, not in ``block``, not in the reminders ``given``.
    """
    messages, roles = request.messages, request.messages.roles
    first = newest - 1 if newest > kept[0] and roles[newest - 1] is Role.ASSISTANT else newest
    found: dict[str, None] = {}
    for place in range(first, newest + 1):
        for match in _NAME.finditer(text_of(messages[place])):
            if len(match.group()) >= _LEAST and len(found) < _LOOKED_AT:
                found[match.group()] = None
    around = [_sent_text(request, [place for place in kept if place < first]), block, *(part.text for part in given)]
    unknown = [name for name in found if not any(name in text for text in around)]
    return unknown if len(unknown) <= NAMES_MAX else []


def _sent_text(request: ChatRequest, places: Sequence[int]) -> str:
    """The messages at ``places``, as the request spells them. In a request of bytes they follow one another."""
    if request.text and places:
        return request.text[request.spans[places[0]][0] : request.spans[places[-1]][1]]
    return "\n".join(_message_texts(request, places))


def _message_texts(request: ChatRequest, places: Sequence[int]) -> Iterator[str]:
    for message in map(request.messages.__getitem__, places):
        yield message.text
        yield from (call.arguments for call in message.tool_calls)
        yield from (result.text for result in message.tool_results)
