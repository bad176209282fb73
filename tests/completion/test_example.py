"""The example runs with one command, against its own scripted provider or any other."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream

EXAMPLE = Path(__file__).parents[2] / "integrations" / "examples" / "refining.py"


def run(**variables: str) -> str:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TOKENMIZER_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE)],
        env=plain | variables,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout


def test_with_its_own_provider() -> None:
    before, after = run().split("refined:")
    assert "(was a page per week: they swap all the time)" in after
    assert "To do: tell the plumber" in after
    assert "Erna sees a white page" in after
    assert "tell the plumber" not in before, "words alone do not say what is to be done"


def test_with_another_provider() -> None:
    record = runpy.run_path(str(EXAMPLE))["RECORD"]
    with Upstream([Scripted(text=f"```json\n{json.dumps(record)}\n```")]) as upstream:
        shown = run(TOKENMIZER_LLM_URL=f"{upstream.url}/v1", TOKENMIZER_LLM_MODEL="fake")
        assert upstream.statistics.requests == 1
    assert "To do: tell the plumber" in shown
