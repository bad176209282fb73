"""Chats without a session id: kept in this process, and recognised by their own summaries."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from langchain_core.messages import BaseMessage

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory

CHATS_MAX: Final = 256
"""Chats that are known again; of others a summary begins anew."""


class UnnamedChats:
    """Sessions for chats without a thread id, in a memory that ends with the process. Thread-safe."""

    def __init__(self, memory: SessionMemory) -> None:
        self.memory = memory
        self._sessions: OrderedDict[str, str] = OrderedDict()
        self._lock = Lock()

    def session(self, summaries: Sequence[BaseMessage]) -> str:
        """Return the session of the chat that contains one of ``summaries``; a new one if none is known."""
        texts = [message.content for message in summaries if isinstance(message.content, str)]
        with self._lock:
            for summary, session in reversed(self._sessions.items()):
                if any(summary in text for text in texts):
                    return session
        return uuid4().hex

    def note(self, session: str, summary: str) -> None:
        """Store the session's newest summary, by which the chat is recognised."""
        with self._lock:
            self._sessions[summary] = session
            self._sessions.move_to_end(summary)
            left = [self._sessions.popitem(last=False)[1] for _ in range(len(self._sessions) - CHATS_MAX)]
            gone = set(left) - set(self._sessions.values())
        for old in gone:
            self.memory.forget(old)
