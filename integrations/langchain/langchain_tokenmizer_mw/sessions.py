"""Which session a running chain, agent or graph belongs to."""

from __future__ import annotations

import atexit
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from langchain_core.runnables.config import RunnableConfig, ensure_config

from tokenmizer_mw.errors import ConfigError

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory
    from tokenmizer_mw.settings import Settings

NAMES: Final = ("thread_id", "session_id", "conversation_id")
"""What a run's ``configurable`` or ``metadata`` may call its session; the first one that is there counts."""


def checked(memory: SessionMemory) -> SessionMemory:
    """``memory`` itself. Raises ``TypeError`` for anything that is no memory: later on only the log would say so."""
    if not hasattr(memory, "settings"):
        raise TypeError(f"memory is a SessionMemory, such as SessionMemory.open(...), not {memory!r:.60}")
    return memory


def tokens(name: str, value: int, least: int) -> int:
    """``value`` itself. Raises ``ConfigError`` for anything but a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{name} is a whole number of at least {least}, not {value!r:.60}")
    return value


def private(settings: Settings | None = None) -> SessionMemory:
    """A memory that lives as long as whoever asked for it."""
    from tokenmizer_mw.memory import SessionMemory

    return SessionMemory.open(settings=settings)


@cache
def shared(address: str) -> SessionMemory:
    """The memory on the store at ``address``: one in the process, closed at its end. Raises ``ConfigError`` for an
    address that is not understood, and ``StoreError`` when it cannot be opened."""
    from tokenmizer_mw.memory import SessionMemory

    memory = SessionMemory.open(address)
    atexit.register(memory.close)
    return memory


def running_session(metadata: dict[str, Any] | None = None) -> str | None:
    """The session that the code now running belongs to, by ``metadata`` or by its config; ``None`` when neither
    names one."""
    config: RunnableConfig = ensure_config()
    for named in (metadata or {}, config.get("configurable") or {}, config.get("metadata") or {}):
        found = next((named[name] for name in NAMES if named.get(name)), None)
        if found is not None:
            return str(found)
    return None
