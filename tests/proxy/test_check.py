"""``tokenmizer-mw check`` says of stores and Redis what ``serve`` would say."""

from __future__ import annotations

import os
import secrets
import socket
import sqlite3
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests import services
from tests.store.postgres_database import connect
from tests.upstream.server import Upstream
from tokenmizer_mw.cli import main
from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.store.open import TRY, open_log

from .test_serve import checked, free_port, running, written

Printed = pytest.CaptureFixture[str]


def serve_says(file: Path, capsys: Printed) -> str:
    """Its sentence about a store that does not open."""
    assert main(["serve", "--config", str(file)]) == 1
    return capsys.readouterr().err.removeprefix("tokenmizer-mw: error: ").rstrip("\n")


@pytest.mark.parametrize("store", ["foo", "mysql://foo", "sqlite://x.db", "postgresql://h/d?pool=no"])
def test_an_address_that_is_none(tmp_path: Path, upstream: Upstream, capsys: Printed, store: str) -> None:
    file = written(tmp_path, upstream, listen={"port": free_port()}, store=store)
    status, rows = checked(capsys, "--config", str(file), "--reach")
    assert (status, rows["store"]) == (1, ("wrong", serve_says(file, capsys)))


@pytest.mark.parametrize("place", ["no/such/chat.db", "proxy.yaml/chat.db", "proxy.yaml/no/chat.db"])
def test_a_place_where_no_database_can_be(tmp_path: Path, upstream: Upstream, capsys: Printed, place: str) -> None:
    file = written(tmp_path, upstream, listen={"port": free_port()}, store=f"sqlite:///{tmp_path / place}")
    before = sorted(tmp_path.iterdir())
    status, rows = checked(capsys, "--config", str(file))
    assert (status, rows["store"]) == (1, ("wrong", serve_says(file, capsys)))
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a file system in which nothing can be created")
def test_a_file_system_that_takes_no_files(tmp_path: Path, upstream: Upstream, capsys: Printed) -> None:
    file = written(tmp_path, upstream, listen={"port": free_port()}, store="sqlite:////proc/x.db")
    grade, text = checked(capsys, "--config", str(file))[1]["store"]
    assert (grade, text) == ("wrong", serve_says(file, capsys))
    assert text.startswith("/proc/x.db: cannot be created (")
    with closing(open_log("sqlite:////proc/x.db")) as log, pytest.raises(StoreUnavailable, match="cannot be created"):
        log.secret()


def test_a_directory_that_is_missing_is_created_with_the_file(
    tmp_path: Path, upstream: Upstream, capsys: Printed
) -> None:
    file = written(tmp_path, upstream, listen={"port": free_port()}, store=f"sqlite:///{tmp_path}/one/chat.db")
    assert checked(capsys, "--config", str(file))[1]["store"] == ("fine", f"{tmp_path}/one/chat.db will be created")
    assert not (tmp_path / "one").exists()


def test_a_database_is_looked_at_without_a_trace(tmp_path: Path, upstream: Upstream, capsys: Printed) -> None:
    database = tmp_path / "chat.db"
    file = written(tmp_path, upstream, listen={"port": free_port()})
    database.touch()
    grade, text = checked(capsys, "--config", str(file), "--reach")[1]["store"]
    assert (grade, text) == ("fine", f"{database} opens; its tables will be made")
    assert database.read_bytes() == b""
    with closing(open_log(f"sqlite:///{database}")) as log:
        log.secret()
    before = database.read_bytes()
    grade, text = checked(capsys, "--config", str(file), "--reach")[1]["store"]
    assert (grade, text) == ("fine", f"{database} opens; sessions of the default tenant, local: 0")
    assert database.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == sorted([database, file])
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA user_version = 9999")
    assert "newer" in checked(capsys, "--config", str(file))[1]["store"][1]


def test_a_damaged_database_is_found(tmp_path: Path, upstream: Upstream, capsys: Printed) -> None:
    database = tmp_path / "chat.db"
    file = written(tmp_path, upstream, listen={"port": free_port()})
    with closing(open_log(f"sqlite:///{database}")) as log:
        log.secret()
    pages = bytearray(database.read_bytes())
    for start in range(4_096, len(pages), 4_096):
        pages[start + 8 : start + 400] = secrets.token_bytes(392)
    database.write_bytes(pages)
    status, rows = checked(capsys, "--config", str(file))
    assert (status, rows["store"][0]) == (1, "wrong")
    assert rows["store"][1].startswith(f"{database}: is damaged")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting needs root")
