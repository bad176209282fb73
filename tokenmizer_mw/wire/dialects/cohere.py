"""Cohere Chat, version 2: POST {base}/v2/chat. Messages have nearly the format of OpenAI's.

A complete response is one event that contains the message and its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tokenmizer_mw.model.message import Message, Outcome, Role
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.dialects import openai_message
from tokenmizer_mw.wire.dialects.openai_chat import Calls
from tokenmizer_mw.wire.dialects.openai_message import read_call, read_content, role_of, roles_of
from tokenmizer_mw.wire.json_text import json_text, storable
from tokenmizer_mw.wire.reply import error_text, parse_json, token_counts
from tokenmizer_mw.wire.request import JsonDialect, Shape, get_text, number_of, text_of
from tokenmizer_mw.wire.sse import ServerSentEvent, lines_in, sent_events

_USAGE: Final = (
    ("billed_units.input_tokens", "prompt_tokens"),
    ("billed_units.output_tokens", "completion_tokens"),
    ("tokens.input_tokens", "prompt_tokens"),
    ("tokens.output_tokens", "completion_tokens"),
    ("cached_tokens", "cached_tokens"),
)
"""Maps Cohere's counts to this package's names; later rows win. Billed tokens lack what Cohere adds to a request, so
they count only if nothing else is given."""

_OUTCOMES: Final = {"MAX_TOKENS": Outcome.TRUNCATED, "ERROR": Outcome.ERROR, "TIMEOUT": Outcome.ERROR}


def collect(data: bytes) -> Reply:
    """Parse the reply in the bytes of a response: events, a JSON object, or one JSON object per line. Never
    raises: unreadable bytes give a reply without a message."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.lstrip().startswith(b"{"):
        return collect_events(sent_events(data))
    body = parse_json(data.decode("utf-8", "replace"))
    if isinstance(body, dict) and "type" not in body:
        return _collect_body(body)
    return collect_events(map(ServerSentEvent, lines_in(data)))


def collect_events(events: Iterable[ServerSentEvent]) -> Reply:
    """Parse the reply in a stream's events; events after its end or an error are ignored."""
    reply = _ReplyBuilder()
    for event in events:
        if event.data == "[DONE]":
            break
        reply.add(parse_json(event.data), event.event)
        if reply.ended or reply.error:
            break
    return reply.close()


def _collect_body(body: dict[str, Any]) -> Reply:
    """Parse a complete body. One without a message counts as an error."""
    reply = _ReplyBuilder()
    message = body.get("message")
    if isinstance(message, dict):
        reply.add_message(message, 0)
        reply.add_end(body)
    else:
        reply.error = error_text(body.get("error") or body)
    return reply.close()


@dataclass(slots=True)
class _Block:
    """A block of the content that is being assembled."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _ReplyBuilder:
    """What was received of a response so far."""

    blocks: dict[int, _Block] = field(default_factory=dict)
    plan: list[str] = field(default_factory=list)
    calls: Calls = field(default_factory=Calls)
    attachments: list[str] = field(default_factory=list)
    finish_reason: str = ""
    usage: dict[str, int] = field(default_factory=dict)
    error: str = ""
    ended: bool = False

    def add(self, event: object, name: str) -> None:
        """Add the next event. ``name``: its kind if its data does not give one."""
        if not isinstance(event, dict):
            return
        delta, complaint = event.get("delta"), event.get("message")
        if not isinstance(delta, dict):
            if event.get("error") or (isinstance(complaint, str) and complaint):
                self.error = error_text(event.get("error") or complaint)
            delta = {}
        if isinstance(message := delta.get("message"), dict):
            self.add_message(message, number_of(event.get("index"), 0))
        if (text_of(event, "type") or name) == "message-end":
            self.add_end(delta)

    def add_message(self, message: dict[str, Any], index: int) -> None:
        """Add a message or a piece of one. ``index``: the block or call that it is a piece of."""
        content = message.get("content")
        for place, part in enumerate(content if isinstance(content, list) else [content]):
            self._add_part(index + place, part)
        self.plan.append(get_text(message, "tool_plan"))
        calls = message.get("tool_calls")
        for place, raw in enumerate(calls if isinstance(calls, list) else [calls]):
            if (fragment := read_call(raw)) is not None:
                self.calls.add(index + place, fragment)

    def add_end(self, end: dict[str, Any]) -> None:
        """Note how the message ended."""
        self.ended = True
        self.finish_reason = text_of(end, "finish_reason")
        self.usage = token_counts(end.get("usage"), _USAGE)
        if error := end.get("error"):
            self.error = error_text(error)

    def close(self) -> Reply:
        outcome = self._outcome()
        ended = self.ended and outcome is not Outcome.ERROR
        return Reply(self._message(ended), outcome, self.finish_reason, self.usage, self.error)

    def _add_part(self, index: int, part: object) -> None:
        """Add a block of the content, or a piece of one. Pieces do not have a type."""
        if isinstance(part, dict) and "type" not in part:
            part = {"type": "thinking" if "thinking" in part else "text", **part}
        content = read_content([part])
        block = self.blocks.setdefault(index, _Block())
        block.text.append(content.text)
        block.thinking.append(content.thinking)
        self.attachments += content.attachments

    def _message(self, ended: bool) -> Message | None:
        """Return the message; ``None`` if it is empty and the stream did not end properly."""
        blocks = [block for _, block in sorted(self.blocks.items())]
        texts = ("".join(block.text) for block in blocks)
        thoughts = ["".join(block.thinking) for block in blocks]
        message = Message(
            Role.ASSISTANT,
            storable("\n".join(filter(None, texts))),
            tool_calls=self.calls.close(),
            thinking=storable("\n".join(filter(None, (*thoughts, "".join(self.plan))))),
            attachments=tuple(self.attachments),
        )
        return message if ended or message != Message(Role.ASSISTANT) else None

    def _outcome(self) -> Outcome:
        if self.error:
            return Outcome.ERROR
        return _OUTCOMES.get(self.finish_reason, Outcome.COMPLETE) if self.ended else Outcome.TRUNCATED


_TERMINAL: Final = (b'"message-end"', b"event: message-end", b"event:message-end")


def read_message(raw: object, _: int = 1) -> Message:
    """Parse a message object. Never raises.

    The plan that comes with tool calls ("tool_plan") is added to the thinking, because Cohere describes it as a chain
    of thought. Thinking does not count when messages are compared, so a client may resend the message without the plan.
    Documents in a tool's result are parsed as text, because that is what the model reads of them. The second argument
    is not used.
    """
    if not isinstance(raw, dict):
        return openai_message.read_message(raw)
    content = raw.get("content")
    if isinstance(content, dict):
        raw = {**raw, "content": [content]}
    elif isinstance(content, list) and raw.get("role") == "tool":
        raw = {**raw, "content": [_readable(part) for part in content]}
    message = openai_message.read_message(raw)
    plan = text_of(raw, "tool_plan") if message.role is Role.ASSISTANT else ""
    return replace(message, thinking="\n".join(filter(None, (message.thinking, plan)))) if plan else message


_SHAPE: Final = Shape("cohere", role_of, roles_of, read_message, overhead=("tools", "documents", "response_format"))


class Cohere(JsonDialect):
    """The dialect of Cohere Chat. Parses leniently (a field of the wrong type counts as absent); a rewrite changes no
    other byte."""

    name = _SHAPE.name
    shape = _SHAPE
    linked = (b'"image_url"',)
    end_mark = b"message-end"

    def ends(self, tail: bytes) -> bool:
        """Whether ``tail`` (the newest piece of a stream, preceded by the last bytes of the piece before it) may
        contain ``message-end``, the event that ends the stream. True may be wrong, if a reply quotes the event's name;
        false never is."""
        return any(mark in tail for mark in _TERMINAL)

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """Parse the reply in a captured response body; its content says whether it is a stream. Never raises. See
        ``Dialect.collect``."""
        return collect(data)


def _readable(part: object) -> object:
    """Return a part of a tool's result; a document is replaced by a text part with its data."""
    document = part.get("document") if isinstance(part, dict) and part.get("type") == "document" else None
    if document is None:
        return part
    return {"type": "text", "text": _document_text(document)}


def _document_text(document: Any) -> str:
    """Return the text of a document's data; an object as compact JSON."""
    data = document.get("data") if isinstance(document, dict) else document
    if data is None:
        return ""
    return data if isinstance(data, str) else json_text(data)
