"""A mapping laid over another: writes stay in the upper one, so that a fork of a large graph costs nothing."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Final, TypeVar, cast

K = TypeVar("K")
V = TypeVar("V")

_GONE: Final = object()


class Layer(MutableMapping[K, V]):
    """``base`` as seen through the changes made here. ``base`` is never written and must not change meanwhile."""

    __slots__ = ("_base", "_own")

    def __init__(self, base: MutableMapping[K, V]) -> None:
        self._base = base
        self._own: dict[K, object] = {}

    def __getitem__(self, key: K) -> V:
        if key in self._own:
            value = self._own[key]
            if value is _GONE:
                raise KeyError(key)
            return cast(V, value)
        return self._base[key]

    def __setitem__(self, key: K, value: V) -> None:
        self._own[key] = value

    def __delitem__(self, key: K) -> None:
        if key not in self:
            raise KeyError(key)
        self._own[key] = _GONE

    def __contains__(self, key: object) -> bool:
        if key in self._own:
            return self._own[key] is not _GONE
        return key in self._base

    def __iter__(self) -> Iterator[K]:
        for key in self._base:
            if self._own.get(key) is not _GONE:
                yield key
        for key, value in self._own.items():
            if value is not _GONE and key not in self._base:
                yield key

    def __len__(self) -> int:
        return sum(1 for _ in self)
