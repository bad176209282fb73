"""The process that a host starts, and the worker behind it."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.operations.test_agent_transcripts import assistant, lines, said, user
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.agents.hooks.client import PAYLOAD_MAX

from .agent import Desk, end_worker

NESTED = b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "one.jsonl"
    path.write_bytes(lines(user("We use PostgreSQL for the orders."), assistant(said("Fine."))))
    return path


def event(transcript: Path, **more: Any) -> dict[str, Any]:
    return {"session_id": transcript.stem, "transcript_path": str(transcript), **more}


def sessions(desk: Desk) -> list[str]:
    end_worker(desk.spot)  # it does first what it was told
    memory = SessionMemory.open(desk.environment["TOKENMIZER_STORE"])
    try:
        return [info.key.id for info in memory.sessions()]
    finally:
        memory.close()


def test_a_block_through_both_processes(at_desk: Desk, transcript: Path) -> None:
    assert at_desk.hook("Stop", event(transcript)).stdout == b""
    done = at_desk.hook("SessionStart", event(transcript, source="compact"))
    assert "PostgreSQL" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert (done.returncode, done.stderr) == (0, b"")
    assert [name.partition("/")[2] for name in sessions(at_desk)] == ["one"]
    assert os.stat(os.path.dirname(at_desk.spot.socket)).st_mode & 0o077 == 0


def test_the_same_in_one_process(at_desk: Desk, transcript: Path) -> None:
    at_desk.environment["TOKENMIZER_HOOK_WORKER"] = "0"
    done = at_desk.hook("session-start", event(transcript, source="compact"))
    assert "PostgreSQL" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert at_desk.hook("SessionStart", event(transcript, source="compact"), "--host=cursor").returncode == 0
    assert not list(at_desk.sockets.glob("**/*.sock"))


def test_a_relative_store_is_the_one_of_the_project(at_desk: Desk, transcript: Path) -> None:
    at_desk.environment["TOKENMIZER_STORE"] = "sqlite:///here.db"
    code = "import os; from tokenmizer_mw.agents.hooks.client import place"
    spot = subprocess.run(
        [sys.executable, "-c", f"{code}; print(place(os.environ).socket)"],
        cwd=at_desk.project,
        env=at_desk.environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    at_desk.hook("PreCompact", event(transcript))
    found = at_desk.spot
    found.socket = spot
    end_worker(found)
    assert (at_desk.project / "here.db").exists()


def test_what_a_host_pays_for_is_little_of_ours_and_the_standard_library(at_desk: Desk, transcript: Path) -> None:
    at_desk.hook("PreCompact", event(transcript))
    code = (
        "import sys; from tokenmizer_mw.cli import main; main(['hook', 'SessionStart']);"
        "print(sorted(name for name in sys.modules), file=sys.stderr)"
    )
    told = json.dumps(event(transcript, source="compact")).encode()
    done = at_desk.run(sys.executable, "-c", code, input=told)
    assert b"PostgreSQL" in done.stdout
    loaded = set(json.loads(done.stderr.decode().replace("'", '"')))
    ours = {name for name in loaded if name.startswith("tokenmizer_mw")}
    assert ours <= {
        "tokenmizer_mw",
        "tokenmizer_mw.agents",
        "tokenmizer_mw.cli",
        *(f"tokenmizer_mw.agents.hooks{part}" for part in ("", ".client")),
        *(f"tokenmizer_mw.store{part}" for part in ("", ".address")),
    }
    tops = {name.partition(".")[0] for name in loaded} - {"tokenmizer_mw", "__main__"}
    bare = at_desk.run(sys.executable, "-c", "import sys; print(' '.join(sys.modules))").stdout.decode().split()
    foreign = tops - set(sys.stdlib_module_names) - {name.partition(".")[0] for name in bare}
    assert foreign == set()
    assert not tops & {
        "sqlite3",
        "asyncio",
        "argparse",
        "subprocess",
        "typing",
        "json",
        "dataclasses",
        "inspect",
        "hashlib",
        "logging",
    }


def test_the_work_loads_no_framework() -> None:
    heavy = ("starlette", "fastapi", "pydantic", "yaml", "rich", "httpx2", "mcp", "openai", "langchain_core")
    code = (
        "import sys; from tokenmizer_mw.agents.hooks.worker import WorkerState; w = WorkerState({'TOKENMIZER_STORE': 'memory://'});"
        'w.answer(b\'stop\\x1fclaude-code\\x1f/\\x1f/\', b\'{"session_id": "a", "last_assistant_message": "Hi"}\');'
        f" w.close(); print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "payload",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"session_id": "a", "transcript_path": "/"}', b"[" * 100_000, NESTED],
    ids=["nothing", "cut", "a list", "null", "no text", "a folder for a transcript", "deep", "deep and whole"],
)
def test_a_host_never_fails(at_desk: Desk, payload: bytes) -> None:
    for name in ("SessionStart", "Stop"):
        done = at_desk.hook(name, payload)
        assert (done.returncode, done.stdout) == (0, b"")
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [(), ("--help",), ("Stop", "SessionStart"), ("Stop", "--host", "emacs"), ("--host",)]
)
def test_misuse_is_told_and_fails_no_host(at_desk: Desk, arguments: tuple[str, ...]) -> None:
    done = at_desk.run(sys.executable, "-m", "tokenmizer_mw", "hook", *arguments)
    assert done.returncode == 0
    assert done.stderr.startswith(b"usage: tokenmizer-mw hook EVENT")


def test_hooks_can_be_switched_off(at_desk: Desk, transcript: Path) -> None:
    at_desk.environment["TOKENMIZER_HOOKS"] = "off"
    done = at_desk.hook("SessionStart", event(transcript, source="compact"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not at_desk.store.exists()


def test_an_event_that_is_too_large(at_desk: Desk) -> None:
    done = at_desk.hook("Stop", b" " * (PAYLOAD_MAX + 1))
    assert done.returncode == 0
    assert b"larger than" in done.stderr


def test_a_store_of_another_version_is_one_sentence(at_desk: Desk, transcript: Path) -> None:
    at_desk.hook("PreCompact", event(transcript))
    end_worker(at_desk.spot)
    with sqlite3.connect(at_desk.store) as database:
        database.execute("PRAGMA user_version = 999")
    database.close()
    done = at_desk.hook("SessionStart", event(transcript, source="compact"))
    assert (done.returncode, done.stdout) == (0, b"")
    assert len(done.stderr.splitlines()) == 1
    assert b"newer" in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("TOKENMIZER_STORE", "nonsense://x", b"a store's address is"),
        ("TOKENMIZER_STORE", "sqlite:////nowhere/at/all.db", b"/nowhere/at/all.db"),
        ("TOKENMIZER_BLOCK_TOKENS", "many", b"block_tokens"),
    ],
)
def test_what_is_configured_wrongly_is_one_sentence(
    at_desk: Desk, transcript: Path, name: str, value: str, sentence: bytes
) -> None:
    at_desk.environment[name] = value
    done = at_desk.hook("SessionStart", event(transcript, source="compact"))
    assert (done.returncode, done.stdout) == (0, b"")
    assert len(done.stderr.splitlines()) == 1
    assert sentence in done.stderr
    (line,) = (one for one in Path(at_desk.spot.log).read_bytes().splitlines() if sentence in one)
    assert re.match(rb"\d{4}-\d\d-\d\dT[\d:.+]+ ERROR tokenmizer_mw: hook sessionstart: ", line)


def test_a_store_that_was_replaced_is_opened_anew(at_desk: Desk, transcript: Path) -> None:
    at_desk.hook("PreCompact", event(transcript))
    for file in at_desk.store.parent.glob("sessions.db*"):
        file.unlink()
    at_desk.hook("PreCompact", event(transcript))
    assert at_desk.store.exists()


def test_many_hooks_at_once_start_one_worker(at_desk: Desk, tmp_path: Path) -> None:
    def one(number: int) -> int:
        path = tmp_path / f"s{number}.jsonl"
        path.write_bytes(lines(user(f"We use PostgreSQL {number}.")))
        return at_desk.hook("PreCompact", event(path)).returncode

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(one, range(6))) == [0] * 6
    folder = Path(at_desk.spot.socket).parent
    assert len(list(folder.glob("*.sock"))) == 1
    assert len(sessions(at_desk)) == 6


def test_a_socket_without_a_worker_is_no_obstacle(at_desk: Desk, transcript: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(at_desk.spot.socket)
    done = at_desk.hook("SessionStart", event(transcript, source="compact"))
    assert b"PostgreSQL" in done.stdout


def test_a_directory_that_others_can_look_into_is_not_used(at_desk: Desk) -> None:
    folder = os.path.dirname(at_desk.spot.socket)
    os.chmod(folder, 0o755)
    assert os.path.dirname(at_desk.spot.socket) != folder
    os.chmod(folder, 0o700)
    assert os.path.dirname(at_desk.spot.socket) == folder


def test_without_the_extra_it_is_named(at_desk: Desk, transcript: Path) -> None:
    del at_desk.environment["TOKENMIZER_STORE"]
    at_desk.environment["TOKENMIZER_HOOK_WORKER"] = "0"
    code = "import sys; sys.modules['platformdirs'] = None; from tokenmizer_mw.cli import main; main(['hook', 'stop'])"
    done = at_desk.run(sys.executable, "-c", code, input=json.dumps(event(transcript)).encode())
    (line,) = [line for line in done.stderr.decode().splitlines() if line.startswith("tokenmizer-mw hook:")]
    assert "set TOKENMIZER_STORE" in line and "[mcp]" in line
    assert "--store" not in line and "[cli]" not in line


def test_a_switch_that_says_neither_on_nor_off_is_named(at_desk: Desk) -> None:
    for value, count in (("maybe", 1), ("on", 0), ("", 0), ("off", 0)):
        at_desk.environment["TOKENMIZER_HOOKS"] = value
        done = at_desk.hook("Stop", b'{"session_id": "a"}')
        assert done.returncode == 0
        assert len(done.stderr.splitlines()) == count, value
        assert not count or b"TOKENMIZER_HOOKS is 'maybe', which is neither on nor off" in done.stderr


def test_a_store_that_cannot_be_created_is_named_at_the_first_start(at_desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", "utf-8")
    at_desk.environment["TOKENMIZER_STORE"] = f"sqlite:///{tmp_path / 'file' / 'chat.db'}"
    for _ in range(2):
        done = at_desk.hook("SessionStart", b'{"session_id": "a", "source": "startup"}')
        assert (done.returncode, done.stdout) == (0, b"")
        assert b"cannot be created" in done.stderr


@pytest.mark.parametrize(
    ("name", "payload", "sentence"),
    [
        ("Nonsense", b'{"session_id": "a"}', b"unknown event 'Nonsense'; known: SessionStart"),
        ("Stop", b'{"session_id":', b"is no JSON object"),
        ("Stop", b"{broken}", b"is no JSON object"),
        ("Stop", b"[]", b"is no JSON object"),
        ("SessionStart", NESTED, b"cannot be read: it is nested too deeply"),
    ],
)
def test_a_typo_is_one_sentence(at_desk: Desk, name: str, payload: bytes, sentence: bytes) -> None:
    done = at_desk.hook(name, payload)
    assert (done.returncode, done.stdout) == (0, b"")
    (line,) = done.stderr.splitlines()
    assert sentence in line
