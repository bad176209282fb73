"""A client that drops the model's thoughts from what it resends, through the middleware on a real server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import openai

from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream

TURNS = 16


def test_thoughts_dropped(serve: Callable[..., Any], upstream: Upstream, session: str) -> None:
    talk: list[Any] = []
    with (
        serve("starlette", context_window=1_100, block_tokens=150) as running,
        openai.OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0) as client,
    ):
        for number in range(TURNS):
            answer = f"Part {number} is in PostgreSQL now. " + "It keeps the orders sorted. " * 6
            upstream.script.append(Scripted(text=f"<think>\nWell, {number}.\n</think>\n\n{answer}"))
            talk.append({"role": "user", "content": f"Put part {number} into PostgreSQL. " * 6})
            client.chat.completions.create(model="fake-n3", messages=talk, extra_headers={"x-session-id": session})
            talk.append({"role": "assistant", "content": answer.strip()})
        running.memory.flush()
        assert len(running.messages(session)) == 2 * TURNS
        assert 2 <= running.memory.counters()["cut_made"] <= 6
