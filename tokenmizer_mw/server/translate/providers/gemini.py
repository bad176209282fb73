"""Gemini generateContent as a provider dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from tokenmizer_mw.errors import Untranslatable
from tokenmizer_mw.server.translate import chat
from tokenmizer_mw.server.translate.translation import ProviderRequest, StreamReader
from tokenmizer_mw.wire.sse import EVENT_MAX

from . import gemini_reply
from .replies import EventReader, fault_of
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
    split_prefix,
    turns,
)

UNSEALED: Final = "skip_thought_signature_validator"
"""The seal of a first call that Gemini has not made itself; its documentation names it for histories from elsewhere.
https://ai.google.dev/gemini-api/docs/thought-signatures
"""

BUDGETED: Final = ("gemini-2", "gemini-flash-2", "gemini-robotics-er-1")
"""Prefixes of the models that take a thinking budget; later models take a level."""

_COLLECTIONS: Final = frozenset({"models", "tunedModels"})
_LACKS: Final = attached_to("system")
_LEVELS: Final = {"minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH", "xhigh": "XHIGH",
                  "max": "XHIGH"}  # fmt: skip
_MODES: Final = {"auto": "AUTO", "any": "ANY", "none": "NONE", "named": "ANY"}
_ROLES: Final = {"user": "user", "assistant": "model"}
_SYSTEM: Final = "System message: "
_TYPES: Final = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp",
                 "gif": "image/gif", "pdf": "application/pdf", "mp3": "audio/mp3", "wav": "audio/wav"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GeminiProvider:
    """Provider side of the Gemini dialect.

    ``budgeted``: prefixes of models whose reasoning is limited by a token budget. ``event_max``: a stream event of more
    bytes is an error.

    System messages at the start become the system instruction; a later one is sent as a marked user message, because
    the dialect has no other place for it. Reasoning without Gemini's signature, image details and the end user are
    dropped.
    """

    budgeted: tuple[str, ...] = BUDGETED
    event_max: int = EVENT_MAX
    name: str = "gemini"

    def outgoing(self, call: chat.ChatCall) -> ProviderRequest:
        """Return the request for the provider. Raises ``Untranslatable`` for what the dialect has no field for."""
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

    answer = staticmethod(gemini_reply.answer)
    fault = staticmethod(fault_of)

    def reader(self) -> StreamReader:
        """Return an object that parses one stream of the provider."""
        return EventReader(gemini_reply.GeminiChunks(), self.event_max, bare=True)

    def _config(self, call: chat.ChatCall) -> dict[str, Any]:
        sampling = call.sampling
        return present(
            maxOutputTokens=sampling.max_tokens,
            temperature=sampling.temperature,
            topP=sampling.top_p,
            topK=sampling.top_k,
            stopSequences=list(sampling.stop),
            seed=sampling.seed,
            frequencyPenalty=sampling.frequency_penalty,
            presencePenalty=sampling.presence_penalty,
            thinkingConfig=_thinking(call.thinking, budgeted=call.model.startswith(self.budgeted)),
            **_format(call.format),
        )


def _path(call: chat.ChatCall) -> str:
    """The model stands in the path, alone or with its collection."""
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
    """A system message among the others, as one of the user."""
    if turn.role != "system":
        return turn
    return chat.ChatTurn(
        "user",
        tuple(chat.Text(_SYSTEM + part.text) for part in turn.parts if isinstance(part, chat.Text) and part.text),
    )


def _parts(turn: chat.ChatTurn, names: Mapping[str, str], called: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Results stand first, in the order of the calls."""
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
    """The first call of a turn needs a seal."""
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
    """What Gemini has sealed goes back to it: a thought, or the seal that stood alone."""
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
    """What may be called; strict tools are such whose calls are held to their schemas."""
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
