"""Translator for the API format (dialect) Gemini generateContent.

Each chunk of a stream has the format of a whole reply. No chunk is marked as the last, because some models and relays
send a stop reason in every chunk: the reply is complete when the stream's bytes end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote

from tokenmizer_mw.errors import ForeignReply, Untranslatable
from tokenmizer_mw.server.translate import chat
from tokenmizer_mw.server.translate.translation import ProviderRequest, StreamReader
from tokenmizer_mw.wire.dialects.gemini_message import member
from tokenmizer_mw.wire.json_text import json_text, storable
from tokenmizer_mw.wire.reply import objects, parse_json, token_counts
from tokenmizer_mw.wire.sse import EVENT_MAX, ServerSentEvent

from .replies import EventReader, Parts, error_of, fault_of, foreign, make_id, resolve_finish
from .request_parts import (
    EFFORTS,
    arguments_of,
    attached_to,
    effort_for,
    join_texts,
    names_of_calls,
    one_call_at_most,
    present,
    refuse,
    sampling_fields,
    split_prefix,
    turns,
)

UNSEALED: Final = "skip_thought_signature_validator"
"""Value that Gemini accepts as the signature of a tool call which Gemini has not made itself, such as one of another
provider. https://ai.google.dev/gemini-api/docs/thought-signatures"""

BUDGETED: Final = ("gemini-2", "gemini-flash-2", "gemini-robotics-er-1")
"""Beginnings of the names of models whose reasoning is limited by a number of tokens. Later models take a level
instead."""

_COLLECTIONS: Final = frozenset({"models", "tunedModels"})
_LACKS: Final = attached_to("system")
_LEVELS: Final = {"minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH", "xhigh": "XHIGH",
                  "max": "XHIGH"}  # fmt: skip
_MODES: Final = {"auto": "AUTO", "any": "ANY", "none": "NONE", "named": "ANY"}
_SAMPLING: Final = {"max_tokens": "maxOutputTokens", "top_p": "topP", "top_k": "topK", "stop": "stopSequences",
                    "frequency_penalty": "frequencyPenalty", "presence_penalty": "presencePenalty"}  # fmt: skip
_ROLES: Final = {"user": "user", "assistant": "model"}
_SYSTEM: Final = "System message: "
_TYPES: Final = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp",
                 "gif": "image/gif", "pdf": "application/pdf", "mp3": "audio/mp3", "wav": "audio/wav"}  # fmt: skip


def _path(call: chat.ChatCall) -> str:
    """Return the request path, which contains the model. A model name without a collection, such as "name", stands for
    "models/name"."""
    collection, slash, name = call.model.partition("/")
    if not slash or collection not in _COLLECTIONS:
        collection, name = "models", call.model
    method = "streamGenerateContent?alt=sse" if call.stream else "generateContent"
    return f"/v1beta/{collection}/{quote(name, safe='')}:{method}"


def _contents(chat_turns: Sequence[chat.ChatTurn]) -> list[dict[str, Any]]:
    names = names_of_calls(chat_turns)
    contents: list[dict[str, Any]] = []
    called: list[str] = []
    for turn in turns([_as_user_turn(one) for one in chat_turns]):
        if parts := list(_parts(turn, names, called)):
            contents.append({"role": _ROLES[turn.role], "parts": parts})
        called = [part.id for part in turn.parts if isinstance(part, chat.ModelToolCall)]
    return contents


def _as_user_turn(turn: chat.ChatTurn) -> chat.ChatTurn:
    """Return a system message as a user message that begins with "System message: ", because the API format has system
    messages only at the start. Any other message is returned unchanged."""
    if turn.role != "system":
        return turn
    return chat.ChatTurn(
        "user",
        tuple(chat.Text(_SYSTEM + part.text) for part in turn.parts if isinstance(part, chat.Text) and part.text),
    )


