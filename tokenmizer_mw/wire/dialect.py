"""What a dialect gives to an exchange: a request as read, a reply as collected, and the protocol between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Protocol

from tokenmizer_mw.model.message import Message, Outcome

from .history import History
from .spans import Span, element_spans

if TYPE_CHECKING:
    from .known import KnownRequests

TEXT_PART: Final[Mapping[str, str]] = {"type": "text"}
"""A text part as most dialects spell it, without its text."""


@dataclass(frozen=True)
class ChatRequest:
    """A chat request as read: words for us, and spans so that a rewrite can keep every other byte.

    ``messages[i]``, read when it is looked at, stands at ``spans[i]`` of ``text``; ``array`` is where the list of
    them starts. ``fields`` holds the other top-level members as parsed.
    ``prefix`` is the number of leading system and developer messages, which no cut ever touches. ``overhead`` is
    the text of what else fills the context (tool definitions, response formats), for counting. ``stand_down`` says
    why the request must not be rewritten ("" when it may), ``cause`` which part of the request that is, where the
    provider keeps or shortens the history. ``members``: every top-level member in order, duplicates
    too, as its name and its span from the name's quote to the end of the value. ``known_spans`` are the spans of the
    first messages, where an earlier request that begins the same has found them. ``sizes``: how many elements of the
    list each message takes, where that is not one each. A text in the place of the list is its only message.
    ``bound``: so many messages at the start reach up to the last part that is valid only behind exactly what stands
    before it now: a further cut keeps none of them. ``binds``: so will be what the reply brings. ``content`` is the
    path in a message to what it says, ``part`` a text part of a content that is a list, without its text.
    """

    text: str
    messages: History
    array: int
    fields: Mapping[str, Any]
    prefix: int = 0
    model: str = ""
    stream: bool = False
    overhead: str = ""
    stand_down: str = ""
    cause: str = ""
    members: tuple[tuple[str, Span], ...] = ()
    sizes: tuple[int, ...] = ()
    bound: int = 0
    binds: bool = False
    content: tuple[str, ...] = ("content",)
    part: Mapping[str, str] = field(default_factory=lambda: TEXT_PART)
    known_spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """Where each message stands in ``text``; found when first asked for."""
        if not self.text.startswith("[", self.array):
            return ((self.array, next(end for _, (start, end) in self.members if start < self.array < end)),)
        spans = element_spans(self.text, self.array, self.known_spans)
        if not self.sizes:
            return spans
        ends = list(accumulate(self.sizes))
        return tuple((spans[end - size][0], spans[end - 1][1]) for size, end in zip(self.sizes, ends, strict=True))

    @property
    def spans_found(self) -> tuple[Span, ...]:
        """The spans of the first messages, as many as were found so far."""
        found: tuple[Span, ...] = self.__dict__.get("spans", self.known_spans)
        return found


@dataclass(frozen=True, slots=True)
class Reply:
    """A response as collected: what joins the session, and how it ended.

    ``message`` is ``None`` when nothing usable came (an error, an empty or foreign body). ``error`` holds the
    provider's in-band error message ("" for none).
    """

    message: Message | None
    outcome: Outcome
    finish_reason: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
    error: str = ""


class Dialect(Protocol):
    """One wire format, in both directions. Pure: no sockets, no clock."""

    @property
    def name(self) -> str:
        """Short name, such as "openai_chat"."""

    @property
    def linked(self) -> tuple[bytes, ...]:
        """How bodies spell the members of parts whose content lies elsewhere: their few bytes stand for many tokens."""

    @property
    def media_types(self) -> frozenset[bytes]:
        """Media types in which replies come, beside JSON, server-sent events and NDJSON; usually none."""

    def models(self, body: bytes, path: str = "") -> tuple[str, ...]:
        """The models that an unread request to ``path`` may name; none: any."""

    def read(self, body: bytes, known: KnownRequests | None = None, *, path: str = "") -> ChatRequest:
        """The request in ``body``, sent to ``path``. Raises ``MalformedRequest`` when it is not one.

        With ``known``, what an earlier request that begins the same has told is not read again; the outcome is the
        same without it.
        """

    def rewrite(
        self,
        request: ChatRequest,
        *,
        drop: tuple[str, ...] = (),
        keep_from: int | None = None,
        block: str = "",
        role: str = "user",
    ) -> bytes:
        """The request's bytes without the top-level fields ``drop``; with messages ``[prefix, keep_from)`` replaced
        by one message of ``role`` that carries ``block``. All other bytes stay as they were."""

    def ends(self, tail: bytes) -> bool:
        """Whether ``tail`` (a chunk, with the last bytes of the one before) may hold the terminal event. Cheap; may
        be wrong in the direction of true."""

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """The reply in a whole captured response body (content decoding already undone).

        Never raises: what cannot be read gives a reply without a message.
        """
