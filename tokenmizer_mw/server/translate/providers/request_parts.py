"""Functions with which the translators for providers write requests. Some write parts in OpenAI's format, which Cohere
uses, too."""

from __future__ import annotations

import binascii
import json
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from string import ascii_letters, digits
from typing import Any, Final

from tokenmizer_mw.errors import Untranslatable
from tokenmizer_mw.server.translate import chat

NO_PARAMETERS: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}
"""The JSON schema of a tool without arguments."""

EFFORTS: Final = {"none": 0, "minimal": 512, "low": 1_024, "medium": 8_192, "high": 24_576, "xhigh": 32_768,
                  "max": 65_536}  # fmt: skip
"""Levels of reasoning effort -> number of tokens that a level stands for, for providers that limit reasoning by a
number of tokens."""

ONE_CALL: Final = "Call at most one tool at a time."
"""Instruction to the model, for API formats without a field that forbids several tool calls at once."""

_NEUTRAL: Final = {"frequency_penalty": 0, "presence_penalty": 0}
"""Sampling parameters -> value that is the default, so that a call with it does not use this feature."""

_ID_LENGTH: Final = 24
_FAILED: Final = "The tool failed: "


def attached_to(*places: str) -> frozenset[str]:
    """Return the feature names, as in ``list_features``, of all kinds of attachments in the given places ("system",
    "assistant", "result"), such as "system.image"."""
    return frozenset(f"{place}.{kind}" for place in places for kind in ("image", "document", "audio"))


def refuse(call: chat.ChatCall, lacks: frozenset[str]) -> None:
    """Raise ``Untranslatable`` for the first feature of ``call`` that is in ``lacks``, the names (see
    ``list_features``) of the features that the provider does not support. Returns nothing if there is none."""
    if lacks and (name := next((name for name in list_features(call) if name in lacks), "")):
        raise Untranslatable(name)


def list_features(call: chat.ChatCall) -> Iterator[str]:
    """Yield the names of the optional features that a call uses, such as "sampling.seed", "format.schema",
    "choice.named", "image.url" or "result.image".

    Texts, tool calls and tool results are not among them, because every API format has them.
    """
    for field in fields(chat.Sampling):
        if getattr(call.sampling, field.name) not in (None, (), _NEUTRAL.get(field.name)):
            yield f"sampling.{field.name}"
    if call.format is not None:
        yield "format.schema" if call.format.schema is not None else "format.object"
    if any(tool.strict for tool in call.tools):
        yield "tools.strict"
    if call.choice is not None:
        yield f"choice.{call.choice.mode}"
    if call.thinking is not None:
        yield from (
            f"thinking.{name}" for name in ("effort", "tokens") if getattr(call.thinking, name) not in ("", None)
        )
    yield from (
        name
        for chat_turns in call.turns
        for part in chat_turns.parts
        for name in _attachment_features(chat_turns, part)
    )


def _attachment_features(turn: chat.ChatTurn, part: chat.Part) -> Iterator[str]:
    if isinstance(part, chat.ModelToolResult):
        attachments = (inner for inner in part.parts if isinstance(inner, chat.Attachment))
        yield from (f"result.{attachment.kind}" for attachment in attachments)
    elif isinstance(part, chat.Attachment):
        where = "" if turn.role == "user" else f"{turn.role}."
        yield f"{where}{part.kind}"
        yield f"{where}{part.kind}.{'url' if part.url else 'data'}"


def one_call_at_most(call: chat.ChatCall) -> str:
    """Return the instruction to the model not to call several tools at once, for API formats without a field for it. ""
    if the call does not forbid it or has no tools."""
    return ONE_CALL if call.parallel is False and call.tools else ""


def turns_with_rule(call: chat.ChatCall) -> Sequence[chat.ChatTurn]:
    """Return the messages of a call, for API formats without a field that forbids several tool calls at once. If the
    call forbids them, a system message that says so is inserted after the system messages at the start."""
    if call.parallel is not False or not call.tools:
        return call.turns
    prefix, rest = split_prefix(call.turns)
    return (*prefix, chat.ChatTurn("system", (chat.Text(ONE_CALL),)), *rest)


def function_tool(tool: chat.Tool) -> dict[str, Any]:
    """Return a tool in OpenAI's format for functions, without ``strict``."""
    function = {"name": tool.name, "parameters": tool.parameters or NO_PARAMETERS}
    return {"type": "function", "function": function | present(description=tool.description)}


def split_prefix(chat_turns: Sequence[chat.ChatTurn]) -> tuple[Sequence[chat.ChatTurn], Sequence[chat.ChatTurn]]:
    """Split the messages into two sequences: the system messages at the start, and the rest."""
    prefix = next((place for place, one in enumerate(chat_turns) if one.role != "system"), len(chat_turns))
    return chat_turns[:prefix], chat_turns[prefix:]


def join_texts(parts: Iterable[chat.Part]) -> str:
    """Return the texts among ``parts``, joined by line breaks; "" if there are none."""
    return "\n".join(part.text for part in parts if isinstance(part, chat.Text))


def thoughts(parts: Iterable[chat.Part]) -> str:
    """Return the readable reasoning among ``parts``, joined by line breaks; "" if there is none."""
    return "\n".join(part.text for part in parts if isinstance(part, chat.Thought) and part.text)


def result_text(result: chat.ModelToolResult) -> str:
    """Return the text of a tool result, for API formats without a field for failures: a failed one begins with
    "The tool failed: "."""
    text = join_texts(result.parts)
    return _FAILED + text if result.failed else text


def arguments_of(call: chat.ModelToolCall) -> dict[str, Any]:
    """Return the arguments of a tool call, parsed; ``{}`` if there are none. Raises ``Untranslatable`` if they are not
    a JSON object."""
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Untranslatable("call.arguments", f"the arguments of a call of {call.name!r} are no JSON object")
    return value


