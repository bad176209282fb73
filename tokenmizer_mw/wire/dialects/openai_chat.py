"""OpenAI Chat Completions: POST {base}/chat/completions. DeepSeek, Mistral, OpenRouter and Grok use the same format.

A complete response is parsed like one chunk of a stream, with ``message`` in place of ``delta``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall
from tokenmizer_mw.wire.dialect import ChatRequest, Reply, lost_marker, removing_edit
from tokenmizer_mw.wire.dialects.openai_message import (
    read_call,
    read_content,
    read_function_call,
    read_message,
    read_thinking,
    role_of,
    roles_of,
    storable_call,
)
from tokenmizer_mw.wire.json_text import Edit, scan_string, storable
from tokenmizer_mw.wire.reply import error_text, parse_json, token_counts
from tokenmizer_mw.wire.request import (
    HISTORY_ON_SERVER,
    PROVIDER_COMPACTS,
    JsonDialect,
    Shape,
    get_text,
    insert_message,
    number_of,
    text_of,
)
from tokenmizer_mw.wire.sse import data_in

_DONE: Final = "[DONE]"
_PLAIN: Final = frozenset({"role", "content"})
_USAGE: Final = (
    ("prompt_tokens", "prompt_tokens"),
    ("completion_tokens", "completion_tokens"),
    ("total_tokens", "total_tokens"),
    ("prompt_cache_hit_tokens", "cached_tokens"),
    ("prompt_tokens_details.cached_tokens", "cached_tokens"),
    ("prompt_tokens_details.cache_write_tokens", "cache_write_tokens"),
    ("completion_tokens_details.reasoning_tokens", "reasoning_tokens"),
)
_OUTCOMES: Final = {"": Outcome.TRUNCATED, "length": Outcome.TRUNCATED, "error": Outcome.ERROR}


def collect_chunks(chunks: Iterable[str]) -> Reply:
    """Parse the reply in a stream. ``chunks``: the data of its events, in order; those after ``[DONE]`` or an error are
    ignored, as clients do."""
    reply, frame, apart = _ReplyBuilder(), None, 0
    for data in chunks:
        if frame is not None and (text := frame.text_in(data)) is not None:
            frame.texts.append(text)
            continue
        if data.startswith(_DONE):
            reply.done = True
            break
        chunk = parse_json(data)
        reply.add(chunk)
        if reply.error:
            break
        apart += 1
        frame = (_frame_of(data, chunk, reply) or frame) if apart in _FRAMED else None
    return reply.close()


def collect_body(data: bytes) -> Reply:
    """Parse the reply in a complete JSON body. A JSON object with an error or without choices has the outcome
    ``ERROR``; a body that is no JSON object has the outcome ``TRUNCATED`` and no message."""
    body = parse_json(data.decode("utf-8-sig", "replace"))
    reply = _ReplyBuilder()
    reply.add(body)
    if isinstance(body, dict) and not reply.choices:
        reply.failed = True
    return reply.close()


_FRAMED: Final = range(8, 24)
"""Numbers of fully parsed chunks after which a ``_Frame`` is looked for. With fewer, the reply may be short; with more,
its chunks differ in more than their text."""

_CONTENT: Final = re.compile(r'"content": ?"')


@dataclass(frozen=True, slots=True)
class _Frame:
    """What stands before and after the text in a chunk. Chunks that are otherwise the same need only their text parsed.
    ``texts``: the list to which their text is added."""

    before: str
    behind: str
    texts: list[str]

    def text_in(self, data: str) -> str | None:
        """Return the text of a chunk that differs in nothing but that; ``None`` for any other chunk."""
        if not data.startswith(self.before):
            return None
        try:
            text, end = scan_string(data, len(self.before))
        except ValueError:
            return None
        return text if data[end:] == self.behind else None


def _frame_of(data: str, chunk: object, reply: _ReplyBuilder) -> _Frame | None:
    """Return the frame of a chunk that contains nothing but a piece of text; ``None`` for any other chunk. The name of
    the member must occur once, and without an escape that could spell another one, so that the text's place is
    certain."""
    match chunk:
        case {"choices": [{"delta": {"content": str()} as delta} as choice], **other} if delta.keys() <= _PLAIN:
            found = _CONTENT.search(data)
        case _:
            return None
    if found is None or choice.get("finish_reason") or other.get("usage") or data.count('"content"') != 1:
        return None
    _, end = scan_string(data, found.end())
    before, behind = data[: found.end()], data[end:]
    return None if "\\" in before or "\\" in behind else _Frame(before, behind, reply.texts_of(choice))


@dataclass(slots=True)
class _Call:
    """A tool call that is being assembled. Its id and name come with the first fragment that has them."""

    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def add(self, fragment: ToolCall) -> None:
        self.id = self.id or fragment.id
        self.name = self.name or fragment.name
        self.arguments.append(fragment.arguments)

    def close(self) -> ToolCall:
        return storable_call(ToolCall(self.id, self.name, "".join(self.arguments)))


@dataclass(slots=True)
class Calls:
    """Assembles the tool calls of a streamed reply from their fragments."""

    _made: list[_Call] = field(default_factory=list)
    _by_index: dict[int, _Call] = field(default_factory=dict)
    _by_id: dict[str, _Call] = field(default_factory=dict)

    def add(self, index: int, fragment: ToolCall) -> None:
        """Add the next fragment, which belongs to call ``index``.

        Some servers give every call index 0 or none at all (ollama/ollama#15457, #7881): a fragment with another id and
        a name starts a new call, and later fragments of that index belong to the newest call.
        """
        call = self._by_id.get(fragment.id) if fragment.id else None
        if call is None:
            call = self._by_index.get(index)
            if call is None or (call.id and fragment.id and fragment.name):
                call = _Call(index)
                self._made.append(call)
                self._by_index[index] = call
            if fragment.id:
                self._by_id[fragment.id] = call
        call.add(fragment)

    def close(self) -> tuple[ToolCall, ...]:
        """Return the tool calls received so far, ordered by index; calls with the same index in the order in which they
        began."""
        return tuple(call.close() for call in sorted(self._made, key=lambda call: call.index))


@dataclass(slots=True)
class _Choice:
    """One of the ``n`` answers that a request may ask for, as far as it was received."""

    finish_reason: str = ""
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    transcript: list[str] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)
    audio: bool = False
    calls: Calls = field(default_factory=Calls)
    function: _Call | None = None
    has_parts: bool = False

    def add(self, delta: dict[str, Any]) -> None:
        self.has_parts = True
        content = read_content(delta.get("content"))
        self.text.append(content.text)
        self.thinking.append(read_thinking(delta) or content.thinking)
        refusal = delta.get("refusal")
        self.refusal.append(refusal if isinstance(refusal, str) else content.refusal)
        self.attachments += content.attachments
        self._add_audio(delta.get("audio"))
        self._add_calls(delta.get("tool_calls"))
        if (fragment := read_function_call(delta.get("function_call"))) is not None:
            self.function = self.function or _Call(0)
            self.function.add(fragment)

    def message(self) -> Message | None:
        """Return the message; ``None`` if it is empty and has no finish reason."""
        if self.has_parts:
            message = self._join_parts()
        else:
            text = "".join(self.text)
            message = Message(Role.ASSISTANT, text if text.isascii() else storable(text))
        return message if self.finish_reason or message != Message(Role.ASSISTANT) else None

    def _join_parts(self) -> Message:
        calls = self.calls.close() or ((self.function.close(),) if self.function else ())
        spoken = "".join(self.text) or "".join(self.transcript)
        unheard = ["audio"] if self.audio and not spoken else []
        return Message(
            Role.ASSISTANT,
            storable(spoken),
            tool_calls=calls,
            thinking=storable("".join(self.thinking)),
            refusal=storable("".join(self.refusal)),
            attachments=(*self.attachments, *unheard),
        )

    def _add_audio(self, audio: object) -> None:
        if isinstance(audio, dict):
            self.audio = True
            self.transcript.append(get_text(audio, "transcript"))

    def _add_calls(self, fragments: object) -> None:
        for place, raw in enumerate(fragments if isinstance(fragments, list) else ()):
            if (fragment := read_call(raw)) is not None:
                self.calls.add(number_of(raw.get("index"), place), fragment)


@dataclass(slots=True)
class _ReplyBuilder:
    """What was received of a response so far."""

    choices: defaultdict[int, _Choice] = field(default_factory=partial(defaultdict, _Choice))
    usage: dict[str, int] = field(default_factory=dict)
    error: str = ""
    done: bool = False
    failed: bool = False

    def add(self, chunk: object) -> None:
        if not isinstance(chunk, dict):
            return
        if error := chunk.get("error"):
            self.error = error_text(error)
        choices = chunk.get("choices")
        for place, raw in enumerate(choices if isinstance(choices, list) else ()):
            if not isinstance(raw, dict):
                continue
            index = raw.get("index")  # no ``number_of``: this runs for each event of a stream
            choice = self.choices[index if type(index) is int else place]
            delta = raw.get("delta")
            spoken = delta if isinstance(delta, dict) else raw.get("message")
            if isinstance(spoken, dict):
                text = spoken.get("content")
                if type(text) is str and (len(spoken) == 1 or spoken.keys() <= _PLAIN):  # nearly all deltas of a stream
                    choice.text.append(text)
                elif spoken:
                    choice.add(spoken)
            reason = raw.get("finish_reason")
            if reason and type(reason) is str:
                choice.finish_reason = reason if reason.isascii() else text_of(raw, "finish_reason")
        if usage := chunk.get("usage"):
            self.usage.update(token_counts(usage, _USAGE))

    def texts_of(self, choice: dict[str, Any]) -> list[str]:
        """Return the list of pieces of text of a choice that is alone in its chunk."""
        return self.choices[number_of(choice.get("index"), 0)].text

    def close(self) -> Reply:
        """Return the reply: the choice with the lowest index. Other choices are dropped."""
        choice = self.choices[min(self.choices)] if self.choices else _Choice()
        return Reply(choice.message(), self._outcome(choice), choice.finish_reason, self.usage, self.error)

    def _outcome(self, choice: _Choice) -> Outcome:
        if self.error or self.failed:
            return Outcome.ERROR
        if self.done and not choice.finish_reason:
            return Outcome.COMPLETE
        return _OUTCOMES.get(choice.finish_reason, Outcome.COMPLETE)


_MARKS: Final = ("cache_control", "prompt_cache_breakpoint")
_TERMINAL: Final = re.compile(rb"(?:^|[\r\n])data: ?\[DONE\]")


_SHAPE: Final = Shape(
    "openai_chat",
    role_of,
    roles_of,
    read_message,
    overhead=("tools", "functions", "response_format"),
    elsewhere={
        "previous_response_id": HISTORY_ON_SERVER,
        "conversation": HISTORY_ON_SERVER,
        "context_management": PROVIDER_COMPACTS,
    },
    causes={"context_management": removing_edit},
)


class OpenAIChat(JsonDialect):
    """The dialect of OpenAI Chat Completions. Parses leniently (a field of the wrong type counts as absent); a rewrite
    changes no other byte."""

    name = _SHAPE.name
    shape = _SHAPE
    linked = (b'"image_url"', b'"file_id"')
    end_mark = b"[DONE]"

    def cut(self, request: ChatRequest, keep_from: int, block: str, role: str) -> list[Edit]:
        """Return the edits of a cut, as ``JsonDialect.cut`` does, except that a block of the role "developer" keeps
        that role. If removed messages have prompt cache markers, the last of these moves to the block."""
        marker = lost_marker(request, keep_from, _MARKS) if block else None
        return insert_message(request, keep_from, role, block, marker)

    def ends(self, tail: bytes) -> bool:
        """Whether a line of ``tail`` starts with ``data: [DONE]``, the event that ends a stream.

        ``tail`` must include the last 12 bytes of the previous chunk, so that a split mark is found.
        """
        return _TERMINAL.search(tail) is not None

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """Parse the reply in a captured response body. Never raises. See ``Dialect.collect``."""
        chunks = data_in(data, stream=stream)
        return collect_body(data) if chunks is None else collect_chunks(chunks)
