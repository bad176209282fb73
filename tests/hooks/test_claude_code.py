"""The real Claude Code with the plugin: work, a compaction, more work, a restart. Installed by ``make agents``."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path

import pytest

from tests.upstream.answer import Scripted
from tests.upstream.request import Received
from tests.upstream.server import Upstream
from tests.waiting import eventually
from tokenmizer_mw import SessionMemory

from .agent import SECONDS, TOOLS, Desk, Session, blocks, desk, new_name, program

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(program("claude") is None, reason="Claude Code is not installed: make agents"),
]

RUNS = int(os.environ.get("TOKENMIZER_AGENT_RUNS", "1"))
"""How often the story is told."""


@pytest.fixture
def at_desk(tmp_path: Path, upstream: Upstream) -> Desk:
    with desk(tmp_path, upstream.url) as found:
        yield found


def work(session: Session, upstream: Upstream) -> None:
    session.say("We use PostgreSQL for the orders. Never push to main.")
    write = ("Write", {"file_path": "notes.txt", "content": "port 8080"})
    upstream.script.extend([Scripted(text="I write it down.", calls=(write,)), Scripted(text="Written.")])
    session.say("Write down that the port is 8080.")


def has_tools(sent: Received) -> bool:
    return any(tool["name"].startswith(TOOLS) for tool in sent.json["tools"])


def recorded(desk: Desk, words: str) -> bool:
    """Whether a message is in the store, which hooks write to behind their answers."""
    with closing(SessionMemory.open(f"sqlite:///{desk.store}")) as memory:
        return any(words in each.message.text for info in memory.sessions() for each in memory.messages(info.id))


@pytest.mark.parametrize("run", range(RUNS))
def test_block_after_compaction_and_restart_never_twice(at_desk: Desk, upstream: Upstream, run: int) -> None:
    name = new_name()
    with Session(at_desk, upstream, name) as session:
        work(session, upstream)
        session.say("/compact")
        (after,) = session.say("Go on with the orders.")
        (block,) = blocks(after)
        assert "PostgreSQL" in block
        assert "Never push to main" in block
        (later,) = session.say("And then?")
        assert blocks(later) == [block]
    with Session(at_desk, upstream, name, resume=True) as session:
        (restarted,) = session.say("Back again.")
        assert blocks(restarted) == [block]


def test_restart_without_compaction_then_compaction_at_once(at_desk: Desk, upstream: Upstream) -> None:
    """What is handed out right before a compaction survives it: it is not handed out again."""
    name = new_name()
    with Session(at_desk, upstream, name) as session:
        work(session, upstream)
    with Session(at_desk, upstream, name, resume=True) as session:
        session.say("/compact")
        (after,) = session.say("Go on.")
        assert len(blocks(after)) == 1
        (later,) = session.say("And then?")
        assert blocks(later) == blocks(after)
    with Session(at_desk, upstream, name, resume=True) as session:
        (restarted,) = session.say("Back again.")
        assert blocks(restarted) == blocks(after)
        session.say("/compact")
        (again,) = session.say("Go on.")
        assert len(blocks(again)) == 1


def test_compactions_that_the_agent_makes_by_itself(at_desk: Desk, upstream: Upstream) -> None:
    at_desk.environment |= {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "50000", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "20"}
    found: list[list[str]] = []
    with Session(at_desk, upstream, new_name()) as session:
        session.say("We use PostgreSQL for the orders. Never push to main.")
        for number in range(4):
            sent = session.say(f"Question {number}: " + "lorem ipsum dolor " * 3_000)
            found.append(blocks(sent[-1]))
    assert [len(one) for one in found] == [0, 1, 1, 1]
    assert all("Never push to main" in block for one in found for block in one)


def test_the_agent_asks_our_tools(at_desk: Desk, upstream: Upstream) -> None:
    with Session(at_desk, upstream, new_name()) as session:
        session.say("Switch from SQLite to PostgreSQL because of concurrent writes.")
        assert eventually(lambda: has_tools(session.say("Are the tools there?")[-1]), SECONDS)
        assert eventually(lambda: recorded(at_desk, "concurrent writes"), SECONDS)
        upstream.script.extend(
            [Scripted(calls=((f"{TOOLS}why_decision", {"text": "PostgreSQL"}),)), Scripted(text="So.")]
        )
        told = session.say("Why PostgreSQL?")[-1].json["messages"]
    (result,) = [block for block in told[-1]["content"] if block["type"] == "tool_result"]
    assert not result.get("is_error")
    assert "concurrent writes" in json.dumps(result["content"])
