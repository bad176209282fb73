"""The ``Dialect`` protocol, and the parsing and rewriting of chat requests that all dialects share. A ``Shape``
describes how a dialect differs.

A request is a JSON object, one member of which lists the messages. A rewrite removes some of them and inserts the
resume block; every other byte stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final, Protocol

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.model.message import Role
from tokenmizer_mw.wire.dialect import TEXT_PART, ChatRequest, Reply
from tokenmizer_mw.wire.history import History, Reader
from tokenmizer_mw.wire.host_texts import find_context, may_have_context
from tokenmizer_mw.wire.json_text import Edit, json_text, storable
from tokenmizer_mw.wire.known import SHORTEST, KnownRequests, Start
from tokenmizer_mw.wire.spans import ObjectSpans, decode_body, read_object, replace_elements, splice, without_members
from tokenmizer_mw.wire.unparsed import find_models

_SYSTEM, _USER, _TOOL = Role.SYSTEM, Role.USER, Role.TOOL  # an enum's look-up is slow
MESSAGES_TWICE: Final = "messages_twice"
UNKNOWN_ROLE: Final = "unknown_role"
HISTORY_ON_SERVER: Final = "history_on_server"
PROVIDER_COMPACTS: Final = "provider_compacts"
NO_LIST: Final = "no_list"
TOOLS_CHANGE: Final = "tools_change"
NOT_REWRITABLE: Final = "not_rewritable"

_NOT_CONTINUED: Final = frozenset(
    {MESSAGES_TWICE, UNKNOWN_ROLE, HISTORY_ON_SERVER, PROVIDER_COMPACTS, NO_LIST, TOOLS_CHANGE}
)
"""Reasons not to rewrite with which a request is not cached, because it may have messages of unknown roles, for
example."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How the requests of a dialect are formatted. "Element": an entry in the request's list of messages.

    - ``name``: of the dialect, such as "openai_chat".
    - ``role_of``: returns the role of an element; ``None`` if it is unknown. ``roles``: returns the roles of a list of
      elements; an unknown one counts as system.
    - ``read_message``: parses an element; gets the element and its number, from 1.
    - ``messages``: name of the member that is the list; ``overhead``: names of other members that fill the context
      window.
    - ``elsewhere``: maps each member that makes the provider store or shorten the transcript to the reason why the
      request must then not be rewritten. ``causes``: maps such a member to a function that gets its value and returns
      which part of it is the cause; "" if the value has no such effect.
    - ``streams``: whether replies stream if the request does not say.
    - ``group``: returns how many elements each message takes, empty if one each; ``role_of``, ``roles`` and
      ``read_message`` then get a tuple for a message of several elements. ``None``: always one each.
    - ``alone``: converts a plain text in place of the list to an element; ``None``: there must be a list.
    - ``refuses``: returns why these elements forbid a rewrite; "" if they do not. ``None``: they never do.
    - ``bound``: gets the elements and the other members; returns the number of leading elements up to the last one that
      is valid only after unchanged earlier messages. ``binds``: gets the other members; returns whether the reply may
      contain such parts. ``None``: there are no such parts.
    - ``content``, ``part``: as in ``ChatRequest``.
    """

    name: str
    role_of: Callable[[Any], Role | None]
    roles: Callable[[Sequence[Any]], list[Role]]
    read_message: Reader
    messages: str = "messages"
    overhead: tuple[str, ...] = ("tools",)
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    causes: Mapping[str, Callable[[object], str]] = field(default_factory=dict)
    streams: bool = False
    group: Callable[[Sequence[Any]], Sequence[int]] | None = None
    alone: Callable[[str], Any] | None = None
    refuses: Callable[[Sequence[Any]], str] | None = None
    bound: Callable[[Sequence[Any], Mapping[str, Any]], int] | None = None
    binds: Callable[[Mapping[str, Any]], bool] | None = None
    content: tuple[str, ...] = ("content",)
    part: Mapping[str, str] = field(default_factory=lambda: TEXT_PART)


def read_request(
    shape: Shape,
    body: bytes,
    known: KnownRequests | None = None,
    *,
    model: str | None = None,
    stream: bool | None = None,
) -> ChatRequest:
    """Parse the request in ``body``. ``model`` and ``stream`` are taken from its members unless they are given.

    A message that is not an object or has an unknown role is parsed as a system message, and prevents a rewrite of the
    request; it begins no turn, and no facts are extracted from it. ``known``: a cache of earlier requests; a beginning
    that ``body`` shares with one of them is not parsed again, and ``body`` is added to the cache if it is long enough.
    Raises ``MalformedRequest`` unless the body is a JSON object with a list of messages, or with a plain text in its
    place if ``shape.alone`` is given.
    """
    text = decode_body(body)
    if known is not None and len(text) < SHORTEST:  # read as quickly as it is found
        known = None
    start = known.find(shape.name, text) if known is not None else None
    found = start.read_on(text) if start is not None else None
    if found is None:
        start, found = None, read_object(text)
    request = _request(shape, found, start, model, stream)
    if known is not None and not request.sizes and request.stand_down not in _NOT_CONTINUED:
        known.add(shape.name, found, request, start)
    return request


def cut_edits(request: ChatRequest, keep_from: int, block: str) -> list[Edit]:
    """Return the edits that replace the messages from ``request.prefix`` up to but not including index ``keep_from`` by
    ``block`` (a message as JSON text, "" for nothing). System messages among them are kept: they follow the block, as
    they were sent.

    Raises ``ValueError`` unless ``keep_from`` is between ``request.prefix`` and the number of messages.
    """
    places = [request.spans[index] for index in request.staying(keep_from)]
    new = [block] * bool(block) + [request.text[start:end] for start, end in places]
    end = next(end for _, (start, end) in request.members if start < request.array < end)
    return replace_elements(request.spans, request.prefix, keep_from, ",".join(new), close=end - 1)


def insert_message(
    request: ChatRequest, keep_from: int, role: str, block: str, marker: Mapping[str, Any] | None = None
) -> list[Edit]:
    """Return the edits that replace the messages from ``request.prefix`` up to but not including index ``keep_from`` by
    a message of ``role`` with the text ``block`` ("" for no message). System messages among them are kept, and
    ``ValueError`` is raised, as in ``cut_edits``.

    ``marker``: fields to add to the text of the new message, such as a prompt cache marker; its content is then a list
    with one text part. ``None`` or empty: its content is plain text.
    """
    if not block:
        return cut_edits(request, keep_from, "")
    text = storable(block)
    content = [{"type": "text", "text": text, **marker}] if marker else text
    return cut_edits(request, keep_from, json_text({"role": role, "content": content}))


def number_of(index: object, otherwise: int) -> int:
    """Return ``index`` if it is an ``int`` and no ``bool``; else ``otherwise``."""
    return index if type(index) is int else otherwise


def text_of(raw: Mapping[str, Any], name: str) -> str:
    """Return the text in the field ``name``; "" when it is absent or not a text. A lone surrogate (half of a character,
    which cannot be encoded) becomes U+FFFD."""
    value = raw.get(name)
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else storable(value)


def get_text(raw: Mapping[str, Any], name: str) -> str:
    """Return the text in the field ``name`` as it was sent; "" when it is absent or not a text. It may contain a lone
    surrogate: half of a character that a stream split."""
    value = raw.get(name)
    return value if isinstance(value, str) else ""


def _request(
    shape: Shape, found: ObjectSpans, start: Start | None, model: str | None, stream: bool | None
) -> ChatRequest:
    """Make a ``ChatRequest`` from a parsed object. ``start``: the beginning that was parsed with an earlier request, if
    any."""
    fields = dict(found.values)
    sent = fields.pop(shape.messages, None)
    if not isinstance(sent, list):
        sent = _list_alone(shape, sent)
    sizes = tuple(shape.group(sent)) if shape.group is not None else ()
    each = _group_elements(sent, sizes) if sizes else sent
    count = start.count if start is not None and not sizes else 0  # what comes behind may join the last known one
    has_elsewhere = not fields.keys().isdisjoint(shape.elsewhere)
    if stream is None:
        asked = fields.get("stream")
        stream = asked if isinstance(asked, bool) else shape.streams
    part = has_elsewhere and _is_on_server(shape, fields)
    member, cause = _find_elsewhere(shape, fields) if has_elsewhere else ("", "")
    if start is None or sizes:
        messages = History(each, shape.roles(each), shape.read_message, part=part)
    else:
        messages = start.known.request.messages.extend(count, each, shape.roles(each[count:]), part=part)
    if may_have_context(found.text, start.end if count and start is not None else 0):
        messages = messages.set_aside(find_context(messages, count))
    return ChatRequest(
        text=found.text,
        messages=messages,
        array=found.places[shape.messages],
        fields=fields,
        prefix=_count_leading_system(messages.roles) if _SYSTEM in messages.roles else 0,
        model=text_of(fields, "model") if model is None else model,
        stream=stream,
        overhead="" if fields.keys().isdisjoint(shape.overhead) else _overhead(shape, found),
        stand_down=shape.elsewhere[member] if member else _stand_down(shape, found, messages, each, count),
        cause=cause,
        members=found.members,
        sizes=sizes,
        bound=shape.bound(each, fields) if shape.bound is not None else 0,
        binds=shape.binds is not None and shape.binds(fields),
        content=shape.content,
        part=shape.part,
        known_spans=start.spans if start is not None else (),
    )


def _count_leading_system(roles: Sequence[Role]) -> int:
    count = 0
    while count < len(roles) and roles[count] is _SYSTEM:
        count += 1
    return count


def _list_alone(shape: Shape, value: object) -> list[Any]:
    """Return the list of messages for a request without one. Raises ``MalformedRequest`` if it has no messages at
    all."""
    if isinstance(value, str) and shape.alone is not None:
        return [shape.alone(value)]
    raise MalformedRequest("no list of messages")


def _is_on_server(shape: Shape, fields: Mapping[str, Any]) -> bool:
    """Whether the request contains only the newest messages of a history that the provider stores."""
    return any(reason == HISTORY_ON_SERVER and fields.get(name) for name, reason in shape.elsewhere.items())


def _find_elsewhere(shape: Shape, fields: Mapping[str, Any]) -> tuple[str, str]:
    """Return the first member with which the provider stores or shortens the history, and what in it is the cause; two
    empty texts if there is none."""
    for name in shape.elsewhere:
        if value := fields.get(name):
            cause = shape.causes[name](value) if name in shape.causes else name
            if cause:
                return name, cause
    return "", ""


def _group_elements(sent: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    """Return the elements of each message: one as it is, several as a tuple."""
    ends = accumulate(sizes)
    return [
        sent[end - 1] if size == 1 else tuple(sent[end - size : end]) for size, end in zip(sizes, ends, strict=True)
    ]


def _overhead(shape: Shape, found: ObjectSpans) -> str:
    """Return the other text that fills the context window, as it is in the body."""
    return "\n".join(found.text[start:end] for name, (start, end) in found.members if name in shape.overhead)


def _stand_down(shape: Shape, found: ObjectSpans, messages: History, sent: Sequence[object], known: int) -> str:
    """Return why the request must not be rewritten, as the name of a counter; "" if it may be. ``known``: number of
    leading messages whose roles are known."""
    twice = len(found.members) > len(found.values)
    if twice and sum(name == shape.messages for name, _ in found.members) > 1:
        return MESSAGES_TWICE
    if isinstance(found.values[shape.messages], str):
        return NO_LIST
    if shape.refuses is not None and (reason := shape.refuses(sent[known:])):
        return reason
    roles = messages.roles[known:]
    if _SYSTEM in roles:
        news = zip(roles, sent[known:], strict=True)
        if any(role is _SYSTEM and shape.role_of(raw) is None for role, raw in news):
            return UNKNOWN_ROLE
    return _open_end(messages)


def _open_end(messages: History) -> str:
    """Return why the request must not be rewritten because of its last message, which is not the user's; "" if it may
    be."""
    last = messages.last_spoken
    if last < 0:
        return "no_user_message"
    if messages.roles[last] is _TOOL or messages[last].tool_calls:
        return "open_tool_loop"
    return "" if messages.roles[last] is _USER else "assistant_prefill"


class Dialect(Protocol):
    """The format of a provider's API: parses and rewrites requests, and parses replies. Pure: no I/O, no clock."""

    @property
    def name(self) -> str:
        """Short name of the dialect, such as "openai_chat"."""

    @property
    def linked(self) -> tuple[bytes, ...]:
        """Byte strings whose presence shows that a body may link to content elsewhere, such as an image. Such a link is
        a few bytes long, and its content may be many tokens."""

    @property
    def media_types(self) -> frozenset[bytes]:
        """Media types of replies besides JSON, server-sent events and NDJSON; usually empty."""

    @property
    def end_mark(self) -> bytes:
        """Bytes that occur in every ``tail`` for which ``ends`` is true, so that a search for them can replace most
        calls of ``ends``; b"" if there are no such bytes."""

    def models(self, body: bytes, path: str = "") -> tuple[str, ...]:
        """Return the model names that the unparsed request ``body``, sent to the URL path ``path``, may contain; empty
        when it could be any model."""

    def read(self, body: bytes, known: KnownRequests | None = None, *, path: str = "") -> ChatRequest:
        """Parse the request ``body`` that was sent to the URL path ``path``. Raises ``MalformedRequest`` when it is not
        a chat request.

        ``known``: a cache of earlier requests; a beginning that ``body`` shares with one of them is not parsed again.
        The result is the same without it.
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
        """Return the request's bytes without the top-level fields ``drop``, and with the messages from
        ``request.prefix`` up to but not including ``keep_from`` replaced by one message of ``role`` that contains
        ``block``. All other bytes stay.

        ``keep_from``: index of the first message to keep; ``None``: all messages stay, and ``block`` is not used.
        ``block``: "" for no message in their place. A dialect may put the block elsewhere, and may keep system messages
        that are among the removed ones. Raises ``ValueError`` if the messages cannot be cut there.
        """

    def ends(self, tail: bytes) -> bool:
        """Whether ``tail`` (the newest piece of a stream, preceded by the last bytes of the piece before it) may
        contain the event that ends the stream. A quick check: true may be wrong, false never is."""

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """Parse a captured response body into a reply. Never raises: an unreadable body gives a reply whose ``message``
        is ``None``.

        - ``data``: the body after content decoding; a body that is still compressed is unreadable.
        - ``stream``: whether the *request* asked for a stream; the response to it may be plain JSON, such as an error.
        """


_READING: Final = frozenset({"read", "rewrite"})
"""Methods that say which requests a dialect takes, and how it writes them."""


def _accept_nothing(self: JsonDialect, values: Mapping[str, Any]) -> bool:
    return False


class JsonDialect:
    """Base class of a dialect whose requests are JSON. Parses leniently: a field of the wrong type counts as absent. A
    rewrite changes no byte but those that it removes or inserts.

    A subclass describes the format of its requests with ``shape``, and how a resume block is inserted with ``cut``.
    """

    __slots__ = ()

    name: str
    shape: Shape
    linked: tuple[bytes, ...] = ()
    end_mark: bytes = b""
    media_types: frozenset[bytes] = frozenset()

    def __init_subclass__(cls, **named: object) -> None:
        super().__init_subclass__(**named)
        if "ends" in cls.__dict__ and "end_mark" not in cls.__dict__:
            cls.end_mark = b""  # another way to tell the end, of which an inherited mark says nothing
        if _READING & cls.__dict__.keys() and "accepts" not in cls.__dict__:
            cls.accepts = _accept_nothing  # type: ignore[method-assign]  # what an own ``read`` accepts, only it knows

    def cut(self, request: ChatRequest, keep_from: int, block: str, role: str) -> list[Edit]:
        """Return the edits that remove the messages from ``request.prefix`` up to but not including index
        ``keep_from``, and insert a message of ``role`` with the text ``block`` there ("" for no message). System
        messages among them stay, after the block. Dialects that have the role "developer" override this; here a block
        of that role gets the role "system".

        Raises ``ValueError`` unless ``keep_from`` is between ``request.prefix`` and the number of messages, or if the
        transcript cannot be cut.
        """
        return insert_message(request, keep_from, "system" if role == "developer" else role, block)

    def models(self, body: bytes, path: str = "") -> tuple[str, ...]:
        """Return the models that an unparsed request may name; empty when it could be any model. ``path`` is not
        used."""
        return find_models(body)

    def read(self, body: bytes, known: KnownRequests | None = None, *, path: str = "") -> ChatRequest:
        """Parse the request in ``body``. Raises ``MalformedRequest`` unless it is a JSON object with a list of
        messages. ``path`` is not used. See ``Dialect.read``."""
        return read_request(self.shape, body, known)

    def accepts(self, values: Mapping[str, Any]) -> bool:
        """Whether ``read`` surely returns a request for a JSON object with these members."""
        return isinstance(values.get(self.shape.messages), list)

    def rewrite(
        self,
        request: ChatRequest,
        *,
        drop: tuple[str, ...] = (),
        keep_from: int | None = None,
        block: str = "",
        role: str = "user",
    ) -> bytes:
        """Return the request's bytes without the members ``drop`` and, if ``keep_from`` is given, without the messages
        from ``request.prefix`` up to but not including that index.

        ``block`` (the resume block, "" for none) takes their place, as a message of ``role``. System messages among the
        removed ones stay, after the block. If ``keep_from`` is ``request.prefix``, the block is inserted and nothing is
        removed; if it is ``None``, ``block`` is not used. Raises ``ValueError`` as ``cut`` does. See
        ``Dialect.rewrite``.
        """
        edits = without_members(request.members, drop)
        if keep_from is not None:
            edits += self.cut(request, keep_from, block, role)
        return splice(request.text, edits).encode()
