"""Clients that others wrote: the Inspector's command line, and the part of the official conformance suite that asks
for no tools of its own. Installed by ``make agents``."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .conftest import Desk, served

MODULES = Path(__file__).parents[2] / ".agents" / "mcp" / "node_modules"
INSPECTOR = MODULES / "@modelcontextprotocol" / "inspector" / "cli" / "build" / "cli.js"
CONFORMANCE = MODULES / ".bin" / "conformance"
NODE = MODULES / ".bin" / "node"
SECONDS = 180.0
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "tools-call-error",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)


@pytest.mark.nightly
@pytest.mark.skipif(not INSPECTOR.exists() or not shutil.which("node"), reason="no Inspector: make agents")
def test_inspector_over_standard_input(desk: Desk) -> None:
    def asked(*more: str) -> dict[str, Any]:
        done = subprocess.run(
            ["node", str(INSPECTOR), "--cli", *desk.command, *more],
            cwd=desk.folder,
            env=desk.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    call = ("--method", "tools/call", "--tool-name", "why_decision", "--tool-arg", "text=PostgreSQL")
    assert "concurrent writes" in asked(*call)["structuredContent"]["text"]


@pytest.mark.nightly
@pytest.mark.skipif(not CONFORMANCE.exists() or not NODE.exists(), reason="no conformance suite: make agents")
def test_conformance(desk: Desk) -> None:
    with served(desk) as url:
        for scenario in SCENARIOS:
            done = subprocess.run(
                [str(NODE), str(CONFORMANCE), "server", "--url", url, "--scenario", scenario],
                cwd=desk.folder,
                env=desk.environment,
                capture_output=True,
                text=True,
                timeout=SECONDS,
            )
            assert done.returncode == 0, f"{scenario}: {done.stdout}{done.stderr}"
            assert "0 failed" in done.stdout, f"{scenario}: {done.stdout}"
