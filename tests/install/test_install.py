"""Configurations of hosts, as their users have them, before, with and without us."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

from tests.services import run_without
from tokenmizer_mw.agents.install import HOSTS, LeftAlone, plan_changes
from tokenmizer_mw.errors import CallerError

THEIRS = {
    ".claude/settings.json": """{
    "model": "opus",
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]}
        ],
        "PreToolUse": []
    },
    "permissions": {"allow": ["Bash(ls:*)"]}
}
""",
    ".claude.json": '{"numStartups": 12, "mcpServers": {"files": {"command": "files-mcp"}}, "tips": ["caf\\u00e9"]}',
    ".mcp.json": '{\n\t"mcpServers": {\n\t\t"files": {"command": "files-mcp"}\n\t}\n}\n',
    ".codex/config.toml": 'model = "gpt-5"  # mine\n\n[mcp_servers.files]\ncommand = "files-mcp"\n\n[tui]\nx = true',
    ".codex/hooks.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}\r\n',
    ".cursor/mcp.json": '{\n  "mcpServers": {\n    "files": {\n      "command": "files-mcp"\n    }\n  }\n}',
    ".cursor/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "./done.sh"}]}}',
    ".vscode/mcp.json": '{"servers": {"files": {"type": "stdio", "command": "files-mcp"}}, "inputs": []}',
}
CASES = [(host, project) for host in HOSTS for project in (False, True)]


def written(host: str, home: Path, folder: Path, **how: bool) -> list[Path]:
    changes = [change for change in plan_changes(host, home, folder, **how) if change.before != change.after]
    for change in changes:
        change.carry_out()
    return [change.path for change in changes]


@pytest.fixture(params=[False, True], ids=["nothing there", "in use"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param:
        for name, text in THEIRS.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text.encode())
    return tmp_path


def snapshot(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".before-tokenmizer" not in path.name)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize(("host", "project"), CASES)
def test_written_once_and_taken_out_without_a_trace(host: str, project: bool, home: Path) -> None:
    before = snapshot(home)
    assert written(host, home, home, project=project)
    during = snapshot(home)
    assert during != before
    assert written(host, home, home, project=project) == []
    written(host, home, home, project=project, remove=True)
    assert snapshot(home) == before
    assert written(host, home, home, project=project, remove=True) == []


@pytest.mark.parametrize(("host", "project"), CASES)
def test_every_file_can_be_read_by_its_host(host: str, project: bool, home: Path) -> None:
    for path in written(host, home, home, project=project):
        text = path.read_text()
        told = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        servers = told.get("mcpServers") or told.get("servers") or told.get("mcp_servers")
        if servers is not None:
            assert servers["tokenmizer"]["args"] == ["mcp"]
            assert servers["tokenmizer"]["command"].endswith("tokenmizer-mw")
            assert os.path.isabs(servers["tokenmizer"]["command"]) is not project
        for event, entries in told.get("hooks", {}).items():
            ours = [entry for entry in entries if "tokenmizer-mw" in json.dumps(entry)]
            assert len(ours) == (event != "PreToolUse")
            assert f"hook {event}" in json.dumps(ours) or not ours


def test_an_older_entry_of_ours_is_replaced(tmp_path: Path) -> None:
    old = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/old/bin/tokenmizer-mw hook Stop"}]}]}}
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps(old))
    written("claude-code", tmp_path, tmp_path)
    assert len(json.loads(settings.read_text())["hooks"]["Stop"]) == 1
    assert "/old/bin" not in settings.read_text()


def test_what_a_file_was_is_kept(tmp_path: Path) -> None:
    path = tmp_path / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text("{}")
    path.chmod(0o640)
    written("cursor", tmp_path, tmp_path)
    assert path.with_name("mcp.json.before-tokenmizer").read_text() == "{}"
    assert path.stat().st_mode & 0o777 == 0o640
    written("cursor", tmp_path, tmp_path, remove=True)
    assert path.with_name("mcp.json.before-tokenmizer-1").exists()


def test_what_the_installation_created_leaves_no_copies(tmp_path: Path) -> None:
    """What stays of the user's files is named, and what to do next is said."""
    settings = put_into(tmp_path, ".claude/settings.json", '{"model": "opus"}')
    assert (
        "Restart the agent and send a prompt; then `tokenmizer-mw sessions`"
        in command(tmp_path, "claude-code", "--yes").stderr
    )
    told = command(tmp_path, "claude-code", "--remove", "--yes").stderr
    copies = [settings.with_name(f"settings.json.before-tokenmizer{end}") for end in ("", "-1")]
    assert sorted(tmp_path.rglob("*.before-tokenmizer*")) == copies
    assert f"are left, to delete when you no longer need them: {copies[0]}, {copies[1]}\n" in told
    assert "trust the hooks" in command(tmp_path, "codex", "--yes").stderr
    assert "Copies" not in command(tmp_path, "codex", "--remove", "--yes").stderr


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text('{"a": 1}')
    link = tmp_path / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(real)
    written("cursor", tmp_path, tmp_path)
    assert link.is_symlink()
    assert "tokenmizer" in real.read_text()


