"""``check`` where the extra ``proxy`` is not installed: the store is looked at all the same."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

from tokenmizer_mw.agents.install import plan_changes
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.store.open import open_log


def check(*arguments: str, home: Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('httpx2', 'uvicorn', 'cryptography', 'httptools')));"
        " from tokenmizer_mw.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", code, "check", *arguments]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "HOME": str(home), "PATH": path, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder or home, env=environment)


NO_AGENTS = (
    "fine   agents: neither hooks nor MCP server in the configuration of claude-code, codex, cursor, vscode"
    " (tokenmizer-mw install HOST); plugins are not looked at"
)


def test_a_store_is_looked_at_without_the_proxy(tmp_path: Path) -> None:
    log = open_log(f"sqlite:///{tmp_path / 'chat.db'}")
    log.secret()
    log.close()
    done = check("--store", f"sqlite:///{tmp_path / 'chat.db'}", home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"fine   store: {tmp_path / 'chat.db'} opens; sessions of the default tenant, local: 0",
        "fine   proxy: not installed; library, middleware, hooks and MCP do not need it"
        f" (to run one: {install_hint('proxy')})",
        NO_AGENTS,
    ]


def test_the_store_may_come_from_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "proxy.yaml").write_text("store: sqlite:///chat.db\n", encoding="utf-8")
    done = check("--config", str(tmp_path / "proxy.yaml"), "--json", home=tmp_path)
    [store, proxy, _] = json.loads(done.stdout)
    assert store == {"grade": "fine", "place": "store", "text": f"{tmp_path / 'chat.db'} will be created"}
    assert (
        proxy["grade"] == "note" and "proxy.yaml: only its store is checked: httpx2 is not installed" in proxy["text"]
    )


def test_a_remote_store_is_tried_without_the_proxy(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/none?timeout=0.5"
        command = f"tokenmizer-mw check --reach --store '{store}'"
        untried = check("--store", store, home=tmp_path)
        assert untried.stdout.startswith(f"note   store: postgresql://: not tried; to connect to it: {command}\n")
        tried = check("--store", store, "--reach", home=tmp_path)
    assert tried.returncode == 1
    assert tried.stdout.startswith("wrong  store: PostgreSQL: did not answer in time\n")


def test_a_store_that_cannot_be_used_is_an_error_without_the_proxy(tmp_path: Path) -> None:
    (tmp_path / "chat.db").write_text("this is no database " * 100, encoding="utf-8")
    done = check("--store", f"sqlite:///{tmp_path / 'chat.db'}", home=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("wrong  store: ")


def test_hooks_that_cannot_run_or_run_twice_are_named(tmp_path: Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    project = tmp_path / "here"
    project.mkdir()
    for change in plan_changes("claude-code", tmp_path, project):
        change.carry_out()
    text = settings.read_text("utf-8")
    ours = json.loads(text)["hooks"]["Stop"][0]["hooks"][0]["command"].split()[0]
    settings.write_text(text.replace(ours, "/nowhere/bin/tokenmizer-mw"), "utf-8")
    done = check("--store", f"sqlite:///{tmp_path / 'chat.db'}", home=tmp_path, folder=project)
    assert done.returncode == 1
    said = f"wrong  claude-code: hooks in {settings}: /nowhere/bin/tokenmizer-mw does not exist"
    assert sum(line.startswith(said) for line in done.stdout.splitlines()) == 1
    assert "registered 2 times" not in done.stdout
    for change in plan_changes("claude-code", tmp_path, project, project=True):
        change.carry_out()
    done = check("--store", f"sqlite:///{tmp_path / 'chat.db'}", home=tmp_path, folder=project)
    assert "note   claude-code: hooks are registered 2 times" in done.stdout


def test_hooks_and_mcp_servers_of_agents_are_named(tmp_path: Path) -> None:
    """Those of the user and of the project, also in a file that only its user can change."""
    for change in (
        *plan_changes("claude-code", tmp_path, tmp_path),
        *plan_changes("vscode", tmp_path, tmp_path, project=True),
    ):
        change.carry_out()
    codex = tmp_path / ".codex" / "hooks.json"
    codex.parent.mkdir()
    codex.write_text('{ // mine\n "hooks": {"Stop": [{"hooks": [{"command": "tokenmizer-mw hook Stop"}]}]}}')
    lines = check("--store", f"sqlite:///{tmp_path / 'chat.db'}", home=tmp_path).stdout.splitlines()
    assert lines[2:] == [
        f"fine   claude-code: hooks registered in {tmp_path / '.claude' / 'settings.json'}",
        f"fine   claude-code: MCP server registered in {tmp_path / '.claude.json'}",
        f"fine   codex: hooks registered in {codex}",
        f"fine   vscode: hooks registered in {tmp_path / '.github' / 'hooks' / 'tokenmizer.json'}",
        f"fine   vscode: MCP server registered in {tmp_path / '.vscode' / 'mcp.json'}",
    ]
