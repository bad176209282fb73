"""Types of chat requests, replies and streams that belong to no API format (dialect). Requests and replies are
translated via these types.

A request is parsed from the client's dialect into these types and written in the provider's; a reply goes the other
way. A request with anything that these types cannot represent is refused, except for fields that do not affect the
reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Text:
    """A part of a message: text."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """A part of a message: reasoning of a model.

    - ``text``: the reasoning; "" if it is not readable.
    - ``seal``: the provider's signature of the reasoning, "" for none.
    - ``sealed_by``: the origin of the signature, such as "anthropic" or "gemini". The signature is only sent back to
      providers that accept signatures of this origin.
    - ``hidden``: whether the provider sent only a signature, without readable text.
    """

    text: str
    seal: str = ""
    sealed_by: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Attachment:
    """A part of a message: an image, a document or audio. Its content is either base64 text in ``data`` or a link in
    ``url``; the other one is "".

    - ``media_type``: such as "image/png"; "" if unknown.
    - ``detail``: resolution at which an image is processed, such as "low"; "" for the provider's default.
    - ``name``: the file name, "" for none.
    """

    kind: Literal["image", "document", "audio"]
    media_type: str = ""
    data: str = ""
    url: str = ""
    detail: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class ModelToolCall:
    """A part of a message: a tool call by the model. ``arguments``: JSON text. ``seal`` and ``sealed_by``: the
    provider's signature of the call and the origin of the signature, such as "gemini"; both "" if the call is not
    signed."""

    id: str
    name: str
    arguments: str
    seal: str = ""
    sealed_by: str = ""


@dataclass(frozen=True, slots=True)
class ModelToolResult:
    """A part of a message: the result of the tool call with the id ``call_id``. ``parts``: its content. ``name``: the
    tool's name, "" if unknown. ``failed``: whether the tool reported an error."""

    call_id: str
    parts: tuple[Text | Attachment, ...]
    name: str = ""
    failed: bool = False


Part = Text | Thought | Attachment | ModelToolCall | ModelToolResult


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One message, or several consecutive messages of the same role, as a sequence of parts. Tool results have the role
    "user"."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Namespace:
    """A named group of tools. Only the OpenAI Responses API format has such groups."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that is offered to the model.

    - ``name``: unique among the tools of the request.
    - ``parameters``: JSON schema of the arguments; ``None`` if there are none.
    - ``strict``: whether the model's arguments must match the schema; ``None`` if the client does not say.
    - ``form``: what the tool is for the client: a "function", a "custom" tool (its argument is free text), or the
      client's "local_shell". For the provider, all are functions.
    - ``namespace``: the group that the tool belongs to, ``None`` for none. ``own``: its name inside the group.
    - ``sent``: the tool as the client sent it, for replies that repeat it; ``None`` if the client's API format has no
      such replies.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] | None = None
    strict: bool | None = None
    form: Literal["function", "custom", "local_shell"] = "function"
    namespace: Namespace | None = None
    own: str = ""
    sent: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Which tools the model may call: "auto" (it decides), "none", "any" (it must call one), or "named" (it must call
    the tool ``name``). ``sent``: the choice as the client sent it, for replies that repeat it; ``None`` if it named no
    tool."""

    mode: Literal["auto", "none", "any", "named"] = "auto"
    name: str = ""
    sent: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """The required format of the reply: JSON. ``schema``: JSON schema that the reply must match; ``None`` for any JSON
    object. ``name``: the client's name of the schema, "" for none. ``strict``: whether the match must be exact;
    ``None`` if the client does not say."""

    schema: Mapping[str, Any] | None = None
    name: str = ""
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """Parameters of a request that affect how the model generates, such as the temperature. ``None`` and ``()`` mean
    that the provider's default is used. ``max_tokens``: maximum number of tokens of the reply. ``stop``: texts that end
    it."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None


@dataclass(frozen=True, slots=True)
class Thinking:
    """How much the model may reason. ``effort``: a level from "none" to "max", "" if not set. ``tokens``: maximum
    number of tokens, ``None`` if not set. ``shown``: whether the client wants to see the reasoning."""

    effort: str = ""
    tokens: int | None = None
    shown: bool = False


@dataclass(frozen=True, slots=True)
class ChatCall:
    """A chat request.

    - ``turns``: the messages, with system messages at their places.
    - ``choice``, ``format``, ``thinking``: ``None`` if the client does not set them.
    - ``parallel``: whether the model may call several tools at once; ``None`` if the client does not say.
    - ``stream``: whether the reply is to be streamed. ``usage``: whether a stream should report token counts.
    - ``user``: identifies the end user to the provider; "" for none.
    - ``verbosity``: length of the reply, "low" to "high"; "" if not set. It is dropped for providers without such a
      field.
    """

    model: str
    turns: tuple[ChatTurn, ...]
    tools: tuple[Tool, ...] = ()
    choice: ToolChoice | None = None
    parallel: bool | None = None
    sampling: Sampling = field(default_factory=Sampling)
    format: AnswerFormat | None = None
    thinking: Thinking | None = None
    stream: bool = False
    usage: bool = False
    user: str = ""
    verbosity: str = ""


class Finish(StrEnum):
    """Why a model stopped: "stop" (the reply is complete), "length" (it reached the token limit), "tools" (it calls
    tools), or "filtered" (a content filter withheld the rest)."""

    STOP = "stop"
    LENGTH = "length"
    TOOLS = "tools"
    FILTERED = "filtered"


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one call.

    - ``prompt``: all input tokens. Of these, ``cached`` were read from the provider's cache and ``written`` to it.
    - ``completion``: all output tokens. Of these, ``thought`` are reasoning.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    written: int = 0
    thought: int = 0


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A complete (not streamed) reply of a model. ``stop_sequence``: the stop text that ended it, "" for none."""

    id: str
    model: str
    parts: tuple[Part, ...]
    finish: Finish
    usage: Usage = field(default_factory=Usage)
    stop_sequence: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """An error that a provider reported, or that its response caused.

    - ``status``: HTTP status; 0 for an error inside a stream, which has none.
    - ``code``: for programs, "" for none; ``message``: for people.
    - ``field``: the request field at fault, "" if unknown.
    """

    status: int
    message: str
    code: str = ""
    field: str = ""


@dataclass(frozen=True, slots=True)
class Began:
    """Stream event: the reply begins. ``usage``: token counts known so far, mostly of the prompt; ``None`` if none are
    reported yet."""

    id: str
    model: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class PartStart:
    """Stream event: a part of the reply begins, and the part before it has ended.

    A text or reasoning part has no text yet, and a tool call no arguments. Tool calls and hidden reasoning already have
    their signatures.
    """

    part: Text | Thought | ModelToolCall


@dataclass(frozen=True, slots=True)
class Grew:
    """Stream event: the part that began last gets more content (``more``: text, reasoning text or arguments) or a
    signature (``seal``, with its origin ``sealed_by``)."""

    more: str = ""
    seal: str = ""
    sealed_by: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """Stream event: the reply is complete. A provider's stream without this event was cut off, and the client's is then
    cut off, too."""

    finish: Finish
    usage: Usage | None = None
    stop_sequence: str = ""


@dataclass(frozen=True, slots=True)
class Pinged:
    """Stream event: the provider keeps the idle connection alive. It may occur anywhere in a stream, even before
    ``Began``."""


StreamEvent = Began | PartStart | Grew | Ended | Fault
