"""Translator for providers with the API format (dialect) Anthropic Messages.

Tools that the provider runs itself are never requested, so their content blocks are not translated. Citations are
dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw.errors import Untranslatable
from tokenmizer_mw.server.translate import chat
from tokenmizer_mw.server.translate.translation import ProviderRequest, StreamReader
from tokenmizer_mw.wire.json_text import json_text
from tokenmizer_mw.wire.reply import objects, parse_json, token_counts
from tokenmizer_mw.wire.sse import EVENT_MAX, ServerSentEvent

from .replies import EventReader, Parts, error_of, fault_of, foreign, object_in, piece_in, text_in
from .request_parts import (
    EFFORTS,
    CallIds,
    arguments_of,
    attached_to,
    effort_for,
    plain_text,
    present,
    refuse,
    split_prefix,
    turns,
)

PATH: Final = "/v1/messages"
VERSION: Final = "2026-10-21"
DRAWING_VERSION: Final = "2023-06-01"
"""The API version for calls with sampling parameters. Newer versions refuse ``temperature``, ``top_p`` and
``top_k``."""

BUDGET_MIN: Final = 1_024
"""Smallest number of tokens that the provider accepts as a budget for reasoning."""

BUDGETED: Final = ("claude-3-", "claude-haiku-4", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2",
                   "claude-opus-4-5", "claude-sonnet-4-0", "claude-sonnet-4-2", "claude-sonnet-4-5")  # fmt: skip
"""Beginnings of the names of models whose reasoning is limited by a number of tokens. Later models take an effort level
instead."""

_IDS: Final = CallIds("word", 1, 128)
_LACKS: Final = attached_to("system", "assistant") | {"sampling.seed", "sampling.frequency_penalty", "format.object",
                                                      "sampling.presence_penalty", "audio", "result.audio"}  # fmt: skip
_DRAWING: Final = {"temperature": 1, "top_p": 1, "top_k": None}
"""Fields that only ``DRAWING_VERSION`` accepts: name -> value that has no effect, so that it can be left out (``None``:
there is no such value)."""

_IMAGES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_EFFORTS: Final = {"minimal": "low"}
_MODES: Final = {"auto": "auto", "any": "any", "none": "none", "named": "tool"}


def _messages(chat_turns: Sequence[chat.ChatTurn]) -> list[dict[str, Any]]:
    messages = []
    for one in _order_system_messages(turns(chat_turns)):
        if content := list(_system(one) if one.role == "system" else _blocks(one)):
            messages.append({"role": one.role, "content": content})
    return messages


def _order_system_messages(chat_turns: Sequence[chat.ChatTurn]) -> list[chat.ChatTurn]:
    """Return the messages with each system message directly after a user message, as the API format requires: after the
    user message before it if that is its neighbour, else after the user message that follows it. Raises
    ``Untranslatable`` if no user message is next to it."""
    ordered: list[chat.ChatTurn] = []
    waiting: list[chat.Part] = []
    for one in chat_turns:
        if one.role == "system" and not (ordered and ordered[-1].role != "assistant"):
            waiting += one.parts
            continue
        if one.role == "assistant" and waiting:
            break
        ordered.append(one)
        if one.role == "user" and waiting:
            ordered.append(chat.ChatTurn("system", tuple(waiting)))
            waiting = []
    if waiting:
        raise Untranslatable("system", "a system message must stand next to a message of the user")
    return turns(ordered)


def _system(turn: chat.ChatTurn) -> list[dict[str, Any]]:
    return [{"type": "text", "text": part.text} for part in turn.parts if isinstance(part, chat.Text) and part.text]


def _texts(parts: Sequence[chat.Part]) -> str | list[dict[str, Any]]:
    """Return the texts among ``parts``: a single one as a string, several as a list of content blocks, so that the
    boundaries between them are preserved. "" if there is none."""
    texts = [part.text for part in parts if isinstance(part, chat.Text) and part.text]
    return "".join(texts) if len(texts) < 2 else [{"type": "text", "text": text} for text in texts]


def _blocks(turn: chat.ChatTurn) -> Iterator[dict[str, Any]]:
    """Yield the content blocks of a message, tool results first, as the API format requires."""
    for part in sorted(turn.parts, key=lambda part: not isinstance(part, chat.ModelToolResult)):
        if isinstance(part, chat.ModelToolResult):
            yield _result(part)
        elif isinstance(part, chat.ModelToolCall):
            yield {"type": "tool_use", "id": _IDS.fit(part.id), "name": part.name, "input": arguments_of(part)}
        elif isinstance(part, chat.Thought):
            yield from _write_thought(part)
        elif isinstance(part, chat.Attachment):
            yield _attachment(part)
        elif part.text:
            yield {"type": "text", "text": part.text}


def _result(result: chat.ModelToolResult) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": _IDS.fit(result.call_id)}
    if any(isinstance(part, chat.Attachment) for part in result.parts):
        block["content"] = list(_blocks(chat.ChatTurn("user", result.parts)))
    else:
        block |= present(content=_texts(result.parts))
    return block | ({"is_error": True} if result.failed else {})


def _write_thought(thought: chat.Thought) -> Iterator[dict[str, Any]]:
    if thought.seal and thought.sealed_by == "anthropic":
        if thought.hidden:
            yield {"type": "redacted_thinking", "data": thought.seal}
        else:
            yield {"type": "thinking", "thinking": thought.text, "signature": thought.seal}


def _attachment(part: chat.Attachment) -> dict[str, Any]:
    if part.kind == "image":
        return {"type": "image", "source": _source(part, _IMAGES)}
    if part.media_type == "text/plain" and not part.url:
        source = {"type": "text", "media_type": "text/plain", "data": plain_text(part)}
    else:
        source = _source(part, frozenset({"application/pdf"}))
    return {"type": "document", "source": source, **present(title=part.name)}


def _source(part: chat.Attachment, known: frozenset[str]) -> dict[str, Any]:
    if part.url:
        return {"type": "url", "url": part.url}
    if part.media_type not in known:
        reason = f"the provider takes no {part.kind} of the type {part.media_type!r}"
        raise Untranslatable(f"{part.kind}.media_type", reason)
    return {"type": "base64", "media_type": part.media_type, "data": part.data}


def _tool(tool: chat.Tool) -> dict[str, Any]:
    schema = {"type": "object", **(tool.parameters or {})}
    return {
        "name": tool.name,
        "input_schema": schema,
        **present(description=tool.description, strict=tool.strict or None),
    }


def _choice(call: chat.ChatCall) -> dict[str, Any]:
    """Return the value of the field ``tool_choice``, which also says whether several tools may be called at once.
    ``{}`` if neither is set."""
    single = call.parallel is False and bool(call.tools)
    if call.choice is None:
        return {"type": "auto", "disable_parallel_tool_use": True} if single else {}
    choice = {"type": _MODES[call.choice.mode], **present(name=call.choice.name)}
    return choice | ({"disable_parallel_tool_use": True} if single and call.choice.mode != "none" else {})


def _thinking(call: chat.ChatCall, limit: int, budgeted: bool) -> dict[str, Any]:
    """Return the request fields for the amount of reasoning and for the format of the reply. ``limit``: maximum length
    of the reply in tokens. ``budgeted``: whether the model takes a token budget instead of an effort level."""
    format = call.format
    config: dict[str, Any] = {}
    if format is not None:
        config["format"] = {"type": "json_schema", "schema": format.schema}
    thinking = call.thinking
    if thinking is None or not (thinking.effort or thinking.tokens is not None):
        return present(output_config=config)
    if thinking.effort == "none" or thinking.tokens == 0:
        return {"thinking": {"type": "disabled"}, **present(output_config=config)}
    if budgeted:
        return _budget(thinking, limit, is_given=call.sampling.max_tokens is not None) | present(output_config=config)
    effort = thinking.effort or effort_for(thinking.tokens or 0)
    config["effort"] = _EFFORTS.get(effort, effort)
    return {"thinking": {"type": "adaptive", **_display(thinking)}, "output_config": config}


def _budget(thinking: chat.Thinking, limit: int, *, is_given: bool) -> dict[str, Any]:
    """Return the request fields for a reasoning budget in tokens.

    The budget counts towards ``limit``, the maximum length of the reply in tokens. If the call gave that limit
    (``is_given``), the budget is kept below it; ``Untranslatable`` is raised if that leaves less than ``BUDGET_MIN``.
    Otherwise, the limit is increased by the budget.
    """
    budget = max(BUDGET_MIN, EFFORTS.get(thinking.effort, 0) if thinking.tokens is None else thinking.tokens)
    if is_given:
        budget = min(budget, limit - 1)
        if budget < BUDGET_MIN:
            raise Untranslatable("sampling.max_tokens", f"thinking needs more than {BUDGET_MIN} tokens of answer")
    more = {} if is_given else {"max_tokens": limit + budget}
    return {"thinking": {"type": "enabled", "budget_tokens": budget, **_display(thinking)}, **more}


def _display(thinking: chat.Thinking) -> dict[str, str]:
    return {"display": "summarized"} if thinking.shown else {}


_NAME: Final = "anthropic"
_FINISHES: Final = {
    "end_turn": chat.Finish.STOP,
    "stop_sequence": chat.Finish.STOP,
    "pause_turn": chat.Finish.STOP,
    "max_tokens": chat.Finish.LENGTH,
    "model_context_window_exceeded": chat.Finish.LENGTH,
    "tool_use": chat.Finish.TOOLS,
    "refusal": chat.Finish.FILTERED,
}
_COUNTS: Final = (
    ("input_tokens", "prompt"),
    ("cache_read_input_tokens", "cached"),
    ("cache_creation_input_tokens", "written"),
    ("output_tokens", "completion"),
    ("output_tokens_details.thinking_tokens", "thought"),
)


def answer(body: Mapping[str, Any]) -> chat.ModelReply:
    """Parse a complete (not streamed) reply. Raises ``ForeignReply`` for one without content; the error quotes the
    provider's own error if there is one."""
    if not isinstance(body.get("content"), list):
        raise foreign(body, "content")
    parts = [part for block in objects(body["content"]) if (part := _part(block)) is not None]
    finish = _FINISHES.get(text_in(body, "stop_reason"), chat.Finish.STOP)
    usage = _usage(token_counts(body.get("usage"), _COUNTS))
    stop = text_in(body, "stop_sequence")
    return chat.ModelReply(text_in(body, "id"), text_in(body, "model"), tuple(parts), finish, usage, stop)


