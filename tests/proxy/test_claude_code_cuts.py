"""The real Claude Code through the proxy, with a small window: its long requests are cut, though it sends edits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hooks.agent import Session, desk, new_name, program
from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream

from .serving import configured, serving

pytestmark = pytest.mark.skipif(program("claude") is None, reason="Claude Code is not installed: make agents")

WINDOW = 44_000


class Alone(Session):
    """Claude Code without our plugin, through the proxy alone."""

    plugin = False


def test_long_sessions_are_cut(tmp_path: Path, upstream: Upstream) -> None:
    with (
        serving(configured(upstream, {}, memory={"context_window": WINDOW})) as served,
        desk(tmp_path, served.url) as at_desk,
    ):
        with Alone(at_desk, upstream, new_name()) as session:
            for number in range(12):
                upstream.script.append(Scripted(text=f"Part {number} is done. " + "It keeps the orders sorted. " * 300))
                sent = session.say(f"Never skip a test of part {number}. " + "Mind the orders of the past. " * 200)
        counters = served.memory.counters()
    assert {"type": "clear_thinking_20251015", "keep": "all"} in sent[-1].json["context_management"]["edits"]
    assert counters["cut_made"] >= 1
    assert "not_cut_clear_thinking" not in counters
    assert "session-record" in json.dumps(sent[-1].json)
