"""A worker that has just been started answers before it imports the package, where nothing can be lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.operations.test_agent_transcripts import assistant, lines, said, user
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.agents.hooks.entry import STEER, answer_early

from .agent import Desk, end_worker

NESTED = b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
"""JSON that is nested too deeply to be parsed."""


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "one.jsonl"
    path.write_bytes(lines(user("We use PostgreSQL for the orders."), assistant(said("Fine."))))
    return path


def request(name: str, host: str, payload: Any) -> bytes:
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return "\x1f".join((name, host, "", "/")).encode() + b"\n" + raw


def event(transcript: Path, **more: Any) -> dict[str, Any]:
    return {"session_id": "one", "transcript_path": str(transcript), **more}


def answer(desk: Desk, asked: bytes) -> bytes:
    return answer_early(asked, desk.environment, desk.spot)


def test_hosts_that_append_are_answered_at_once(at_desk: Desk, transcript: Path) -> None:
    assert answer(at_desk, request("precompact", "claude-code", event(transcript))) == b"ok\n" + STEER.encode()
    assert answer(at_desk, request("precompact", "codex", event(transcript))) == b"ok\n"


def test_all_other_events_wait(at_desk: Desk, transcript: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    waiting = [
        request("sessionstart", "claude-code", event(transcript)),
        request("stop", "claude-code", event(transcript)),
        request("precompact", "cursor", event(transcript)),
        request("precompact", "vscode", event(transcript)),
        request("precompact", "claude-code", event(empty)),
        request("precompact", "claude-code", event(fifo)),
        request("precompact", "claude-code", event(tmp_path / "none")),
        request("precompact", "claude-code", event(transcript, session_id="")),
        request("precompact", "claude-code", event(transcript, transcript_path=7)),
        request("precompact", "claude-code", [1]),
        request("precompact", "claude-code", b"not json"),
        request("precompact", "claude-code", b"\xff\x00"),
        request("precompact", "claude-code", event(Path("nul\0"))),
        request("precompact", "claude-code", event(Path("half a pair \ud800"))),
        request("precompact", "claude-code", NESTED),
        request("sessionstart", "claude-code", NESTED),
        b"status",
        b"",
    ]
    assert [answer(at_desk, one) for one in waiting] == [b""] * len(waiting)


def test_the_entry_imports_little() -> None:
    modules = "tokenmizer_mw.agents.hooks.entry, tokenmizer_mw.agents.hooks.start"
    code = f"import sys, {modules}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not [
        name
        for name in loaded
        if name.startswith(("tokenmizer_mw.memory", "tokenmizer_mw.store.sqlite_file", "tokenmizer_mw.settings"))
    ]


def test_what_was_answered_early_is_recorded_and_marked(at_desk: Desk, transcript: Path) -> None:
    done = at_desk.hook("PreCompact", event(transcript, trigger="auto"))
    assert done.stdout.decode() == STEER
    told = at_desk.hook("SessionStart", event(transcript, source="startup"))
    assert "PostgreSQL" in json.loads(told.stdout)["hookSpecificOutput"]["additionalContext"]
    end_worker(at_desk.spot)
    memory = SessionMemory.open(at_desk.environment["TOKENMIZER_STORE"])
    try:
        (session,) = [info.key.id for info in memory.sessions()]
        assert len(memory.messages(session)) == 2
        assert memory.view(session, lambda state: len(state.checkpoints)) == 1
    finally:
        memory.close()
