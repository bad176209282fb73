from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tokenmizer_mw.cli import main

CHAT = [
    {"role": "user", "content": "Let's build a booking service for the village hall. We use SQLite, it is one file."},
    {"role": "assistant", "content": "SQLite it is. Shall I write the schema first?"},
    {"role": "user", "content": "Yes. Never delete a booking without asking me first."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "write_file", "arguments": '{"path": "hall/schema.sql", "content": "CREATE"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "wrote hall/schema.sql"},
    {"role": "assistant", "content": "The schema is in hall/schema.sql."},
    {"role": "user", "content": "SQLite locks under load. We switch to PostgreSQL instead of SQLite."},
    {"role": "assistant", "content": "Done: PostgreSQL now."},
]

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'data' / 'chat.db'}"


@pytest.fixture
def run(store: str, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command on the test's store; gives the status, standard output and standard error."""

    def run_(*arguments: str) -> tuple[int, str, str]:
        try:
            status = main([*arguments, "--store", store])
        except SystemExit as ended:
            status = int(ended.code or 0)
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run_


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "hall.json"
    path.write_text(json.dumps(CHAT), encoding="utf-8")
    return path


@pytest.fixture
def filled(run: Run, chat: Path) -> Run:
    """``run`` on a store that holds the chat as the session "hall"."""
    assert run("import", str(chat))[0] == 0
    return run
