"""The real coding agents, where they are installed: a change of the base URL, and their sessions are remembered.

make agents; PATH="$PWD/.agents/node_modules/.bin:$PATH" pytest tests/proxy/test_agents.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.upstream.server import Upstream

from .serving import Served, configured, serving

SAID = "Which database do we use?"
SECONDS = 180.0

CODEX = """\
model = "fake-n3"
web_search = "disabled"
model_provider = "tokenmizer"
[model_providers.tokenmizer]
name = "tokenmizer"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""


def run(folder: Path, *command: str, **environment: str) -> str:
    """What an agent prints. It knows nothing of this machine's owner."""
    (folder / "work").mkdir(exist_ok=True)
    done = subprocess.run(
        command,
        cwd=folder / "work",
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    return done.stdout + done.stderr


def claude(folder: Path, url: str, model: str) -> str:
    environment = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "made-up"}
    environment["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1"
    return run(folder, "claude", "-p", SAID, "--model", model, **environment)


def codex(folder: Path, url: str, model: str) -> str:
    (folder / ".codex").mkdir()
    (folder / ".codex" / "config.toml").write_text(CODEX.format(url=url), encoding="utf-8")
    return run(folder, "codex", "exec", "--skip-git-repo-check", "-m", model, SAID, OPENAI_API_KEY="made-up")


def the_session(served: Served) -> list[tuple[str, str]]:
    (session,) = served.sessions()
    return served.said(session)


@pytest.mark.skipif(shutil.which("claude") is None, reason="Claude Code is not installed")
@pytest.mark.parametrize("model", ["fake-n3", "openai/fake-n3"], ids=["as it is", "translated"])
def test_claude_code(tmp_path: Path, upstream: Upstream, model: str) -> None:
    with serving(configured(upstream, {"OPENAI_API_KEY": "ours"})) as served:
        printed = claude(tmp_path, served.url, model)
        assert "You said:" in printed
        assert any(role == "user" and SAID in text for role, text in the_session(served))


@pytest.mark.skipif(shutil.which("codex") is None, reason="Codex is not installed")
@pytest.mark.parametrize("model", ["fake-n3", "anthropic/fake-n3", "gemini/fake-n3"])
def test_codex(tmp_path: Path, upstream: Upstream, model: str) -> None:
    with serving(configured(upstream, {"ANTHROPIC_API_KEY": "ours", "GEMINI_API_KEY": "ours"})) as served:
        printed = codex(tmp_path, served.url, model)
        assert "You said:" in printed and "ERROR" not in printed
        said = the_session(served)
    assert ("user", SAID) in said
    assert said[-1][0] == "assistant"
