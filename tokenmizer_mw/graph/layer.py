"""A mapping on top of another one: changes are stored in the upper mapping only, so that a large graph can be forked
without a copy."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any, Final, TypeVar, cast

K = TypeVar("K")
V = TypeVar("V")
_GONE: Final = object()
_ABSENT: Final = object()


class Layer(MutableMapping[K, V]):
    """A mapping with the content of ``base`` and the changes that were made through this mapping. ``base`` itself is
    never written, and must not change while this mapping is used.

    Keys come in the order that a plain dictionary would have: a key that is deleted and set again moves to the end.
    """

    __slots__ = ("_base", "_length", "_ours", "_own")

    def __init__(self, base: MutableMapping[K, V]) -> None:
        self._base = base
        self._own: dict[K, object] = {}
        self._ours: dict[K, None] = {}
        self._length = len(base)

    def __getitem__(self, key: K) -> V:
        if key in self._own:
            value = self._own[key]
            if value is _GONE:
                raise KeyError(key)
            return cast(V, value)
        return self._base[key]

    def get(self, key: K, default: object = None) -> Any:
        """Return the value of ``key``; ``default`` if the key is missing."""
        value = self._own.get(key, _ABSENT)
        if value is _ABSENT:
            return self._base.get(key, default)
        return default if value is _GONE else value

    def __setitem__(self, key: K, value: V) -> None:
        if key not in self:
            self._length += 1
            self._ours[key] = None
        self._own[key] = value

    def __delitem__(self, key: K) -> None:
        if key not in self:
            raise KeyError(key)
        self._length -= 1
        self._own[key] = _GONE
        self._ours.pop(key, None)

    def __contains__(self, key: object) -> bool:
        if key in self._own:
            return self._own[key] is not _GONE
        return key in self._base

    def __iter__(self) -> Iterator[K]:
        for key in self._base:
            if key not in self._ours and self._own.get(key) is not _GONE:
                yield key
        yield from self._ours

    def __reversed__(self) -> Iterator[K]:
        yield from reversed(self._ours)
        for key in reversed(cast("dict[K, V]", self._base)):  # every mapping that is laid over has an order
            if key not in self._ours and self._own.get(key) is not _GONE:
                yield key

    def __len__(self) -> int:
        return self._length
