"""Dialect-neutral types of chat requests, replies and streams, for translation between API formats (dialects).

Each dialect is parsed into these types on one side and serialised from them on the other. The parser refuses anything
that these types cannot represent: nothing is dropped silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Text:
    """A part of a message: plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """Reasoning text of a model.

    - ``seal``: the provider's signature of the text, "" for none.
    - ``sealed_by``: the origin of the signature, such as "anthropic" or "gemini". The signature is sent back only to
      providers that accept a signature of this origin.
    - ``hidden``: true if the provider sent a signature without a readable text.
    """

    text: str
    seal: str = ""
    sealed_by: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image, a document or audio: base64 in ``data``, or a link in ``url``.

    ``detail``: resolution at which an image is processed ("" for the provider's default); ``name``: the file name.
    """

    kind: Literal["image", "document", "audio"]
    media_type: str = ""
    data: str = ""
    url: str = ""
    detail: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class ModelToolCall:
    """A tool call; ``arguments`` is JSON text. ``seal``, ``sealed_by``: the provider's signature of the call and its
    origin, as in ``Thought``; "" if the provider does not sign tool calls."""

    id: str
    name: str
    arguments: str
    seal: str = ""
    sealed_by: str = ""


@dataclass(frozen=True, slots=True)
class ModelToolResult:
    """The result of the tool call ``call_id``. ``name``: the tool's name, if the client or an earlier call gives it;
    else ""."""

    call_id: str
    parts: tuple[Text | Attachment, ...]
    name: str = ""
    failed: bool = False


Part = Text | Thought | Attachment | ModelToolCall | ModelToolResult


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """Consecutive parts of one role. Tool results have the role "user"."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Namespace:
    """A named group of tools (Responses dialect)."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool offered to the model.

    ``parameters``: a JSON schema, ``None`` if it takes none. ``form``: how the client calls a tool that other dialects
    see as a function: with free text ("custom"), or as its local shell. ``own``: the tool's name inside its
    ``namespace``.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] | None = None
    strict: bool | None = None
    form: Literal["function", "custom", "local_shell"] = "function"
    namespace: Namespace | None = None
    own: str = ""


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Which tools the model may call: "auto", "none", "any" (it must call one), or "named" (it must call ``name``)."""

    mode: Literal["auto", "none", "any", "named"] = "auto"
    name: str = ""


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """The required format of the reply: any JSON object, or one that matches ``schema``."""

    schema: Mapping[str, Any] | None = None
    name: str = ""
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters of a request, such as temperature. ``None`` and () leave a parameter to the provider."""

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
    """How much the model may reason: an ``effort`` ("none" to "max"; "" if not set), or ``tokens`` (``None`` if not
    set).

    ``shown``: the client wants to see the reasoning.
    """

    effort: str = ""
    tokens: int | None = None
    shown: bool = False


@dataclass(frozen=True, slots=True)
class ChatCall:
    """A chat request.

    - ``turns``: the messages, system messages at their places.
    - ``parallel``: whether the model may call several tools at once; ``None`` if not set.
    - ``usage``: whether the client wants token counts in a stream.
    - ``user``: identifies the end user to the provider.
    - ``verbosity``: length of the reply ("low" to "high", "" if not set); ignored for providers without such a field.
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
    """Why a model stopped its reply."""

    STOP = "stop"
    LENGTH = "length"
    TOOLS = "tools"
    FILTERED = "filtered"


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts.

    ``prompt``: all input tokens; ``cached``: those read from a cache; ``written``: those written to a cache;
    ``thought``: the reasoning tokens in ``completion``.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    written: int = 0
    thought: int = 0


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A complete (not streamed) reply."""

    id: str
    model: str
    parts: tuple[Part, ...]
    finish: Finish
    usage: Usage = field(default_factory=Usage)
    stop_sequence: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """A provider's error.

    ``status``: HTTP status, 0 for an error inside a stream without one; ``code`` for programs, ``message`` for people;
    ``field``: the request field at fault, "" if unknown.
    """

    status: int
    message: str
    code: str = ""
    field: str = ""


@dataclass(frozen=True, slots=True)
class Began:
    """Stream event: the reply begins. ``usage``: what is known about the prompt by then."""

    id: str
    model: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class PartStart:
    """Stream event: a part begins, and the previous part has ended.

    A text or reasoning part is still empty, a tool call has no arguments yet. Tool calls and hidden reasoning have
    their signatures already.
    """

    part: Text | Thought | ModelToolCall


@dataclass(frozen=True, slots=True)
class Grew:
    """Stream event: more of the open part: of its text, reasoning or arguments, or its signature."""

    more: str = ""
    seal: str = ""
    sealed_by: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """Stream event: the reply is complete. A stream without it was cut off, and is cut off for the client too."""

    finish: Finish
    usage: Usage | None = None
    stop_sequence: str = ""


@dataclass(frozen=True, slots=True)
class Pinged:
    """Stream event: a keep-alive of the provider. May occur anywhere in a stream, even before ``Began``."""


StreamEvent = Began | PartStart | Grew | Ended | Fault
