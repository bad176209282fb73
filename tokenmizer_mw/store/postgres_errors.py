"""Translate errors of PostgreSQL and its driver to this package's errors.

Their texts are not passed on: they may repeat the address, a role or stored data.
"""

from __future__ import annotations

import asyncio
from typing import Final

import asyncpg

from tokenmizer_mw.errors import StoreCause, StoreCorrupt, StoreError, StoreUnavailable

NAME: Final = "PostgreSQL"
"""What messages call the store: its address may hold a password."""

ERRORS: Final[dict[str, tuple[type[StoreError], str]]] = {
    "08": (StoreUnavailable, "the connection was lost"),
    "0A": (StoreUnavailable, "does not support this"),
    "22": (StoreCorrupt, "cannot represent a text or a number"),
    "23": (StoreCorrupt, "is damaged: its sessions and its events disagree"),
    "25006": (StoreUnavailable, "is read-only"),
    "28": (StoreUnavailable, "refuses the role or its password"),
    "3D": (StoreUnavailable, "has no database of this name"),
    "3F": (StoreCorrupt, "does not have the tables of a session log"),
    "40": (StoreUnavailable, "is being written by too many at once"),
    "42": (StoreCorrupt, "does not have the tables of a session log"),
    "42501": (StoreUnavailable, "the role may not do this"),
    "53": (StoreUnavailable, "is out of memory or connections"),
    "53100": (StoreUnavailable, "the disk is full"),
    "53300": (StoreUnavailable, "has too many connections"),
    "54": (StoreUnavailable, "an event is larger than PostgreSQL can hold"),
    "55": (StoreUnavailable, "is locked by others"),
    "57": (StoreUnavailable, "ended the call"),
    "57P01": (StoreUnavailable, "is shutting down"),
    "57P02": (StoreUnavailable, "is shutting down"),
    "57P03": (StoreUnavailable, "is not ready for connections"),
    "58": (StoreUnavailable, "the disk cannot be read or written"),
    "XX001": (StoreCorrupt, "is damaged"),
    "XX002": (StoreCorrupt, "is damaged"),
}
"""SQLSTATE, or the class that its first two characters are -> our error and the sentence that follows the name."""

CAUSES: Final[dict[str, StoreCause]] = {
    "08": "unreachable",
    "22": "damaged",
    "23": "damaged",
    "25006": "read_only",
    "28": "no_access",
    "3D": "no_access",
    "3F": "damaged",
    "40": "overloaded",
    "42": "damaged",
    "42501": "no_access",
    "53": "overloaded",
    "53100": "disk_full",
    "53300": "overloaded",
    "55": "locked",
    "57": "no_answer",
    "57P01": "unreachable",
    "57P02": "unreachable",
    "57P03": "unreachable",
    "58": "disk_unreadable",
    "XX001": "damaged",
    "XX002": "damaged",
}
"""SQLSTATE, or the class that its first two characters are -> the cause in one word."""

LOST: Final = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
)
"""The connection is gone, or there was none: what was sent last may or may not have been done."""

FAILED: Final = (*LOST, asyncpg.PostgresError, asyncio.IncompleteReadError)
"""All that the driver raises for what is not our mistake."""

BUSY: Final = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)
"""The server undid a statement for the sake of another one: it can be sent again."""


def translate(error: BaseException, place: str = NAME) -> StoreError:
    """The error of ours, in one line, for one of ``FAILED``. ``place``: host and database, without a password."""
    if isinstance(error, TimeoutError):
        return StoreUnavailable(f"{NAME}: did not answer in time", cause="no_answer", place=place)
    if isinstance(error, OSError):
        advice = "see that it runs, and what its address says"
        message = f"{NAME}: cannot be reached ({type(error).__name__}): {advice}"
        return StoreUnavailable(message, cause="unreachable", place=place)
    state = getattr(error, "sqlstate", None)
    if not state:
        return StoreUnavailable(f"{NAME}: the connection was lost", cause="unreachable", place=place)
    kind, sentence = ERRORS.get(state) or ERRORS.get(state[:2], (StoreUnavailable, "cannot be used"))
    cause = CAUSES.get(state) or CAUSES.get(state[:2], "")
    return kind(f"{NAME}: {sentence} ({state})", cause=cause, place=place)
