"""Collecting an OpenAI Chat response, streamed or whole, into a reply.

A whole body is one chunk whose choices carry ``message`` where a stream's carry ``delta``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.reply import error_text, parse_json, token_counts
from tokenmizer_mw.wire.request import text_of
from tokenmizer_mw.wire.sse import ServerSentEvent
from tokenmizer_mw.wire.text import storable

from .openai_message import read_call, read_content, read_function_call, read_thinking, storable_call

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


def collect_events(events: Iterable[ServerSentEvent]) -> Reply:
    """The reply in a stream's events; what follows ``[DONE]`` or an error is not looked at, as clients do."""
    reply = _Collected()
    for event in events:
        if event.data.startswith(_DONE):
            reply.done = True
            break
        reply.add(parse_json(event.data))
        if reply.error:
            break
    return reply.close()


def collect_body(data: bytes) -> Reply:
    """The reply in a whole JSON body. JSON without choices is somebody's error, other bytes are a cut body."""
    body = parse_json(data.decode("utf-8-sig", "replace"))
    reply = _Collected()
    reply.add(body)
    if isinstance(body, dict) and not reply.choices:
        reply.failed = True
    return reply.close()


@dataclass(slots=True)
class _Call:
    """A tool call in the making. Its id and name come with the first fragment that has one."""

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
    """The tool calls of an answer in the making, put together from their fragments."""

    _made: list[_Call] = field(default_factory=list)
    _by_index: dict[int, _Call] = field(default_factory=dict)
    _by_id: dict[str, _Call] = field(default_factory=dict)

    def add(self, index: int, fragment: ToolCall) -> None:
        """The next fragment, which says that it belongs to call ``index``.

        Some servers give every call index 0 or none at all (ollama/ollama#15457, #7881): another id that comes
        with a name starts a call of its own, and what follows under that index belongs to the newest.
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
        """The calls as far as they came, by index."""
        return tuple(call.close() for call in sorted(self._made, key=lambda call: call.index))


@dataclass(slots=True)
class _Choice:
    """One of the ``n`` answers in the making."""

    finish_reason: str = ""
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    transcript: list[str] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)
    audio: bool = False
    calls: Calls = field(default_factory=Calls)
    function: _Call | None = None

    def add(self, delta: dict[str, Any]) -> None:
        if delta.keys() <= _PLAIN and type(text := delta.get("content")) is str:  # nearly all deltas of a stream
            self.text.append(text)
            return
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
        """``None`` when nothing was said and the model did not say that it ended either."""
        calls = self.calls.close() or ((self.function.close(),) if self.function else ())
        spoken = "".join(self.text) or "".join(self.transcript)
        unheard = ["audio"] if self.audio and not spoken else []
        message = Message(
            Role.ASSISTANT,
            storable(spoken),
            tool_calls=calls,
            thinking=storable("".join(self.thinking)),
            refusal=storable("".join(self.refusal)),
            attachments=(*self.attachments, *unheard),
        )
        return message if self.finish_reason or message != Message(Role.ASSISTANT) else None

    def _add_audio(self, audio: object) -> None:
        if isinstance(audio, dict):
            self.audio = True
            transcript = audio.get("transcript")
            self.transcript.append(transcript if isinstance(transcript, str) else "")

    def _add_calls(self, fragments: object) -> None:
        for place, raw in enumerate(fragments if isinstance(fragments, list) else ()):
            if (fragment := read_call(raw)) is not None:
                self.calls.add(_index(raw, place), fragment)


@dataclass(slots=True)
class _Collected:
    """Everything that was seen of a response."""

    choices: dict[int, _Choice] = field(default_factory=dict)
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
            if isinstance(raw, dict):
                self._add_choice(place, raw)
        if usage := chunk.get("usage"):
            self.usage.update(token_counts(usage, _USAGE))

    def close(self) -> Reply:
        """The first choice is the turn; the others are alternatives that nobody may have seen."""
        choice = self.choices[min(self.choices)] if self.choices else _Choice()
        return Reply(choice.message(), self._outcome(choice), choice.finish_reason, self.usage, self.error)

    def _add_choice(self, place: int, raw: dict[str, Any]) -> None:
        index = _index(raw, place)
        choice = self.choices.get(index)
        if choice is None:
            choice = self.choices[index] = _Choice()
        delta, message = raw.get("delta"), raw.get("message")
        if isinstance(said := delta if isinstance(delta, dict) else message, dict):
            choice.add(said)
        if raw.get("finish_reason"):
            choice.finish_reason = text_of(raw, "finish_reason") or choice.finish_reason

    def _outcome(self, choice: _Choice) -> Outcome:
        if self.error or self.failed:
            return Outcome.ERROR
        if self.done and not choice.finish_reason:
            return Outcome.COMPLETE
        return _OUTCOMES.get(choice.finish_reason, Outcome.COMPLETE)


def _index(raw: dict[str, Any], place: int) -> int:
    index = raw.get("index")
    return index if type(index) is int else place
