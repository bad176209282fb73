"""HTTP/2 on the wire: many streams of one connection, each its own turn."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx2
import pytest

from tests.waiting import eventually

from .served_app import EVENTS, REPLY
from .serving import ASKED, CHAT, Server, body, running

STREAM = b"".join(EVENTS)
TURN = [("user", ASKED), ("assistant", REPLY)]


@pytest.mark.parametrize("name", ["hypercorn", "granian"])
def test_streams_of_one_connection(name: str, tmp_path: Path) -> None:
    with running(name, tmp_path) as server:
        asyncio.run(_talk(server))
        assert all(server.said(f"s{number}") == TURN for number in range(8))
        assert all(server.closed(f"s{number}") == [("complete", "stop")] for number in range(8))
        assert eventually(lambda: server.closed("left") == [("aborted", "")])
        assert len(server.notes("stopped")) == 1


async def _talk(server: Server) -> None:
    limits = httpx2.Limits(max_connections=1)
    async with httpx2.AsyncClient(http1=False, http2=True, limits=limits, timeout=20) as client:
        url = f"http://127.0.0.1:{server.port}"
        bare = await client.post(f"{url}/bare{CHAT}", content=body("speaks"))
        asking = [
            client.post(url + CHAT, content=body("speaks"), headers={"x-session-id": f"s{number}"})
            for number in range(8)
        ]
        for response in await asyncio.gather(*asking):
            assert (response.http_version, response.content) == ("HTTP/2", STREAM)
            assert _plain(response) == _plain(bare)
        leaving = {"content": body("endless"), "headers": {"x-session-id": "left"}}
        async with client.stream("POST", url + CHAT, **leaving) as response:  # type: ignore[arg-type]
            async for piece in response.aiter_raw():
                assert piece.startswith(EVENTS[0])
                break


def _plain(response: httpx2.Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name != "date"}
