"""Parser of Gemini replies and streams.

Each chunk of a stream is a whole reply, and none is marked as the last: some models and relays send a stop reason in
every chunk. The reply ends with the bytes of the stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tokenmizer_mw.errors import ForeignReply
from tokenmizer_mw.server.translate import chat
from tokenmizer_mw.wire.dialects.gemini_message import member
from tokenmizer_mw.wire.json_text import json_text, storable
from tokenmizer_mw.wire.reply import parse_json, token_counts
from tokenmizer_mw.wire.sse import ServerSentEvent

from .replies import Parts, error_of, foreign, made_id, objects, resolve_finish

_NAME: Final = "gemini"
_DONE: Final = "[DONE]"
_UNFINISHED: Final = "FINISH_REASON_UNSPECIFIED"
_FINISHES: Final = {
    "STOP": chat.Finish.STOP,
    "MAX_TOKENS": chat.Finish.LENGTH,
    "CONTINUATION": chat.Finish.LENGTH,
    "SAFETY": chat.Finish.FILTERED,
    "RECITATION": chat.Finish.FILTERED,
    "LANGUAGE": chat.Finish.FILTERED,
    "BLOCKLIST": chat.Finish.FILTERED,
    "PROHIBITED_CONTENT": chat.Finish.FILTERED,
    "SPII": chat.Finish.FILTERED,
    "IMAGE_SAFETY": chat.Finish.FILTERED,
    "IMAGE_PROHIBITED_CONTENT": chat.Finish.FILTERED,
    "IMAGE_RECITATION": chat.Finish.FILTERED,
    "ESCALATION": chat.Finish.FILTERED,
    "MODEL_ARMOR": chat.Finish.FILTERED,
}
"""Reasons to stop; any other is an error of the model."""

_COUNTS: Final = (
    ("promptTokenCount", "prompt"),
    ("toolUsePromptTokenCount", "used"),
    ("candidatesTokenCount", "completion"),
    ("thoughtsTokenCount", "thought"),
    ("cachedContentTokenCount", "cached"),
)


def answer(body: Mapping[str, Any]) -> chat.ModelReply:
    """Parse a complete reply. Raises ``ForeignReply`` for one without an answer, or with an error of the model."""
    chunk = _Chunk(body)
    if not chunk.has_answer:
        raise foreign(body, "candidates")
    if chunk.failure is not None:
        raise ForeignReply(chunk.failure.message)
    parts = _whole(chunk.parts(0))
    called = any(isinstance(part, chat.ModelToolCall) for part in parts)
    finish = resolve_finish(chunk.finish or chat.Finish.STOP, called)
    return chat.ModelReply(
        chunk.text("responseId"), chunk.text("modelVersion"), tuple(parts), finish, chunk.usage or chat.Usage()
    )


def _whole(parts: Iterable[chat.Text | chat.Thought | chat.ModelToolCall]) -> list[chat.Part]:
    """The parts, with pieces of one text or of one thought joined, storable."""
    whole: list[chat.Part] = []
    for part in parts:
        last = whole[-1] if whole else None
        if isinstance(part, chat.Text) and isinstance(last, chat.Text):
            whole[-1] = chat.Text(last.text + part.text)
        elif isinstance(part, chat.Thought) and not part.hidden and isinstance(last, chat.Thought) and not last.seal:
            whole[-1] = chat.Thought(last.text + part.text, part.seal, part.sealed_by)
        else:
            whole.append(part)
    return [
        replace(part, text=storable(part.text)) if isinstance(part, chat.Text | chat.Thought) else part
        for part in whole
    ]


class _Chunk:
    """One reply object. ``has_answer``: it holds an answer, or says why there is none."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self._raw = dict(raw)
        feedback = member(self._raw, "promptFeedback")
        blocked = member(feedback, "blockReason") if isinstance(feedback, dict) else None
        found = objects(member(self._raw, "candidates"))
        candidate = next((one for one in found if not one.get("index")), {})
        self._content = candidate.get("content")
        self.has_answer = bool(found) or isinstance(blocked, str)
        self.finish: chat.Finish | None = chat.Finish.FILTERED if isinstance(blocked, str) else None
        self.failure: chat.Fault | None = None
        reason = member(candidate, "finishReason")
        if isinstance(reason, str) and reason != _UNFINISHED:
            self.finish = _FINISHES.get(reason)
            if self.finish is None:
                message = member(candidate, "finishMessage")
                values = message if isinstance(message, str) and message else f"the provider stopped with {reason}"
                self.failure = chat.Fault(0, storable(values), storable(reason))
        self.usage = _usage(member(self._raw, "usageMetadata"))

    def text(self, name: str) -> str:
        value = member(self._raw, name)
        return storable(value) if isinstance(value, str) else ""

    def parts(self, calls: int) -> Iterator[chat.Text | chat.Thought | chat.ModelToolCall]:
        """Return the parts in order, numbered after ``calls`` tool calls. A signature that belongs to a text, not to
        reasoning, is returned as reasoning without text."""
        raw_parts = self._content.get("parts") if isinstance(self._content, dict) else None
        for raw in objects(raw_parts):
            signature = member(raw, "thoughtSignature")
            seal = signature if isinstance(signature, str) else ""
            call, text = member(raw, "functionCall"), raw.get("text")
            if isinstance(call, dict):
                yield _call(call, seal, self.text("responseId"), calls)
                calls += 1
                continue
            if isinstance(text, str) and text:
                if raw.get("thought") is True:
                    yield chat.Thought(text, seal, _NAME if seal else "")
                    continue
                yield chat.Text(text)
            if seal:
                yield chat.Thought("", seal, _NAME, hidden=True)


