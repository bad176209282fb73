"""Sessions that a proxy records: the hooks of the same agent bring the same messages, and leave them to the proxy."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tokenmizer_mw.model.event import MessageRecorded, TurnClosed
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.log import EventLog
from tokenmizer_mw.wire.spelling import spelling_of

_NEWEST: Final = 256
"""Messages of a session among which a turn is looked for."""


@dataclass(slots=True)
class _Tail:
    """What a session's log holds, read as far as ``seq``. ``proxied``: a proxy closed turns of it;
    ``texts``: digests of the newest texts."""

    seq: int = 0
    proxied: bool = False
    texts: deque[str] = field(default_factory=lambda: deque(maxlen=_NEWEST))


class ProxiedSessions:
    """Tells which messages of a transcript a proxy records.

    A request after a compaction begins with a summary, a transcript does not: the two could not be aligned.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._tails: dict[SessionKey, _Tail] = {}

    def is_proxied(self, key: SessionKey) -> bool:
        """Whether a proxy has recorded turns of the session."""
        return self._read(key).proxied

    def has_last_turn(self, key: SessionKey, messages: Sequence[Message]) -> bool:
        """Whether the last reply of ``messages`` and what the user said before it are on record; ``False`` without a
        reply."""
        spoken = [one for one in messages if one.text.strip() and one.role in (Role.USER, Role.ASSISTANT)]
        while spoken and spoken[-1].role is Role.USER:
            spoken.pop()
        question = next((one for one in reversed(spoken) if one.role is Role.USER), None)
        texts = self._read(key).texts
        return bool(spoken) and all(spelling_of(one).text in texts for one in (spoken[-1], question) if one is not None)

    def _read(self, key: SessionKey) -> _Tail:
        tail = self._tails.setdefault(key, _Tail())
        for recorded in self._log.read(key, after=tail.seq):
            tail.seq = recorded.seq
            match recorded.event:
                case TurnClosed():
                    tail.proxied = True
                case MessageRecorded(message=message):
                    tail.texts.append(spelling_of(message).text)
        return tail
