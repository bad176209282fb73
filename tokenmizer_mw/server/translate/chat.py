"""A chat call, its reply and its stream in the words that all dialects share.

A dialect is read into these words on one side and written from them on the other. What has no place here has no
counterpart elsewhere, and is refused by the side that reads it: nothing is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """What a model thought before it answered. ``seal`` is the provider's proof that the text is its own, which only
    the provider of dialect ``sealed_by`` takes back; ``hidden``: there is a seal and no text."""

    text: str
    seal: str = ""
    sealed_by: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image, a document or a sound: base64 in ``data``, or a link in ``url``. ``detail`` is how closely an image is
    to be looked at ("" for the provider's default), ``name`` the file's name."""

    kind: Literal["image", "document", "audio"]
    media_type: str = ""
    data: str = ""
    url: str = ""
    detail: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class ModelToolCall:
    """A call of a tool; ``arguments`` is JSON text. ``seal``: as of a thought, where a provider seals its calls."""

    id: str
    name: str
    arguments: str
    seal: str = ""
    sealed_by: str = ""


@dataclass(frozen=True, slots=True)
class ModelToolResult:
    """What a tool gave for the call ``call_id``. ``name`` is the tool's, where the client tells it or an earlier call
    does."""

    call_id: str
    parts: tuple[Text | Attachment, ...]
    name: str = ""
    failed: bool = False


Part = Text | Thought | Attachment | ModelToolCall | ModelToolResult


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """What one side said in one go. Results of tools are said by the user."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Namespace:
    """A client's group of tools."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool on offer; ``parameters`` is a JSON schema, ``None`` when it takes none. ``form`` is how the client calls a
    tool that is a function for everybody else: with free text ("custom"), or as its own shell. One that the client has
    in a ``namespace`` is called ``own`` there."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] | None = None
    strict: bool | None = None
    form: Literal["function", "custom", "local_shell"] = "function"
    namespace: Namespace | None = None
    own: str = ""


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Which tools may be called: "auto", "none", "any" (one must be), or the one that is named."""

    mode: Literal["auto", "none", "any", "named"] = "auto"
    name: str = ""


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """The form that the answer must have: any JSON object, or one of a JSON schema."""

    schema: Mapping[str, Any] | None = None
    name: str = ""
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the answer is drawn; ``None`` and () leave it to the provider."""

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
    """How much a model may think: an ``effort`` in words ("none" to "max"), or ``tokens``; "" and ``None`` when not
    told. ``shown``: the client asks to see the thoughts."""

    effort: str = ""
    tokens: int | None = None
    shown: bool = False


@dataclass(frozen=True, slots=True)
class ChatCall:
    """A chat request. ``said`` holds system messages in their places; ``parallel``: whether several tools may be called
    at once, ``None`` when not told. ``usage``: the client wants the token counts of a stream. ``user`` names the end
    user for the provider. ``verbosity`` is how wordy the answer may be ("low" to "high", "" when not told): a wish that
    a provider without a word for it may leave out."""

    model: str
    said: tuple[ChatTurn, ...]
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
    """Why a model stopped."""

    STOP = "stop"
    LENGTH = "length"
    TOOLS = "tools"
    FILTERED = "filtered"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens. ``prompt`` counts all that went in, ``cached`` what of it a cache served, ``written`` what of it was
    written to one; ``thought`` is what of ``completion`` was thinking."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    written: int = 0
    thought: int = 0


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A reply in one piece."""

    id: str
    model: str
    parts: tuple[Part, ...]
    finish: Finish
    usage: Usage = field(default_factory=Usage)
    stop_sequence: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """An error as a provider tells it: its HTTP status (0 inside a stream that names none), its ``code`` for programs
    and its ``message`` for people. ``field`` is the field of the request that it is about, "" when it tells none."""

    status: int
    message: str
    code: str = ""
    field: str = ""


@dataclass(frozen=True, slots=True)
class Began:
    """A stream begins. ``usage`` is what is known of the prompt by then."""

    id: str
    model: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class PartStart:
    """A part begins: a text or a thought, empty as yet, or a call whose arguments follow. The part before has ended. A
    call and a hidden thought have their seals from the start."""

    part: Text | Thought | ModelToolCall


@dataclass(frozen=True, slots=True)
class Grew:
    """More of the part that is open: of its text, its thought or its call's arguments; or its seal."""

    more: str = ""
    seal: str = ""
    sealed_by: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """The answer is complete. A stream that ends without it was cut off, and stays so on the other side."""

    finish: Finish
    usage: Usage | None = None
    stop_sequence: str = ""


@dataclass(frozen=True, slots=True)
class Pinged:
    """The provider is at work and has nothing to say yet: a comment in its stream, or an event for that alone. May come
    anywhere in a stream, before it begins, too."""


StreamEvent = Began | PartStart | Grew | Ended | Fault
