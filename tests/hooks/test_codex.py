"""The real Codex with our hooks, as ``install`` writes them. Installed by ``make agents``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.upstream.server import Upstream
from tokenmizer_mw.agents.install import plan_changes

from .agent import blocks, desk, program

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(program("codex") is None, reason="Codex is not installed: make agents"),
]

PROVIDER = """\
model = "fake-n3"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""


def test_block_after_restart_never_twice(tmp_path: Path, upstream: Upstream) -> None:
    with desk(tmp_path, upstream.url) as at_desk:
        at_desk.environment["OPENAI_API_KEY"] = "made-up"
        config = at_desk.home / ".codex" / "config.toml"
        config.parent.mkdir()
        config.write_text(PROVIDER.format(url=upstream.url))
        for change in plan_changes("codex", at_desk.home, at_desk.project):
            change.carry_out()
        options = ("--dangerously-bypass-hook-trust", "--skip-git-repo-check")  # a person is asked once

        def say(text: str, *resume: str) -> list[str]:
            before = upstream.statistics.requests
            done = at_desk.run("codex", "exec", *resume, *options, text)
            assert done.returncode == 0, done.stderr
            (sent,) = [one for one in upstream.since(before) if one.path.endswith("/responses")]
            return blocks(sent)

        assert say("We use PostgreSQL for the orders. Never push to main.") == []
        (block,) = say("Go on.", "resume", "--last")
        assert "PostgreSQL" in block
        assert "Never push to main" in block
        assert say("And then?", "resume", "--last") == [block]
        (other,) = say("Something else.")
        assert "Never push to main" in other
