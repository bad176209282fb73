"""Translator for the API format (dialect) OpenAI Chat Completions, and for compatible servers that deviate from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, Literal

from tokenmizer_mw.errors import ForeignReply, Untranslatable
from tokenmizer_mw.model.message import ToolCall as Fragment
from tokenmizer_mw.server.translate import chat
from tokenmizer_mw.server.translate.translation import ProviderRequest, StreamReader
from tokenmizer_mw.wire.dialects.openai_message import read_call, read_content, read_thinking
from tokenmizer_mw.wire.json_text import json_text, storable
from tokenmizer_mw.wire.reply import objects, parse_json, token_counts
from tokenmizer_mw.wire.sse import EVENT_MAX, ServerSentEvent

from .replies import EventReader, Parts, error_of, fault_of, foreign, make_id, object_in, resolve_finish, text_in
from .request_parts import (
    NO_PARAMETERS,
    CallIds,
    Writer,
    attached_to,
    calls_in,
    effort_for,
    image,
    join_texts,
    present,
    refuse,
    sampling_fields,
    thoughts,
    turns_with_rule,
    user_messages,
)


@dataclass(frozen=True, slots=True)
class Quirks:
    """How one OpenAI-compatible server deviates from OpenAI's API. The defaults suit most servers.

    - ``max_tokens``, ``seed``: the server's names of these fields. ``system``: the role of system messages.
    - ``stream_options``: whether to ask a stream for token counts with this field.
    - ``effort``: how the reasoning effort is set: by the field "reasoning_effort", by DeepSeek's field "thinking" in
      addition, by OpenRouter's field "reasoning", or "" if it cannot be set.
    - ``thoughts``: the field in which earlier reasoning is sent back; "" drops it. ``thoughts_needed``: whether every
      assistant message must have this field, unless the call switches reasoning off.
    - ``bridge``: text of an assistant message to insert between a tool result and a user message, for servers that
      refuse these as neighbours; "" for none.
    - ``parallel``, ``end_user``, ``verbosity``: whether the server has fields for parallel tool calls, for the end
      user, and for the length of the reply.
    - ``attached``: whose format is used for documents and audio.
    - ``call_id``, ``call_id_lengths``: allowed characters (a name in ``CHARACTERS``), and minimum and maximum length,
      of tool call ids. Other ids are replaced.
    - ``lacks``: features that the server does not support, as ``list_features`` names them, such as "sampling.seed",
      "format.schema" or "tools.strict".
    """

    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seed: Literal["seed", "random_seed"] = "seed"
    system: Literal["system", "developer"] = "system"
    stream_options: bool = True
    effort: Literal["reasoning_effort", "thinking", "reasoning", ""] = "reasoning_effort"
    thoughts: Literal["reasoning_content", "reasoning", ""] = ""
    thoughts_needed: bool = False
    bridge: str = ""
    parallel: bool = True
    end_user: bool = True
    verbosity: bool = False
    attached: Literal["openai", "mistral"] = "openai"
    call_id: Literal["printable", "word", "alphanumeric"] = "printable"
    call_id_lengths: tuple[int, int] = (1, 40)
    lacks: frozenset[str] = frozenset({"sampling.top_k", "document.url", "audio.url"})


PATH: Final = "/chat/completions"
_END_USER_MAX: Final = 64
_SOUNDS: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
_NEVER: Final = attached_to("system", "assistant")


def _messages(call: chat.ChatCall, quirks: Quirks) -> list[dict[str, Any]]:
    ids = CallIds(quirks.call_id, *quirks.call_id_lengths)
    turns = call.turns if quirks.parallel else turns_with_rule(call)
    messages = [message for chat_turns in turns for message in _write_turn(chat_turns, quirks, ids)]
    if quirks.thoughts_needed and not (call.thinking is not None and _effort(call.thinking) == "none"):
        for message in messages:
            if message["role"] == "assistant":
                message.setdefault(quirks.thoughts, "")
    return list(_insert_bridges(messages, quirks.bridge)) if quirks.bridge else messages


def _insert_bridges(messages: Sequence[dict[str, Any]], bridge: str) -> Iterator[dict[str, Any]]:
    role = ""
    for message in messages:
        if role == "tool" and message["role"] not in ("tool", "assistant"):
            yield {"role": "assistant", "content": bridge}
        yield message
        role = message["role"]


def _write_turn(turn: chat.ChatTurn, quirks: Quirks, ids: CallIds) -> Iterator[dict[str, Any]]:
    if turn.role == "system":
        yield {"role": quirks.system, "content": join_texts(turn.parts)}
    elif turn.role == "assistant":
        yield _assistant(turn, quirks, ids)
    else:
        yield from user_messages(turn, ids, _ATTACHED[quirks.attached])


def _assistant(turn: chat.ChatTurn, quirks: Quirks, ids: CallIds) -> dict[str, Any]:
    calls = calls_in(turn, ids)
    text = join_texts(turn.parts)
    message = {"role": "assistant", "content": text if text or not calls else None, **present(tool_calls=calls)}
    if quirks.thoughts and (thought := thoughts(turn.parts)):
        message[quirks.thoughts] = thought
    if quirks.thoughts == "reasoning":
        message |= present(**{DETAILS: details_of(turn.parts)})
    return message


def _document(part: chat.Attachment) -> dict[str, Any]:
    data = f"data:{part.media_type};base64,{part.data}"
    return {"type": "file", "file": {"filename": part.name or "document", "file_data": data}}


def _sound(part: chat.Attachment) -> dict[str, Any]:
    if part.media_type not in _SOUNDS:
        raise Untranslatable("audio.media_type", f"the provider takes no sound of the type {part.media_type!r}")
    return {"type": "input_audio", "input_audio": {"data": part.data, "format": _SOUNDS[part.media_type]}}


def _linked_document(part: chat.Attachment) -> dict[str, Any]:
    url = part.url or f"data:{part.media_type};base64,{part.data}"
    return {"type": "document_url", "document_url": url, **present(document_name=part.name)}


_ATTACHED: Final[Mapping[str, Mapping[str, Writer]]] = {
    "openai": {"image": image, "document": _document, "audio": _sound},
    "mistral": {
        "image": image,
        "document": _linked_document,
        "audio": lambda part: {"type": "input_audio", "input_audio": part.url or part.data},
    },
}


def _tool(tool: chat.Tool) -> dict[str, Any]:
    values = present(description=tool.description, strict=tool.strict or None)
    return {
        "type": "function",
        "function": {"name": tool.name, "parameters": tool.parameters or NO_PARAMETERS, **values},
    }


def _choice(call: chat.ChatCall) -> object:
    if call.choice is None or (not call.tools and call.choice.mode in ("auto", "none")):
        return None
    return (
        {"type": "function", "function": {"name": call.choice.name}}
        if call.choice.mode == "named"
        else (_MODES[call.choice.mode])
    )


_MODES: Final[Mapping[str, str]] = {"auto": "auto", "none": "none", "any": "required"}


def _format(wanted: chat.AnswerFormat | None) -> object:
    if wanted is None:
        return None
    if wanted.schema is None:
        return {"type": "json_object"}
    schema = {"name": wanted.name or "answer", "schema": wanted.schema, **present(strict=wanted.strict)}
    return {"type": "json_schema", "json_schema": schema}


def _thinking(thinking: chat.Thinking | None, quirks: Quirks) -> dict[str, Any]:
    """Return the request fields for the reasoning effort; ``{}`` if the call sets none. A number of tokens becomes the
    smallest effort that covers it, unless the server takes a number of tokens. Raises ``Untranslatable`` if the server
    has no such field."""
    if thinking is None or not (thinking.effort or thinking.tokens is not None):
        return {}
    if not quirks.effort:
        raise Untranslatable("thinking")
    effort = _effort(thinking)
    if quirks.effort == "thinking":
        off = {"thinking": {"type": "disabled"}}
        return off if effort == "none" else {"thinking": {"type": "enabled"}, "reasoning_effort": effort}
    if quirks.effort == "reasoning":
        values = {"effort": effort} if thinking.effort else {"max_tokens": thinking.tokens}
        return {"reasoning": values if effort != "none" else {"enabled": False}}
    return {"reasoning_effort": effort}


def _effort(thinking: chat.Thinking) -> str:
    """Return the reasoning effort, such as "low"; "" if the call sets none. A number of tokens becomes the smallest
    effort that covers it."""
    return thinking.effort or ("" if thinking.tokens is None else effort_for(thinking.tokens))


def _end_user(user: str) -> str:
    """Return the identifier of the end user. If it is longer than the field allows, return a digest of it."""
    return user if len(user) <= _END_USER_MAX else blake2b(user.encode(), digest_size=16).hexdigest()


_DONE: Final = "[DONE]"
_FINISHES: Final = {
    "stop": chat.Finish.STOP,
    "length": chat.Finish.LENGTH,
    "model_length": chat.Finish.LENGTH,
    "tool_calls": chat.Finish.TOOLS,
    "function_call": chat.Finish.TOOLS,
    "content_filter": chat.Finish.FILTERED,
}
_FAILED: Final = frozenset({"error", "insufficient_system_resource"})
"""Stop reasons of a server that failed while it made the reply."""

_USAGE: Final = (
    ("prompt_tokens", "prompt"),
    ("completion_tokens", "completion"),
    ("total_tokens", "total"),
    ("prompt_cache_hit_tokens", "cached"),
    ("prompt_tokens_details.cached_tokens", "cached"),
    ("prompt_tokens_details.cache_write_tokens", "written"),
    ("completion_tokens_details.reasoning_tokens", "thought"),
)


def answer(body: Mapping[str, Any]) -> chat.ModelReply:
    """Parse a complete (not streamed) reply. Raises ``ForeignReply`` for one without a message, with an error, or with
    a stop reason in ``_FAILED``."""
    choice = _first(body)
    message = choice.get("message")
    if not isinstance(message, dict) or body.get("error"):
        raise foreign(body, "message")
    reason = text_in(choice, "finish_reason")
    if reason in _FAILED:
        raise ForeignReply(f"the provider stopped with {reason}")
    thought, text, refused = _read_message(message)
    id = text_in(body, "id")
    fragments = [call for raw in objects(message.get("tool_calls")) if (call := read_call(raw)) is not None]
    calls = [_call(fragment, id, place) for place, fragment in enumerate(fragments)]
    parts: list[chat.Part] = [*thoughts_in(message)]
    parts = parts or ([chat.Thought(storable(thought))] if thought else [])
    parts += [chat.Text(storable(text))] if text else []
    finish = chat.Finish.FILTERED if refused else resolve_finish(_FINISHES.get(reason, chat.Finish.STOP), bool(calls))
    return chat.ModelReply(
        id, text_in(body, "model"), (*parts, *calls), finish, usage(body.get("usage")) or chat.Usage()
    )


def _first(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first of the choices (alternative replies) in a response or chunk; ``{}`` if there is none. Only one
    is ever requested."""
    return next((choice for choice in objects(body.get("choices")) if not choice.get("index")), {})


