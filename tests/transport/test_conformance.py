"""What a transport owes to those who use it: each case on every face, with the library's own transport and with ours.

The cases hold for the library alone; around it, ours must not be noticed.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.upstream.server import Upstream
from tests.waiting import eventually

from .conftest import Kept
from .faces import Client, Face

MODES = ["split1", "split7", "glue", "crlf", "cr", "ka", "multi", "nospace", "uni", "gzip", "slowhead", "usage", "tool"]


def chat(model: str = "fake-n3", text: str = "Which database?", **members: Any) -> dict[str, Any]:
    return {"model": model, "stream": True, "messages": [{"role": "user", "content": text}], **members}


@pytest.fixture(params=["identity", "ours"])
def ours(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "ours")


@pytest.fixture
def client(ours: bool, connect: Callable[..., Client], kept: Kept, session: str) -> Iterator[Client]:
    """A client of each face without and with our transport, in a session that is bound."""
    with kept.memory.session(session):
        yield connect(kept.memory if ours else None)


class Counted:
    """The stream of a response that counts how often it is closed."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.closed = 0

    def __iter__(self) -> Any:
        return iter(self.stream)

    def __aiter__(self) -> Any:
        return aiter(self.stream)

    def close(self) -> None:
        self.closed += 1
        self.stream.close()

    async def aclose(self) -> None:
        self.closed += 1
        await self.stream.aclose()


def counting(face: Face) -> Any:
    """A transport of a face that counts closings, its own and those of its streams."""
    library: Any = face.library
    base = library.AsyncByteStream if face.asynchronous else library.SyncByteStream
    stream_type = type("CountedStream", (Counted, base), {})

    class Counting(face.plain):  # type: ignore[name-defined, misc]
        streams: list[Counted] = []  # noqa: RUF012
        entered = exited = closed = 0

        def _counted(self, response: Any) -> Any:
            response.stream = stream_type(response.stream)
            self.streams.append(response.stream)
            return response

        def handle_request(self, request: Any) -> Any:
            return self._counted(super().handle_request(request))

        async def handle_async_request(self, request: Any) -> Any:
            return self._counted(await super().handle_async_request(request))

        def close(self) -> None:
            self.closed += 1
            super().close()

        async def aclose(self) -> None:
            self.closed += 1
            await super().aclose()

        def __enter__(self) -> Any:
            self.entered += 1
            return super().__enter__()

        def __exit__(self, *error: Any) -> None:
            self.exited += 1
            super().__exit__(*error)

        async def __aenter__(self) -> Any:
            self.entered += 1
            return await super().__aenter__()

        async def __aexit__(self, *error: Any) -> None:
            self.exited += 1
            await super().__aexit__(*error)

    return Counting()


def test_headers_before_first_byte(client: Client, url: str, upstream: Upstream) -> None:
    answer = client.post(url, json=chat("fake-n2-d100"))
    assert answer.response.status_code == 200
    assert upstream.statistics.active == 1
    assert answer.raw().endswith(b"data: [DONE]\n\n")


def test_chunks_arrive_incrementally(client: Client, url: str, upstream: Upstream) -> None:
    answer = client.post(url, json=chat("fake-n3-d60"))
    assert answer.next()
    assert upstream.statistics.active == 1
    assert answer.next()
    assert upstream.statistics.active == 1
    assert list(answer.pieces())[-1].endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_bytes_and_headers_are_the_upstreams(
    mode: str, stream: bool, face: Face, connect: Callable[..., Client], url: str, kept: Kept, session: str
) -> None:
    body = chat(f"fake-n4-{mode}", "Ünal 漢字?", stream=stream)
    with kept.memory.session(session):
        plain, watched = (connect(memory).post(url, json=body) for memory in (None, kept.memory))
    assert watched.response.headers.raw == plain.response.headers.raw
    assert watched.response.status_code == plain.response.status_code
    assert watched.raw() == plain.raw()
    assert kept.ended(session) == [("complete", "tool_calls" if mode == "tool" else "stop")]
    said = kept.said(session)
    assert said[0] == ("user", "Ünal 漢字?")
    assert "Ünal 漢字" in said[1][1] or mode == "tool"


def test_encoded_body_is_decoded_by_the_client_alone(client: Client, url: str, kept: Kept, session: str) -> None:
    raw = client.post(url, json=chat("fake-n3-gzip")).raw()
    assert gzip.decompress(raw).endswith(b"data: [DONE]\n\n")
    assert client.post(url, json=chat("fake-n3-gzip")).read() == gzip.decompress(raw)


def test_close_goes_through_once(ours: bool, face: Face, connect: Callable[..., Client], url: str, kept: Kept) -> None:
    inner = counting(face)
    client = connect(kept.memory if ours else None, inner)
    with kept.memory.session("closings"):
        read, left = client.post(url, json=chat()), client.post(url, json=chat("fake-n50-d10"))
    read.read()
    assert left.next()
    for answer in (read, left):
        answer.close()
        answer.close()
    assert [stream.closed for stream in inner.streams] == [1, 1]


def test_transport_is_entered_left_and_closed_with_the_client(
    ours: bool, face: Face, connect: Callable[..., Client], kept: Kept
) -> None:
    inner = counting(face)
    client = connect(kept.memory if ours else None, inner)

    def enter_and_leave() -> Any:
        if not face.asynchronous:
            with client.client:
                return None

        async def both() -> None:
            async with client.client:
                pass

        return both()

    client.do(enter_and_leave)
    closed = connect(kept.memory if ours else None, other := counting(face))
    closed.close()
    assert (inner.entered, inner.exited) == (1, 1)
    assert other.closed == 1


