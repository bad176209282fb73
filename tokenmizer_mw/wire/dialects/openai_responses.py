"""OpenAI Responses: POST {base}/responses. OpenRouter and others use the same format.

The last event of a streamed reply contains the whole response, so nothing else has to be parsed. If a stream ended
before it, the reply is assembled from the items received.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from tokenmizer_mw.model.message import Message, Outcome, Role
from tokenmizer_mw.wire.dialect import ChatRequest, Reply, removing_edit
from tokenmizer_mw.wire.dialects.openai_responses_item import (
    group,
    read_message,
    read_reply,
    refuses,
    role_of,
    roles_of,
)
from tokenmizer_mw.wire.json_text import Edit
from tokenmizer_mw.wire.reply import error_text, parse_json, token_counts
from tokenmizer_mw.wire.request import (
    HISTORY_ON_SERVER,
    PROVIDER_COMPACTS,
    JsonDialect,
    Shape,
    insert_message,
    number_of,
    text_of,
)
from tokenmizer_mw.wire.sse import ServerSentEvent, events_in

TERMINAL: Final = {"response.completed": "completed", "response.incomplete": "incomplete", "response.failed": "failed"}
"""Maps the events that end a stream to the status of the response that they contain."""

_ERROR: Final = "error"
_UNFINISHED: Final = frozenset({"queued", "in_progress"})
_FILTERED: Final = frozenset({"content_filter", "steered"})
"""Reasons for which a response is called incomplete although it has its end."""

_OUTCOMES: Final = {
    "incomplete": Outcome.TRUNCATED,
    "cancelled": Outcome.TRUNCATED,
    "failed": Outcome.ERROR,
    **dict.fromkeys(_UNFINISHED, Outcome.TRUNCATED),
}
_USAGE: Final = (
    ("input_tokens", "prompt_tokens"),
    ("output_tokens", "completion_tokens"),
    ("total_tokens", "total_tokens"),
    ("input_tokens_details.cached_tokens", "cached_tokens"),
    ("input_tokens_details.cache_write_tokens", "cache_write_tokens"),
    ("output_tokens_details.reasoning_tokens", "reasoning_tokens"),
)
_NOTHING: Final = Message(Role.ASSISTANT)


class _Fragments(NamedTuple):
    """Where the fragments of an event belong: the kind of item, its member, the member with the complete text in a
    "done" event, and the kind of part if the item's member is a list of parts."""

    item: str
    member: str
    text: str
    part: str = ""


_FRAGMENTS: Final = {
    "response.output_text": _Fragments("message", "content", "text", "output_text"),
    "response.refusal": _Fragments("message", "content", "refusal", "refusal"),
    "response.reasoning_text": _Fragments("reasoning", "content", "text", "reasoning_text"),
    "response.reasoning_summary_text": _Fragments("reasoning", "summary", "text", "summary_text"),
    "response.function_call_arguments": _Fragments("function_call", "arguments", "arguments"),
    "response.mcp_call_arguments": _Fragments("mcp_call", "arguments", "arguments"),
    "response.custom_tool_call_input": _Fragments("custom_tool_call", "input", "input"),
    "response.code_interpreter_call_code": _Fragments("code_interpreter_call", "code", "code"),
}


def collect_events(events: Sequence[ServerSentEvent]) -> Reply:
    """Parse the reply in a stream's events.

    The last event contains the whole response. Without it, the items received so far give the message, and the outcome
    is ``TRUNCATED``, or ``ERROR`` after an error event; events after an error are ignored.
    """
    for event in reversed(events):
        if any(name in event.event or name in event.data for name in TERMINAL):
            kind, data = _read(event)
            if kind in TERMINAL and isinstance(response := data.get("response"), dict):
                return _reply(response, TERMINAL[kind], lambda: _ResponseBuilder.of(events).items())
    builder = _ResponseBuilder.of(events)
    message = read_reply(builder.items())
    outcome = Outcome.ERROR if builder.error else Outcome.TRUNCATED
    return Reply(message if message != _NOTHING else None, outcome, error=builder.error)


def collect_body(data: bytes) -> Reply:
    """Parse the reply in a complete JSON body. A JSON object that is not a response has the outcome ``ERROR``; a body
    that is no JSON object has the outcome ``TRUNCATED``. Both have no message."""
    body = parse_json(data.decode("utf-8-sig", "replace"))
    if not isinstance(body, dict):
        return Reply(None, Outcome.TRUNCATED)
    if body.get("object") != "response" and not isinstance(body.get("output"), list):
        error = body.get("error")
        return Reply(None, Outcome.ERROR, error=error_text(error) if error else "")
    return _reply(body, "", list)


def _reply(response: dict[str, Any], status: str, builder: Callable[[], list[Any]]) -> Reply:
    """Return the reply in a response object. ``status``: as the name of its event says, "" without an event.
    ``builder``: returns the items of earlier events, which are used if the response has no output, as with some
    servers."""
    own = text_of(response, "status")
    status = own if own in _OUTCOMES and own not in _UNFINISHED else status or own
    reason = _reason(response)
    outcome = _OUTCOMES.get(status, Outcome.COMPLETE)
    if status == "incomplete" and reason in _FILTERED:
        outcome = Outcome.COMPLETE
    output = response.get("output")
    items = output if isinstance(output, list) and output else builder()
    message = read_reply(items) if status not in _UNFINISHED else _NOTHING
    usable = message != _NOTHING or (bool(items) and outcome is Outcome.COMPLETE)
    return Reply(
        message if usable else None,
        outcome,
        reason or status,
        token_counts(response.get("usage"), _USAGE),
        error_text(response.get("error")) if outcome is Outcome.ERROR else "",
    )


