"""Clients that leave: the upstream sees it at once, and the turn is remembered as what it was."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.upstream.server import Upstream

from .conftest import Kept, eventually
from .faces import FACES, Client

BAR = 5.0
"""Seconds; a wide margin over the 0.1 s that are aimed at, since machines differ."""

ASYNC = [face for face in FACES if face.asynchronous]


def chat(model: str) -> dict[str, Any]:
    return {"model": model, "stream": True, "messages": [{"role": "user", "content": "Which database?"}]}


def seen_after(upstream: Upstream, aborted: int, left: float, what: str) -> None:
    assert eventually(lambda: upstream.statistics.aborted == aborted + 1, BAR)
    seconds = upstream.statistics.left_at[-1] - left
    print(f"{what}: seen upstream after {seconds * 1000:.1f} ms")
    assert seconds < BAR


async def under_way(upstream: Upstream, requests: int) -> None:
    """Until the upstream has got ``requests`` more than now and has begun to answer."""
    expected = upstream.statistics.requests + requests
    deadline = time.monotonic() + 2 * BAR
    while upstream.statistics.requests < expected and time.monotonic() < deadline:
        await asyncio.sleep(0.005)
    await asyncio.sleep(0.3)


def test_closed_in_the_middle(
    connect: Callable[..., Client], kept: Kept, url: str, upstream: Upstream, session: str
) -> None:
    aborted = upstream.statistics.aborted
    client = connect(kept.memory)
    with kept.memory.session(session):
        answer = client.post(url, json=chat("fake-n900-d5"))
    assert answer.next()
    assert answer.next()
    left = time.monotonic()
    answer.close()
    seen_after(upstream, aborted, left, f"{client.face.name} closed")
    assert kept.ended(session) == [("aborted", "")]


def test_closed_at_the_last_byte(connect: Callable[..., Client], kept: Kept, url: str, session: str) -> None:
    with kept.memory.session(session):
        answer = connect(kept.memory).post(url, json=chat("fake-n3-d5"))
    for piece in answer.pieces():
        if piece.endswith(b"[DONE]\n\n"):
            answer.close()
            break
    assert kept.ended(session) == [("complete", "stop")]


@pytest.mark.parametrize("face", ASYNC, ids=lambda face: face.name)
@pytest.mark.parametrize("model", ["fake-f5000", "fake-n900-d5"], ids=["before the first byte", "in the middle"])
def test_cancelled(
    model: str, connect: Callable[..., Client], kept: Kept, url: str, upstream: Upstream, session: str
) -> None:
    aborted = upstream.statistics.aborted
    client = connect(kept.memory)

    async def cancel() -> float:
        with kept.memory.session(session):
            task = asyncio.create_task(client.client.post(url, json=chat(model)))
        await under_way(upstream, 1)
        left = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return left

    left = client.do(cancel)
    seen_after(upstream, aborted, left, f"{client.face.name} cancelled at {model}")
    assert kept.ended(session) == [("aborted", "")]
    assert kept.said(session)[0] == ("user", "Which database?")
    assert len(kept.said(session)) == (1 if model == "fake-f5000" else 2)


@pytest.mark.parametrize("face", ASYNC, ids=lambda face: face.name)
@pytest.mark.parametrize("last", [b'"finish_reason":"stop"', b"[DONE]"], ids=["finished", "done"])
def test_cancelled_at_the_last_byte(
    last: bytes, connect: Callable[..., Client], kept: Kept, url: str, session: str
) -> None:
    client = connect(kept.memory)

    async def read() -> None:
        request = client.client.build_request("POST", url, json=chat("fake-n3-d5"))
        response = await client.client.send(request, stream=True)
        try:
            async for piece in response.aiter_raw():
                if last in piece:
                    asyncio.current_task().cancel()  # type: ignore[union-attr]
        finally:
            await response.aclose()

    async def cancelled() -> None:
        with kept.memory.session(session), pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(read())

    client.do(cancelled)
    assert kept.ended(session) == [("complete", "stop")]


@pytest.mark.parametrize("face", ASYNC, ids=lambda face: face.name)
def test_many_leave_at_once(connect: Callable[..., Client], kept: Kept, url: str, upstream: Upstream) -> None:
    aborted, client = upstream.statistics.aborted, connect(kept.memory)

    async def leave_all() -> float:
        tasks = []
        for number in range(30):
            with kept.memory.session(f"many-{number}"):
                tasks.append(asyncio.create_task(client.client.post(url, json=chat("fake-n900-d5"))))
        await under_way(upstream, 30)
        left = time.monotonic()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return left

    left = client.do(leave_all)
    assert eventually(lambda: upstream.statistics.aborted == aborted + 30, BAR)
    assert upstream.statistics.left_at[-1] - left < BAR
    assert [kept.ended(f"many-{number}") for number in range(30)] == [[("aborted", "")]] * 30