def test_early_close_frees_the_upstream(client: Client, url: str, upstream: Upstream) -> None:
    aborted = upstream.statistics.aborted
    answer = client.post(url, json=chat("fake-n500-d10"))
    assert answer.next()
    answer.close()
    assert eventually(lambda: upstream.statistics.aborted == aborted + 1)


def test_extensions_are_kept(client: Client, url: str) -> None:
    seen: list[str] = []

    def trace(name: str, info: object) -> None:
        seen.append(name)

    async def atrace(name: str, info: object) -> None:
        seen.append(name)

    extensions = {"trace": atrace if client.face.asynchronous else trace}
    answer = client.post(url, json=chat(), extensions=extensions, headers={"x-session-id": "named"})
    answer.read()
    assert answer.response.extensions["http_version"] == b"HTTP/1.1"
    assert "network_stream" in answer.response.extensions
    assert any(name.startswith("http11.") for name in seen)


def test_timeouts_of_the_request_hold(client: Client, url: str, face: Face) -> None:
    with pytest.raises(face.library.ReadTimeout):
        client.post(url, json=chat("fake-f2000"), timeout=0.1)
    answer = client.post(url, json=chat("fake-n2-d2000"), timeout=0.1)
    with pytest.raises(face.library.ReadTimeout):
        answer.raw()
    answer.close()


@pytest.mark.parametrize("mode", ["cut", "rst"])
def test_connections_that_break_are_errors_of_the_library(client: Client, url: str, face: Face, mode: str) -> None:
    answer = client.post(url, json=chat(f"fake-n6-{mode}"))
    with pytest.raises((face.library.RemoteProtocolError, face.library.ReadError)):
        answer.raw()
    answer.close()


def test_exceptions_are_the_same_objects(
    ours: bool, face: Face, connect: Callable[..., Client], kept: Kept, url: str
) -> None:
    error = face.library.ConnectError("no way")

    class Failing(face.plain):  # type: ignore[name-defined, misc]
        def handle_request(self, request: Any) -> Any:
            raise error

        async def handle_async_request(self, request: Any) -> Any:
            raise error

    with kept.memory.session("failing"), pytest.raises(face.library.ConnectError) as raised:
        connect(kept.memory if ours else None, Failing()).post(url, json=chat())
    assert raised.value is error
    assert kept.said("failing") == []
    assert kept.memory.counters() == ({"attempt_failed": 1} if ours else {})


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
def test_status_and_headers_of_failures(client: Client, url: str, status: int, ours: bool, kept: Kept) -> None:
    answer = client.post(url, json=chat(f"fake-e{status}"))
    assert answer.response.status_code == status
    assert ("retry-after" in answer.response.headers) is (status in (429, 503))
    assert b"not to be had" in answer.read()
    assert kept.memory.counters() == ({"attempt_failed": 1} if ours else {})


def test_request_goes_out_as_it_was_made(client: Client, url: str, upstream: Upstream) -> None:
    spelled = b' {"model":"fake-n1" , "seed": 1.0e5,\n"messages":[{"content":"hi","role":"user"}], "x":"\\u00fc"} '
    client.post(
        url, content=spelled, headers={"X-Odd": "ü".encode("latin-1"), "Content-Type": "application/json"}
    ).read()
    assert upstream.calls[-1].body == spelled
    assert upstream.calls[-1].headers["content-length"] == str(len(spelled))
    assert upstream.calls[-1].headers["x-odd"] == "ü"


def test_streamed_and_multipart_bodies_are_left_alone(
    client: Client, url: str, upstream: Upstream, ours: bool, kept: Kept
) -> None:
    body = json.dumps(chat("fake-n1")).encode()

    def pieces() -> Iterator[bytes]:
        yield body[:10]
        yield body[10:]

    async def apieces() -> Any:
        yield body[:10]
        yield body[10:]

    client.post(url, content=apieces() if client.face.asynchronous else pieces()).read()
    assert upstream.calls[-1].headers["transfer-encoding"] == "chunked"
    assert upstream.calls[-1].body == body
    client.post(url, files={"file": b"bytes"}).read()
    assert b"form-data" in upstream.calls[-1].body
    assert kept.memory.counters() == ({"request_streamed": 2} if ours else {})


def test_threads_or_tasks_share_a_client(client: Client, url: str, kept: Kept, ours: bool) -> None:
    texts = [f"question {number}" for number in range(24)]
    answers: dict[str, bytes] = {}

    def ask(text: str) -> Any:
        request = client.client.build_request("POST", url, json=chat("fake-n5-d3", text))
        if not client.face.asynchronous:
            with kept.memory.session(text):
                answers[text] = client.client.send(request).content
            return None

        async def aask() -> None:
            with kept.memory.session(text):
                answers[text] = (await client.client.send(request)).content

        return aask()

    if client.face.asynchronous:
        import asyncio

        async def all_of_them() -> None:
            await asyncio.gather(*map(ask, texts))

        client.do(all_of_them)
    else:
        threads = [threading.Thread(target=ask, args=(text,)) for text in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for text in texts:
        spoken = b"".join(answers[text].partition(b'"content":"')[2:]).decode()
        assert spoken
        assert [said for role, said in kept.said(text) if role == "user"] == ([text] if ours else [])
