"""Whose session the code that runs right now belongs to: a context variable.

It follows tasks, and what asyncio and anyio run in threads; a thread that is started by hand begins without. Bindings
nest, and each belongs to one memory: the innermost one of that memory counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import NamedTuple


class NamedSession(NamedTuple):
    """A session by its id, ``None`` when nobody named one, and the tenant it is looked for in."""

    session_id: str | None
    tenant: str


@dataclass(frozen=True, slots=True)
class Binding:
    """What holds for the calls of ``owner``. ``name`` is asked when a call is made, not before.

    ``remembered``: the surrounding chat call is remembered as a whole; what is called inside passes untouched.
    """

    owner: object
    name: Callable[[], NamedSession]
    remembered: bool = False
    outer: Binding | None = None


_innermost: ContextVar[Binding | None] = ContextVar("tokenmizer_mw_session", default=None)


def bind(owner: object, name: Callable[[], NamedSession], *, remembered: bool = False) -> Token[Binding | None]:
    """Bind the code that runs from here on. The token is for ``unbind``."""
    return _innermost.set(Binding(owner, name, remembered, _innermost.get()))


def unbind(token: Token[Binding | None]) -> None:
    """What was bound before counts again. Without effect in another context than the one that was bound."""
    try:
        _innermost.reset(token)
    except ValueError:
        return  # a generator that is ended elsewhere: the context it was started in is gone, and its binding with it


@contextmanager
def bound(owner: object, name: Callable[[], NamedSession], *, remembered: bool = False) -> Iterator[None]:
    """Bind what runs inside."""
    token = bind(owner, name, remembered=remembered)
    try:
        yield
    finally:
        unbind(token)


def binding_of(owner: object) -> Binding | None:
    """The innermost binding of ``owner``, ``None`` outside of any."""
    binding = _innermost.get()
    while binding is not None and binding.owner is not owner:
        binding = binding.outer
    return binding