def _part(block: Mapping[str, Any]) -> chat.Part | None:
    match block.get("type"):
        case "text":
            return chat.Text(text_in(block, "text"))
        case "thinking":
            seal = text_in(block, "signature")
            text = text_in(block, "thinking")
            return chat.Thought(text, seal, _NAME if seal else "")
        case "redacted_thinking":
            return chat.Thought("", text_in(block, "data"), _NAME, hidden=True)
        case "tool_use":
            return chat.ModelToolCall(text_in(block, "id"), text_in(block, "name"), json_text(block.get("input") or {}))
    return None


def _usage(counts: Mapping[str, int]) -> chat.Usage:
    """Return the token counts. The API format does not include cached tokens in the prompt tokens, so they are
    added."""
    prompt = sum(counts.get(name, 0) for name in ("prompt", "cached", "written"))
    return chat.Usage(**{**counts, "prompt": prompt})


class AnthropicEvents:
    """Parses the events of one Anthropic stream into API-independent stream events. Each stream needs a new object."""

    def __init__(self) -> None:
        self._parts = Parts()
        self._counts: dict[str, int] = {}
        self._finish: chat.Finish | None = None
        self._stop = ""

    def event(self, event: ServerSentEvent) -> Iterable[chat.StreamEvent | chat.Pinged]:
        """Parse the next server-sent event of the stream and return the stream events in it. The event "message_stop"
        gives the last ones, up to ``Ended``. An event that cannot be parsed, or that reports an error, gives a
        ``Fault``."""
        data = parse_json(event.data)
        if not isinstance(data, dict):
            return (chat.Fault(0, "the provider sent an event that is no JSON object"),)
        kind = data.get("type") or event.event
        if kind == "error" or data.get("error"):
            return (error_of(data),)
        if kind == "message_stop":
            return self._end()
        return self._event(kind, data)

    def end(self) -> Iterable[chat.StreamEvent]:
        """Return the last stream events after the stream has ended without "message_stop". Empty if no stop reason has
        arrived, because the stream was then cut off."""
        return self._end() if self._finish is not None else ()

    def _event(self, kind: object, data: dict[str, Any]) -> Iterator[chat.StreamEvent | chat.Pinged]:
        match kind:
            case "message_start":
                message = object_in(data, "message")
                self._counts.update(token_counts(message.get("usage"), _COUNTS))
                yield chat.Began(text_in(message, "id"), text_in(message, "model"), _usage(self._counts))
            case "content_block_start":
                yield from self._start(object_in(data, "content_block"))
            case "content_block_delta":
                yield from self._delta(object_in(data, "delta"))
            case "content_block_stop":
                yield from self._parts.close()
            case "message_delta":
                self._note_stop(object_in(data, "delta"), data.get("usage"))
            case "ping":
                yield chat.Pinged()

    def _start(self, block: dict[str, Any]) -> Iterator[chat.StreamEvent]:
        match part := _part(block):
            case chat.ModelToolCall(id, name, arguments):
                yield from self._parts.open(chat.ModelToolCall(id, name, ""))
                yield from self._parts.arguments(arguments if arguments != "{}" else "")
            case chat.Text(text):
                yield from self._parts.open(chat.Text(""))
                yield from self._parts.text(text)
            case chat.Thought(hidden=True):
                yield from self._parts.open(part)
            case chat.Thought(text, seal):
                yield from self._parts.open(chat.Thought(""))
                yield from self._parts.add_thought(text)
                yield from self._parts.add_seal(seal, _NAME)

    def _delta(self, delta: dict[str, Any]) -> Iterator[chat.StreamEvent]:
        match delta.get("type"):
            case "text_delta":
                yield from self._parts.text(piece_in(delta, "text"))
            case "thinking_delta":
                yield from self._parts.add_thought(piece_in(delta, "thinking"))
            case "signature_delta":
                yield from self._parts.add_seal(text_in(delta, "signature"), _NAME)
            case "input_json_delta":
                yield from self._parts.arguments(piece_in(delta, "partial_json"))

    def _note_stop(self, delta: dict[str, Any], usage: object) -> None:
        """Store the stop reason and the token counts of a "message_delta". The counts are those of the whole reply so
        far."""
        self._counts.update(token_counts(usage, _COUNTS))
        if reason := text_in(delta, "stop_reason"):
            self._finish = _FINISHES.get(reason, chat.Finish.STOP)
        self._stop = text_in(delta, "stop_sequence") or self._stop

    def _end(self) -> Iterator[chat.StreamEvent]:
        yield from self._parts.close()
        yield chat.Ended(self._finish or chat.Finish.STOP, _usage(self._counts), self._stop)


