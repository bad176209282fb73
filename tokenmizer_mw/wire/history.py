"""A sequence of messages that are parsed on access. A client resends its whole chat with each request, so most messages
are known already and need not be parsed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final, TypeVar, overload

from tokenmizer_mw.model.message import Message, Role

T = TypeVar("T")
_role: Final[Callable[[Message], Role]] = attrgetter("role")

Reader = Callable[[object, int], Message]
"""A function that parses a message. It gets the object as it was sent, and its number from 1. May raise
``InvalidMessage``."""


class History(Sequence[Message]):
    """The messages of a request, with their roles. Each is parsed when it is first accessed. An index returns one
    message, a slice a tuple.

    - ``raw``: the message objects as sent; ``roles``: their roles.
    - ``reader``: the function that parses an object, given its number; ``numbers``: these numbers, ``None`` for 1, 2, 3
      ...
    - ``part``: true if the request contains only the newest messages of a transcript that is stored elsewhere.
    """

    __slots__ = ("_columns", "_numbers", "_places", "_raw", "_read", "_reader", "_whole", "part", "roles")

    def __init__(
        self,
        raw: Sequence[object],
        roles: Sequence[Role],
        reader: Reader,
        numbers: Sequence[int] | None = None,
        *,
        part: bool = False,
    ) -> None:
        self.roles = roles
        self.part = part
        self._raw = raw
        self._reader = reader
        self._numbers = range(1, len(raw) + 1) if numbers is None else numbers
        self._read: dict[int, Message] = {}
        self._columns: dict[str, list[Any]] = {}
        self._whole: History | None = None
        self._places: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self._raw)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(index, slice):
            read = self._read
            places = range(*index.indices(len(self._raw)))
            return tuple([read[place] if place in read else self[place] for place in places])
        if index < 0:
            index = range(len(self._raw))[index]
        message = self._read.get(index)
        if message is None:
            message = self._reader(self._raw[index], self._numbers[index])
            if self.roles[index] is Role.SYSTEM and message.role is not Role.SYSTEM:
                message = replace(message, role=Role.SYSTEM)
            self._read[index] = message
        return message

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def last_spoken(self) -> int:
        """Index of the newest message that is not a system message; -1 if there is none."""
        roles = self.roles
        place = len(roles) - 1
        while place >= 0 and roles[place] is Role.SYSTEM:
            place -= 1
        return place

    @property
    def sent(self) -> Sequence[object]:
        """The message objects as the client sent them, unparsed."""
        return self._raw

    def column(self, name: str, of: Callable[[Sequence[Message]], Iterable[T]]) -> Sequence[T]:
        """Return a value for each message, computed by ``of`` and cached under ``name``.

        ``of``: gets the messages that have no cached value yet, and returns one value for each. Histories that
        ``extend`` made of this one inherit the cached values, so that only the further messages are parsed.
        """
        if self._whole is not None and name not in self._columns:
            whole = self._whole.column(name, of)
            self._columns[name] = [whole[place] for place in self._places]
        column = self._columns.get(name, [])
        if len(column) < len(self._raw):
            column = self._columns[name] = [*column, *of(self[len(column) :])]
        return column

    def extend(self, count: int, raw: Sequence[object], roles: Sequence[Role], *, part: bool = False) -> History:
        """Return the history of a longer request. It takes over the values of ``column`` for the first ``count``
        messages, but not the parsed messages.

        - ``raw``: the message objects of the longer request. Its first ``count`` objects must equal the first ``count``
          of this history; that is not checked.
        - ``roles``: the roles of the further objects, ``raw[count:]``.
        - ``part``: ``raw`` has only the newest messages of a transcript that is stored elsewhere.
        """
        history = History(raw, [*self.roles[:count], *roles], self._reader, part=part)
        history._columns = {name: column[:count] for name, column in self._columns.items()}
        return history

    def set_aside(self, places: Collection[int]) -> History:
        """Return the history with the messages at the indexes ``places`` counted as system messages, so that they are
        not taken for the user's chat. This is for messages in which the client application sends its own texts, such as
        files, in the role of the user or the assistant. ``as_sent`` still returns them with the role that was sent. No
        ``places``: the same history."""
        if not places:
            return self
        roles = [Role.SYSTEM if place in places else role for place, role in enumerate(self.roles)]
        history = History(self._raw, roles, self._reader, self._numbers, part=self.part)
        history._read = {place: message for place, message in self._read.items() if place not in places}
        history._columns = {name: column[: min(places)] for name, column in self._columns.items()}
        return history

    def as_sent(self, index: int) -> Message:
        """Return message ``index`` with the role that the client sent. It differs from ``history[index]`` only for
        messages that ``set_aside`` made system messages."""
        if self.roles[index] is not Role.SYSTEM:
            return self[index]
        return self._reader(self._raw[index], self._numbers[index])

    def is_set_aside(self, index: int) -> bool:
        """Whether ``set_aside`` made message ``index`` a system message."""
        return self.roles[index] is Role.SYSTEM and self.as_sent(index).role is not Role.SYSTEM

    def without_system(self) -> History:
        """Return the history without its system messages. Values of ``column`` that were computed for the whole history
        are used again."""
        if Role.SYSTEM not in self.roles:
            return self
        places = [place for place, role in enumerate(self.roles) if role is not Role.SYSTEM]
        history = History(
            [self._raw[place] for place in places],
            [self.roles[place] for place in places],
            self._reader,
            [self._numbers[place] for place in places],
            part=self.part,
        )
        history._whole, history._places = self, places
        history._read = {new: self._read[old] for new, old in enumerate(places) if old in self._read}
        return history

    def through(self, change: Callable[[Message], Message]) -> History:
        """Return a history of the same messages and roles, in which each message is passed through ``change`` when it
        is accessed."""

        def reader(raw: object, number: int) -> Message:
            return change(self._reader(raw, number))

        return History(self._raw, self.roles, reader, self._numbers, part=self.part)

    def with_messages(self, *messages: Message) -> History:
        """Return a history with ``messages`` appended. Messages that were parsed already are not parsed again."""
        read, count = self._reader, len(self._raw)

        def reader(raw: object, number: int) -> Message:
            return raw if isinstance(raw, Message) else read(raw, number)

        numbers = [*self._numbers, *range(count + 1, count + len(messages) + 1)]
        roles = [*self.roles, *map(_role, messages)]
        history = History([*self._raw, *messages], roles, reader, numbers, part=self.part)
        history._read = self._read.copy()
        history._read.update(enumerate(messages, count))
        return history


def history_of(messages: Sequence[Message]) -> History:
    """Return a history of messages that are ``Message`` objects already. Anything else raises ``TypeError`` when it is
    accessed."""
    return History(messages, [message.role for message in messages], _require_message)


def _require_message(raw: object, _: int) -> Message:
    if not isinstance(raw, Message):
        raise TypeError(f"a history of messages holds a {type(raw).__name__}")
    return raw
