"""Finds the session of a running chain, agent or graph."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING, Any, Final
from weakref import finalize

from langchain_core.runnables.config import RunnableConfig, ensure_config

from tokenmizer_mw.errors import ConfigError

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory
    from tokenmizer_mw.settings import Settings

NAMES: Final = ("thread_id", "session_id", "conversation_id")
"""Names under which a run's ``configurable`` or ``metadata`` may contain the session id; the first one that is present
counts."""

PLACES: Final = f"{NAMES[0]} or {NAMES[1]} in the run's config, and no session_id= of the middleware,"
"""Where the session id of a run of an agent may come from, for a log line."""

HANDLER_PLACES: Final = (
    f"{NAMES[0]} or {NAMES[1]} in the run's metadata or, of a chain, in its configurable, and no session_id= of the"
    " handler,"
)
"""The same for a callback handler. LangChain passes a handler the metadata alone if a model is called outside of a
chain."""


def checked(memory: SessionMemory) -> SessionMemory:
    """Return ``memory``. Raises ``TypeError`` if it is not a memory, because later only the log would report that."""
    if not hasattr(memory, "settings"):
        raise TypeError(f"memory is a SessionMemory, such as SessionMemory.open(...), not {memory!r:.60}")
    return memory


def tokens(name: str, value: int, least: int) -> int:
    """Return ``value``. Raises ``ConfigError`` for anything but an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{name} is a whole number of at least {least}, not {value!r:.60}")
    return value


def private(settings: Settings | None = None) -> SessionMemory:
    """Open a memory that stores nothing on disk, for an object that was given none. It is closed when nothing refers to
    it any more; at the end of the process, its threads end by themselves."""
    from tokenmizer_mw.memory import SessionMemory

    memory = SessionMemory.open(settings=settings)
    finalize(memory, _run_in_thread, memory.service.close).atexit = False
    return memory


def _run_in_thread(close: Callable[[], None]) -> None:
    """Call ``close`` in a thread, because a garbage collection may call this function anywhere, also where a lock is
    held that ``close`` needs."""
    Thread(target=close, name="tokenmizer-closing", daemon=True).start()


@cache
def shared(address: str) -> SessionMemory:
    """Return the memory on the store at ``address``: one per process, closed when the process ends.

    Raises ``ConfigError`` for an invalid address, and ``StoreError`` if it cannot be opened.
    """
    from tokenmizer_mw.memory import SessionMemory

    memory = SessionMemory.open(address)
    atexit.register(memory.close)
    return memory


def running_session(metadata: dict[str, Any] | None = None) -> str | None:
    """Return the session of the running code, from ``metadata`` or its config; ``None`` if neither names one."""
    config: RunnableConfig = ensure_config()
    for named in (metadata or {}, config.get("configurable") or {}, config.get("metadata") or {}):
        found = next((named[name] for name in NAMES if named.get(name)), None)
        if found is not None:
            return str(found)
    return None
