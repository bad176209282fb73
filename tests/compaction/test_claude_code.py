"""The real Claude Code: its own compaction answered here, and the session that goes on from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.agent import Session, blocks, desk, new_name, program
from tests.proxy.serving import Served, call, configured, serving
from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream

from .clients import KEYS

PROMPT = "Your task is to create a detailed summary of the conversation so far.\nName every file."
RULES = ("Never push to the main branch.", "Always answer in French.", "Never delete the backups.")


SUMMARY = "<analysis>\nWe looked back.\n</analysis>\n\n<summary>\n1. Two tables hold the orders.\n</summary>"


class Alone(Session):
    """Claude Code without our plugin, through the proxy alone."""

    plugin = False


@pytest.mark.skipif(program("claude") is None, reason="Claude Code is not installed: make agents")
@pytest.mark.parametrize("setting", ["ours", "both"])
def test_three_compactions_keep_every_rule(tmp_path: Path, upstream: Upstream, setting: str) -> None:
    with (
        serving(configured(upstream, KEYS, memory={"agent_compaction": setting})) as served,
        desk(tmp_path, served.url) as at_desk,
        Alone(at_desk, upstream, name := new_name()) as session,
    ):
        for round_, rule in enumerate(RULES):
            for part in range(4):
                upstream.script.append(Scripted(text=f"Part {round_}.{part} is done. " + "It sorts the orders. " * 40))
                session.say(f"{rule} Now do part {round_}.{part}. We use PostgreSQL." if not part else f"And {part}.")
            upstream.script.extend([Scripted(text=SUMMARY)] if setting == "both" else [])
            assert len(session.say("/compact")) == (setting == "both")
            upstream.script.append(Scripted(text="On it."))
            sent = session.say("Go on with the orders.")[-1]
            (block,) = blocks(sent)
            assert "being continued" in json.dumps(sent.json)
            assert ("hold the orders" in json.dumps(sent.json)) == (setting == "both")
            for earlier in RULES[: round_ + 1]:
                assert earlier.rstrip(".") in block
        said = [text for role, text in served.said(name) if role == "user"]
        assert served.sessions() == [name]
        counted = "agent_compaction_answered" if setting == "ours" else "agent_compaction_followed"
        assert served.memory.counters()[counted] == len(RULES)
    assert not [text for text in said if "detailed summary" in text]
    assert sum(text.endswith("Go on with the orders.") for text in said) == len(RULES)


def asked(served: Served, name: str, *, stream: bool, content: Any = PROMPT) -> tuple[int, bytes]:
    said = [
        {"role": "user", "content": f"We build a shop with PostgreSQL. {RULES[0]}"},
        {"role": "assistant", "content": "Understood."},
        {"role": "user", "content": content},
    ]
    body = {"model": "fake-n3", "max_tokens": 99, "messages": said, "stream": stream}
    status, _, answer = call(served.port, "/v1/messages", json.dumps(body).encode(), {"x-session-id": name})
    return status, answer


@pytest.fixture(scope="module")
def answering(upstream: Upstream) -> Any:
    with serving(configured(upstream, KEYS, memory={"agent_compaction": "ours"})) as served:
        yield served


@pytest.fixture(scope="module")
def adding(upstream: Upstream) -> Any:
    with serving(configured(upstream, KEYS, memory={"agent_compaction": "both"})) as served:
        yield served


def streamed_text(answer: bytes) -> str:
    """What the deltas of a stream say."""
    events = [json.loads(line[6:]) for line in answer.splitlines() if line.startswith(b"data: ")]
    return "".join(one["delta"].get("text", "") for one in events if one["type"] == "content_block_delta")


@pytest.mark.parametrize("stream", [False, True])
def test_both_puts_the_block_behind_the_models_summary(adding: Served, upstream: Upstream, stream: bool) -> None:
    upstream.script.append(Scripted(text="<summary>They build a shop.</summary>"))
    status, answer = asked(adding, f"both-{stream}", stream=stream)
    assert status == 200
    said = streamed_text(answer) if stream else json.loads(answer)["content"][0]["text"]
    model, block = said.split("\n\n", 1)
    assert model == "<summary>They build a shop.</summary>"
    assert block.startswith("<session-record") and "push to the main branch" in block
    assert upstream.calls[-1].json["messages"][-1]["content"] == PROMPT
    assert not [text for _, text in adding.said(f"both-{stream}") if "session-record" in text]


def test_a_reply_that_calls_a_tool_stays_as_it_is(adding: Served, upstream: Upstream) -> None:
    upstream.script.append(Scripted(text="One moment.", calls=(("Bash", {"command": "ls"}),)))
    _, answer = asked(adding, "calls", stream=True)
    assert b"session-record" not in answer


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("content", [PROMPT, [{"type": "text", "text": PROMPT}]], ids=["text", "blocks"])
def test_the_answer_is_a_summary(answering: Served, upstream: Upstream, stream: bool, content: Any) -> None:
    before = upstream.statistics.requests
    status, answer = asked(answering, f"summary-{stream}-{type(content).__name__}", stream=stream, content=content)
    assert status == 200
    assert upstream.statistics.requests == before
    assert b"<summary>" in answer and b"push to the main branch" in answer
    assert answer.startswith(b"event: message_start" if stream else b"{")


def test_what_the_system_says_behind_the_prompt_hides_nothing(answering: Served, upstream: Upstream) -> None:
    said = [
        {"role": "user", "content": f"We build a shop. {RULES[0]}"},
        {"role": "assistant", "content": "Understood."},
        {"role": "user", "content": [{"type": "text", "text": "And the cart."}, {"type": "text", "text": PROMPT}]},
        {"role": "system", "content": "Keep the list of tasks up to date."},
    ]
    body = {"model": "fake-n3", "max_tokens": 99, "messages": said}
    before = upstream.statistics.requests
    _, _, answer = call(answering.port, "/v1/messages", json.dumps(body).encode(), {"x-session-id": "system-last"})
    assert upstream.statistics.requests == before
    assert b"push to the main branch" in answer
    assert not [text for _, text in answering.said("system-last") if "detailed summary" in text]


def test_what_only_talks_of_a_summary_reaches_the_model(answering: Served, upstream: Upstream) -> None:
    before = upstream.statistics.requests
    asked(answering, "talk", stream=False, content="How do I create a detailed summary of a book?")
    assert upstream.statistics.requests == before + 1


def test_it_is_off_by_default(plain: Served, upstream: Upstream) -> None:
    before = upstream.statistics.requests
    asked(plain, "off", stream=False)
    assert upstream.statistics.requests == before + 1
