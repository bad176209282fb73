"""The plugins, as the hosts themselves read and install them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tokenmizer_mw import __version__

from .agent import PLUGIN, Desk, program

CODEX = PLUGIN.parent / "codex"
SKILLS = ("analyze", "checkpoint", "resume", "stats", "why")
claude = pytest.mark.skipif(program("claude") is None, reason="Claude Code is not installed: make agents")
codex = pytest.mark.skipif(program("codex") is None, reason="Codex is not installed: make agents")


def ran(desk: Desk, *command: str) -> str:
    done = desk.run(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.decode()


@pytest.mark.nightly
@claude
@pytest.mark.parametrize("manifest", ["plugin.json", "marketplace.json"])
def test_claude_code_finds_the_manifests_valid(at_desk: Desk, manifest: str) -> None:
    ran(at_desk, "claude", "plugin", "validate", "--strict", str(PLUGIN / ".claude-plugin" / manifest))


@pytest.mark.nightly
@claude
def test_claude_code_installs_it(at_desk: Desk) -> None:
    ran(at_desk, "claude", "plugin", "marketplace", "add", str(PLUGIN))
    ran(at_desk, "claude", "plugin", "install", "tokenmizer@tokenmizer-mw")
    told = ran(at_desk, "claude", "plugin", "details", "tokenmizer")
    assert "Skills (5)  analyze, checkpoint, resume, stats, why" in told
    assert "Hooks (5)" in told
    assert "MCP servers (1)" in told


@codex
def test_codex_installs_it(at_desk: Desk) -> None:
    ran(at_desk, "codex", "plugin", "marketplace", "add", str(CODEX))
    ran(at_desk, "codex", "plugin", "add", "tokenmizer@tokenmizer-mw")
    assert "installed, enabled" in ran(at_desk, "codex", "plugin", "list")


@pytest.mark.parametrize("folder", [PLUGIN, CODEX], ids=lambda folder: folder.name)
def test_skills_say_when_to_use_them(folder: Path) -> None:
    assert sorted(path.name for path in (folder / "skills").iterdir()) == list(SKILLS)
    for name in SKILLS:
        text = (folder / "skills" / name / "SKILL.md").read_text()
        _, head, body = text.split("---\n", 2)
        told = yaml.safe_load(head)
        assert told["name"] == name
        assert "Use " in told["description"]
        assert "`tokenmizer`" in body


def test_versions_are_the_package_s() -> None:
    for path in (PLUGIN / ".claude-plugin" / "plugin.json", CODEX / ".codex-plugin" / "plugin.json"):
        assert json.loads(path.read_text())["version"] == __version__
