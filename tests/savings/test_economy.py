"""Cuts that pay, through the middleware: the prefix stays frozen between two of them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.model.event import Checkpointed
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.model.usage import CUT

from .calling import answered, asked, call, chat

TURNS = 28


@pytest.fixture
def memory() -> Iterator[SessionMemory]:
    found = SessionMemory.open("memory://", Settings(cut="economy", savings=True, stages="structure,rules"))
    yield found
    found.close()


def test_requests_begin_as_the_one_before_unless_a_cut_was_made(memory: SessionMemory) -> None:
    history = chat(TURNS, words=300)
    places = [place for place, message in enumerate(history) if message["role"] == "user"]
    before, broken, shortened = b"", 0, 0
    for place in places:
        sent = call(memory, asked(history[: place + 1], model="gpt-5.1"), answered(f"Done with {place}."))
        messages = json.loads(sent)["messages"]
        assert messages[0] == history[0]
        assert messages[-1] == history[place]
        shortened += len(messages) < place + 1
        broken += not sent.startswith(before[: -len(b"]}")])
        before = sent
    cuts = memory.counters()["cut_made"]
    events = memory.log.read(SessionKey(LOCAL_TENANT, "s"))
    assert cuts == broken == sum(isinstance(one.event, Checkpointed) for one in events) > 0
    assert shortened > 5
    saved = memory.savings("s")
    assert saved.stages[CUT].calls == shortened
    assert saved.stages[CUT].saved_tokens > 0
    assert saved.whole.saved == saved.stages[CUT].saved


def test_a_wide_window_is_not_cut_without_economy() -> None:
    memory = SessionMemory.open("memory://", Settings(stages="structure,rules"))
    body = asked(chat(TURNS, words=300), model="gpt-5.1")
    assert call(memory, body, answered()) is body
    assert memory.counters().get("cut_made", 0) == 0
    memory.close()