def _parts(turn: chat.ChatTurn, names: Mapping[str, str], called: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the parts of a message: tool results first, in the order of the calls, then the other parts."""
    results = [part for part in turn.parts if isinstance(part, chat.ModelToolResult)]
    for result in sorted(results, key=lambda one: called.index(one.call_id) if one.call_id in called else len(called)):
        yield _result(result, names)
    sealed = False
    for part in turn.parts:
        match part:
            case chat.Text(text) if text:
                yield {"text": text}
            case chat.Thought():
                yield from _write_thought(part)
            case chat.Attachment():
                yield _attachment(part)
            case chat.ModelToolCall():
                yield _call(part, first=not sealed)
                sealed = True


def _call(call: chat.ModelToolCall, *, first: bool) -> dict[str, Any]:
    """Return a tool call in the provider's format. ``first``: whether it is the first one of its message, which must
    have a signature; it gets ``UNSEALED`` if it has none."""
    part: dict[str, Any] = {"functionCall": {**present(id=call.id), "name": call.name, "args": arguments_of(call)}}
    seal = call.seal if call.sealed_by == "gemini" else ""
    return part | present(thoughtSignature=seal or (UNSEALED if first else ""))


def _result(result: chat.ModelToolResult, names: Mapping[str, str]) -> dict[str, Any]:
    name = result.name or names.get(result.call_id, "")
    if not name:
        raise Untranslatable("result.name", f"no call in the request tells which tool {result.call_id!r} is of")
    text = join_texts(result.parts)
    response: dict[str, Any] = {"name": name, "response": {"error" if result.failed else "output": text}}
    seen = [_attachment(part) for part in result.parts if isinstance(part, chat.Attachment)]
    return {"functionResponse": present(id=result.call_id) | response | present(parts=seen)}


def _write_thought(thought: chat.Thought) -> Iterator[dict[str, Any]]:
    """Yield reasoning that Gemini signed, or its signature alone if the text is hidden. Yield nothing for any other
    reasoning."""
    if thought.seal and thought.sealed_by == "gemini":
        visible = {} if thought.hidden else {"thought": True}
        yield {"text": thought.text, **visible, "thoughtSignature": thought.seal}


def _attachment(part: chat.Attachment) -> dict[str, Any]:
    named = present(displayName=part.name)
    if part.url:
        ending = part.url.partition("?")[0].rpartition(".")[2].lower()
        kind = part.media_type or _TYPES.get(ending, "")
        return {"fileData": {"fileUri": part.url, **present(mimeType=kind), **named}}
    if not part.media_type:
        raise Untranslatable(f"{part.kind}.media_type", f"the type of an {part.kind} is not given")
    return {"inlineData": {"mimeType": part.media_type, "data": part.data, **named}}


def _tool(tool: chat.Tool) -> dict[str, Any]:
    schema = {name: value for name, value in (tool.parameters or {}).items() if name != "$schema"}
    takes = schema if {name for name, value in schema.items() if value} - {"type"} else {}
    return {"name": tool.name, **present(description=tool.description, parametersJsonSchema=takes)}


def _choice(call: chat.ChatCall) -> dict[str, Any]:
    """Return the request field that says which tools may be called; ``{}`` for the default. If a tool is strict, the
    field selects the mode in which calls are checked against the schemas, unless a tool must be called or none may
    be."""
    mode = _MODES[call.choice.mode] if call.choice is not None else ""
    if mode in ("", "AUTO") and any(tool.strict for tool in call.tools):
        mode = "VALIDATED"
    if not call.tools or not mode:
        return {}
    name = call.choice.name if call.choice is not None else ""
    return {"functionCallingConfig": {"mode": mode, **present(allowedFunctionNames=[name] if name else [])}}


def _format(wanted: chat.AnswerFormat | None) -> dict[str, Any]:
    if wanted is None:
        return {}
    return {"responseMimeType": "application/json", **present(responseJsonSchema=wanted.schema)}


def _thinking(thinking: chat.Thinking | None, *, budgeted: bool) -> dict[str, Any]:
    if thinking is None:
        return {}
    shown = {"includeThoughts": True} if thinking.shown else {}
    if not thinking.effort and thinking.tokens is None:
        return shown
    tokens = EFFORTS.get(thinking.effort, 0) if thinking.tokens is None else thinking.tokens
    effort = thinking.effort or effort_for(tokens)
    if budgeted or effort == "none":
        return {"thinkingBudget": tokens, **shown}
    return {"thinkingLevel": _LEVELS.get(effort, effort.upper()), **shown}


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
"""Stop reasons of complete replies. Any other stop reason means that the model failed."""

_COUNTS: Final = (
    ("promptTokenCount", "prompt"),
    ("toolUsePromptTokenCount", "used"),
    ("candidatesTokenCount", "completion"),
    ("thoughtsTokenCount", "thought"),
    ("cachedContentTokenCount", "cached"),
)


def answer(body: Mapping[str, Any]) -> chat.ModelReply:
    """Parse a complete (not streamed) reply. Raises ``ForeignReply`` for one without an answer, or if the model
    failed."""
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
    """Return the parts of a reply, with consecutive pieces of the same text or reasoning joined. Unpaired surrogates
    (halves of a character) are replaced."""
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
    """One JSON object of the provider: a whole reply, or a chunk of a stream.

    - ``has_answer``: whether it contains an answer or says why there is none.
    - ``finish``: why the model stopped, ``None`` if it does not say. ``failure``: the model's error, ``None`` for none.
    - ``usage``: token counts, ``None`` for none.
    """

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
        """Yield the parts in order. ``calls``: number of tool calls in earlier chunks. If a text (not reasoning) is
        signed, a hidden ``Thought`` with the signature follows it."""
        raw_parts = self._content.get("parts") if isinstance(self._content, dict) else None
        for raw in objects(raw_parts):
            signature = member(raw, "thoughtSignature")
            seal = signature if isinstance(signature, str) else ""
            call, text = member(raw, "functionCall"), raw.get("text")
            if isinstance(call, dict):
                yield _read_call(call, seal, self.text("responseId"), calls)
                calls += 1
                continue
            if isinstance(text, str) and text:
                if raw.get("thought") is True:
                    yield chat.Thought(text, seal, _NAME if seal else "")
                    continue
                yield chat.Text(text)
            if seal:
                yield chat.Thought("", seal, _NAME, hidden=True)


def _read_call(raw: dict[str, Any], seal: str, reply: str, place: int) -> chat.ModelToolCall:
    id, name = raw.get("id"), raw.get("name")
    args = raw.get("args")
    arguments = json_text(args) if isinstance(args, dict) else "{}"
    name = storable(name) if isinstance(name, str) else ""
    made = storable(id) if isinstance(id, str) and id else make_id(reply, place, name, arguments)
    return chat.ModelToolCall(made, name, storable(arguments), seal, _NAME if seal else "")


def _usage(raw: object) -> chat.Usage | None:
    """Return the token counts; ``None`` if there are none. Tokens of reasoning are counted as output, and those that
    the provider's own tools read as input."""
    if not isinstance(raw, dict):
        return None
    counts = token_counts({name: member(raw, name) for name, _ in _COUNTS}, _COUNTS)
    if not counts:
        return None
    prompt = counts.get("prompt", 0) + counts.pop("used", 0)
    completion = counts.get("completion", 0) + counts.get("thought", 0)
    return chat.Usage(**{**counts, "prompt": prompt, "completion": completion})


class GeminiChunks:
    """Parses the chunks of one Gemini stream into API-independent stream events. Each stream needs a new object."""

    def __init__(self) -> None:
        self._parts = Parts()
        self._began = False
        self._calls = 0
        self._finish: chat.Finish | None = None
        self._usage: chat.Usage | None = None

    def event(self, event: ServerSentEvent) -> Iterable[chat.StreamEvent]:
        """Parse the next server-sent event of the stream and return the stream events in it. An event without data, and
        "[DONE]", which some relays add, give none. A chunk that cannot be parsed, or that reports an error, gives a
        ``Fault``."""
        if event.data.strip() in ("", _DONE):
            return ()
        chunk = parse_json(event.data)
        if not isinstance(chunk, dict):
            return (chat.Fault(0, "the provider sent a chunk that is no JSON object"),)
        if chunk.get("error"):
            return (error_of(chunk),)
        return self._chunk(_Chunk(chunk))

    def end(self) -> Iterable[chat.StreamEvent]:
        """Return the last stream events, up to ``Ended``, after the stream has ended. Empty if no stop reason has
        arrived, because the stream was then cut off."""
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


@dataclass(frozen=True, slots=True)
class GeminiProvider:
    """Translator for Gemini's generateContent.

    ``budgeted``: beginnings of the names of models whose reasoning is limited by a number of tokens. ``event_max``:
    maximum size in bytes of a stream event; a larger one is an error.

    System messages at the start become the system instruction. A later one is sent as a user message that begins with
    "System message: ", because the API format has no other place for it. Reasoning without a signature of Gemini's,
    image details, the end user and ``verbosity`` are dropped.
    """

    budgeted: tuple[str, ...] = BUDGETED
    event_max: int = EVENT_MAX
    name: str = "gemini"

    def outgoing(self, call: chat.ChatCall) -> ProviderRequest:
        """Return the path (with its query) and the body of the request for the provider; no headers are needed.

        Reasoning without a signature of Gemini's, image details, the end user and ``verbosity`` are dropped. Raises
        ``Untranslatable`` for

        - an attachment in a system message, and attached data without a media type;
        - a tool result whose tool is unknown, and tool call arguments that are not a JSON object.
        """
        refuse(call, _LACKS)
        prefix, chat_turns = split_prefix(call.turns)
        system = [part.text for one in prefix for part in one.parts if isinstance(part, chat.Text) and part.text]
        system += filter(None, [one_call_at_most(call)])
        body: dict[str, Any] = {"contents": _contents(chat_turns)}
        body |= present(
            systemInstruction=present(parts=[{"text": text} for text in system]),
            tools=[{"functionDeclarations": [_tool(tool) for tool in call.tools]}] if call.tools else [],
            toolConfig=_choice(call),
            generationConfig=self._config(call),
        )
        return ProviderRequest(_path(call), body)

    answer = staticmethod(answer)
    fault = staticmethod(fault_of)

    def reader(self) -> StreamReader:
        """Return a new object that parses one stream of the provider into API-independent stream events."""
        return EventReader(GeminiChunks(), self.event_max, bare=True)

    def _config(self, call: chat.ChatCall) -> dict[str, Any]:
        return present(
            **sampling_fields(call.sampling, **_SAMPLING),
            thinkingConfig=_thinking(call.thinking, budgeted=call.model.startswith(self.budgeted)),
            **_format(call.format),
        )
