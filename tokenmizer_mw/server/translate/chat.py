"""Dialect-neutral types of chat requests, replies and streams, for translation between API formats (dialects).

The client's dialect is parsed into these types, and the provider's is serialised from them; replies go the other way. A
request that contains anything which these types cannot represent is refused, except for fields that do not affect the
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
    """A part of a message: its text."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """A part of a message: reasoning text of a model.

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
    """A part of a message: an image, a document or audio, as base64 in ``data`` or as a link in ``url``; the other one
    is "".

    ``media_type``: such as "image/png", "" if unknown. ``detail``: resolution at which an image is processed, such as
    "low" ("" for the provider's default); ``name``: the file name, "" for none.
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
    provider's signature of the call and its origin, as in ``Thought``; "" if the call is not signed."""

    id: str
    name: str
    arguments: str
    seal: str = ""
    sealed_by: str = ""


@dataclass(frozen=True, slots=True)
class ModelToolResult:
    """A part of a message: the result of the tool call with the id ``call_id``. ``name``: the tool's name, "" if
    unknown; ``failed``: true if the tool reported an error."""

    call_id: str
    parts: tuple[Text | Attachment, ...]
    name: str = ""
    failed: bool = False


Part = Text | Thought | Attachment | ModelToolCall | ModelToolResult


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One message, or several consecutive ones of the same role, as parts. Tool results have the role "user"."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Namespace:
    """A named group of tools, which only the OpenAI Responses dialect has."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool offered to the model.

    - ``parameters``: JSON schema of the arguments, ``None`` if there are none. ``strict``: whether the model's
      arguments must match it; ``None`` if not set.
    - ``form``: what the tool is for the client: a function, a "custom" tool (its argument is free text), or the
      client's local shell. For the provider all are functions.
    - ``namespace``: the group that it belongs to; ``own``: its name inside the group, while ``name`` is unique.
    - ``sent``: the tool as the client sent it, for a reply that repeats it; ``None`` if no reply does.
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
    """Which tools the model may call: "auto", "none", "any" (it must call one), or "named" (it must call ``name``).
    ``sent``: how the client names the tool, for a reply that repeats it."""

    mode: Literal["auto", "none", "any", "named"] = "auto"
    name: str = ""
    sent: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """The required format of the reply: JSON that matches ``schema``, or any JSON object if that is ``None``. ``name``:
    the client's name of the schema, "" for none; ``strict``: whether it must match exactly, ``None`` if not set."""

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
    """How much the model may reason: ``effort`` is "none" to "max" ("" if not set), ``tokens`` a maximum (``None`` if
    not set).

    ``shown``: true if the client wants to see the reasoning.
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
    - ``user``: identifies the end user to the provider; "" for none.
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
    """Why a model stopped: the reply is complete, it reached the token limit, it calls tools, or a filter withheld the
    rest."""

    STOP = "stop"
    LENGTH = "length"
    TOOLS = "tools"
    FILTERED = "filtered"


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one call.

    ``prompt``: all input tokens; of these, ``cached`` were read from the provider's cache and ``written`` to it.
    ``completion``: all output tokens; of these, ``thought`` are reasoning.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    written: int = 0
    thought: int = 0


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A complete (not streamed) reply. ``stop_sequence``: the one that ended it, "" for none."""

    id: str
    model: str
    parts: tuple[Part, ...]
    finish: Finish
    usage: Usage = field(default_factory=Usage)
    stop_sequence: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """An error that a provider reported, or that its response caused.

    ``status``: HTTP status, 0 for an error inside a stream without one; ``code`` for programs, ``message`` for people;
    ``field``: the request field at fault, "" if unknown.
    """

    status: int
    message: str
    code: str = ""
    field: str = ""


@dataclass(frozen=True, slots=True)
class Began:
    """Stream event: the reply begins. ``usage``: token counts known so far, mostly of the prompt; ``None`` if not
    reported."""

    id: str
    model: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class PartStart:
    """Stream event: a part of the reply begins, and the previous part has ended.

    A text or reasoning part is still empty, a tool call has no arguments yet. Tool calls and hidden reasoning have
    their signatures already.
    """

    part: Text | Thought | ModelToolCall


@dataclass(frozen=True, slots=True)
class Grew:
    """Stream event: more text, reasoning or arguments (``more``), or a signature (``seal``), for the part that began
    last."""

    more: str = ""
    seal: str = ""
    sealed_by: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """Stream event: the reply is complete. A stream that ends without this event was cut off; the client's then is,
    too."""

    finish: Finish
    usage: Usage | None = None
    stop_sequence: str = ""


@dataclass(frozen=True, slots=True)
class Pinged:
    """Stream event: the provider keeps the connection alive. May occur anywhere in a stream, even before ``Began``."""


StreamEvent = Began | PartStart | Grew | Ended | Fault
