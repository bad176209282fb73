"""The real Claude Code through the proxy, with a small window: its long requests are cut, though it sends edits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hooks.agent import Session, blocks, desk, new_name, program
from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream

from .serving import configured, serving

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(program("claude") is None, reason="Claude Code is not installed: make agents"),
]

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


def test_after_its_own_compaction_the_block_is_handed_back(tmp_path: Path, upstream: Upstream) -> None:
    with (
        serving(configured(upstream, {}, memory={"context_window": WINDOW, "reminder_tokens": 0})) as served,
        desk(tmp_path, served.url) as at_desk,
    ):
        with Alone(at_desk, upstream, name := new_name()) as session:
            for number in range(3):
                upstream.script.append(Scripted(text=f"Part {number} is done. " + "It keeps the orders sorted. " * 50))
                before = session.say(f"Never skip a test of part {number}. We use PostgreSQL for part {number}.")
            upstream.script.append(Scripted(text="<summary>The user builds a shop in parts.</summary>"))
            compaction = session.say("/compact")
            sent = []
            for number in range(3, 5):
                upstream.script.append(Scripted(text=f"Part {number} is done."))
                sent.append(session.say(f"Now do part {number}.")[-1])
        counters = served.memory.counters()
        labels = [node.label for node in served.memory.graph(name).nodes()]
        said = [text for role, text in served.said(name) if role == "assistant"]
    assert not any(blocks(received) for received in (*before, *compaction))
    found = [blocks(received) for received in sent]
    assert [len(each) for each in found] == [1, 1]
    assert found[0] == found[1]
    assert "PostgreSQL" in found[0][0]
    assert "being continued" in json.dumps(sent[0].json)
    assert counters["block_handed_back"] == 1
    assert [text.partition(".")[0] for text in said] == [f"Part {number} is done" for number in range(5)]
    assert not [label for label in labels if "tool" in label.lower() or "respond" in label.lower()]
