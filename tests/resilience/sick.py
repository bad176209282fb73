"""Databases that another process holds, and chats over them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.asgi.driving import EVENTS, SESSION, Connection, Surface, request, streaming
from tokenmizer_mw import SessionMemory, TokenMizerMiddleware
from tokenmizer_mw.model.event import MessageRecorded
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey

_LOCK = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
other.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.readline()
other.execute("ROLLBACK")
"""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process holds the database locked inside the block."""
    with subprocess.Popen(
        [sys.executable, "-c", _LOCK, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        try:
            yield
        finally:
            process.communicate("\n", timeout=30)


async def chat(memory: SessionMemory, session: str = SESSION, body: bytes | None = None) -> tuple[Connection, float]:
    """One streamed chat through the middleware, and the seconds to its end."""
    surface = Surface("chat", lambda app: TokenMizerMiddleware(app, memory=memory))
    connection = Connection(request(surface.body if body is None else body))
    headers = [(b"content-type", b"application/json"), (b"x-session-id", session.encode())]
    start = time.monotonic()
    await surface.call(streaming(), connection, headers=headers)
    assert connection.body == b"".join(EVENTS)
    return connection, time.monotonic() - start


def said(memory: SessionMemory, session: str = SESSION) -> list[str]:
    """The texts that the log has of a session."""
    recorded = memory.log.read(SessionKey(LOCAL_TENANT, session))
    return [each.event.message.text for each in recorded if isinstance(each.event, MessageRecorded)]
