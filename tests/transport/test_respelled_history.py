"""A client of the OpenAI SDK over our transport that drops the model's thoughts from what it resends."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream
from tokenmizer_mw import openai_client

TURNS = 16
BLOCK = re.compile(r"<session-record \d+>.*?</session-record \d+>")


def test_thoughts_dropped(open_kept: Callable[..., Any], upstream: Upstream, session: str) -> None:
    kept = open_kept(context_window=1_100, block_tokens=150)
    talk: list[Any] = []
    before = upstream.statistics.requests
    with (
        openai_client(kept.memory, base_url=f"{upstream.url}/v1", api_key="none") as client,
        kept.memory.session(session),
    ):
        for number in range(TURNS):
            answer = f"Part {number} is in PostgreSQL now. " + "It keeps the orders sorted. " * 6
            upstream.script.append(Scripted(text=f"<think>\nWell, {number}.\n</think>\n\n{answer}"))
            talk.append({"role": "user", "content": f"Put part {number} into PostgreSQL. " * 6})
            reply = client.chat.completions.create(model="fake-n3", messages=talk)
            assert "<think>" in (reply.choices[0].message.content or "")
            talk.append({"role": "assistant", "content": answer.strip()})
    kept.memory.flush()
    assert len(kept.said(session)) == 2 * TURNS
    assert 2 <= kept.memory.counters()["cut_made"] <= 6
    sent = [received.body.decode() for received in upstream.since(before)]
    blocks = {found.group() for body in sent if (found := BLOCK.search(body))}
    assert len(blocks) == kept.memory.counters()["cut_made"]
