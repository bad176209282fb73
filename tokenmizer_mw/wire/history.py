"""A sequence of messages that are parsed on access: most messages that a client resends are known and never parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, overload

from tokenmizer_mw.model.message import Message, Role

T = TypeVar("T")

Reader = Callable[[object, int], Message]
"""From an object as it was sent, and its number from 1, to a message. May raise ``InvalidMessage``."""


class History(Sequence[Message]):
    """The messages of a request, with their roles, parsed on access. An index returns one message, a slice a tuple.

    ``part``: these are only the newest messages of a transcript that is stored elsewhere.
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
            return tuple(self[place] for place in range(*index.indices(len(self._raw))))
        place = range(len(self._raw))[index]
        message = self._read.get(place)
        if message is None:
            message = self._read[place] = self._reader(self._raw[place], self._numbers[place])
        return message

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def sent(self) -> Sequence[object]:
        """The unparsed message objects."""
        return self._raw

    def column(self, name: str, of: Callable[[Sequence[Message]], Iterable[T]]) -> Sequence[T]:
        """Return a value for each message, computed by ``of`` and cached under ``name``.

        Transcripts made by ``extend`` inherit the values; then only messages without one are parsed.
        """
        if self._whole is not None and name not in self._columns:
            whole = self._whole.column(name, of)
            self._columns[name] = [whole[place] for place in self._places]
        column = self._columns.get(name, [])
        if len(column) < len(self._raw):
            column = self._columns[name] = [*column, *of(self[len(column) :])]
        return column

    def extend(self, count: int, raw: Sequence[object], roles: Sequence[Role], *, part: bool = False) -> History:
        """Return a history of ``raw``, whose first ``count`` objects are those of this one. ``roles`` are those of the
        others.
        """
        history = History(raw, [*self.roles[:count], *roles], self._reader, part=part)
        history._columns = {name: column[:count] for name, column in self._columns.items()}
        return history

    def without_system(self) -> History:
        """Return the history without system messages."""
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
        return history

    def through(self, change: Callable[[Message], Message]) -> History:
        """Return a history whose messages are changed by ``change`` on access."""

        def reader(raw: object, number: int) -> Message:
            return change(self._reader(raw, number))

        return History(self._raw, self.roles, reader, self._numbers, part=self.part)

    def followed_by(self, *messages: Message) -> History:
        """Return a history with ``messages`` appended."""

        def reader(raw: object, number: int) -> Message:
            return raw if isinstance(raw, Message) else self._reader(raw, number)

        numbers = [*self._numbers, *range(len(self._raw) + 1, len(self._raw) + len(messages) + 1)]
        roles = [*self.roles, *(m.role for m in messages)]
        return History([*self._raw, *messages], roles, reader, numbers, part=self.part)


def history_of(messages: Sequence[Message]) -> History:
    """Return a history of parsed messages."""
    return History(messages, [message.role for message in messages], _require_message)


def _require_message(raw: object, _: int) -> Message:
    if not isinstance(raw, Message):
        raise TypeError(f"a history of messages holds a {type(raw).__name__}")
    return raw
