"""Operations on the chats of one store, shared by both chat-store classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from llama_index.core.base.llms.types import ChatMessage

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.message import Written

from .messages import chat_message, written
from .opening import plain_errors

Choice = Callable[[Sequence[Written]], Sequence[Written]]
"""Some messages of a chat."""


@dataclass(frozen=True, slots=True)
class Chats:
    """Chats by key, each a session of ``tenant``.

    All methods raise ``ValueError`` for invalid keys and messages, and ``StoreError`` if the store fails; nothing is
    changed then.
    """

    memory: SessionMemory
    tenant: str

    def kept(self, key: str) -> list[Written]:
        """Return the messages of a chat, archived ones too; [] if the chat does not exist."""
        with plain_errors():
            return self.memory.messages(key, tenant=self.tenant)

    def add(self, key: str, messages: Sequence[ChatMessage], *, archived: bool = False) -> None:
        """Append messages atomically."""
        told = [replace(written(message), archived=archived) for message in messages]
        with plain_errors():
            if archived:
                self.memory.revise(key, lambda history: [*history, *told], tenant=self.tenant)
            else:
                self.memory.add(key, told, tenant=self.tenant)

    def insert(self, key: str, message: ChatMessage, place: int) -> None:
        """Insert a message before index ``place``, as ``list.insert`` does."""
        told = written(message)

        def change(history: Sequence[Written]) -> list[Written]:
            wanted = list(history)
            wanted.insert(place, told)
            return wanted

        self._revise(key, change)

    def set(self, key: str, messages: Sequence[ChatMessage], *, archived: bool = False) -> None:
        """Replace the messages of the chat. Equal messages at its start are not rewritten."""
        told = [replace(written(message), archived=archived) for message in messages]

        def change(history: Sequence[Written]) -> list[Written]:
            same = 0
            while same < min(len(told), len(history)) and _same(history[same], told[same]):
                same += 1
            return [*history[:same], *told[same:]]

        self._revise(key, change)

    def remove(self, key: str, choice: Choice) -> list[ChatMessage]:
        """Delete the messages that ``choice`` selects, and the facts derived from them; return the messages."""
        return self._taken(key, choice, lambda one: ())

    def archive(self, key: str, choice: Choice) -> list[ChatMessage]:
        """Archive the messages that ``choice`` selects, and return them."""
        return self._taken(key, choice, lambda one: (replace(one, archived=True),))

    def clear(self, key: str) -> list[ChatMessage] | None:
        """Erase a chat with everything derived from it. Returns its messages; ``None`` if it does not exist."""
        messages = [chat_message(one) for one in self.kept(key)]
        return messages if self.memory.forget(key, tenant=self.tenant) else None

    def keys(self) -> list[str]:
        """Return the keys of all chats, oldest chat first."""
        with plain_errors():
            found = self.memory.sessions(tenant=self.tenant)
        return [info.key.id for info in sorted(found, key=lambda info: (info.created_at, info.key.id))]

    def _taken(self, key: str, choice: Choice, instead: Callable[[Written], Sequence[Written]]) -> list[ChatMessage]:
        taken: list[Written] = []

        def change(history: Sequence[Written]) -> list[Written]:
            taken[:] = choice(history)
            numbers = {one.number for one in taken}
            return [new for one in history for new in (instead(one) if one.number in numbers else (one,))]

        self._revise(key, change)
        return [chat_message(one) for one in taken]

    def _revise(self, key: str, change: Callable[[Sequence[Written]], list[Written]]) -> None:
        with plain_errors():
            self.memory.revise(key, change, tenant=self.tenant)


def _same(one: Written, other: Written) -> bool:
    return one.original == other.original and one.archived == other.archived