def test_a_file_with_comments_is_left_alone_and_the_user_told_what_to_add(tmp_path: Path) -> None:
    path = tmp_path / ".vscode" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{\n  // my servers\n  "servers": {}\n}')
    with pytest.raises(LeftAlone, match=r"mcp.json is left alone: it is not plain JSON \(line 2 has a c") as left:
        plan_changes("vscode", tmp_path, tmp_path, project=True)
    assert "tokenmizer" in json.loads(left.value.by_hand[path])["servers"]
    hooks = tmp_path / ".github" / "hooks" / "tokenmizer.json"
    assert "Stop" in json.loads(left.value.by_hand[hooks])["hooks"]
    assert not hooks.exists()
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text("model = \n")
    with pytest.raises(LeftAlone, match="not TOML"):
        plan_changes("codex", tmp_path, tmp_path)


def test_what_to_add_by_hand_is_printed_as_it_can_be_pasted(tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text("model = \n")
    told = command(tmp_path, "codex", "--yes").stderr
    _, hooks, rest = told.split("by hand:\n")
    assert "Stop" in json.loads(hooks.rpartition("Add this to ")[0])["hooks"]
    snippet, _, sentence = rest.rpartition("tokenmizer-mw: error: ")
    assert tomllib.loads(snippet)["mcp_servers"]["tokenmizer"]["args"] == ["mcp"]
    assert "config.toml is left alone" in sentence
    assert len(sentence.splitlines()) == 1


def test_settings_with_a_comment_show_the_hooks_and_the_server_to_paste(tmp_path: Path) -> None:
    settings = put_into(tmp_path, ".claude/settings.json", '{\n  // mine\n  "model": "opus"\n}\n')
    done = command(tmp_path, "claude-code", "--yes")
    hooks, servers = done.stderr.split("by hand:\n")[1:]
    assert f"Add this to {settings} by hand:" in done.stderr
    assert "SessionStart" in json.loads(hooks.rpartition("Add this to ")[0])["hooks"]
    server, _, sentence = servers.rpartition("tokenmizer-mw: error: ")
    assert json.loads(server)["mcpServers"]["tokenmizer"]["args"] == ["mcp"]
    assert sentence.startswith(f"nothing was written: {settings} is left alone: it is not plain JSON (line 2 has a com")
    assert done.returncode == 2
    assert not (tmp_path / ".claude.json").exists()


def put_into(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("host", ["claude-code", "cursor", "codex"])
def test_what_the_user_added_to_our_entry_stays(host: str, tmp_path: Path) -> None:
    written(host, tmp_path, tmp_path)
    if host == "codex":
        path = tmp_path / ".codex" / "config.toml"
        path.write_text(path.read_text() + '\n[mcp_servers.tokenmizer.env]\nTOKENMIZER_STORE = "sqlite:///x.db"\n')
    else:
        path = tmp_path / (".claude.json" if host == "claude-code" else ".cursor/mcp.json")
        told = json.loads(path.read_text())
        told["mcpServers"]["tokenmizer"]["env"] = {"TOKENMIZER_STORE": "sqlite:///x.db"}
        path.write_text(json.dumps(told))
    before = path.read_text()
    assert written(host, tmp_path, tmp_path) == []
    command = json.loads(before)["mcpServers"]["tokenmizer"]["command"] if host != "codex" else sys.executable
    command = str(Path(sys.executable).parent / "tokenmizer-mw") if host == "codex" else command
    path.write_text(before.replace(command, "/old/bin/tokenmizer-mw"))
    assert written(host, tmp_path, tmp_path) == [path]
    assert "sqlite:///x.db" in path.read_text()
    assert "/old/bin" not in path.read_text()


def test_hooks_of_the_user_that_look_like_ours_stay(tmp_path: Path) -> None:
    theirs = ["my-tokenmizer-mw hook Stop-wrapper.sh", "tokenmizer-mw hook Stop && say done", "echo 'it", ""]
    entries = [{"hooks": [{"type": "command", "command": one}]} for one in theirs]
    path = put_into(tmp_path, ".claude/settings.json", json.dumps({"hooks": {"Stop": entries}}))
    before = path.read_text()
    written("claude-code", tmp_path, tmp_path)
    assert json.loads(path.read_text())["hooks"]["Stop"][:-1] == entries
    written("claude-code", tmp_path, tmp_path, remove=True)
    assert path.read_text() == before


def test_a_matcher_on_our_entry_stays(tmp_path: Path) -> None:
    hook = {"type": "command", "command": "'/old bin/tokenmizer-mw' hook SessionStart", "timeout": 5}
    entry = {"matcher": "compact", "hooks": [hook]}
    path = put_into(tmp_path, ".claude/settings.json", json.dumps({"hooks": {"SessionStart": [entry, entry]}}))
    written("claude-code", tmp_path, tmp_path)
    (found,) = json.loads(path.read_text())["hooks"]["SessionStart"]
    assert (found["matcher"], found["hooks"][0]["timeout"]) == ("compact", 5)
    assert "/old bin" not in found["hooks"][0]["command"]
    assert written("claude-code", tmp_path, tmp_path) == []


def test_a_file_that_says_something_twice_is_left_alone(tmp_path: Path) -> None:
    put_into(tmp_path, ".claude/settings.json", '{"hooks": {"Stop": []}, "hooks": {}}')
    for remove in (False, True):
        with pytest.raises(LeftAlone, match="twice"):
            plan_changes("claude-code", tmp_path, tmp_path, remove=remove)


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "hooks": {\n    "PreCompact": [],\n    "Stop": []\n  }\n}\n',
        '{"hooks": {"PreCompact":[]}}',
        '{"hooks": {}, "a": 1}',
    ],
)
def test_what_was_empty_before_is_there_afterwards(text: str, tmp_path: Path) -> None:
    path = put_into(tmp_path, ".claude/settings.json", text)
    servers = put_into(tmp_path, ".claude.json", '{\n  "mcpServers": {},\n  "numStartups": 1\n}')
    before = servers.read_text()
    written("claude-code", tmp_path, tmp_path)
    written("claude-code", tmp_path, tmp_path, remove=True)
    assert (path.read_text(), servers.read_text()) == (text, before)


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    (change, *_) = plan_changes("cursor", tmp_path, tmp_path)
    change.path.parent.mkdir()
    change.path.write_text('{"mine": 1}')
    with pytest.raises(CallerError, match="changed meanwhile"):
        change.carry_out()
    assert change.path.read_text() == '{"mine": 1}'