def test_a_read_only_database_is_found(tmp_path: Path, upstream: Upstream, capsys: Printed) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        store = f"sqlite:///{disk}/chat.db"
        with closing(open_log(store)) as log:
            log.secret()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        file = written(tmp_path, upstream, listen={"port": free_port()}, store=store)
        grade, text = checked(capsys, "--config", str(file))[1]["store"]
        assert (grade, "read-only" in text) == ("wrong", True)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_database_server_that_never_answers_is_found(tmp_path: Path, upstream: Upstream, capsys: Printed) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = f"postgresql://127.0.0.1:{silent.getsockname()[1]}/none?timeout=0.5"
        file = written(tmp_path, upstream, listen={"port": free_port()}, store=store)
        status, rows = checked(capsys, "--config", str(file), "--reach")
    assert (status, rows["store"]) == (1, ("wrong", "PostgreSQL: did not answer in time"))


def test_postgresql_is_connected_to_and_left_as_it_is(tmp_path: Path, upstream: Upstream, capsys: Printed) -> None:
    address = services.postgres()
    schema = f"check_{secrets.token_hex(6)}"
    store = f"{address}{'&' if '?' in address else '?'}schema={schema}"
    file = written(tmp_path, upstream, listen={"port": free_port()}, store=store)
    status, rows = checked(capsys, "--config", str(file))
    assert (status, rows["store"][0]) == (0, "note")
    assert rows["store"][1].endswith(f"not tried; to connect to it: tokenmizer-mw check --reach --config {file}")
    status, rows = checked(capsys, "--config", str(file), "--reach")
    assert (status, rows["store"]) == (0, ("fine", "postgresql:// answers"))
    assert not schemas(address, schema)


def schemas(address: str, name: str) -> list[tuple[object, ...]]:
    with connect(address) as connection:
        return connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = $1", [name]).fetchall()


def test_a_postgresql_that_is_not_there(tmp_path: Path, upstream: Upstream, capsys: Printed) -> None:
    password = secrets.token_hex(8)
    store = f"postgresql://u:{password}@127.0.0.1:{free_port()}/d"
    file = written(tmp_path, upstream, listen={"port": free_port()}, store=store)
    status, rows = checked(capsys, "--config", str(file), "--reach")
    assert (status, rows["store"]) == (1, ("wrong", serve_says(file, capsys)))
    assert password not in str(rows)


def test_redis_is_asked(tmp_path: Path, upstream: Upstream, capsys: Printed) -> None:
    file = written(tmp_path, upstream, listen={"port": free_port()}, access={"redis": services.redis()})
    status, rows = checked(capsys, "--config", str(file))
    assert (status, rows["access.redis"]) == (0, ("note", f"not tried; to connect to it: {TRY} --config {file}"))
    status, rows = checked(capsys, "--config", str(file), "--reach")
    assert (status, rows["access.redis"]) == (0, ("fine", "Redis answers"))


@pytest.mark.parametrize(("down", "says"), [("open", "count for itself"), ("closed", "would get 503")])
def test_a_redis_that_is_not_there(tmp_path: Path, upstream: Upstream, capsys: Printed, down: str, says: str) -> None:
    access = {"redis": f"redis://127.0.0.1:{free_port()}", "redis_down": down}
    file = written(tmp_path, upstream, listen={"port": free_port()}, access=access)
    status, rows = checked(capsys, "--config", str(file), "--reach")
    assert (status, rows["access.redis"][0]) == (1, "wrong")
    assert says in rows["access.redis"][1]


def test_a_redis_address_that_is_none(tmp_path: Path, upstream: Upstream, capsys: Printed) -> None:
    file = written(tmp_path, upstream, listen={"port": free_port()}, access={"redis": "nonsense"})
    status, rows = checked(capsys, "--config", str(file), "--reach")
    assert (status, rows["access.redis"][0]) == (1, "wrong")
    assert "redis://host:6379/0" in rows["access.redis"][1]


def test_a_port_that_this_server_holds_is_no_fault(tmp_path: Path, upstream: Upstream, capsys: Printed) -> None:
    file = written(tmp_path, upstream)
    with running(file) as (_, port):
        status, rows = checked(capsys, "--config", str(file), "--port", str(port))
        assert status == 0
        assert rows["listen.port"] == (
            "note",
            f"127.0.0.1:{port} is in use by a tokenmizer-mw server that runs already: pass another --port, or end it",
        )
        assert main(["serve", "--config", str(file), "--port", str(port)]) == 1
        assert "is in use by a tokenmizer-mw server that runs already" in capsys.readouterr().err


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", b"\xff\r\n"])
def test_a_port_that_another_program_holds_is_a_fault(
    tmp_path: Path, upstream: Upstream, capsys: Printed, answer: bytes
) -> None:
    file = written(tmp_path, upstream)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def reply() -> None:
            with server.accept()[0] as client:
                client.recv(4_096)
                client.sendall(answer)

        thread = threading.Thread(target=reply)
        thread.start()
        port = server.getsockname()[1]
        status, rows = checked(capsys, "--config", str(file), "--port", str(port))
        thread.join()
    assert (status, rows["listen.port"][0]) == (1, "wrong")
    assert rows["listen.port"][1].startswith(f"127.0.0.1:{port} is in use by another program: ")
