"""Detect that a client has compacted its chat, which means that it replaced its history by a summary: its next request
is shorter and begins with the summary.

No I/O. Request sizes are cached in this process. For a session that the process has not seen, only the notice that
clients write before their summary counts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import takewhile
from json import dumps
from typing import Final

from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.fence import opens_block
from tokenmizer_mw.session.resent import canonical_text
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.history import History
from tokenmizer_mw.wire.host_texts import is_continuation, may_continue

_SHORTER: Final = 2
"""A request is examined, even without a host's notice, if the session's longest request was this many times as long."""

_SUMMARY_LEAST: Final = 300
"""Characters, without spaces, that a reply must have to be recognised as a summary when it comes back in a user's
message."""

_PIECES: Final = 8
_PIECE: Final = 40
"""Characters of each compared piece of a summary. Half of the pieces must come back: clients take out tags and leading
thoughts."""


def tools_digest(request: ChatRequest) -> str:
    """Return a digest (16 hexadecimal digits) of the request's field ``tools``; it does not depend on the order of JSON
    keys. Requests without tools have the same digest."""
    tools = dumps(request.fields.get("tools"), sort_keys=True, default=str)
    return blake2b(tools.encode("utf-8", "replace"), digest_size=8).hexdigest()


def begins_with_summary(messages: History, start: int, replies: Iterable[Message]) -> bool:
    """Whether a user message from index ``start`` on, before the first reply, is a summary of the session: it has a
    client's notice that the chat continues from a summary, or repeats a summary that the model wrote.

    ``replies``: the session's newest messages. A message repeats one of the assistant among them if it contains at
    least half of eight pieces of its text. Texts of fewer than 300 characters, without spaces, are not compared.
    """
    first_reply = next((at for at, role in enumerate(messages.roles) if role is Role.ASSISTANT), len(messages))
    leading = [message for message in messages[start:first_reply] if message.role is Role.USER]
    if any(is_continuation(message) for message in leading):
        return True
    texts = [canonical_text(message) for message in leading]
    summaries = [canonical_text(message) for message in replies if message.role is Role.ASSISTANT]
    return any(_repeats(text, summary) for summary in summaries for text in texts if len(summary) >= _SUMMARY_LEAST)


def goes_on_from_block(messages: History) -> bool:
    """Whether one of the messages before the first reply is a client's notice that the chat continues from a summary,
    and that summary is a resume block of this package."""
    leading = takewhile(lambda at: messages.roles[at] is not Role.ASSISTANT, range(len(messages)))
    return any(is_continuation(messages[at]) and opens_block(messages[at].text) for at in leading)


def _repeats(text: str, summary: str) -> bool:
    step = (len(summary) - _PIECE) // (_PIECES - 1)
    pieces = [summary[at * step : at * step + _PIECE] for at in range(_PIECES)]
    return 2 * sum(piece in text for piece in pieces) >= _PIECES


@dataclass(slots=True)
class _Longest:
    """A session's longest request. ``size``: bytes of its body; ``tools``: its ``tools_digest``; ``handed_back``: true
    if a resume block stands before the session's whole history, whose requests are always examined."""

    size: int
    tools: str
    handed_back: bool = False


class LongestRequests:
    """Remembers the size of the longest request of each session since its client last compacted the chat.

    Holds at most ``sessions_max`` sessions; the least recently used are dropped first. Thread-safe: changes hold
    ``lock``, and what only reads is one lookup.
    """

    def __init__(self, sessions_max: int, lock: AbstractContextManager[object]) -> None:
        self._sessions_max = sessions_max
        self._lock = lock
        self._longest: OrderedDict[SessionKey, _Longest] = OrderedDict()

    def may_be_compacted(self, key: SessionKey, body: bytes) -> bool:
        """Whether the client may have compacted its chat, so that the request needs a closer look.

        True in three cases. ``body`` is less than half as long as the session's longest request. It is shorter (or no
        request is known) and contains a client's notice of a compaction. Or an earlier compaction was found, and a
        resume block stands before the transcript since.
        """
        longest = self._longest.get(key)
        if longest is not None and (longest.handed_back or len(body) * _SHORTER < longest.size):
            return True
        return (longest is None or len(body) < longest.size) and may_continue(body)

    def has_tools(self, key: SessionKey, tools: str) -> bool:
        """Whether the longest request of session ``key`` offered the tools with the digest ``tools``, or no request of
        the session is known."""
        with self._lock:
            longest = self._longest.get(key)
        return longest is None or longest.tools == tools

    def note(self, key: SessionKey, size: int, tools: str) -> None:
        """Record that a request of ``size`` bytes was sent. It changes nothing if a longer one is known. ``tools``:
        its ``tools_digest``."""
        with self._lock:
            longest = self._longest.get(key)
            if longest is None:
                self._put(key, _Longest(size, tools))
            elif size >= longest.size:
                longest.size, longest.tools = size, tools
                self._longest.move_to_end(key)

    def note_block(self, key: SessionKey, size: int, tools: str, *, in_front: bool) -> None:
        """Record that a request of ``size`` bytes was sent with a resume block: before its whole transcript
        (``in_front``), or in place of old messages. If that differs from what was recorded before, this request
        now counts as the longest; otherwise nothing changes. ``tools``: its ``tools_digest``."""
        with self._lock:
            longest = self._longest.get(key)
            was_in_front = longest is not None and longest.handed_back
            if was_in_front != in_front:
                self._put(key, _Longest(size, tools, in_front))

    def drop(self, key: SessionKey) -> None:
        """Forget what is known of the longest request of session ``key``; nothing happens if none is known."""
        with self._lock:
            self._longest.pop(key, None)

    def _put(self, key: SessionKey, longest: _Longest) -> None:
        self._longest[key] = longest
        self._longest.move_to_end(key)
        while len(self._longest) > self._sessions_max:
            self._longest.popitem(last=False)
