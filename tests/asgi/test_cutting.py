"""Requests that fill the window: what the application sees of them, and what happens when we fail."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any, Final

import pytest

from tests.waiting import eventually
from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.chat.cuts import PreparedCut
from tokenmizer_mw.chat.exchange import open_exchange
from tokenmizer_mw.chat.exchange_opening import INLINE_MAX
from tokenmizer_mw.context.window import Rewrite
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import Checkpointed, Derived
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.dialects import ROUTES

from .driving import SESSION, STREAM, Connection, Surface, read_body, request, streaming
from .recorded import said

WINDOW = 1_000
KEY = SessionKey(LOCAL_TENANT, SESSION)


def _history(turns: int) -> list[dict[str, str]]:
    messages = [{"role": "system", "content": "Be brief."}]
    for turn in range(turns):
        words = f"Part {turn}: " + "we keep the orders in one table and the history of them in another. " * 4
        messages += [{"role": "user", "content": words}, {"role": "assistant", "content": f"Understood, part {turn}."}]
    return [*messages, {"role": "user", "content": "What is next?"}]


def _body(messages: list[dict[str, str]], **members: Any) -> bytes:
    return json.dumps({"model": "gpt-4o", "stream": True, **members, "messages": messages}).encode()


def _ask(
    memory: SessionMemory, body: bytes, *, flush: bool = True, status: int = 200, **scope: Any
) -> tuple[bytes, dict[bytes, bytes]]:
    """What the application saw of a request: its body and its headers. ``flush``: work in the background is done."""
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.extend([await read_body(receive), dict(scope["headers"])])
        await streaming(status=status)(scope, Connection(request()).receive, send)

    async def call() -> Connection:
        surface = Surface("chat", lambda inner: TokenMizerMiddleware(inner, memory=memory))
        headers = surface.headers((b"content-length", str(len(body)).encode()))
        half = len(body) // 2
        connection = Connection(request(body[:half], True), request(body[half:]))
        return await surface.call(app, connection, headers=headers, **scope)

    assert asyncio.run(call()).body == STREAM
    assert not flush or memory.flush(60)
    return seen[0], seen[1]


BYTES_ALONE: Final = "structure"
"""Stages of extraction where only bytes matter: the words of hundreds of messages take seconds of CPU."""


def test_request_that_fits_is_not_touched(open_memory: Any) -> None:
    body = _body(_history(2))
    assert _ask(open_memory(context_window=100_000), body)[0] == body


@pytest.mark.parametrize(("window", "is_loaded"), [(WINDOW, True), (100_000, False)])
def test_the_tokenizer_is_loaded_before_the_first_cut_and_not_for_short_chats(
    open_memory: Any, window: int, is_loaded: bool
) -> None:
    memory = open_memory(context_window=window)
    body = _body(_history(1))
    assert _ask(memory, body)[0] == body
    assert memory.service.access.counters.has("gpt-4o") is is_loaded


def test_the_first_chat_of_a_process_does_not_wait_for_its_facts(open_memory: Any, log: MemoryLog) -> None:
    """So that no cut has to load what extraction needs; later ones wait until the process is less busy."""

    def has_facts(session: str) -> bool:
        return any(isinstance(one.event, Derived) for one in log.read(SessionKey(LOCAL_TENANT, session)))

    memory = open_memory(extract_pause_seconds=600, extract_wait_seconds=600)
    memory.record("hooked", [{"role": "user", "content": "Use Redis."}], later=True)
    _ask(memory, _body(_history(1)), flush=False)
    assert eventually(lambda: has_facts(SESSION))
    assert not has_facts("hooked")


def test_full_window_is_cut_and_the_next_calls_begin_with_the_same_bytes(open_memory: Any, log: MemoryLog) -> None:
    memory = open_memory(context_window=WINDOW)
    history = _history(14)
    first, headers = _ask(memory, _body(history))
    assert headers[b"content-length"] == str(len(first)).encode()
    messages = json.loads(first)["messages"]
    assert messages[0] == history[0]
    assert messages[-1] == history[-1]
    assert len(messages) < len(history)
    assert [text for _, text in said(log)][:-1] == [message["content"] for message in history[1:]]
    history += [{"role": "assistant", "content": "Ich heiße Ünal \U0001f642."}, {"role": "user", "content": "And now?"}]
    second, _ = _ask(memory, _body(history))
    assert second.startswith(first.removesuffix(b"]}"))
    assert len([item for item in log.read(KEY) if isinstance(item.event, Checkpointed)]) == 1


@pytest.mark.parametrize("turns", [20, 200])
def test_large_requests_are_cut_too_and_lose_our_field(turns: int, open_memory: Any, log: MemoryLog) -> None:
    memory = open_memory(context_window=WINDOW, stages=BYTES_ALONE)
    body = _body(_history(turns), session_id="by field")
    assert (len(body) > INLINE_MAX) is (turns == 200)
    seen, headers = _ask(memory, body)
    assert len(seen) < len(body)
    assert headers[b"content-length"] == str(len(seen)).encode()
    assert "session_id" not in json.loads(seen)
    assert len(said(log, "by field")) == 2 * turns + 2


def failing(key: SessionKey, request: ChatRequest, *, compacted: bool = False) -> PreparedCut:
    """A cut that is broken."""
    raise LookupError(request.text)


def nonsense(key: SessionKey, request: ChatRequest, *, compacted: bool = False) -> PreparedCut:
    """A cut that cannot be made."""
    return PreparedCut(Rewrite(10_000, "block", "user"))


@pytest.mark.parametrize("prepare", [failing, nonsense])
@pytest.mark.parametrize("turns", [14, 200])
def test_cut_that_fails_leaves_the_request_as_it_was(
    prepare: Any, turns: int, open_memory: Any, log: MemoryLog, caplog: pytest.LogCaptureFixture
) -> None:
    memory = open_memory(context_window=WINDOW, stages=BYTES_ALONE)
    memory.service.cuts.prepare = prepare  # no request is known that breaks a cut: it would be a bug, and be mended
    body = _body(_history(turns))
    assert _ask(memory, body)[0] == body
    assert memory.counters()["cut_failed"] == 1
    assert len(said(log)) == 2 * turns + 2
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("tokenmizer_mw")]
    assert len(lines) == 1
    assert re.fullmatch(r"cut_failed: (LookupError|ValueError) in \w+:\d+; the chat went on without", lines[0])


def test_facts_are_drawn_after_the_turn(memory: SessionMemory, log: MemoryLog) -> None:
    _ask(memory, _body(_history(1)))
    assert [item.event.turn for item in log.read(KEY) if isinstance(item.event, Derived)][-1] == len(said(log))


@pytest.mark.parametrize("known", [False, True])
def test_a_cut_of_a_refused_request_leaves_no_trace(known: bool, open_memory: Any, log: MemoryLog) -> None:
    """``known``: the session has a cut in force already."""
    memory = open_memory(context_window=WINDOW, stages=BYTES_ALONE)
    history = _history(14)
    if known:
        _ask(memory, _body(history))
    before = log.read(KEY)
    evil = [*history[:-1], {"role": "user", "content": "Use MongoDB for the orders. " + "And mind it. " * 400}]
    for status in (401, 200):
        seen = _ask(memory, _body(evil), status=status)[0]
        assert len(seen) < len(_body(evil))
        assert (log.read(KEY)[: len(before) + 1] == before) is (status == 401)
    assert memory.counters()["request_refused"] == 1
    assert said(log)[-2][1].startswith("Use MongoDB")


def test_a_cut_is_recorded_although_facts_were_extracted_meanwhile(open_memory: Any, log: MemoryLog) -> None:
    memory = open_memory(context_window=WINDOW, extract_pause_seconds=600, extract_wait_seconds=600)
    history = _history(14)
    memory.record(SESSION, history[1:-1], later=True)
    exchange = open_exchange(ROUTES["/chat/completions"], (), _body(history), memory.settings, session_id=SESSION)
    assert memory.service.prepare(exchange) and exchange.held_cut is not None
    assert not any(isinstance(item.event, Checkpointed) for item in log.read(KEY))
    memory.service.extraction.extract(KEY)
    exchange.start_reply(200, [])
    memory.service.commit(exchange, last=True)
    events = [item.event for item in log.read(KEY)]
    (cut,) = (event for event in events if isinstance(event, Checkpointed))
    assert cut.block == exchange.held_cut.events[-1].block
    assert [text for _, text in said(log)] == [message["content"] for message in history[1:]]
    again = _ask(memory, _body([*history, {"role": "assistant", "content": "Ok."}, {"role": "user", "content": "On."}]))
    assert again[0].startswith(exchange.forwarded.removesuffix(b"]}"))


def test_a_cut_is_not_recorded_behind_other_messages(open_memory: Any, log: MemoryLog) -> None:
    memory = open_memory(context_window=WINDOW, stages=BYTES_ALONE)
    history = _history(14)
    exchange = open_exchange(ROUTES["/chat/completions"], (), _body(history), memory.settings, session_id=SESSION)
    assert memory.service.prepare(exchange) and exchange.held_cut is not None
    memory.record(SESSION, [{"role": "user", "content": "Something else."}])
    exchange.start_reply(200, [])
    memory.service.commit(exchange, last=True)
    assert not any(isinstance(item.event, Checkpointed) for item in log.read(KEY))
    assert [text for _, text in said(log)] == ["Something else.", *(message["content"] for message in history[1:])]