def usage(raw: object) -> chat.Usage | None:
    """Parse the token counts in ``raw``, the field ``usage`` of a response. Missing and invalid counts are 0. Returns
    ``None`` if there is no valid count except the total.

    Some servers do not include reasoning in the completion count. If the total exceeds the sum of prompt and completion
    by exactly the reported number of reasoning tokens, these are added to the completion. Otherwise the total is
    ignored.
    """
    counts = token_counts(raw, _USAGE)
    total = counts.pop("total", 0)
    if not counts:
        return None
    unseen = total - counts.get("prompt", 0) - counts.get("completion", 0)
    if 0 < unseen == counts.get("thought", 0):
        counts["completion"] = counts.get("completion", 0) + unseen
    return chat.Usage(**counts)


def _read_message(message: Mapping[str, Any]) -> tuple[str, str, bool]:
    """Return three values for a message or a piece of a streamed one: its reasoning, its text, and whether the text is
    a refusal."""
    content = read_content(message.get("content"))
    refusal = message.get("refusal")
    refusal = refusal if isinstance(refusal, str) else content.refusal
    return read_thinking(dict(message)) or content.thinking, content.text + refusal, bool(refusal)


def _call(fragment: Fragment, reply: str, place: int) -> chat.ModelToolCall:
    id = storable(fragment.id) or make_id(reply, place)
    return chat.ModelToolCall(id, storable(fragment.name), storable(fragment.arguments) or "{}")


