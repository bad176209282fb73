"""The real Claude Code in a session with three compactions: the short form of the benchmark ``agent_compaction``."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.agent_compaction import COMPACTIONS, SETTINGS, count_modules, run_session
from tests.hooks.agent import program

PROMPTS = 16


@pytest.mark.nightly
@pytest.mark.skipif(program("claude") is None, reason="Claude Code is not installed: make agents")
@pytest.mark.parametrize("setting", SETTINGS)
def test_nothing_is_lost_or_done_twice(tmp_path: Path, setting: str) -> None:
    outcome = run_session(tmp_path, setting, PROMPTS)
    assert outcome.passes(setting, count_modules(PROMPTS), COMPACTIONS), outcome
