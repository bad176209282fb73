"""OpenAI Chat Completions: POST {base}/chat/completions. Also what DeepSeek, Mistral, OpenRouter and Grok speak."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Final

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.wire.dialect import ChatRequest, Reply
from tokenmizer_mw.wire.history import History
from tokenmizer_mw.wire.known import KnownRequests, Start
from tokenmizer_mw.wire.spans import ObjectSpans, decoded, read_object, replace_elements, splice, without_members
from tokenmizer_mw.wire.sse import SSEDecoder
from tokenmizer_mw.wire.text import storable

from .openai_message import ROLES, read_message, role_of, text_of
from .openai_reply import collect_body, collect_events

_SYSTEM, _USER, _TOOL = Role.SYSTEM, Role.USER, Role.TOOL  # an enum's look-up is slow
_MESSAGES: Final = "messages"
_OVERHEAD: Final = ("tools", "functions", "response_format")
_TERMINAL: Final = (b"data: [DONE]", b"data:[DONE]")
_STREAM_STARTS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")

_SERVER_FIELDS: Final = {
    "previous_response_id": "history_on_server",
    "conversation": "history_on_server",
    "context_management": "provider_compacts",
}
"""Top-level fields with which the provider keeps or shortens the history itself."""

_NOT_CONTINUED: Final = frozenset({*_SERVER_FIELDS.values(), "messages_twice", "unknown_role"})
"""Reasons to stand down with which a request may hold messages of unknown roles, or other surprises."""


class OpenAIChat:
    """The dialect. What it reads, it reads leniently; what it rewrites, it rewrites to the byte."""

    name: Final = "openai_chat"

    def read(self, body: bytes, known: KnownRequests | None = None) -> ChatRequest:
        """The request in ``body``. Raises ``MalformedRequest`` unless it is a JSON object with a list of messages.

        A message of a role that we do not know, or that is no object, is read as a system message and makes the
        request stand down: it passes, opens no turn, and nothing is learned from it.
        """
        text = decoded(body)
        start = known.find(self.name, text) if known is not None else None
        found = start.read_on(text) if start is not None else None
        if found is None:
            start, found = None, read_object(text)
        request = _request(found, start)
        if known is not None and request.stand_down not in _NOT_CONTINUED:
            known.add(self.name, found, request, start)
        return request

    def rewrite(
        self,
        request: ChatRequest,
        *,
        drop: tuple[str, ...] = (),
        keep_from: int | None = None,
        block: str = "",
        role: str = "user",
    ) -> bytes:
        """The request's bytes, changed as asked and nowhere else.

        System messages in what is taken out stay, behind the block. ``keep_from == request.prefix`` puts the block
        in without taking anything out; an empty ``block`` puts nothing in. Raises ``ValueError`` when ``keep_from``
        lies outside the messages behind the prefix.
        """
        edits = without_members(request.members, drop)
        if keep_from is not None:
            _, (_, end) = next(member for member in reversed(request.members) if member[0] == _MESSAGES)
            new = [_block_message(role, block)] if block else []
            new += _system_texts(request, keep_from)
            edits += replace_elements(request.spans, request.prefix, keep_from, ",".join(new), close=end - 1)
        return splice(request.text, edits).encode()

    def ends(self, tail: bytes) -> bool:
        """Whether a line of ``tail`` starts with the event that ends a stream.

        With the last 12 bytes of the chunk before in front, a marker torn apart is found too.
        """
        if tail.find(b"[DONE]") < 0:  # per chunk of every stream, and twice as fast as "in"
            return False
        return any(tail.startswith(mark) or b"\n" + mark in tail or b"\r" + mark in tail for mark in _TERMINAL)

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """The reply in a captured response body. Never raises.

        ``stream`` is what was asked for; what came decides, since servers answer a stream's errors with plain JSON.
        """
        start = data.removeprefix(b"\xef\xbb\xbf").lstrip()
        if start.startswith(b"{") or not (stream or start.startswith(_STREAM_STARTS)):
            return collect_body(data)
        decoder = SSEDecoder(event_max=max(1, len(data)))
        return collect_events([*decoder.receive_data(data), *decoder.receive_data(b"")])


def _request(found: ObjectSpans, start: Start | None) -> ChatRequest:
    """The request in what was read, whose beginning was read before where there is a ``start``."""
    fields = dict(found.values)
    sent = fields.pop(_MESSAGES, None)
    if not isinstance(sent, list):
        raise MalformedRequest("no list of messages")
    if start is None:
        messages = History(sent, _roles(sent), _read_message)
    else:
        messages = start.known.request.messages.continued(start.count, sent, _roles(sent[start.count :]))
    return ChatRequest(
        text=found.text,
        messages=messages,
        array=found.places[_MESSAGES],
        fields=fields,
        prefix=sum(1 for _ in takewhile(lambda role: role is _SYSTEM, messages.roles)),
        model=text_of(fields, "model"),
        stream=fields.get("stream") is True,
        overhead=_overhead(found),
        stand_down=_stand_down(found, sent, messages, start.count if start is not None else 0),
        members=found.members,
        known_spans=start.spans if start is not None else (),
    )


def _overhead(found: ObjectSpans) -> str:
    """What else fills the context, as the body spells it."""
    return "\n".join(found.text[start:end] for name, (start, end) in found.members if name in _OVERHEAD)


def _system_texts(request: ChatRequest, keep_from: int) -> list[str]:
    """The system messages behind the prefix and before ``keep_from``, as they were sent."""
    found = range(request.prefix, min(keep_from, len(request.messages)))
    places = [request.spans[index] for index in found if request.messages.roles[index] is _SYSTEM]
    return [request.text[start:end] for start, end in places]


def _block_message(role: str, block: str) -> str:
    return json.dumps({"role": role, "content": storable(block)}, ensure_ascii=False, separators=(",", ":"))


def _roles(sent: Sequence[Any]) -> list[Role]:
    try:
        return [ROLES[raw["role"]] for raw in sent]  # nearly always; four times as fast as asking each time
    except (KeyError, TypeError, IndexError):
        return [role_of(raw) or _SYSTEM for raw in sent]


def _read_message(raw: object, _: int) -> Message:
    return read_message(raw)


def _stand_down(found: ObjectSpans, sent: Sequence[object], messages: History, known: int) -> str:
    """Why the request must not be rewritten, as the name of a counter; "" when it may. The first ``known`` messages
    have roles that we know."""
    for name, reason in _SERVER_FIELDS.items():
        if found.values.get(name):
            return reason
    if sum(name == _MESSAGES for name, _ in found.members) > 1:
        return "messages_twice"
    news = zip(messages.roles[known:], sent[known:], strict=True)
    if any(role is _SYSTEM and role_of(raw) is None for role, raw in news):
        return "unknown_role"
    return _open_end(messages)


def _open_end(messages: History) -> str:
    """Why the end of the history must stay as it is: it is not a person who has the last word in it."""
    last = next((place for place in reversed(range(len(messages))) if messages.roles[place] is not _SYSTEM), None)
    if last is None:
        return "no_user_message"
    if messages.roles[last] is _TOOL or messages[last].tool_calls:
        return "open_tool_loop"
    return "" if messages.roles[last] is _USER else "assistant_prefill"
