"""Cache of recent requests, so that the resent part of a transcript is not parsed again.

A chat client resends its whole transcript with every call, so the text of a request begins with that of the one before.
Parsing continues after the common part.

Requests are looked up by a piece of their text at fixed offsets. The piece only finds candidates; the whole beginning
is then compared. If a client changed its last messages, the ones before them are still found.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.model.message import Role
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.json_text import Span
from tokenmizer_mw.wire.spans import ObjectSpans, read_on

SHORTEST: Final = 4_096
"""Length from which on requests are cached and looked up, in characters. Shorter ones are parsed as quickly."""

_PLACES: Final = tuple(int(SHORTEST * 1.25**step) for step in range(56))
"""Offsets at which a piece of text is compared first, to find candidates."""

_PIECE: Final = 64
_CANDIDATES_MAX: Final = 16
_UNSETTLED: Final = 4
"""Number of messages at the end of a request that clients still change: a prompt cache marker moves, a note is
removed."""

_Key = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class KnownRequest:
    """A request that was parsed before, so that a later one that begins with the same text is parsed from ``end`` on.

    ``found``: the members of its JSON object with their positions; ``member``: the index of the member that contains
    the messages; ``end``: the position after its last message, in characters.
    """

    found: ObjectSpans
    request: ChatRequest
    member: int
    end: int

    def begins(self, text: str) -> bool:
        """Whether ``text`` begins with this request up to the end of its last message."""
        own, end = self.found.text, self.end
        return text[end - _PIECE : end] == own[end - _PIECE : end] and text.startswith(own[:end])

    def common(self, text: str) -> Start | None:
        """Return the beginning that ``text`` shares with this request, counted in whole messages from the first on.
        ``None`` if it ends before the middle of ``text``, or if its last message is not a JSON object."""
        own, spans = self.found.text, self.request.spans
        count, end, most = 0, 0, len(spans)
        while count < most:
            middle = (count + most + 1) // 2
            reached = spans[middle - 1][1]
            if text[end:reached] == own[end:reached]:
                count, end = middle, reached
            else:
                most = middle - 1
        return Start(self, count, end) if 2 * end >= len(text) and own[end - 1] == "}" else None


@dataclass(frozen=True, slots=True)
class Start:
    """The beginning that a text shares with the cached request ``known``.

    It contains the first ``count`` messages of that request. ``end``: the position in the text after the last of them,
    in characters.
    """

    known: KnownRequest
    count: int
    end: int

    @property
    def spans(self) -> tuple[Span, ...]:
        """The spans of the first ``count`` messages, as far as they are known already; perhaps ()."""
        return self.known.request.spans_found[: self.count]

    @property
    def replaces(self) -> bool:
        """Whether the text has all messages of ``known`` but, at most, the last four, which clients still change. The
        longer request then takes the place of ``known`` in the cache. False if only an earlier beginning is shared, as
        several cached requests may have."""
        return self.count >= len(self.known.request.messages) - _UNSETTLED

    @property
    def ends_beside_chat(self) -> bool:
        """Whether the message at index ``count`` and the one before it count as system messages, and the former was
        made one by ``History.set_aside``. Whether a message is set aside depends on the one that follows it, so such a
        beginning must not be reused."""
        messages, count = self.known.request.messages, self.count
        roles = messages.roles
        if not 0 < count < len(roles) or roles[count - 1] is not Role.SYSTEM or roles[count] is not Role.SYSTEM:
            return False
        return messages.is_set_aside(count)

    def read_on(self, text: str) -> ObjectSpans | None:
        """Parse the rest of ``text``, and return the object with all its members; ``None`` when ``text`` must be parsed
        from its beginning."""
        if self.ends_beside_chat:
            return None
        return read_on(text, self.known.found, self.known.member, count=self.count, end=self.end)


class KnownRequests:
    """Cache of the most recently used requests. ``characters``: the most characters that they may have in sum; the
    cache takes several times as many bytes. Threads may share it if they pass a ``lock``."""

    def __init__(self, characters: int, lock: AbstractContextManager[object] | None = None) -> None:
        self._characters = characters
        self._held = 0
        self._known: OrderedDict[_Key, tuple[KnownRequest, ...]] = OrderedDict()
        self._lock = lock if lock is not None else nullcontext()

    def find(self, dialect: str, text: str) -> Start | None:
        """Return the beginning that ``text`` shares with a cached request of the same ``dialect``: all messages of that
        request if ``text`` begins with them; else as many of its messages as ``text`` begins with, if they make up at
        least half of ``text``. ``None`` if there is no such request."""
        near: KnownRequest | None = None
        for place in reversed(_PLACES[: bisect_right(_PLACES, len(text))] if self._known else ()):
            candidates = self._known.get(_key(dialect, place, text), ())
            for known in candidates:
                if known.begins(text):
                    return Start(known, len(known.request.messages), known.end)
            if near is None and candidates and 2 * place >= len(text) >= len(candidates[0].found.text) / 2:
                near = candidates[0]
        return near.common(text) if near is not None else None

    def add(self, dialect: str, found: ObjectSpans, request: ChatRequest, start: Start | None = None) -> None:
        """Cache a parsed request, unless it is too short, longer than the whole cache may be, or cannot be continued.

        ``found``: the members of its JSON object. ``start``: what ``find`` returned for the request; ``None`` for none.
        If ``start.replaces`` is true, the cached request ``start.known`` is removed.
        """
        known = _continuable(found, request)
        if known is None or len(found.text) > self._characters:
            return
        key = _key_of(dialect, known)
        with self._lock:
            if start is not None and start.replaces:
                self._drop(_key_of(dialect, start.known), start.known)
            self._known[key] = (known, *self._known.pop(key, ()))
            self._held += len(found.text)
            self._shrink(key)

    def clear(self) -> None:
        """Empty the cache of requests."""
        with self._lock:
            self._known.clear()
            self._held = 0

    def _shrink(self, key: _Key) -> None:
        if len(self._known[key]) > _CANDIDATES_MAX:
            self._drop(key, self._known[key][-1])
        while self._held > self._characters:
            oldest = next(iter(self._known))
            self._drop(oldest, self._known[oldest][-1])

    def _drop(self, key: _Key, known: KnownRequest) -> None:
        entries = self._known.get(key, ())
        left = tuple(other for other in entries if other is not known)
        if len(left) == len(entries):
            return
        self._held -= len(known.found.text)
        if left:
            self._known[key] = left
        else:
            del self._known[key]


def _continuable(found: ObjectSpans, request: ChatRequest) -> KnownRequest | None:
    """Return what is cached of a request; ``None`` if it is too short, or if no other request could continue it."""
    text = found.text
    if len(text) < SHORTEST or len(found.values) < len(found.members):
        return None
    member = next(index for index, (_, (_, end)) in enumerate(found.members) if request.array < end)
    close = found.members[member][1][1] - 1
    last = text[max(0, close - _PIECE) : close].rstrip()
    end = max(0, close - _PIECE) + len(last)
    return KnownRequest(found, request, member, end) if last.endswith("}") and end >= SHORTEST else None


def _key_of(dialect: str, known: KnownRequest) -> _Key:
    place = _PLACES[bisect_right(_PLACES, known.end) - 1]
    return _key(dialect, place, known.found.text)


def _key(dialect: str, place: int, text: str) -> _Key:
    return dialect, place, text[place - _PIECE : place]
