"""Where a tenant has nothing, it is said that others have, and not who."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]

HINT = "; other tenants have sessions here: see --tenant"


@pytest.mark.parametrize("command", [["sessions"], ["resume", "hall"], ["forget", "hall", "--yes"]], ids=str)
def test_sessions_of_others_are_mentioned(run: Run, chat: Path, command: list[str]) -> None:
    assert run("import", str(chat), "--tenant", "acme")[0] == 0
    err = run(*command)[2]
    assert HINT in err
    assert err.count("\n") == 1
    assert "acme" not in err
    assert HINT not in run(*command, "--tenant", "acme")[2]


@pytest.mark.parametrize("command", [["sessions"], ["resume", "other"], ["forget", "other", "--yes"]], ids=str)
def test_nothing_is_mentioned_where_nobody_else_has_any(filled: Run, command: list[str], tmp_path: Path) -> None:
    assert filled("backup", str(tmp_path / "kept.db"))[0] == 0
    assert "other tenants" not in filled(*command)[2]
