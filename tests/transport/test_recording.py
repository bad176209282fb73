"""What is remembered of an outgoing call, when, and under which session: on every face."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream
from tokenmizer_mw import InvalidSession, SessionMemory
from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.memory import SessionMemory as Memory
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.memory import MemoryLog

from .conftest import Kept
from .faces import Client, Face

QUESTION = {"role": "user", "content": "Which database?"}
HEADER = {"X-Session-Id": "header"}


def chat(model: str = "fake-n3", *history: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"model": model, "stream": True, "messages": [*history, QUESTION], **members}


@pytest.fixture
def client(connect: Callable[..., Client], kept: Kept) -> Client:
    return connect(kept.memory)


# -- which session -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bound", "headers", "field", "expected"),
    [
        pytest.param("bound", {}, {}, "bound", id="bound"),
        pytest.param(None, HEADER, {}, "header", id="header"),
        pytest.param(None, {}, {"session_id": "field"}, "field", id="field"),
        pytest.param("bound", HEADER, {}, "header", id="header before binding"),
        pytest.param("bound", HEADER, {"session_id": "field"}, "field", id="field before all"),
        pytest.param("bound", {}, {"session_id": None}, "bound", id="null field"),
        pytest.param("bound", {"X-Session-Id": ""}, {}, "bound", id="empty header"),
    ],
)
def test_session_is_named(
    bound: str | None,
    headers: dict[str, str],
    field: dict[str, Any],
    expected: str,
    client: Client,
    kept: Kept,
    url: str,
    upstream: Upstream,
) -> None:
    if bound is None:
        client.post(url, json=chat(**field), headers=headers).read()
    else:
        with kept.memory.session(bound):
            client.post(url, json=chat(**field), headers=headers).read()
    assert kept.ended(expected) == [("complete", "stop")]
    assert [info.key.id for info in kept.memory.sessions()] == [expected]
    if expected == "field":
        assert "session_id" not in upstream.calls[-1].json
    assert upstream.calls[-1].headers["content-length"] == str(len(upstream.calls[-1].body))
    assert "x-session-id" not in upstream.calls[-1].headers
    assert upstream.calls[-1].headers["user-agent"]


def test_nothing_is_kept_without_a_session(client: Client, kept: Kept, url: str) -> None:
    client.post(url, json=chat()).read()
    client.post(url, json=chat(session_id=7)).read()
    assert kept.memory.sessions() == []
    assert kept.memory.counters() == {"no_session": 1, "session_invalid": 1}


def test_other_requests_are_not_looked_at(client: Client, kept: Kept, upstream: Upstream) -> None:
    with kept.memory.session("other"):
        answer = client.post(f"{upstream.url}/v1/embeddings", json=chat(), headers=HEADER)
        assert answer.response.status_code == 404
        request = client.client.build_request("GET", f"{upstream.url}/v1/chat/completions", headers=HEADER)
        client.do(lambda: client.client.send(request))
    assert upstream.calls[-2].headers["x-session-id"] == "header"
    assert kept.memory.counters() == {}


def test_bindings_nest_and_belong_to_a_memory(
    client: Client, kept: Kept, open_kept: Callable[..., Kept], url: str
) -> None:
    other = open_kept()
    with kept.memory.session("outer", tenant="acme"), other.memory.session("elsewhere"):
        with kept.memory.session("inner"):
            client.post(url, json=chat()).read()
        client.post(url, json=chat()).read()
        client.post(url, json=chat(), headers=HEADER).read()
    assert kept.ended("inner") == kept.ended("outer", "acme") == kept.ended("header", "acme") == [("complete", "stop")]
    assert other.memory.sessions() == []


def test_binding_refuses_unusable_ids(kept: Kept) -> None:
    with pytest.raises(InvalidSession), kept.memory.session(""):
        pytest.fail("bound")


def test_binding_that_is_left_elsewhere_does_no_harm(kept: Kept) -> None:
    import contextvars

    binding = kept.memory.session("here")
    contextvars.copy_context().run(binding.__enter__)
    binding.__exit__(None, None, None)


def test_tenant_of_the_transport(face: Face, kept: Kept, url: str, connect: Callable[..., Client]) -> None:
    transport = face.transport(kept.memory, tenant="acme")
    connect(None, transport).post(url, json=chat(), headers=HEADER).read()
    assert kept.ended("header", "acme") == [("complete", "stop")]


# -- what and when -------------------------------------------------------------------------------------------


def test_turn_is_durable_before_its_end_is_released(client: Client, kept: Kept, url: str, session: str) -> None:
    with kept.memory.session(session):
        answer = client.post(url, json=chat("fake-n3-d5"))
    before = []
    for piece in answer.pieces():
        if piece.endswith(b"data: [DONE]\n\n"):
            break
        before.append(kept.said(session))
    assert not any(before)
    user, assistant = kept.said(session)
    assert user == ("user", "Which database?")
    assert assistant[1].startswith("You said: Which database?") and assistant[1].endswith("End.")
    answer.close()
    assert kept.ended(session) == [("complete", "stop")]


@pytest.mark.parametrize("mode", ["", "-gzip", "-split1"])
def test_whole_replies_are_durable_when_they_are_read(
    mode: str, client: Client, kept: Kept, url: str, session: str
) -> None:
    with kept.memory.session(session):
        reply = json.loads(client.post(url, json=chat(f"fake-n3{mode}", stream=False)).read())
    text = reply["choices"][0]["message"]["content"]
    assert kept.said(session) == [("user", "Which database?"), ("assistant", text)]


def test_facts_are_drawn_afterwards(client: Client, kept: Kept, url: str, session: str, upstream: Upstream) -> None:
    upstream.script.append(Scripted(text="Decided: Redis for the queue."))
    with kept.memory.session(session):
        client.post(url, json=chat()).read()
    kept.memory.flush()
    assert "Redis" in kept.memory.resume(session).text


@pytest.mark.parametrize(
    ("mode", "outcome"),
    [
        ("nodone", ("truncated", "")),
        ("len", ("truncated", "length")),
        ("errmid", ("error", "")),
        ("cut", ("truncated", "")),
        ("rst", ("truncated", "")),
    ],
)
def test_endings(
    mode: str, outcome: tuple[str, str], client: Client, kept: Kept, url: str, session: str, face: Face
) -> None:
    with kept.memory.session(session):
        answer = client.post(url, json=chat(f"fake-n8-d2-{mode}"))
    try:
        answer.raw()
    except (face.library.RemoteProtocolError, face.library.ReadError):
        assert mode in ("cut", "rst")
    answer.close()
    assert kept.ended(session) == [outcome]
    assert kept.said(session)[0] == ("user", "Which database?")


def test_stream_that_is_closed_early_was_aborted(client: Client, kept: Kept, url: str, session: str) -> None:
    with kept.memory.session(session):
        answer = client.post(url, json=chat("fake-n200-d5"))
    while b'"content":"' not in (answer.next() or b"") or not len(answer.next() or b""):
        pass
    answer.close()
    assert kept.ended(session) == [("aborted", "")]
    said = kept.said(session)
    assert said[1][0] == "assistant"
    assert "You said".startswith(said[1][1][:8])


def test_stream_that_is_left_after_its_finish_reason_is_complete(
    client: Client, kept: Kept, url: str, session: str
) -> None:
    with kept.memory.session(session):
        answer = client.post(url, json=chat("fake-n3-d10-usage"))
    for piece in answer.pieces():
        if b'"finish_reason":"stop"' in piece:
            break
    answer.close()
    assert kept.ended(session) == [("complete", "stop")]


def test_whole_reply_that_is_cut_leaves_no_trace(
    client: Client, kept: Kept, url: str, session: str, face: Face
) -> None:
    with kept.memory.session(session):
        for _ in range(2):
            answer = client.post(url, json=chat("fake-n3-cut", stream=False))
            with pytest.raises(face.library.RemoteProtocolError):
                answer.read()
            answer.close()
        client.post(url, json=chat("fake-n3", stream=False)).read()
    assert kept.ended(session) == [("complete", "stop")]
    assert kept.memory.counters()["attempt_failed"] == 2


def test_reply_of_another_kind(client: Client, kept: Kept, face: Face, connect: Callable[..., Client]) -> None:
    def page(request: Any) -> Any:
        return face.library.Response(200, headers={"content-type": "text/html"}, content=b"<p>hello</p>")

    client = connect(kept.memory, face.library.MockTransport(page))
    with kept.memory.session("foreign"):
        assert client.post("http://model.test/v1/chat/completions", json=chat()).read() == b"<p>hello</p>"
    assert kept.said("foreign") == [("user", "Which database?")]
    assert kept.memory.counters()["reply_foreign"] == 1


def test_response_that_was_read_below(kept: Kept, face: Face, connect: Callable[..., Client]) -> None:
    """A cache, or a transport that retries, hands over a response that is complete."""
    body = json.dumps({"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}).encode()
    headers = {"content-type": "application/json", "content-encoding": "gzip"}

    def cached(request: Any) -> Any:
        return face.library.Response(200, headers=headers, content=gzip.compress(body))

    client = connect(kept.memory, face.library.MockTransport(cached))
    with kept.memory.session("cached"):
        assert client.post("http://model.test/v1/chat/completions", json=chat()).read() == body
    assert kept.said("cached")[1] == ("assistant", "Yes.")
    assert kept.ended("cached") == [("complete", "stop")]


def test_redirects_are_followed_with_the_session(kept: Kept, face: Face, connect: Callable[..., Client]) -> None:
    body = json.dumps({"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}).encode()
    hosts = []

    def moved(request: Any) -> Any:
        hosts.append((request.url.host, "x-session-id" in request.headers))
        if request.url.host == "old.test":
            there = "http://new.test/v1/chat/completions"
            return face.library.Response(307, headers={"location": there}, content=b"")
        return face.library.Response(200, headers={"content-type": "application/json"}, content=body)

    client = connect(kept.memory, face.library.MockTransport(moved))
    client.client.follow_redirects = True
    client.post("http://old.test/v1/chat/completions", json=chat(), headers=HEADER).read()
    assert hosts == [("old.test", False), ("new.test", False)]
    assert kept.ended("header") == [("complete", "stop")]
    assert "attempt_failed" not in kept.memory.counters()


# -- retries -------------------------------------------------------------------------------------------------


def test_attempts_that_fail_are_one_turn(client: Client, kept: Kept, url: str, session: str, face: Face) -> None:
    with kept.memory.session(session):
        for model in ("fake-e429", "fake-e500"):
            client.post(url, json=chat(model)).read()
        with pytest.raises(face.library.ReadTimeout):
            client.post(url, json=chat("fake-f2000"), timeout=0.05)
        with pytest.raises(face.library.ConnectError):
            client.post("http://127.0.0.1:1/v1/chat/completions", json=chat())
        client.post(url, json=chat()).read()
    assert len(kept.said(session)) == 2
    assert kept.ended(session) == [("complete", "stop")]
    assert kept.memory.counters() == {"attempt_failed": 4, "turn_complete": 1}


# -- cutting -------------------------------------------------------------------------------------------------


def _talk(turns: int) -> list[dict[str, Any]]:
    words = "the queue needs a broker that keeps its messages over a restart " * 6
    talk = []
    for turn in range(turns):
        talk.append({"role": "user", "content": f"Request {turn}: use port {8000 + turn} for service {turn}. {words}"})
        talk.append({"role": "assistant", "content": f"Decided: port {8000 + turn} for service {turn}. {words}"})
    return talk


@pytest.mark.parametrize("turns", [8, 80])
def test_transcript_is_cut_when_the_window_fills(
    turns: int, face: Face, connect: Callable[..., Client], open_kept: Callable[..., Kept], url: str, upstream: Upstream
) -> None:
    kept = open_kept(context_window=1_000)
    client = connect(kept.memory)
    body = chat("fake-n3", {"role": "system", "content": "Be short."}, *_talk(turns), session_id="long", seed=1.0)
    client.post(url, json=body, headers={"X-Request-Id": "mine"}).read()
    received = upstream.calls[-1]
    assert len(received.body) < len(json.dumps(body)) / 2
    assert received.headers["content-length"] == str(len(received.body))
    assert received.headers["x-request-id"] == "mine"
    assert received.json["messages"][0] == body["messages"][0]
    assert received.json["messages"][-1] == QUESTION
    assert "session_id" not in received.json
    assert b'"seed":1.0' in received.body
    assert len(kept.said("long")) == 2 * turns + 2
    assert kept.memory.counters()["request_rewritten"] == 1


@pytest.mark.parametrize("headers", [{"Authorization": "AWS4-HMAC-SHA256 none"}, {"Content-Digest": "none"}])
def test_signed_requests_are_only_remembered(
    headers: dict[str, str],
    connect: Callable[..., Client],
    open_kept: Callable[..., Kept],
    url: str,
    upstream: Upstream,
) -> None:
    kept = open_kept(context_window=1_000)
    spelled = json.dumps(chat("fake-n3", *_talk(8), session_id="signed")).encode()
    connect(kept.memory).post(url, content=spelled, headers={**headers, **HEADER}).read()
    assert upstream.calls[-1].body == spelled
    assert upstream.calls[-1].headers["x-session-id"] == "header"
    assert len(kept.said("signed")) == 18


# -- failures of ours ----------------------------------------------------------------------------------------


class Broken(MemoryLog):
    """A store that takes nothing."""

    def append(self, *given: Any, **more: Any) -> Any:
        raise StoreUnavailable("full")


def test_store_that_fails_does_not_hurt_the_call(connect: Callable[..., Client], url: str) -> None:
    memory = Memory(Broken(), Settings(drain_seconds=0.2))
    with memory.session("broken"):
        assert connect(memory).post(url, json=chat()).read().endswith(b"data: [DONE]\n\n")
    assert memory.counters() == {"turn_spooled": 1}
    memory.close()
    assert memory.counters()["turn_lost"] == 1


class Failing(SessionMemory):
    """A memory with a bug where it looks whether a cut is due."""

    def __init__(self, log: MemoryLog) -> None:
        super().__init__(log)
        self.service.cuts.may_cut = self._fail  # no request is known that breaks it

    def _fail(self, *given: Any, **more: Any) -> bool:
        raise LookupError("a bug")


def test_bug_of_ours_does_not_hurt_the_call(connect: Callable[..., Client], url: str) -> None:
    memory = Failing(MemoryLog())
    with memory.session("bug"):
        assert connect(memory).post(url, json=chat()).read().endswith(b"data: [DONE]\n\n")
    assert memory.counters() == {"open_failed": 1}
    memory.close()


@pytest.mark.parametrize(
    ("body", "headers", "reason"),
    [
        (b'{"messages": [{"role": "us', HEADER, "malformed_request"),
        (b'{"session_id": "x", "messages": [{"role": "us', {}, "malformed_request"),
        (gzip.compress(b"{}"), {**HEADER, "Content-Encoding": "gzip"}, "request_encoded"),
        (b'{"messages": [' + b" " * 5_000 + b"]}", HEADER, "request_too_large"),
    ],
    ids=["cut short", "cut short, session in the body", "compressed", "too large"],
)
def test_odd_bodies_pass(
    body: bytes,
    headers: dict[str, str],
    reason: str,
    face: Face,
    connect: Callable[..., Client],
    open_kept: Callable[..., Kept],
) -> None:
    kept = open_kept(request_max=4_000)
    received = []

    def answer(request: Any) -> Any:
        received.append(request.content)
        return face.library.Response(200, headers={"content-type": "application/json"}, content=b"{}")

    client = connect(kept.memory, face.library.MockTransport(answer))
    client.post("http://model.test/v1/chat/completions", content=body, headers=headers).read()
    assert received == [body]
    assert kept.memory.counters() == {reason: 1}
    assert kept.memory.sessions() == []


# -- the event loop ------------------------------------------------------------------------------------------


def test_commit_runs_beside_the_event_loop(connect: Callable[..., Client], url: str, face: Face) -> None:
    """The store waits for something that only the client's loop can do meanwhile."""
    if not face.asynchronous:
        pytest.skip("there is no loop")
    entered, released = threading.Event(), threading.Event()
    waited: list[bool] = []

    class Waiting(MemoryLog):
        def append(self, *given: Any, **more: Any) -> Any:
            entered.set()
            waited.append(released.wait(10))
            return super().append(*given, **more)

    memory = Memory(Waiting(), Settings())
    client = connect(memory)

    async def release() -> None:
        with memory.session("slow"):
            task = asyncio.create_task(client.client.post(url, json=chat("fake-n1")))
        while not entered.is_set():
            await asyncio.sleep(0.002)
        assert not task.done()
        released.set()
        await task

    client.do(release)
    assert waited[0]
    memory.close()


def test_other_event_loops(face: Face, kept: Kept, url: str, session: str) -> None:
    """trio has no asyncio task to hop from: the work is done in anyio's threads."""
    if not face.asynchronous:
        pytest.skip("there is no loop")

    async def ask() -> bytes:
        async with face.library.AsyncClient(transport=face.transport(kept.memory)) as client:
            with kept.memory.session(session):
                content: bytes = (await client.post(url, json=chat())).content
                return content

    assert anyio.run(ask, backend="trio").endswith(b"data: [DONE]\n\n")
    assert kept.ended(session) == [("complete", "stop")]
