"""The real coding agents, where they are installed: a change of the base URL, and their sessions are remembered.

make agents; PATH="$PWD/.agents/node_modules/.bin:$PATH" pytest tests/proxy/test_agents.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.hooks.agent import Session, desk, new_name, program
from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream
from tokenmizer_mw.model.node import NodeType

from .serving import Served, configured, serving

pytestmark = pytest.mark.nightly

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


@pytest.mark.skipif(shutil.which("aider") is None, reason="aider is not installed: make agents")
def test_aider(tmp_path: Path, upstream: Upstream) -> None:
    """It names no session; what it says of files, and its examples, are not its user's word."""
    project = tmp_path / "shop"
    project.mkdir()
    (project / "shop.py").write_text("def order():\n    return 1\n", encoding="utf-8")
    options = (
        "--no-git",
        "--no-check-update",
        "--no-show-model-warnings",
        "--yes-always",
        "--no-pretty",
        "--no-stream",
    )
    options += ("--no-show-release-notes", "--no-detect-urls", "--analytics-disable", "--edit-format", "diff")
    with serving(configured(upstream, {"OPENAI_API_KEY": "ours"})) as served:
        environment = {"OPENAI_API_BASE": f"{served.url}/v1", "OPENAI_API_KEY": "made-up"}
        environment |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HOME": str(tmp_path), "PATH": os.environ["PATH"]}
        edit = "shop.py\n```python\n<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE\n```"
        upstream.script.extend([Scripted(text="Understood."), Scripted(text=edit), Scripted(text="Redis.")])
        subprocess.run(
            ["aider", "--model", "openai/fake-n3", *options, "shop.py"],
            cwd=project,
            env=environment,
            input=f"{QUESTION}\nWhat is next?\nWhich cache?\n",
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        (session,) = served.sessions()
        said = [text for role, text in served.said(session) if role == "user"]
        told = [text.partition("\n")[0] for text in said]
        sent = [call.body.decode() for call in upstream.calls if b"Which cache?" in call.body]
        labels = [node.label for node in served.memory.graph(session).nodes() if node.type in WORDS]
    assert told == [QUESTION, "What is next?", "I updated the files.", "Which cache?"]
    assert all("return 2" in body and "added these files" in body for body in sent)
    assert any("push to main" in label for label in labels)
    for host in ("factorial", "hello", "SEARCH", "READ", "add them to the chat", "code base", "Trust this"):
        assert not any(host in label for label in labels), (host, labels)


QUESTION = "We use PostgreSQL for the orders. Never push to main."

WORDS = (NodeType.GOAL, NodeType.DECISION, NodeType.TASK)
"""What only a speaker's words make."""

SUMMARY = """\
<analysis>They chose a database.</analysis>
<summary>
1. Primary Request: orders are in PostgreSQL.
2. Pending Tasks: write the billing page. Never delete the backups.
</summary>"""


@pytest.mark.skipif(program("claude") is None, reason="Claude Code is not installed: make agents")
def test_prompts_of_claude_code_are_not_the_users_word(tmp_path: Path, upstream: Upstream) -> None:
    """Its reminders, its prompt for a compaction and its notice after one make no facts."""
    name = new_name()
    with serving(configured(upstream)) as served, desk(tmp_path, served.url) as at_desk:
        del at_desk.environment["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"]  # titles of sessions are such traffic
        at_desk.environment["DISABLE_AUTOUPDATER"] = "1"
        with Session(at_desk, upstream, name, plugin=False) as session:
            for said, reply in (
                ("We use PostgreSQL for the orders. Never push to main.", "Understood."),
                ("Which cache do we take?", "Redis would do."),
                ("Add a queue.", "It is there."),
                ("/compact", SUMMARY),
                ("Go on with the orders.", "They are done."),
            ):
                upstream.script.clear()
                upstream.script.extend([Scripted(text=reply)] * 3)
                session.say(said)
        upstream.script.clear()
        assert any("Respond with TEXT ONLY" in call.body.decode() for call in upstream.calls)
        assert any("session is being continued" in call.body.decode() for call in upstream.calls)
        assert served.sessions() == [name]
        said = [text for role, text in served.said(name) if role == "user"]
        assert not any("TEXT ONLY" in text or "Write the title" in text for text in said)
        assert served.memory.counters()["side_call"] >= 1
        graph = served.memory.graph(name)
        theirs = [
            node.label for node in graph.nodes() if node.type in (NodeType.GOAL, NodeType.DECISION, NodeType.TASK)
        ]
    own = ("PostgreSQL", "push to main", "cache", "queue", "orders", "Redis")
    assert [label for label in theirs if not any(word in label for word in own)] == []
    assert any("push to main" in label for label in theirs)
    assert not any("backups" in label or "billing" in label for label in theirs)
