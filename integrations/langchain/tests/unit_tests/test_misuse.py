"""Swapped or wrong arguments are named."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_tokenmizer_mw import TokenMizerChatMessageHistory, TokenMizerMiddleware

from tokenmizer_mw import SessionMemory


def test_a_text_is_no_list_of_messages() -> None:
    with SessionMemory.open() as memory:
        history = TokenMizerChatMessageHistory("s", memory)
        for wrong in ("hello", {"role": "user", "content": "hello"}, HumanMessage("hello")):
            with pytest.raises(TypeError, match="list of messages"):
                history.add_messages(wrong)  # type: ignore[arg-type]
        assert history.messages == []


def test_the_session_id_comes_first() -> None:
    with SessionMemory.open() as memory, pytest.raises(TypeError, match="session id comes first"):
        TokenMizerChatMessageHistory(memory, "s")  # type: ignore[arg-type]


@pytest.mark.parametrize(("config", "cause"), [({}, "no_session"), ({"thread_id": "x" * 300}, "session_invalid")])
def test_a_run_that_is_not_remembered_is_logged_once(
    config: dict[str, Any], cause: str, caplog: pytest.LogCaptureFixture
) -> None:
    with SessionMemory.open() as memory, caplog.at_level(logging.WARNING, logger="tokenmizer_mw"):
        agent = create_agent(FakeListChatModel(responses=["Hello."]), middleware=[TokenMizerMiddleware(memory)])
        for _ in range(2):
            agent.invoke({"messages": [("human", "Hello")]}, {"configurable": config})
        assert memory.counters()[cause] == 2
    (line,) = [record.getMessage() for record in caplog.records]
    assert cause in line
    assert "x-session-id" not in line
    assert ("no thread_id or session_id in the run's config, and no session_id= of the middleware, names" in line) is (
        cause == "no_session"
    )