def command(home: Path, *arguments: str, answer: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tokenmizer_mw", "install", *arguments],
        cwd=home,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[2])},
        input=answer,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_dry_run_warns_of_a_missing_extra(tmp_path: Path) -> None:
    def without_uvicorn(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run_without("uvicorn", "-m", "tokenmizer_mw", "install", "cursor", *arguments, home=tmp_path)

    complete = command(tmp_path, "cursor", "--dry-run")
    assert (complete.returncode, complete.stderr) == (0, "")
    tried = without_uvicorn("--dry-run")
    assert tried.returncode == 0
    assert "nothing would be written" in tried.stderr and "[mcp]" in tried.stderr
    assert "tokenmizer" in tried.stdout
    refused = without_uvicorn("--yes")
    assert refused.returncode == 1
    assert "nothing was written" in refused.stderr
    assert without_uvicorn("--remove", "--yes").returncode == 0
    assert snapshot(tmp_path) == {}


def test_the_command_shows_the_difference_and_asks(tmp_path: Path) -> None:
    asked = command(tmp_path, "cursor", "--project")
    assert asked.returncode == 2
    assert '+    "tokenmizer": {' in asked.stdout
    assert "nobody is there to confirm: pass --yes" in asked.stderr
    assert command(tmp_path, "cursor", "--dry-run").returncode == 0
    declined = command(tmp_path, "cursor", "--project", answer="n\n")
    assert (declined.returncode, "nothing was written" in declined.stderr) == (2, True)
    assert snapshot(tmp_path) == {}
    assert command(tmp_path, "cursor", "--project", answer="y\n").returncode == 0
    assert snapshot(tmp_path) != {}
    assert command(tmp_path, "cursor", "--project", "--remove", "--yes").returncode == 0
    assert command(tmp_path, "cursor", "--project", "--yes").returncode == 0
    assert set(snapshot(tmp_path)) == {".cursor/mcp.json", ".cursor/hooks.json"}
    assert "nothing to do" in command(tmp_path, "cursor", "--project", "--yes").stderr
    removed = command(tmp_path, "cursor", "--project", "--remove", "--yes", "--json")
    assert len(json.loads(removed.stdout)) == 2
    assert "recorded sessions stay in the store" in removed.stderr
    assert snapshot(tmp_path) == {}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_difference_is_a_patch(tmp_path: Path) -> None:
    for name in (".claude/settings.json", ".claude.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(THEIRS[name].rstrip("\n") + "\n")
    changes = plan_changes("claude-code", tmp_path, tmp_path)
    patch = "".join(change.diff for change in changes).replace(str(tmp_path), "a")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply", "-p1", "-"], cwd=tmp_path, input=patch, text=True, check=True)
    assert [change.path.read_text() for change in changes] == [change.after for change in changes]


EXTRA = ("mcp", "httpx2", "httpcore2", "uvicorn", "platformdirs", "rich")


def test_bare_package_is_refused_with_the_name_of_the_extra(tmp_path: Path) -> None:
    """In an environment that has what the bare package needs and nothing of the extra ``mcp``."""
    installed, bare = Path(sysconfig.get_paths()["purelib"]), tmp_path / "bare"
    bare.mkdir()
    for path in installed.iterdir():
        if path.name.split("-")[0].split(".")[0] not in EXTRA and path.suffix != ".pth":
            (bare / path.name).symlink_to(path)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    home = tmp_path / "home"
    home.mkdir()
    code = "import sys; from tokenmizer_mw.cli import main; sys.exit(main())"
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [tmp_path / "venv" / "bin" / "python", "-c", code, "install", "claude-code", "--yes"],
        cwd=home,
        env={"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join((root, str(bare)))},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "pip install '" in done.stderr and "[mcp]'" in done.stderr
    assert list(home.iterdir()) == []