@dataclass(slots=True)
class _Made:
    """A tool call of a stream, to which more pieces may be added. ``place``: its number among the calls, from 0.
    ``pieces``: the pieces of its arguments."""

    place: int
    call: chat.ModelToolCall
    pieces: list[str] = field(default_factory=list)


class _Calls:
    """The tool calls of a streamed reply. Only one call at a time is open: its pieces are passed on as they arrive.

    If the arguments of the open call are complete JSON, the next call is opened at once. If not, further calls are
    collected until the reply ends, because more pieces of the open call may come.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._made: list[_Made] = []
        self._by_index: dict[int, _Made] = {}
        self._open = -1
        self._waiting = False

    def add(self, index: int, fragment: Fragment, reply: str) -> Iterator[chat.StreamEvent]:
        """Add the next piece of a call, and yield the stream events that follow from it.

        ``index``: number of the call, as the piece states it. A piece with a name and another id starts a new call even
        if its index is known, because some servers give every call the same index. ``reply``: id of the reply, from
        which ids are made for calls that have none.
        """
        made = self._by_index.get(index)
        if made is None or (fragment.id and fragment.name and storable(fragment.id) != made.call.id):
            made = self._begin(index, fragment, reply)
            yield from self._go_on(made)
        if fragment.arguments:
            made.pieces.append(fragment.arguments)
            if made.place == self._open:
                yield from self._parts.arguments(fragment.arguments)
            elif made.place < self._open and fragment.arguments.strip():
                yield chat.Fault(0, "the provider goes on with a call that was complete")

    def end(self) -> Iterator[chat.StreamEvent]:
        """Yield the stream events of the calls that were collected because another call was open."""
        for made in self._made[self._open + 1 :]:
            yield from self._parts.open(made.call)
            yield from self._parts.arguments("".join(made.pieces))
        self._open = len(self._made) - 1

    def _begin(self, index: int, fragment: Fragment, reply: str) -> _Made:
        id = storable(fragment.id) or make_id(reply, len(self._made))
        made = _Made(len(self._made), chat.ModelToolCall(id, storable(fragment.name), ""))
        self._made.append(made)
        self._by_index[index] = made
        return made

    def _go_on(self, made: _Made) -> Iterator[chat.StreamEvent]:
        if self._waiting or (self._open >= 0 and not _is_complete(self._made[self._open].pieces)):
            self._waiting = True
            return
        self._open = made.place
        yield from self._parts.open(made.call)


class OpenAIChatChunks:
    """Parses the chunks of one OpenAI Chat Completions stream into API-independent stream events. Each stream needs a
    new object."""

    def __init__(self) -> None:
        self._id = ""
        self._began = False
        self._finish: chat.Finish | None = None
        self._refused = False
        self._usage: chat.Usage | None = None
        self._parts = Parts()
        self._calls = _Calls(self._parts)

    def event(self, event: ServerSentEvent) -> Iterable[chat.StreamEvent]:
        """Parse the next server-sent event of the stream and return the stream events in it. "[DONE]" gives the last
        ones, up to ``Ended``. An event without data gives none. A chunk that cannot be parsed, or that reports an
        error, gives a ``Fault``."""
        if event.data.startswith(_DONE):
            return self._end()
        if not event.data.strip():
            return ()
        chunk = parse_json(event.data)
        if not isinstance(chunk, dict):
            return (chat.Fault(0, "the provider sent a chunk that is no JSON object"),)
        if chunk.get("error") or event.event == "error":
            return (error_of(chunk),)
        return self._chunk(chunk)

    def end(self) -> Iterable[chat.StreamEvent]:
        """Return the last stream events after the stream has ended without "[DONE]". Empty if no stop reason has
        arrived, because the stream was then cut off."""
        return self._end() if self._finish is not None else ()

    def _chunk(self, chunk: dict[str, Any]) -> Iterator[chat.StreamEvent]:
        self._usage = usage(chunk.get("usage")) or self._usage
        if not self._began:
            self._began = True
            self._id = text_in(chunk, "id")
            yield chat.Began(self._id, text_in(chunk, "model"))
        if choice := _first(chunk):
            yield from self._delta(object_in(choice, "delta"))
            reason = text_in(choice, "finish_reason")
            if reason in _FAILED:
                yield chat.Fault(0, f"the provider stopped with {reason}", reason)
            elif reason:
                self._finish = _FINISHES.get(reason, chat.Finish.STOP)

    def _delta(self, delta: dict[str, Any]) -> Iterator[chat.StreamEvent]:
        thought, text, refused = _read_message(delta)
        self._refused = self._refused or refused
        yield from self._parts.add_thought(thought)
        for seal, hidden in seals_in(delta):
            hide = chat.Thought("", seal, MAKER, hidden=True)
            yield from self._parts.open(hide) if hidden else self._parts.add_seal(seal, MAKER)
        yield from self._parts.text(text)
        for place, raw in enumerate(objects(delta.get("tool_calls"))):
            if (fragment := read_call(raw)) is not None:
                index = raw.get("index")
                yield from self._calls.add(index if type(index) is int else place, fragment, self._id)

    def _end(self) -> Iterator[chat.StreamEvent]:
        yield from self._calls.end()
        yield from self._parts.close()
        finish = chat.Finish.FILTERED if self._refused else self._finish or chat.Finish.STOP
        yield chat.Ended(resolve_finish(finish, self._parts.called), self._usage)


def _is_complete(pieces: list[str]) -> bool:
    """Return whether the pieces of a call's arguments, joined, are a JSON object."""
    try:
        return isinstance(json.loads("".join(pieces)), dict)
    except (ValueError, RecursionError):
        return False


