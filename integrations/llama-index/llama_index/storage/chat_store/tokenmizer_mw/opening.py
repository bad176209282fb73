"""Opens the memory that a user names as store; reports errors as LlamaIndex does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tokenmizer_mw import CallerError, ConfigError, SessionMemory, Settings

Store = str | os.PathLike[str] | SessionMemory
"""A path, an address such as "sqlite:///chat.db" or "memory://", or a memory that is open already."""

IN_MEMORY: Final = "memory://"


def address(store: Store) -> str:
    """Return the address of a store; "" for an open memory. Raises ``ValueError``."""
    if isinstance(store, SessionMemory):
        return ""
    if not isinstance(store, str | os.PathLike):
        raise ValueError(f"a store is a path, an address or a SessionMemory, not a {type(store).__name__}")
    path = os.fspath(store)
    if not path:
        raise ValueError("a store needs a path; one that was made of an open SessionMemory has to be given it again")
    return path if "://" in path else f"sqlite:///{path}"


def opened(store: Store, settings: Settings | None) -> SessionMemory:
    """Return the memory that ``store`` names.

    Raises ``ValueError`` for an invalid address, and ``StoreUnavailable`` if it cannot be opened.
    """
    if isinstance(store, SessionMemory):
        return store
    with plain_errors():
        return SessionMemory.open(address(store), settings)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn errors of the caller into ``ValueError``, as is usual in LlamaIndex."""
    try:
        yield
    except (CallerError, ConfigError) as error:
        raise ValueError(str(error)) from error