def names_of_calls(message: Iterable[chat.ChatTurn]) -> dict[str, str]:
    """Return the tools that are called in the messages: id of the call -> name of the tool."""
    return {part.id: part.name for one in message for part in one.parts if isinstance(part, chat.ModelToolCall)}


def turns(chat_turns: Sequence[chat.ChatTurn]) -> list[chat.ChatTurn]:
    """Return the messages, with consecutive ones of the same role merged into one."""
    merged: list[tuple[chat.ChatTurn, list[chat.Part]]] = []
    for one in chat_turns:
        if merged and merged[-1][0].role == one.role:
            merged[-1][1].extend(one.parts)
        else:
            merged.append((one, list(one.parts)))
    return [chat.ChatTurn(first.role, tuple(parts)) for first, parts in merged]


def effort_for(tokens: int) -> str:
    """Return the smallest of the efforts "none", "low", "medium" and "high" whose number of tokens in ``EFFORTS`` is at
    least ``tokens``. "high" if ``tokens`` is larger than all of these; higher levels are not used, because not every
    model knows them."""
    return next((word for word in ("none", "low", "medium", "high") if tokens <= EFFORTS[word]), "high")


CHARACTERS: Final[Mapping[str, frozenset[str]]] = {
    "printable": frozenset(map(chr, range(0x21, 0x7F))),
    "word": frozenset(ascii_letters + digits + "_-"),
    "alphanumeric": frozenset(ascii_letters + digits),
}
"""Sets of characters that a provider may allow in tool call ids: name of the set -> characters."""


@dataclass(frozen=True, slots=True)
class CallIds:
    """The tool call ids that a provider accepts. ``characters``: a name in ``CHARACTERS``. ``least``, ``most``: minimum
    and maximum number of characters."""

    characters: str
    least: int
    most: int

    def fit(self, id: str) -> str:
        """Return ``id`` if the provider accepts it. If not, return a replacement, which is always the same for this
        id."""
        if self.least <= len(id) <= self.most and CHARACTERS[self.characters].issuperset(id):
            return id
        return blake2b(id.encode("utf-8", "replace"), digest_size=16).hexdigest()[: min(_ID_LENGTH, self.most)]


def sampling_fields(sampling: chat.Sampling, **names: str) -> dict[str, Any]:
    """Return the sampling parameters that are set, as request fields. ``names``: the provider's names of parameters
    that have another name there, such as ``stop="stop_sequences"``."""
    given = {names.get(field.name, field.name): getattr(sampling, field.name) for field in fields(sampling)}
    return present(**{name: list(value) if isinstance(value, tuple) else value for name, value in given.items()})


def plain_text(part: chat.Attachment) -> str:
    """Return the text of a plain-text document. Raises ``Untranslatable`` if its data is not UTF-8 text in base64."""
    try:
        return b64decode(part.data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise Untranslatable("document.data", "a document of plain text is not UTF-8 in base64") from None


def present(**members: Any) -> dict[str, Any]:
    """Return the keyword arguments as a dictionary, without those that are ``None``, "", ``[]``, ``()`` or ``{}``.
    False and 0 stay."""
    return {name: value for name, value in members.items() if value is not None and value not in ("", [], (), {})}


Writer = Callable[[chat.Attachment], dict[str, Any]]
"""Function that takes an attachment and returns it in the provider's format, as a part of a message's content."""


def calls_in(turn: chat.ChatTurn, ids: CallIds) -> list[dict[str, Any]]:
    """Return the tool calls of a message in OpenAI's format; ``[]`` if it has none. ``ids``: the call ids that the
    provider accepts."""
    calls = [part for part in turn.parts if isinstance(part, chat.ModelToolCall)]
    return [
        {
            "id": ids.fit(call.id),
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments or "{}"},
        }
        for call in calls
    ]


def user_messages(turn: chat.ChatTurn, ids: CallIds, attached: Mapping[str, Writer]) -> Iterator[dict[str, Any]]:
    """Yield the messages in OpenAI's format for a user turn: one for each tool result in it, then one with the user's
    own content. The latter is omitted if there are tool results and no other content.

    Tool results may only contain text, so their attachments are placed at the start of the user's own content. ``ids``:
    the call ids that the provider accepts. ``attached``: for each kind of attachment, the function that writes it.
    """
    results = [part for part in turn.parts if isinstance(part, chat.ModelToolResult)]
    for result in results:
        yield {"role": "tool", "tool_call_id": ids.fit(result.call_id), "content": result_text(result)}
    spoken: list[chat.Part] = [part for result in results for part in result.parts if isinstance(part, chat.Attachment)]
    spoken += [part for part in turn.parts if not isinstance(part, chat.ModelToolResult)]
    if spoken or not results:
        yield {"role": "user", "content": _content(spoken, attached)}


def image(part: chat.Attachment) -> dict[str, Any]:
    """Return an image as a content part in the format of OpenAI Chat Completions. The image's link is used if it has
    one, else its data as a data URL."""
    url = part.url or f"data:{part.media_type};base64,{part.data}"
    return {"type": "image_url", "image_url": {"url": url, **present(detail=part.detail)}}


def _content(parts: Sequence[chat.Part], attached: Mapping[str, Writer]) -> str | list[dict[str, Any]]:
    """Return the content of a message: a list of parts if there is an attachment, else a string, which every server
    accepts."""
    content: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, chat.Text):
            content.append({"type": "text", "text": part.text})
        elif isinstance(part, chat.Attachment):
            content.append(attached[part.kind](part))
    return content if any(isinstance(part, chat.Attachment) for part in parts) else join_texts(parts)
