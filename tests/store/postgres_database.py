"""A schema of its own in the PostgreSQL server under test, and a link to that server that can be cut."""

from __future__ import annotations

import secrets
import socket
import threading
from contextlib import closing, suppress
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg.pq import ExecStatus

from tokenmizer_mw.model.event import Derived, Event, Recorded
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.open import open_log
from tokenmizer_mw.store.postgres import PostgresLog

KEY = SessionKey("tenant", "session")


def connect(server: str) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection of the test's own, whose statements are transactions."""
    return psycopg.connect(server, autocommit=True, cursor_factory=psycopg.RawCursor)


class Database:
    """What a test may do to its part of the server, behind the store's back."""

    def __init__(self, server: str) -> None:
        self.server = server
        self.schema = f"test_{secrets.token_hex(6)}"

    def url(self, *, port: int | None = None, user: str | None = None, **options: object) -> str:
        """The store's address; through another port, for another role, with options."""
        parts = urlsplit(self.server)
        where = f"{user or parts.username}@{parts.hostname}:{port or parts.port}{parts.path}"
        query = "&".join(f"{name}={value}" for name, value in {"schema": self.schema, **options}.items())
        return f"postgresql://{where}?{query}"

    def log(self, **options: Any) -> PostgresLog:
        clock = {"clock": options.pop("clock")} if "clock" in options else {}
        log = open_log(self.url(**options), **clock)
        assert isinstance(log, PostgresLog)
        return log

    def fetch(self, statement: str, *parameters: object) -> list[Any]:
        """The rows of a statement, in which {schema} stands for the schema."""

        with connect(self.server) as connection:
            cursor = connection.execute(statement.replace("{schema}", self.schema).encode(), parameters)
            has_rows = cursor.pgresult is not None and cursor.pgresult.status == ExecStatus.TUPLES_OK
            return cursor.fetchall() if has_rows else []

    def table_files(self) -> bytes:
        """The content of the files of the tables, and of what they keep beside them."""
        self.fetch("CHECKPOINT")
        files = self.fetch(
            "SELECT pg_read_binary_file(pg_relation_filepath(oid)) FROM pg_class WHERE oid IN (SELECT unnest(ARRAY["
            "c.oid, c.reltoastrelid]) FROM pg_class c WHERE relnamespace = '{schema}'::regnamespace)"
            " AND relkind IN ('r', 't')"
        )
        return b"\n".join(content for (content,) in files)

    def terminate_all(self) -> None:
        """End every connection that has used this schema's tables last, as a restart of the server does."""
        self.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND position($1 in query) > 0",
            self.schema,
        )

    def drop(self) -> None:
        self.fetch("DROP SCHEMA IF EXISTS {schema} CASCADE")


def turns(count: int) -> list[Event]:
    return [Derived(turn) for turn in range(count)]


def written(database: Database, events: list[Event]) -> list[Recorded]:
    """Append to a new session, through a log that waits as long as usual."""
    with closing(database.log()) as log:
        return log.append(KEY, events, expected_seq=0)


class Holding:
    """A transaction that stays open until it is let go."""

    def __init__(self, database: Database, *statements: str) -> None:
        self._database = database
        self._statements = statements
        self._held, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._hold)

    def __enter__(self) -> None:
        self._thread.start()
        assert self._held.wait(20)

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _hold(self) -> None:
        with connect(self._database.server) as connection, connection.transaction():
            for statement in self._statements:
                connection.execute(statement.replace("{schema}", self._database.schema).encode())
            self._held.set()
            self._over.wait()


class Link:
    """Hands bytes on between the store and the server. What is to happen to the next request is in ``next``:

    ``swallow``: the server gets it, the client's connection ends instead of an answer. ``drop``: the server never
    gets it. ``delay``: the connection ends, and the server gets the request when ``deliver`` is called.
    """

    def __init__(self, server: str) -> None:
        parts = urlsplit(server)
        self._server = (parts.hostname or "127.0.0.1", parts.port or 5432)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.next = ""
        self.cut = 0
        self._late: list[tuple[socket.socket, bytes]] = []
        self._unheard: dict[socket.socket, threading.Event] = {}
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def deliver(self) -> None:
        """Send what was delayed to the server, and wait for what it says."""
        for upstream, request in self._late:
            upstream.sendall(request)
            assert self._unheard[upstream].wait(20)
            upstream.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for each in (self._listening, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            upstream = socket.create_connection(self._server)
            self._open += [client, upstream]
            for work in (self._requests, self._answers):
                thread = threading.Thread(target=work, args=(client, upstream))
                self._threads.append(thread)
                thread.start()

    def _requests(self, client: socket.socket, upstream: socket.socket) -> None:
        with closing(client), suppress(OSError):
            while data := client.recv(65536):
                what, self.next = self.next, ""
                if not what:
                    upstream.sendall(data)
                    continue
                self.cut += 1
                answered = self._unheard[upstream] = threading.Event()
                if what == "swallow":
                    upstream.sendall(data)
                    assert answered.wait(20)
                elif what == "delay":
                    self._late.append((upstream, data))
                client.shutdown(socket.SHUT_RDWR)
                if what != "delay":
                    upstream.shutdown(socket.SHUT_RDWR)
                return
            upstream.shutdown(socket.SHUT_RDWR)

    def _answers(self, client: socket.socket, upstream: socket.socket) -> None:
        with suppress(OSError):
            while data := upstream.recv(65536):
                if upstream in self._unheard:
                    self._unheard[upstream].set()
                else:
                    client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)
