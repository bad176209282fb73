"""Clients that leave: the upstream sees it at once, and the turn is remembered as what it was."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.upstream.server import Upstream
from tests.waiting import eventually

from .conftest import Kept
from .faces import FACES, Client

ASYNC = [face for face in FACES if face.asynchronous]


def chat(model: str) -> dict[str, Any]:
    return {"model": model, "stream": True, "messages": [{"role": "user", "content": "Which database?"}]}


def test_closed_in_the_middle(
    connect: Callable[..., Client], kept: Kept, url: str, upstream: Upstream, session: str
) -> None:
    aborted = upstream.statistics.aborted
    client = connect(kept.memory)
    with kept.memory.session(session):
        answer = client.post(url, json=chat("fake-n900-d100"))
    assert answer.next()
    assert answer.next()
    answer.close()
    assert eventually(lambda: upstream.statistics.aborted == aborted + 1)
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
@pytest.mark.parametrize("model", ["fake-f90000", "fake-n900-d100"], ids=["before the first byte", "in the middle"])
def test_cancelled(
    model: str, connect: Callable[..., Client], kept: Kept, url: str, upstream: Upstream, session: str
) -> None:
    aborted = upstream.statistics.aborted
    client = connect(kept.memory)

    pieces: list[bytes] = []

    async def read() -> None:
        async with client.client.stream("POST", url, json=chat(model)) as response:
            async for piece in response.aiter_raw():
                pieces.append(piece)

    async def cancel() -> None:
        with kept.memory.session(session):
            task = asyncio.create_task(read())
        words = model == "fake-n900-d100"  # which the first piece of a stream has none of
        assert await asyncio.to_thread(eventually, lambda: len(pieces) > 3 if words else upstream.calls)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    client.do(cancel)
    assert eventually(lambda: upstream.statistics.aborted == aborted + 1)
    assert kept.ended(session) == [("aborted", "")]
    assert kept.said(session)[0] == ("user", "Which database?")
    assert len(kept.said(session)) == (1 if model == "fake-f90000" else 2)


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

    async def leave_all() -> None:
        tasks = []
        for number in range(30):
            with kept.memory.session(f"many-{number}"):
                tasks.append(asyncio.create_task(client.client.post(url, json=chat("fake-n900-d100"))))
        assert await asyncio.to_thread(eventually, lambda: len(upstream.calls) == 30)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    client.do(leave_all)
    assert eventually(lambda: upstream.statistics.aborted == aborted + 30)
    assert [kept.ended(f"many-{number}") for number in range(30)] == [[("aborted", "")]] * 30
