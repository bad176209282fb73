"""What the pages tell to write is what ``install`` writes; what the registry is told is so."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from tokenmizer_mw import __version__
from tokenmizer_mw.agents.install import HOSTS, plan_changes
from tokenmizer_mw.agents.mcp.opening import TOOL_LIST
from tokenmizer_mw.agents.mcp.tools import _OTHER_NAMES
from tokenmizer_mw.cli.running import AGENTS
from tokenmizer_mw.settings import Settings

from .test_tools import READ_ONLY, TOOLS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
AGENTS_PAGE = (ROOT / "docs" / "coding-agents.md").read_text(encoding="utf-8")


def test_every_tool_is_on_the_page() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| (\w+) \|$", PAGE, flags=re.MULTILINE))
    assert set(rows) == TOOLS
    assert {name for name, does in rows.items() if does == "reads"} == READ_ONLY


def test_the_arguments_of_every_tool_are_on_the_page() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", PAGE, flags=re.MULTILINE))
    for tool in json.loads(TOOL_LIST.read_bytes())["tools"]:
        schema = tool["inputSchema"]
        needed = schema.get("required", [])
        listed = re.findall(r"(\[?)`(\w+)`", rows[tool["name"]])
        assert {name for _, name in listed} == set(schema["properties"]), tool["name"]
        assert {name for bracket, name in listed if not bracket} == set(needed), tool["name"]


def test_the_other_names_of_arguments_are_on_the_page() -> None:
    (paragraph,) = (one for one in PAGE.split("\n\n") if one.startswith("Some arguments may have another name"))
    assert {*_OTHER_NAMES} <= set(re.findall(r"`(\w+)`", paragraph))


@pytest.mark.parametrize("host", ["cursor", "vscode", "claude-code", "codex"])
def test_configurations_are_those_that_install_writes(host: str, tmp_path: Path) -> None:
    written = [change.after or "" for change in plan_changes(host, tmp_path, tmp_path, project=True)]
    blocks = re.findall(r"```(?:json|toml)\n(.*?)```", PAGE, flags=re.DOTALL)
    assert any(block in written for block in blocks)


def test_every_block_can_be_read() -> None:
    for kind, block in re.findall(r"```(json|toml)\n(.*?)```", PAGE, flags=re.DOTALL):
        assert json.loads(block) if kind == "json" else tomllib.loads(block)


def test_every_host_is_offered() -> None:
    assert set(AGENTS) == set(HOSTS)
    assert all(host in AGENTS_PAGE for host in HOSTS)


def test_variables_are_those_that_are_read() -> None:
    package = ROOT / "tokenmizer_mw"
    agents = package / "agents"
    paths = [*(agents / "hooks").glob("*.py"), *(agents / "mcp").glob("*.py"), *(package / "store").glob("[ao]*.py")]
    code = "".join(path.read_text() for path in paths)
    settings = {f"TOKENMIZER_{field.name.upper()}" for field in fields(Settings)}
    for name in set(re.findall(r"TOKENMIZER_[A-Z_]+", AGENTS_PAGE + PAGE)) - {"TOKENMIZER_"} - settings:
        assert f'"{name}"' in code, name


def test_the_registry_is_told_what_is_so() -> None:
    told = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", told["name"])
    assert f"mcp-name: {told['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(told["description"]) <= 100
    (package,) = told["packages"]
    assert told["version"] == package["version"] == __version__
    assert package["transport"] == {"type": "stdio"}