def _call(raw: dict[str, Any], seal: str, reply: str, place: int) -> chat.ModelToolCall:
    id, name = raw.get("id"), raw.get("name")
    args = raw.get("args")
    arguments = json_text(args) if isinstance(args, dict) else "{}"
    name = storable(name) if isinstance(name, str) else ""
    made = storable(id) if isinstance(id, str) and id else made_id(reply, place, name, arguments)
    return chat.ModelToolCall(made, name, storable(arguments), seal, _NAME if seal else "")


def _usage(raw: object) -> chat.Usage | None:
    """Token counts; ``None`` where there are none. Thoughts count as output; what tools of the provider read, as
    input."""
    if not isinstance(raw, dict):
        return None
    counts = token_counts({name: member(raw, name) for name, _ in _COUNTS}, _COUNTS)
    if not counts:
        return None
    prompt = counts.get("prompt", 0) + counts.pop("used", 0)
    completion = counts.get("completion", 0) + counts.get("thought", 0)
    return chat.Usage(**{**counts, "prompt": prompt, "completion": completion})


class GeminiChunks:
    """Parses the chunks of one Gemini stream into dialect-neutral stream events."""

    def __init__(self) -> None:
        self._parts = Parts()
        self._began = False
        self._calls = 0
        self._finish: chat.Finish | None = None
        self._usage: chat.Usage | None = None

    def event(self, event: ServerSentEvent) -> Iterable[chat.StreamEvent]:
        """Return what the next chunk means; end markers that relays add are ignored."""
        if event.data.strip() in ("", _DONE):
            return ()
        chunk = parse_json(event.data)
        if not isinstance(chunk, dict):
            return (chat.Fault(0, "the provider sent a chunk that is no JSON object"),)
        if chunk.get("error"):
            return (error_of(chunk),)
        return self._chunk(_Chunk(chunk))

    def end(self) -> Iterable[chat.StreamEvent]:
        """Handle the end of the stream; without a stop reason it was cut off."""
        return self._end(self._finish) if self._finish is not None else ()

    def _chunk(self, chunk: _Chunk) -> Iterator[chat.StreamEvent]:
        if not self._began:
            self._began = True
            yield chat.Began(chunk.text("responseId"), chunk.text("modelVersion"), chunk.usage)
        for part in chunk.parts(self._calls):
            yield from self._part(part)
        self._usage = chunk.usage or self._usage
        self._finish = chunk.finish or self._finish
        if chunk.failure is not None:
            yield chunk.failure

    def _part(self, part: chat.Text | chat.Thought | chat.ModelToolCall) -> Iterator[chat.StreamEvent]:
        match part:
            case chat.Text(text):
                yield from self._parts.text(text)
            case chat.ModelToolCall(id, name, arguments, seal, sealed_by):
                self._calls += 1
                yield from self._parts.open(chat.ModelToolCall(id, name, "", seal, sealed_by))
                yield from self._parts.arguments(arguments)
            case chat.Thought(hidden=True):
                yield from self._parts.open(part)
            case chat.Thought(text, seal, sealed_by):
                yield from self._parts.add_thought(text)
                yield from self._parts.add_seal(seal, sealed_by)

    def _end(self, finish: chat.Finish) -> Iterator[chat.StreamEvent]:
        yield from self._parts.close()
        yield chat.Ended(resolve_finish(finish, self._parts.called), self._usage)
