"""The session context: a context variable that names the session to which the running code belongs.

Tasks, and the worker threads of asyncio and anyio, inherit it; a thread that is started by hand does not. Contexts can
be nested. Each belongs to one memory; the innermost context of that memory applies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import NamedTuple


class NamedSession(NamedTuple):
    """A session id (``None``: none was named) and its tenant."""

    session_id: str | None
    tenant: str


class Binding(NamedTuple):
    """A session context, which applies to the calls of ``owner`` (the service of a memory).

    - ``name``: returns the session; called when a model call is made, not earlier.
    - ``remembered``: true if the surrounding chat call is already recorded as a whole, so that calls inside it pass
      unrecorded.
    - ``outer``: the context around this one, of any owner; ``None`` for the outermost.
    """

    owner: object
    name: Callable[[], NamedSession]
    remembered: bool = False
    outer: Binding | None = None


_innermost: ContextVar[Binding | None] = ContextVar("tokenmizer_mw_session", default=None)


def bind(owner: object, name: Callable[[], NamedSession], *, remembered: bool = False) -> Token[Binding | None]:
    """Set the session context for the code that runs from here on. Returns the token for ``unbind``."""
    return _innermost.set(Binding(owner, name, remembered, _innermost.get()))


def unbind(token: Token[Binding | None]) -> None:
    """Restore the session context from before ``bind``. Does nothing in another ``contextvars`` context than that of
    ``bind``.
    """
    try:
        _innermost.reset(token)
    except ValueError:
        return  # a generator that is ended elsewhere: the context it was started in is gone, and its binding with it


@contextmanager
def bind_session(owner: object, name: Callable[[], NamedSession], *, remembered: bool = False) -> Iterator[None]:
    """Set the session context for a ``with`` block."""
    token = bind(owner, name, remembered=remembered)
    try:
        yield
    finally:
        unbind(token)


def binding_of(owner: object) -> Binding | None:
    """Return the innermost session context of ``owner``; ``None`` outside of any."""
    binding = _innermost.get()
    while binding is not None and binding.owner is not owner:
        binding = binding.outer
    return binding
