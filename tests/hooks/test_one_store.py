"""One installation, one store: the proxy, hooks, the MCP server and commands find the same database, whichever way the
proxy was told its own, and wherever they are started."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.operations.test_agent_transcripts import assistant, lines, said, user
from tests.proxy.test_serve import answers, free_port
from tests.waiting import eventually
from tokenmizer_mw.agents.hooks.client import WorkerFiles, place
from tokenmizer_mw.cli import main
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.server.proxy.configuration import Configuration
from tokenmizer_mw.store.address import absolute_address, without_password
from tokenmizer_mw.store.choosing import (
    announce_store,
    announced_stores,
    data_folder,
    default_address,
    last_ended_store,
    resolve_store,
)

from .agent import Desk, end_worker, short_folder

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="servers announce their store with a lock on a file")
SECONDS = 60.0


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Desk]:
    """A user's machine where the environment names no store."""
    desk = Desk(tmp_path)
    del desk.environment["TOKENMIZER_STORE"]
    yield desk
    for socket in desk.sockets.glob("own/tokenmizer-mw-*/*.sock"):
        end_worker(WorkerFiles(str(socket.parent), socket.stem))
    shutil.rmtree(desk.sockets)


@contextmanager
def serving(desk: Desk, folder: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """``tokenmizer-mw serve`` on a user's machine, until the block ends."""
    port = free_port()
    command = [sys.executable, "-m", "tokenmizer_mw", "serve", "--port", str(port), *options]
    process = subprocess.Popen(command, cwd=folder, env=desk.environment, stderr=subprocess.DEVNULL)
    try:
        assert eventually(lambda: process.poll() is not None or answers(port), SECONDS)
        assert process.poll() is None
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(SECONDS)


def hooked(desk: Desk, name: str) -> None:
    """An agent's session is recorded by hooks, and nothing is complained of."""
    transcript = desk.home / f"{name}.jsonl"
    transcript.write_bytes(lines(user("We use PostgreSQL for the orders."), assistant(said("Fine."))))
    done = desk.hook("SessionStart", {"session_id": name, "transcript_path": str(transcript), "source": "compact"})
    assert done.stderr == b""
    assert b"PostgreSQL" in done.stdout


def sessions(desk: Desk, *options: str) -> list[dict[str, str]]:
    """The rows of ``tokenmizer-mw sessions``."""
    done = desk.run(sys.executable, "-m", "tokenmizer_mw", "sessions", "--json", *options)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def listed(desk: Desk, *options: str) -> list[str]:
    """Sessions as a command lists them, without the project's name."""
    return sorted(row["session"].rpartition("/")[2] for row in sessions(desk, *options))


@pytest.mark.nightly
def test_a_store_in_the_configuration_is_relative_to_the_file(machine: Desk, tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "etc", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "proxy.yaml").write_text("store: sqlite:///sessions.db\nlisten: {}\n")
    machine.environment["TOKENMIZER_CONFIG"] = os.path.relpath(folder / "proxy.yaml", machine.project)
    hooked(machine, "one")
    assert listed(machine) == ["one"]
    with serving(machine, elsewhere, "--config", str(folder / "proxy.yaml")):
        hooked(machine, "two")
        assert listed(machine) == ["one", "two"]
    assert [path.parent for path in tmp_path.rglob("*sessions.db")] == [folder]


def test_the_flags_of_a_running_proxy_count_for_hooks_and_commands(machine: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "served"
    folder.mkdir()
    hooked(machine, "before")
    with serving(machine, folder, "--store", "sqlite:///by-flag.db") as process:
        hooked(machine, "meanwhile")
        assert listed(machine) == ["meanwhile"] == listed(machine, "--store", f"sqlite:///{folder}/by-flag.db")
        process.kill()
        process.wait(SECONDS)
    hooked(machine, "after")  # the server was killed, and took nothing back
    assert listed(machine) == ["after", "before"]


@pytest.mark.nightly
def test_each_store_has_all_of_a_conversation_that_went_on_beside_another(machine: Desk, tmp_path: Path) -> None:
    transcript = machine.home / "long.jsonl"
    said_so_far: list[Any] = []

    def go_on(count: int) -> None:
        for _ in range(count):
            number = len(said_so_far)
            said_so_far.append(user(f"Message {number}.") if number % 2 == 0 else assistant(said(f"Answer {number}.")))
        transcript.write_bytes(lines(*said_so_far))
        done = machine.hook("Stop", {"session_id": "long", "transcript_path": str(transcript)})
        assert done.stderr == b""

    def kept() -> int:
        """Messages in the one session; what a hook of the end of a turn hands on is recorded behind its answer."""
        assert eventually(lambda: sessions(machine), SECONDS)
        log = machine.run(
            sys.executable, "-m", "tokenmizer_mw", "export", sessions(machine)[0]["session"]
        ).stdout.decode()
        return sum(f"{'Answer' if number % 2 else 'Message'} {number}." in log for number in range(60))

    go_on(20)
    with serving(machine, tmp_path, "--store", "sqlite:///by-flag.db"):
        go_on(20)
        assert kept() == 40
    go_on(20)
    assert kept() == 60


@pytest.mark.nightly
def test_the_mcp_server_follows_a_proxy_that_begins_after_it(machine: Desk, tmp_path: Path) -> None:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    arguments = StdioServerParameters(
        command=sys.executable, args=["-m", "tokenmizer_mw", "mcp"], env=machine.environment, cwd=str(machine.project)
    )

    async def use() -> None:
        async with Client(stdio_client(arguments), mode="2026-07-28") as client:

            async def names() -> list[str]:
                told = (await client.call_tool("list_sessions", {})).structured_content
                assert told is not None
                return sorted(row["session_id"].rpartition("/")[2] for row in told["sessions"])

            hooked(machine, "before")
            assert await names() == ["before"]
            with ExitStack() as stack:
                stack.enter_context(serving(machine, tmp_path, "--store", "sqlite:///by-flag.db"))
                hooked(machine, "meanwhile")
                assert await names() == ["meanwhile"]
            assert await names() == ["before"]

    anyio.run(use)


# -- addresses -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "absolute"),
    [
        ("sqlite:///a.db", "sqlite:////etc/shop/a.db"),
        ("sqlite:///data/a.db?synchronous=full", "sqlite:////etc/shop/data/a.db?synchronous=full"),
        ("sqlite:///../a.db", "sqlite:////etc/shop/../a.db"),
        ("SQLite:///a.db", "sqlite:////etc/shop/a.db"),
        ("sqlite:////var/a.db", "sqlite:////var/a.db"),
        ("sqlite:///~/a.db", "sqlite:///~/a.db"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("sqlite://", "sqlite://"),
        ("sqlite:///", "sqlite:///"),
        ("memory://", "memory://"),
        ("postgresql://me@db/shop", "postgresql://me@db/shop"),
        ("", ""),
    ],
)
def test_relative_paths_are_made_absolute(address: str, absolute: str) -> None:
    assert absolute_address(address, "/etc/shop") == absolute


def test_passwords_are_left_out() -> None:
    word = secrets.token_urlsafe(12)
    assert without_password(f"postgresql://me:{word}@db:5432/shop?pool=3") == "postgresql://me@db:5432/shop?pool=3"
    assert (
        without_password(f"postgres://db/shop?password={word}&sslmode=require") == "postgres://db/shop?sslmode=require"
    )
    assert without_password(f"postgresql://db/shop?password={word}") == "postgresql://db/shop"
    encoded = "".join(f"%{ord(letter):02x}" for letter in "password")
    assert without_password(f"postgresql://db/shop?{encoded}={word}") == "postgresql://db/shop"
    assert without_password("sqlite:////a:b@c.db") == "sqlite:////a:b@c.db"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's data directory of its own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("TOKENMIZER_STORE", raising=False)
    monkeypatch.delenv("TOKENMIZER_CONFIG", raising=False)
    return tmp_path / "data"


def test_a_password_is_never_written_and_is_found_in_the_configuration(data: Path, tmp_path: Path) -> None:
    word = secrets.token_urlsafe(12)
    address = f"postgresql://me:{word}@db/shop"
    with announce_store(address):
        files = [path for path in data.rglob("*") if path.is_file()]
        assert [path.stat().st_mode & 0o077 for path in files] == [0]
        assert all(word.encode() not in path.read_bytes() for path in files)
        with pytest.raises(ConfigError, match="TOKENMIZER_STORE") as caught:
            resolve_store()
        assert word not in str(caught.value)
    file = tmp_path / "proxy.yaml"
    file.write_text(f"store: {address}\n")
    with announce_store(address, str(file)):
        assert resolve_store() == address
    assert resolve_store() == default_address()


def test_what_the_user_names_comes_first(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "other.yaml"
    file.write_text("store: sqlite:///other.db\n")
    with announce_store("sqlite:////one.db"), announce_store("memory://"), announce_store("sqlite://?synchronous=full"):
        assert resolve_store("sqlite:////named.db") == "sqlite:////named.db"
        assert resolve_store(None, {"TOKENMIZER_STORE": "sqlite:////told.db"}) == "sqlite:////told.db"
        assert resolve_store(None, {"TOKENMIZER_CONFIG": str(file)}) == f"sqlite:///{tmp_path / 'other.db'}"
        assert resolve_store(None, {}) == "sqlite:////one.db"
    with announce_store("sqlite:////flag.db", str(file)):
        assert resolve_store(None, {"TOKENMIZER_CONFIG": str(file)}) == "sqlite:////flag.db"
    assert announced_stores() == []


def test_check_says_which_store_the_other_commands_use_and_why(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "proxy.yaml"
    file.write_text("store: sqlite:///agents.db\n")

    def checked(*arguments: str) -> tuple[str | None, str]:
        main(["check", "--json", *arguments])
        rows = {row["place"]: row["text"] for row in json.loads(capsys.readouterr().out)}
        return rows.get("store chosen by"), rows["store"]

    default = "the default, as no server runs and nothing names another"
    assert checked() == (default, f"{data / 'tokenmizer-mw' / 'sessions.db'} will be created")
    created = f"{tmp_path / 'agents.db'} will be created"
    assert (
        checked("--config", str(file)) == checked("--store", f"sqlite:///{tmp_path / 'agents.db'}") == (None, created)
    )
    with announce_store(f"sqlite:///{tmp_path / 'agents.db'}", str(file)):
        assert checked() == (f"the running server of {file}", created)
    with announce_store(f"sqlite:///{tmp_path / 'flag.db'}", str(file)):
        assert checked("--config", str(file))[0] == f"the running server of {file}"
    monkeypatch.setenv("TOKENMIZER_CONFIG", str(file))
    assert checked() == (str(file), created)
    monkeypatch.setenv("TOKENMIZER_STORE", "sqlite:///other.db")
    assert checked()[0] == "TOKENMIZER_STORE"


def test_sessions_names_the_store_of_the_proxy_that_ended_last(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said() -> str:
        assert main(["sessions"]) == 0
        return capsys.readouterr().err.partition("; ")[2].rstrip()

    general = "if your application uses another store, name it: --store sqlite:///memory.db"
    assert said() == general
    database = tmp_path / "agents.db"
    with announce_store("sqlite:////older.db"), announce_store(f"sqlite:///{database}"):
        pass
    assert said() == general  # its file does not exist
    database.touch()
    assert said() == f"the proxy that ended last used another store: add --store sqlite:///{database}"
    assert last_ended_store() is not None and announced_stores() == []
    with announce_store(default_address()):
        pass
    assert said() == general


def test_files_that_nobody_holds_or_can_read_say_nothing(data: Path) -> None:
    with announce_store("sqlite:////one.db"):
        folder = next(data.rglob("servers"))
        (folder / "1.json").write_text(json.dumps({"store": "sqlite:////x.db", "config": "", "has_password": False}))
        (folder / "2.json").write_text("not JSON")
        assert [said.store for said in announced_stores()] == ["sqlite:////one.db"]
    with announce_store("sqlite:////two.db"):
        assert len(list(folder.iterdir())) == 1
    assert len(list(folder.iterdir())) == 1


def test_workers_of_hooks_are_told_apart_by_the_file_that_is_meant(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spots, sockets = {}, short_folder()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "proxy.yaml").write_text("store: sqlite:///sessions.db\n")
        monkeypatch.chdir(tmp_path / name)
        told = {"TOKENMIZER_HOOK_DIR": str(sockets), "TOKENMIZER_CONFIG": "proxy.yaml"}
        relative, absolute = place(told), place({**told, "TOKENMIZER_CONFIG": str(tmp_path / name / "proxy.yaml")})
        assert relative is not None and absolute is not None and relative.socket == absolute.socket
        spots[name] = relative.socket
        assert Configuration.load(environ=told).store == f"sqlite:///{tmp_path / name / 'sessions.db'}"
    assert spots["one"] != spots["two"]
    shutil.rmtree(sockets)


ODD = [
    b"null",
    b"[]",
    b"7",
    b'"x"',
    b"{}",
    b'{"store": null}',
    b"[" * 60_000,
    b"\xff\xfe",
    b"",
    b'{"store": "\\u0000"}',
]


@pytest.mark.parametrize("said", ODD)
def test_an_odd_announcement_is_passed_over(said: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with announce_store(f"sqlite:///{tmp_path / 'a.db'}"), odd_files(said):
        assert [one.store for one in announced_stores()] == [f"sqlite:///{tmp_path / 'a.db'}"]


@contextmanager
def odd_files(said: bytes) -> Iterator[None]:
    """A locked file that says ``said``, a pipe that nobody writes to, a folder, and a link to a device, beside what
    servers announce."""
    folder = data_folder()
    assert folder is not None
    path = folder / "servers" / "1.json"
    os.mkfifo(path.with_name("2.json"))
    path.with_name("3.json").mkdir()
    path.with_name("4.json").symlink_to("/dev/zero")
    with path.open("wb") as file:
        file.write(said)
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_a_server_is_found_by_any_name_of_its_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    real, link = tmp_path / "real.yaml", tmp_path / "link.yaml"
    real.write_text("listen: {}\n")
    link.symlink_to(real)
    store = f"sqlite:///{tmp_path / 'named.db'}"
    with announce_store(store, str(link)):
        assert resolve_store(environ={"TOKENMIZER_CONFIG": str(real)}) == store
    with announce_store(store, str(real)):
        assert resolve_store(environ={"TOKENMIZER_CONFIG": str(link)}) == store