DETAILS: Final = "reasoning_details"
MAKER: Final = "openrouter"
_TEXT: Final = "reasoning.text"
_ENCRYPTED: Final = "reasoning.encrypted"
_TEXT_FIELDS: Final = frozenset({"text", "summary", "index"})


def thoughts_in(message: Mapping[str, Any]) -> list[chat.Thought]:
    """Return the reasoning in the ``reasoning_details`` (OpenRouter's list of pieces of reasoning) of a complete
    message, with signatures; ``[]`` if it has none."""
    found = []
    for detail in objects(message.get(DETAILS)):
        text, seal = text_in(detail, "text") or text_in(detail, "summary"), seal_of(detail)
        if text or seal:
            found.append(chat.Thought(text, seal, MAKER if seal else "", hidden=not text))
    return found


def seals_in(delta: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Return the signatures in the ``reasoning_details`` of a piece of a streamed message. Each is a pair: the
    signature, and whether the text of the reasoning is encrypted."""
    details = objects(delta.get(DETAILS))
    return [(seal, detail.get("type") == _ENCRYPTED) for detail in details if (seal := seal_of(detail))]


def seal_of(detail: Mapping[str, Any]) -> str:
    """Return the signature of one entry of ``reasoning_details``: the entry itself as JSON, without its text. "" if the
    entry is not signed."""
    if not (detail.get("signature") or (detail.get("type") == _ENCRYPTED and detail.get("data"))):
        return ""
    return storable(json_text({name: value for name, value in detail.items() if name not in _TEXT_FIELDS}))


def details_of(parts: Iterable[chat.Part]) -> list[dict[str, Any]]:
    """Return the ``reasoning_details`` to send back to OpenRouter: the reasoning among ``parts`` that OpenRouter
    signed."""
    details: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, chat.Thought) and part.sealed_by == MAKER and (detail := _open_seal(part.seal)):
            text = {"text": part.text} if detail.get("type") == _TEXT else {}
            details.append({**detail, **text, "index": len(details)})
    return details


def _open_seal(seal: str) -> dict[str, Any]:
    """Parse a signature that ``seal_of`` returned and a client sent back. ``{}`` for any other text."""
    try:
        value = json.loads(seal)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class OpenAIChatProvider:
    """Translator for servers with OpenAI Chat Completions.

    ``quirks``: how the server deviates. ``event_max``: maximum size in bytes of a stream event; a larger one is an
    error.

    Tool results may only contain text; attachments in them are sent in a user message after the results. If the server
    has no field for earlier reasoning, for the end user or for ``verbosity``, these are dropped. If it has no field for
    parallel tool calls, a call that forbids them gets a system message that says so.
    """

    quirks: Quirks = field(default_factory=Quirks)
    event_max: int = EVENT_MAX
    name: str = "openai_chat"

    def outgoing(self, call: chat.ChatCall) -> ProviderRequest:
        """Return the path and the body of the request for the provider; no headers are needed.

        Earlier reasoning, the end user and ``verbosity`` are dropped if the server has no field for them. Raises
        ``Untranslatable`` for

        - the features in ``quirks.lacks``;
        - attachments in system or assistant messages;
        - a reasoning effort or budget, if the server has no field for it;
        - audio that is not WAV or MP3, except in Mistral's format.
        """
        refuse(call, self.quirks.lacks | _NEVER)
        quirks = self.quirks
        body: dict[str, Any] = {"model": call.model, "messages": _messages(call, quirks)}
        body |= present(
            **sampling_fields(call.sampling, max_tokens=quirks.max_tokens, seed=quirks.seed),
            tools=[_tool(tool) for tool in call.tools],
            tool_choice=_choice(call),
            parallel_tool_calls=call.parallel if call.tools and quirks.parallel else None,
            response_format=_format(call.format),
            user=_end_user(call.user) if quirks.end_user else "",
            verbosity=call.verbosity if quirks.verbosity else "",
            **_thinking(call.thinking, quirks),
        )
        if call.stream:
            body["stream"] = True
            body |= {"stream_options": {"include_usage": True}} if call.usage and quirks.stream_options else {}
        return ProviderRequest(PATH, body)

    answer = staticmethod(answer)
    fault = staticmethod(fault_of)

    def reader(self) -> StreamReader:
        """Return a new object that parses one stream of the provider into API-independent stream events."""
        return EventReader(OpenAIChatChunks(), self.event_max)
