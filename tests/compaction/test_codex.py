"""Codex: its own compaction, by a prompt and by an item that asks for one, with the real client and on the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.end_to_end.sdks.table import SDK_WARNINGS
from tests.hooks.agent import Desk, blocks, desk, program
from tests.proxy.serving import Served, call, configured, serving
from tests.upstream.answer import Scripted
from tests.upstream.request import Received
from tests.upstream.server import Upstream

from .clients import KEYS, RULE, Talk, sent

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]

PROMPT = "You are performing a CONTEXT CHECKPOINT COMPACTION. Hand over what is left to do."
TRIGGER: Any = {"type": "compaction_trigger"}
SETTINGS = """\
model = "{model}"
web_search = "disabled"
model_provider = "proxy"
model_auto_compact_token_limit = {limit}
model_context_window = 100000
[model_providers.proxy]
name = "{name}"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""
COMPACTS_FROM = 50
"""Tokens from which on Codex compacts: each answer of the scripted model claims more."""

SAID = (f"We use PostgreSQL. {RULE}", "Always answer in French. Now go on.", "And now?")


class Codex:
    """Codex at somebody's desk, a run for each prompt. ``name``: what its provider is called; one that is called
    "OpenAI" is asked for a compaction by an item, others by a prompt."""

    def __init__(self, at_desk: Desk, url: str, name: str, model: str) -> None:
        self._desk = at_desk
        at_desk.environment["OPENAI_API_KEY"] = "made-up"
        config = at_desk.home / ".codex" / "config.toml"
        config.parent.mkdir()
        config.write_text(SETTINGS.format(model=model, limit=COMPACTS_FROM, name=name, url=url))
        self._begun = False

    def say(self, text: str) -> None:
        goes_on = ("resume", "--last") if self._begun else ()
        done = self._desk.run("codex", "exec", *goes_on, "--skip-git-repo-check", text)
        assert done.returncode == 0, done.stderr
        self._begun = True


def run_codex(folder: Path, served: Served, upstream: Upstream, name: str, model: str) -> list[Received]:
    """What the model was sent while Codex was told what is in ``SAID``."""
    before = upstream.statistics.requests
    with desk(folder, served.url) as at_desk:
        codex = Codex(at_desk, served.url, name, model)
        for text in SAID:
            codex.say(text)
    return [received for received in upstream.since(before) if received.method == "POST"]


@pytest.mark.nightly
@pytest.mark.skipif(program("codex") is None, reason="Codex is not installed: make agents")
@pytest.mark.parametrize("setting", ["ours", "both"])
def test_the_prompt_of_codex(tmp_path: Path, upstream: Upstream, setting: str) -> None:
    with serving(configured(upstream, KEYS, memory={"agent_compaction": setting})) as served:
        received = run_codex(tmp_path, served, upstream, "proxy", "fake-n3")
        (session,) = served.sessions()
        said = [text for role, text in served.said(session) if role == "user"]
    asked = [one for one in received if "CONTEXT CHECKPOINT" in json.dumps(one.json["input"][-1])]
    assert len(asked) == (0 if setting == "ours" else 2)
    (block,) = blocks(received[-1])
    assert RULE.rstrip(".") in block and "answer in French" in block
    assert "Another language model" in received[-1].body.decode()
    assert [text for text in said if not text.startswith("<")][-1] == SAID[-1]
    assert not [text for text in said if text.startswith(PROMPT[:40])]


@pytest.mark.nightly
@pytest.mark.skipif(program("codex") is None, reason="Codex is not installed: make agents")
@pytest.mark.parametrize("model", ["openai/fake-n3", "gemini/fake-n3"])
def test_the_item_of_codex(tmp_path: Path, upstream: Upstream, model: str) -> None:
    with serving(configured(upstream, KEYS, memory={"compaction": "ours"})) as served:
        received = run_codex(tmp_path, served, upstream, "OpenAI", model)
        counted = served.memory.counters()
    assert counted["compaction_answered"] == 2
    assert "compaction_trigger" not in json.dumps([one.json for one in received])
    (block,) = blocks(received[-1])
    assert RULE.rstrip(".") in block and "answer in French" in block


@pytest.fixture(scope="module", params=["ours", "both"])
def agents(upstream: Upstream, request: pytest.FixtureRequest) -> Iterator[tuple[Served, str]]:
    with serving(configured(upstream, KEYS, memory={"agent_compaction": request.param})) as served:
        yield served, request.param


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_prompt_on_the_wire(agents: tuple[Served, str], upstream: Upstream, stream: bool) -> None:
    served, setting = agents
    with Talk(served, f"prompt-{setting}-{stream}", "openai", stream=stream) as talk:
        talk.say(f"We use PostgreSQL. {RULE}")
        asked = upstream.statistics.requests
        upstream.script.extend([Scripted(text="They chose a database.")] if setting == "both" else [])
        answer = talk.say(PROMPT)
    assert upstream.statistics.requests == asked + (setting == "both")
    assert [item.type for item in answer.output] == ["message"]
    assert answer.output_text.startswith("They chose" if setting == "both" else "<session-record")
    assert answer.output_text.count("</session-record") == 1
    assert RULE.rstrip(".") in answer.output_text


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", ["gemini", "openai"])
def test_the_item_on_the_wire(ours: Served, upstream: Upstream, provider: str, stream: bool) -> None:
    with Talk(ours, f"trigger-{provider}-{stream}", provider, stream=stream) as talk:
        talk.say(f"We use PostgreSQL. {RULE}")
        asked = upstream.statistics.requests
        talk.items.append(TRIGGER)
        (item,) = talk.ask().output
        assert upstream.statistics.requests == asked
        assert item.type == "compaction"
        talk.items = [talk.items[0], item.model_dump(exclude_none=True)]  # as Codex keeps what the user said
        talk.say("Go on with the orders.")
        assert RULE.rstrip(".") in sent(upstream)
        assert "compaction" not in sent(upstream)
        talk.items = [*talk.items[:2], TRIGGER]
        (again,) = talk.ask().output
    assert again.encrypted_content == item.encrypted_content


def test_a_provider_that_knows_the_item_gets_it(plain: Served, upstream: Upstream) -> None:
    body = {"model": "fake-n3-compact", "input": [{"role": "user", "content": RULE}, TRIGGER], "stream": False}
    raw = json.dumps(body, indent=3).encode()
    headers = {"x-session-id": "native-trigger", "authorization": "Bearer made-up"}
    status, _, answer = call(plain.port, "/v1/responses", raw, headers)
    assert (status, upstream.calls[-1].body) == (200, raw)
    assert [item["type"] for item in json.loads(answer)["output"]] == ["compaction"]


def test_an_item_that_is_not_the_last_is_refused(ours: Served) -> None:
    with Talk(ours, "early-trigger", "gemini") as talk:
        talk.items.append(TRIGGER)
        with pytest.raises(openai.BadRequestError, match=r"input\.0"):
            talk.say("Go on.")