@dataclass(frozen=True, slots=True)
class AnthropicProvider:
    """Translator for providers with Anthropic Messages.

    - ``max_tokens``: maximum length of a reply in tokens, if the call sets none.
    - ``version``: API version to ask for; "" for the newest that accepts the call.
    - ``budgeted``: beginnings of the names of models whose reasoning is limited by a number of tokens.
    - ``event_max``: maximum size in bytes of a stream event; a larger one is an error.

    System messages at the start become the system prompt. A later one is placed after the user message that it follows
    or precedes, as the API format requires. Reasoning without a signature of Anthropic's, image details and
    ``verbosity`` are dropped.
    """

    max_tokens: int = 8_192
    version: str = ""
    budgeted: tuple[str, ...] = BUDGETED
    event_max: int = EVENT_MAX
    name: str = "anthropic"

    def outgoing(self, call: chat.ChatCall) -> ProviderRequest:
        """Return path, body and headers of the request for the provider.

        Reasoning without a signature of Anthropic's, image details and ``verbosity`` are dropped. Raises
        ``Untranslatable`` for

        - ``seed``, ``frequency_penalty``, ``presence_penalty``, and a reply format without a schema;
        - audio, and attachments in system or assistant messages;
        - images and documents of types that the provider does not accept, and plain text that is not UTF-8;
        - a later system message without a user message next to it;
        - tool call arguments that are not a JSON object;
        - a ``max_tokens`` of the call that leaves no room for ``BUDGET_MIN`` tokens of reasoning, for models that take
          a budget.
        """
        refuse(call, _LACKS)
        prefix, chat_turns = split_prefix(call.turns)
        sampling = call.sampling
        values = {name: getattr(sampling, name) for name in _DRAWING}
        drawing = present(**{name: value for name, value in values.items() if value != _DRAWING[name]})
        limit = self.max_tokens if sampling.max_tokens is None else sampling.max_tokens
        body = {"model": call.model, "max_tokens": limit, "messages": _messages(chat_turns)}
        body |= present(
            system=_texts([part for one in prefix for part in one.parts]),
            tools=[_tool(tool) for tool in call.tools],
            tool_choice=_choice(call),
            stop_sequences=list(sampling.stop),
            metadata=present(user_id=call.user),
            **drawing,
        )
        body |= _thinking(call, limit, call.model.startswith(self.budgeted))
        if call.stream:
            body["stream"] = True
        version = self.version or (DRAWING_VERSION if drawing else VERSION)
        return ProviderRequest(PATH, body, {"anthropic-version": version})

    answer = staticmethod(answer)
    fault = staticmethod(fault_of)

    def reader(self) -> StreamReader:
        """Return a new object that parses one stream of the provider into API-independent stream events."""
        return EventReader(AnthropicEvents(), self.event_max)
