"""The chats in a store, for both chat store classes: opens the memory that a user names as store, reads and changes its
chats, and raises errors as LlamaIndex does."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import BaseModel, Field, PrivateAttr

from tokenmizer_mw import CallerError, ConfigError, SessionMemory, Settings
from tokenmizer_mw.errors import name_type
from tokenmizer_mw.model.message import Written

from .messages import chat_message, written

Store = str | os.PathLike[str] | SessionMemory
"""A path, an address such as "sqlite:///chat.db" or "memory://", or a memory that is open already."""

IN_MEMORY: Final = "memory://"


def address(store: Store) -> str:
    """Return the address of a store; "" for an open memory. Raises ``ValueError``."""
    if isinstance(store, SessionMemory):
        return ""
    if not isinstance(store, str | os.PathLike):
        raise ValueError(f"a store is a path, an address or a SessionMemory, not {name_type(store)}")
    path = os.fspath(store)
    if not path:
        raise ValueError("a store needs a path; one that was made of an open SessionMemory has to be given it again")
    return path if "://" in path else f"sqlite:///{path}"


def open_memory(store: Store, settings: Settings | None) -> SessionMemory:
    """Return the memory that ``store`` names.

    Raises ``ValueError`` for an invalid address, and ``StoreUnavailable`` if it cannot be opened.
    """
    if isinstance(store, SessionMemory):
        return store
    with plain_errors():
        return SessionMemory.open(address(store), settings)


class OnStore(BaseModel):
    """Base of the classes that are created from a store: its path or address, or an open ``SessionMemory``. All their
    data is in that memory."""

    store: str = Field(default=IN_MEMORY, description="Path or address of the store.")
    tenant: str = Field(default="local", description="Whose chats these are.")
    settings: Settings | None = Field(default=None, description="Settings of the memory.")

    _memory: SessionMemory = PrivateAttr()

    def __init__(self, store: Store = IN_MEMORY, **data: Any) -> None:
        super().__init__(**{"store": address(store), **data})
        self._memory = open_memory(store, self.settings)

    @property
    def memory(self) -> SessionMemory:
        """The underlying session memory: resume blocks, recall and the graph of each chat."""
        return self._memory


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise ``CallerError`` and ``ConfigError`` from inside the ``with`` block as ``ValueError``, as is usual in
    LlamaIndex."""
    try:
        yield
    except (CallerError, ConfigError) as error:
        raise ValueError(str(error)) from error


Choice = Callable[[Sequence[Written]], Sequence[Written]]
"""A function that gets the messages of a chat and returns those to delete or to archive."""


@dataclass(frozen=True, slots=True)
class Chats:
    """Chats by key, each a session of ``tenant``.

    All methods raise ``ValueError`` for invalid keys and messages, and ``StoreError`` if the store fails; nothing is
    changed then.
    """

    memory: SessionMemory
    tenant: str

    def messages_of(self, key: str) -> list[Written]:
        """Return the messages of a chat, archived ones too; [] if the chat does not exist."""
        with plain_errors():
            return self.memory.messages(key, tenant=self.tenant)

    def add(self, key: str, messages: Sequence[ChatMessage], *, archived: bool = False) -> None:
        """Append messages atomically."""
        content = [replace(written(message), archived=archived) for message in messages]
        with plain_errors():
            if archived:
                self.memory.revise(key, lambda history: [*history, *content], tenant=self.tenant)
            else:
                self.memory.add(key, content, tenant=self.tenant)

    def insert(self, key: str, message: ChatMessage, place: int) -> None:
        """Insert a message before index ``place``, as ``list.insert`` does."""
        content = written(message)

        def change(history: Sequence[Written]) -> list[Written]:
            wanted = list(history)
            wanted.insert(place, content)
            return wanted

        self._revise(key, change)

    def set(self, key: str, messages: Sequence[ChatMessage], *, archived: bool = False) -> None:
        """Replace the messages of the chat. Equal messages at its start are not rewritten."""
        content = [replace(written(message), archived=archived) for message in messages]

        def change(history: Sequence[Written]) -> list[Written]:
            same = 0
            while same < min(len(content), len(history)) and _same(history[same], content[same]):
                same += 1
            return [*history[:same], *content[same:]]

        self._revise(key, change)

    def remove(self, key: str, choice: Choice) -> list[ChatMessage]:
        """Delete the messages that ``choice`` selects, and the facts derived from them; return the messages."""
        return self._taken(key, choice, lambda one: ())

    def archive(self, key: str, choice: Choice) -> list[ChatMessage]:
        """Archive the messages that ``choice`` selects, and return them."""
        return self._taken(key, choice, lambda one: (replace(one, archived=True),))

    def clear(self, key: str) -> list[ChatMessage] | None:
        """Erase a chat with everything derived from it. Returns its messages; ``None`` if it does not exist."""
        messages = [chat_message(one) for one in self.messages_of(key)]
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
