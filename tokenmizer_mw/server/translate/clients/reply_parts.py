"""Classes and functions with which the translators for clients write replies and errors: ``Progress`` brings stream
events into a regular order, and ``FaultKind`` has the kinds of errors.

The errors of all providers are assigned to these kinds, so that clients can react: some wait, some ask for a key, and
coding agents shorten their transcript if an error in their own API format says that it is too long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

import re2

from tokenmizer_mw.errors import ForeignReply
from tokenmizer_mw.server.translate import chat
from tokenmizer_mw.server.translate.translation import dump

ANSWER_MAX: Final = 64 * 1024 * 1024
"""Maximum length in characters of a streamed reply. A longer one ends with an error."""

TOO_LONG: Final = chat.Fault(502, "the provider's answer is too long", "answer_too_long")

COMMENT: Final = b": ping\n\n"
"""A comment, which every reader of server-sent events ignores. It is sent to keep an idle connection alive."""

StreamPart = chat.Text | chat.Thought | chat.ModelToolCall


@dataclass(frozen=True, slots=True)
class PartEnd:
    """Step of a streamed reply: a part has ended. ``part``: the part with its whole content. ``cut``: whether the part
    ended because the reply reached the token limit."""

    part: StreamPart
    cut: bool = False


Step = chat.Began | chat.PartStart | chat.Grew | PartEnd | chat.Ended | chat.Fault


class Progress:
    """Turns the stream events of one reply into regular steps, which can be written one by one.

    - ``Began`` comes first, unless the stream begins with a ``Fault``.
    - A text or reasoning part starts with its first content; an empty one is omitted. Its ``PartEnd`` has the whole
      part.
    - ``Ended`` has the token counts of ``Began`` if it has none itself.
    - ``Ended`` or ``Fault`` is the last step; later events give none. A part that is open at a ``Fault`` gets no
      ``PartEnd``.

    ``model``, ``anonymous``: model and id to use for the reply if the stream names none. ``answer_max``: maximum number
    of characters; a longer reply ends with the fault ``TOO_LONG``.
    """

    def __init__(self, model: str, anonymous: str, answer_max: int = ANSWER_MAX) -> None:
        self.began = chat.Began(anonymous, model)
        self._answer_max = answer_max
        self._begun = self._ended = False
        self._part: StreamPart | None = None
        self._shown = False
        self._more: list[str] = []
        self._seals: list[str] = []
        self._sealed_by = ""
        self._size = 0

    @property
    def part(self) -> StreamPart | None:
        """The open part with its kind (for a tool call also its id and name), but without text or arguments; ``None``
        if no part is open."""
        return self._part

    def steps(self, event: chat.StreamEvent) -> Iterator[Step]:
        """Yield the steps that follow from the next stream event; none if it changes nothing."""
        if self._ended:
            return
        if not self._begun and not isinstance(event, chat.Fault):
            yield self._begin(event)
        match event:
            case chat.PartStart(part):
                yield from self._close()
                yield from self._open(part)
            case chat.Grew():
                yield from self._grow(event)
            case chat.Ended():
                yield from self._close(cut=event.finish is chat.Finish.LENGTH)
                self._ended = True
                yield replace(event, usage=event.usage or self.began.usage)
            case chat.Fault():
                yield from self._fail(event)
            case _:
                return

    def _begin(self, event: chat.StreamEvent) -> chat.Began:
        self._begun = True
        if isinstance(event, chat.Began):
            self.began = chat.Began(event.id or self.began.id, event.model or self.began.model, event.usage)
        return self.began

    def _open(self, part: StreamPart) -> Iterator[Step]:
        match part:
            case chat.Text():
                self._part, first = chat.Text(""), chat.Grew(part.text)
            case chat.Thought():
                self._part = chat.Thought("", hidden=part.hidden)
                first = chat.Grew(part.text, part.seal, part.sealed_by)
            case chat.ModelToolCall():
                self._part, first = replace(part, arguments=""), chat.Grew(part.arguments)
                self._size += len(part.id) + len(part.name) + len(part.seal)
        if isinstance(part, chat.ModelToolCall):
            yield self._show()
        yield from self._grow(first)

    def _show(self) -> chat.PartStart:
        assert self._part is not None
        self._shown = True
        return chat.PartStart(self._part)

    def _grow(self, event: chat.Grew) -> Iterator[Step]:
        self._size += len(event.more) + len(event.seal)
        if self._size > self._answer_max:
            yield from self._fail(TOO_LONG)
        elif self._part is not None and (event.more or event.seal):
            if not self._shown:
                yield self._show()
            self._more.append(event.more)
            self._seals.append(event.seal)
            self._sealed_by = event.sealed_by or self._sealed_by
            yield event

    def _close(self, *, cut: bool = False) -> Iterator[Step]:
        if self._part is not None and self._shown:
            yield PartEnd(self._whole(self._part), cut)
        self._part, self._shown, self._more, self._seals, self._sealed_by = None, False, [], [], ""

    def _whole(self, part: StreamPart) -> StreamPart:
        text, seal = "".join(self._more), "".join(self._seals)
        match part:
            case chat.Text():
                return chat.Text(text)
            case chat.Thought():
                return chat.Thought(text, seal, self._sealed_by, hidden=part.hidden)
            case chat.ModelToolCall():
                return replace(
                    part, arguments=text, seal=seal or part.seal, sealed_by=self._sealed_by or part.sealed_by
                )

    def _fail(self, fault: chat.Fault) -> Iterator[Step]:
        self._ended = True
        yield fault


def data_line(data: Mapping[str, Any]) -> bytes:
    """Return ``data`` as a server-sent event without a name: "data: " and the JSON."""
    return b"data: %b\n\n" % dump(data)


def named_event(data: Mapping[str, Any]) -> bytes:
    """Return ``data`` as a server-sent event whose name is the member "type" of ``data``."""
    return b"event: %b\n%b" % (str(data["type"]).encode(), data_line(data))


def parts_of(answer: chat.ModelReply) -> list[StreamPart]:
    """Return the texts, reasoning parts and tool calls of a complete reply, in order.

    Empty texts, and reasoning with neither text nor signature, are left out. Raises ``ForeignReply`` if the reply
    contains anything else, such as an image, because no client's format can express it.
    """
    parts = [part for part in answer.parts if isinstance(part, StreamPart)]
    if len(parts) < len(answer.parts):
        raise ForeignReply("the provider's answer holds more than texts, thoughts and calls")
    return [part for part in parts if not _is_empty(part)]


def _is_empty(part: StreamPart) -> bool:
    match part:
        case chat.Text(text):
            return not text
        case chat.Thought(text, seal):
            return not (text or seal)
        case _:
            return False


class FaultKind(StrEnum):
    """The kind of a provider's error, by what a client can do about it. The values are explanations for readers of the
    code."""

    OVERFLOW = "the prompt is longer than the model's window"
    BILLING = "somebody must pay"
    RATE = "too many requests"
    KEY = "the key is missing or wrong"
    PERMISSION = "the key may not do this"
    MISSING = "there is no such model, or address"
    CONFLICT = "it changed meanwhile"
    LARGE = "the body is too large"
    TIMEOUT = "it took too long"
    OVERLOADED = "the provider has too much to do"
    REQUEST = "the request is at fault"
    SERVER = "the provider is at fault"


_STATUS: Final[Mapping[int, FaultKind]] = {
    401: FaultKind.KEY,
    402: FaultKind.BILLING,
    403: FaultKind.PERMISSION,
    404: FaultKind.MISSING,
    408: FaultKind.TIMEOUT,
    409: FaultKind.CONFLICT,
    413: FaultKind.LARGE,
    429: FaultKind.RATE,
    503: FaultKind.OVERLOADED,
    504: FaultKind.TIMEOUT,
    529: FaultKind.OVERLOADED,
}
_CODES: Final[Mapping[FaultKind, str]] = {
    FaultKind.BILLING: "insufficient_quota billing_error billing_hard_limit_reached",
    FaultKind.RATE: "rate_limit_error rate_limit_exceeded resource_exhausted",
    FaultKind.KEY: "authentication_error invalid_api_key unauthenticated",
    FaultKind.PERMISSION: "permission_error permission_denied",
    FaultKind.MISSING: "not_found_error not_found model_not_found",
    FaultKind.TIMEOUT: "timeout_error timeout deadline_exceeded",
    FaultKind.OVERLOADED: "overloaded_error overloaded server_is_overloaded unavailable",
    FaultKind.REQUEST: "invalid_request_error invalid_argument failed_precondition",
}
_BY_CODE: Final = {code: kind for kind, codes in _CODES.items() for code in codes.split()}
_OVERFLOW: Final = "context_length_exceeded"
_OVERFLOWS: Final = frozenset({0, 400, 413, 422})
"""HTTP statuses with which providers report that a prompt is too long. 0 is an error inside a stream."""

_TOO_LONG = re2.compile(
    r"(?i)(?:prompt|input) (?:is|was) too long"
    r"|exceed\w* (?:the |this |its )?(?:model'?s? )?(?:available |maximum )?context (?:window|length|size)"
    r"|maximum (?:context|prompt) length"
    r"|context length exceeded"
    r"|input token count\b.{0,40}\bexceeds"
    r"|^too many tokens"
    r"|prompt contains \d+ tokens.{0,80}too large"
)


def kind_of(fault: chat.Fault) -> FaultKind:
    """Return the kind of an error.

    - If its code is "context_length_exceeded", or its message says that the prompt is too long and its status is in
      ``_OVERFLOWS``: ``OVERFLOW``.
    - If its code is about billing: ``BILLING``.
    - If its status is 0 (an error inside a stream): the kind of its code, ``SERVER`` for an unknown code.
    - Otherwise: the kind of its status.
    """
    code = _BY_CODE.get(fault.code.lower())
    if fault.code == _OVERFLOW or (fault.status in _OVERFLOWS and _TOO_LONG.search(fault.message)):
        return FaultKind.OVERFLOW
    if fault.status == 0 or code is FaultKind.BILLING:
        return code or FaultKind.SERVER
    other = FaultKind.REQUEST if 400 <= fault.status < 500 else FaultKind.SERVER
    return _STATUS.get(fault.status, other)


def is_kind_only(code: str) -> bool:
    """Return whether a provider's error code is "" or only names a kind of error, such as "rate_limit_error" or
    "RESOURCE_EXHAUSTED". Other codes say more, such as "model_not_found"."""
    return not code or code.endswith("_error") or code.isupper()
