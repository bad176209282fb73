"""Ollama: POST {base}/api/chat. Replies stream as lines of JSON unless the request says otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.dialects import openai_chat, openai_message
from tokenmizer_mw.wire.dialects.openai_message import read_call, role_of, roles_of, storable_call
from tokenmizer_mw.wire.json_text import storable
from tokenmizer_mw.wire.reply import error_text, parse_json, token_counts
from tokenmizer_mw.wire.request import JsonDialect, Shape, get_text, text_of
from tokenmizer_mw.wire.sse import data_in, lines_in

_DONE: Final = b'"done"'
_TRUE: Final = b"true"
_LOOK: Final = 16
_OWN: Final = ("thinking", "images")
_IMAGE: Final = "image"
_IMAGES_MAX: Final = 100
"""Most images of one message that are noted as attachments."""

_USAGE: Final = (("prompt_eval_count", "prompt_tokens"), ("eval_count", "completion_tokens"))
_CUT: Final = "length"
_NO_ANSWER: Final = frozenset({"load", "unload"})
"""Reasons with which a reply to a request without messages ends. Such a request only loads or unloads a model."""


def read_message(raw: object, _: int = 0) -> Message:
    """Parse a message object. An unknown role gives a system message. The second argument is not used."""
    message = openai_message.read_message(raw)
    if not isinstance(raw, dict) or raw.keys().isdisjoint(_OWN):
        return message
    thinking = text_of(raw, "thinking") if message.role is Role.ASSISTANT else ""
    return replace(message, thinking=thinking or message.thinking, attachments=message.attachments + _images(raw))


_SHAPE: Final = Shape("ollama", role_of, roles_of, read_message, overhead=("tools", "format"), streams=True)


class Ollama(JsonDialect):
    """The dialect of Ollama. Every request contains the whole chat, because the server stores none. A reply streams
    unless the request says otherwise."""

    name = _SHAPE.name
    shape = _SHAPE

    end_mark = _TRUE

    def ends(self, tail: bytes) -> bool:
        """Whether ``tail`` (the newest piece of a stream, preceded by the last bytes of the piece before it) contains
        ``"done": true``, which the last line of a stream has."""
        place = tail.find(_DONE)
        while place >= 0:
            value = tail[place + len(_DONE) : place + len(_DONE) + _LOOK].lstrip(b" \t:")
            if value.startswith(_TRUE):
                return True
            place = tail.find(_DONE, place + 1)
        return False

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """Parse the reply in a captured response body: lines of JSON, or one object. A body in OpenAI's format, which
        other applications send from this path, is parsed as such. Never raises. See ``Dialect.collect``."""
        if data.lstrip().startswith((b"data:", b"event:")):  # an application's own /api/chat, in OpenAI's shape
            return openai_chat.collect_chunks(data_in(data, stream=True) or ())
        whole = parse_json(data.decode("utf-8-sig", "replace"))
        if isinstance(whole, dict) and "choices" in whole:
            return openai_chat.collect_body(data)
        return _collect([whole] if isinstance(whole, dict) else map(parse_json, lines_in(data)))


@dataclass(slots=True)
class _ReplyBuilder:
    """What was received of a response so far. ``foreign``: true if there were objects that are no part of a reply."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    usage: dict[str, int] = field(default_factory=dict)
    finish_reason: str = ""
    done: bool = False
    error: str = ""
    foreign: bool = False

    def add(self, chunk: dict[str, Any]) -> None:
        if error := chunk.get("error"):
            self.error = error_text(error)
        message = chunk.get("message")
        if isinstance(message, dict):
            self._add_message(message)
        self.foreign = self.foreign or not {"message", "done"} & chunk.keys()
        self.done = self.done or chunk.get("done") is True
        self.finish_reason = text_of(chunk, "done_reason") or self.finish_reason
        self.usage.update(token_counts(chunk, _USAGE))

    def close(self) -> Reply:
        """Return the reply.

        - Message: ``None`` if there is no text, thinking, call or image and the reply did not end, or only loaded or
          unloaded the model.
        - Outcome: ``ERROR`` for an error or lines that are no reply; ``COMPLETE`` after a line with ``"done": true``
          whose reason is not "length"; else ``TRUNCATED``.
        """
        message: Message | None = Message(
            Role.ASSISTANT,
            storable("".join(self.text)),
            tool_calls=tuple(self.calls),
            thinking=storable("".join(self.thinking)),
            attachments=tuple(self.images),
        )
        if message == Message(Role.ASSISTANT) and (not self.done or self.finish_reason in _NO_ANSWER):
            message = None
        if len(self.usage) == len(_USAGE):
            self.usage["total_tokens"] = sum(self.usage.values())
        return Reply(message, self._outcome(), self.finish_reason, self.usage, self.error)

    def _add_message(self, raw: dict[str, Any]) -> None:
        self.text.append(get_text(raw, "content"))
        self.thinking.append(get_text(raw, "thinking"))
        calls = raw.get("tool_calls")
        fragments = [read_call(call) for call in calls] if isinstance(calls, list) else []
        self.calls += [storable_call(call) for call in fragments if call is not None]
        self.images += _images(raw)

    def _outcome(self) -> Outcome:
        if self.error or (self.foreign and not self.done):
            return Outcome.ERROR
        return Outcome.COMPLETE if self.done and self.finish_reason != _CUT else Outcome.TRUNCATED


def _collect(chunks: Iterable[object]) -> Reply:
    """Return the reply that the objects of a response form. Objects after an error or the end are not read."""
    reply = _ReplyBuilder()
    for chunk in chunks:
        if isinstance(chunk, dict):
            reply.add(chunk)
            if reply.error or reply.done:
                break
    return reply.close()


def _images(raw: dict[str, Any]) -> tuple[str, ...]:
    images = raw.get("images")
    return (_IMAGE,) * min(len(images), _IMAGES_MAX) if isinstance(images, list) else ()