def _reason(response: dict[str, Any]) -> str:
    """Return why a response is incomplete, in the provider's words; "" if it gives no reason."""
    details = response.get("incomplete_details")
    return text_of(details, "reason") if isinstance(details, dict) else ""


def _read(event: ServerSentEvent) -> tuple[str, dict[str, Any]]:
    """Return the kind of an event and its object. Servers may give the kind in either place. An event that cannot be
    parsed, because it was cut off, has the kind ""."""
    data = parse_json(event.data)
    if not isinstance(data, dict):
        return "", {}
    kind = data.get("type")
    return kind if isinstance(kind, str) else event.event, data


@dataclass(slots=True)
class _Item:
    """An item that is being assembled: as it was when it began or was done, and the fragments that came for it."""

    raw: dict[str, Any]
    done: bool = False
    fragments: dict[tuple[_Fragments, int], list[str]] = field(default_factory=dict)

    def close(self) -> dict[str, Any]:
        if self.done:
            return self.raw
        item = dict(self.raw)
        parts: dict[str, list[dict[str, str]]] = {}
        for (place, _), pieces in sorted(self.fragments.items(), key=lambda fragment: fragment[0][1]):
            text = "".join(pieces)
            if place.part:
                parts.setdefault(place.member, []).append({"type": place.part, place.text: text})
            else:
                item[place.member] = text
        return item | parts


@dataclass(slots=True)
class _ResponseBuilder:
    """What is known of a response from the events before its last one."""

    made: dict[int, _Item] = field(default_factory=dict)
    error: str = ""

    @classmethod
    def of(cls, events: Sequence[ServerSentEvent]) -> _ResponseBuilder:
        """Read the events up to an error, as clients do."""
        builder = cls()
        for event in events:
            builder.add(*_read(event))
            if builder.error:
                break
        return builder

    def items(self) -> list[dict[str, Any]]:
        return [item.close() for item in self.made.values()]

    def add(self, kind: str, data: dict[str, Any]) -> None:
        if kind == _ERROR or data.get("error"):
            self.error = error_text(data.get("error") or data)
            return
        stem, _, step = kind.rpartition(".")
        place = _FRAGMENTS.get(stem)
        if place is not None and step in ("delta", "done"):
            self._add_fragment(place, data, data.get("delta" if step == "delta" else place.text), step == "done")
        elif stem == "response.output_item" and isinstance(item := data.get("item"), dict):
            self._item(data, item).raw = item
            self._item(data, item).done = step == "done"

    def _item(self, data: dict[str, Any], raw: dict[str, Any]) -> _Item:
        return self.made.setdefault(number_of(data.get("output_index"), -1), _Item(raw))

    def _add_fragment(self, place: _Fragments, data: dict[str, Any], text: object, whole: bool) -> None:
        if not isinstance(text, str):
            return
        number = data.get("summary_index" if place.member == "summary" else "content_index")
        fragments = self._item(data, {"type": place.item}).fragments
        key = (place, number_of(number, 0))
        if whole:
            fragments[key] = [text]
        else:
            fragments.setdefault(key, []).append(text)


_SHAPE: Final = Shape(
    "openai_responses",
    role_of,
    roles_of,
    read_message,
    messages="input",
    overhead=("instructions", "tools", "text"),
    elsewhere={
        "previous_response_id": HISTORY_ON_SERVER,
        "conversation": HISTORY_ON_SERVER,
        "context_management": PROVIDER_COMPACTS,
    },
    causes={"context_management": removing_edit},
    group=group,
    alone=lambda text: {"role": "user", "content": text},
    refuses=refuses,
    part={"type": "input_text"},
)

_MARKS: Final = (b'"type":"error"', b'"type": "error"', *(b'"%s"' % name.encode() for name in TERMINAL))
"""Bytes in the data of the last event of a stream. They cannot occur in the text of a reply, where quotes are
escaped."""

_LINES: Final = tuple(form % name.encode() for name in (*TERMINAL, "error") for form in (b"event: %s", b"event:%s"))


class OpenAIResponses(JsonDialect):
    """The dialect of OpenAI Responses. A request whose input is a list of items can be cut without changing any other
    byte; one whose input is a plain text is parsed, and its text is never changed.

    With ``previous_response_id`` or ``conversation`` the provider stores the earlier messages, and a request contains
    only the new ones; the session then collects the messages of all requests.
    """

    name = _SHAPE.name
    shape = _SHAPE
    linked = (b'"image_url"', b'"file_id"', b'"file_url"', b'"image_generation_call"')

    def cut(self, request: ChatRequest, keep_from: int, block: str, role: str) -> list[Edit]:
        """Return the edits of a cut, as ``JsonDialect.cut`` does, except that a block of the role "developer" keeps
        that role. Also raises ``ValueError`` if the input is a plain text."""
        if not request.text.startswith("[", request.array):
            raise ValueError("an input that is one text has nothing to cut")
        return insert_message(request, keep_from, role, block)

    def ends(self, tail: bytes) -> bool:
        """Whether ``tail`` (the newest piece of a stream, preceded by the last bytes of the piece before it) contains
        the name of an event that ends the stream. The rest of that event, with the whole response, may still follow."""
        if tail.rfind(b"omplete") < 0 and tail.rfind(b"failed") < 0 and tail.rfind(b"error") < 0:
            return False  # per chunk of every stream: faster than a pattern, and than looking from the start
        if any(mark in tail for mark in _MARKS):
            return True
        return any(tail.startswith(line) or b"\n" + line in tail or b"\r" + line in tail for line in _LINES)

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """Parse the reply in a captured response body. Never raises. See ``Dialect.collect``."""
        events = events_in(data, stream=stream)
        return collect_body(data) if events is None else collect_events(events)
