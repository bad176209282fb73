"""Same dialect on both sides: what a client gets through the proxy is what it would get without."""

from __future__ import annotations

import http.client
import json
import socket
from contextlib import closing

import pytest

from tests.upstream.server import Upstream
from tests.waiting import eventually

from .serving import CUT, SECONDS, Served, asked, call, configured, free_port, serving

CHAT = "/v1/chat/completions"
STATUSES = (400, 401, 404, 413, 429, 500, 503)
MODES = ("", "cut", "rst", "errmid", "nodone", "len", "usage", "uni", "sep", "crlf", "cr", "nospace", "multi", "ka",
         "split1", "split7", "glue", "slowhead", "tools")  # fmt: skip


def port_of(upstream: Upstream) -> int:
    return int(upstream.url.rpartition(":")[2])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("status", STATUSES)
def test_statuses_are_the_providers(
    served: Served, upstream: Upstream, session: str, status: int, stream: bool
) -> None:
    body = asked(f"fake-e{status}", stream=stream)
    direct = call(port_of(upstream), CHAT, body)
    upstream.calls.clear()
    assert call(served.port, CHAT, body, {"x-session-id": session}) == direct
    assert direct[0] == status
    assert len(upstream.calls) == 1


@pytest.mark.parametrize("path", [CHAT, "/v1/responses", "/v1/messages", "/v2/chat", "/api/chat"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_answers_of_all_dialects_are_the_providers(
    served: Served, upstream: Upstream, session: str, path: str, stream: bool
) -> None:
    said = [{"role": "user", "content": "Which database?"}]
    given = {"input": said} if path == "/v1/responses" else {"messages": said, "max_tokens": 9}
    body = json.dumps({"model": "fake-n4-tools", "stream": stream, **given}).encode()
    direct = call(port_of(upstream), path, body)
    assert call(served.port, path, body, {"x-session-id": session}) == direct
    assert [received.body for received in upstream.calls] == [body, body]
    assert served.ended(session) == ["complete"]


@pytest.mark.parametrize("query", ["", "?alt=sse"])
def test_gemini_has_its_model_in_the_path(served: Served, upstream: Upstream, session: str, query: str) -> None:
    body = json.dumps({"contents": [{"role": "user", "parts": [{"text": "Which?"}]}]}).encode()
    path = f"/v1beta/models/fake-n4:streamGenerateContent{query}"
    direct = call(port_of(upstream), path, body)
    assert call(served.port, path, body, {"x-session-id": session}) == direct
    received = upstream.calls[0]
    assert (received.path, received.query) == (path.partition("?")[0], query[1:])
    assert served.ended(session) == ["complete"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_bytes_are_the_providers(served: Served, upstream: Upstream, session: str, mode: str, stream: bool) -> None:
    """The faults, too: a cut stays a cut, and nothing is said that the provider did not say."""
    body = asked(f"fake-n6-{mode}" if mode else "fake-n6", stream=stream)
    direct = call(port_of(upstream), CHAT, body)
    ours = call(served.port, CHAT, body, {"x-session-id": session})
    assert ours[:2] == direct[:2]
    if mode == "rst":  # what was on its way when the connection was reset may be lost on either
        assert ours[2].endswith(CUT)
    else:
        assert ours[2] == direct[2]
    assert [received.body for received in upstream.calls] == [body, body]


def test_compressed_answers_stay_compressed(served: Served, upstream: Upstream, session: str) -> None:
    body = asked("fake-n6-gzip", stream=True)
    headers = {"accept-encoding": "gzip"}
    direct = call(port_of(upstream), CHAT, body, headers)
    assert ("content-encoding", "gzip") in direct[1]
    assert call(served.port, CHAT, body, {**headers, "x-session-id": session}) == direct
    assert served.ended(session) == ["complete"]


def test_headers_go_on_but_for_those_of_the_connection(served: Served, upstream: Upstream, session: str) -> None:
    """Nothing is added, nothing is lost, and what only this server understands stays here."""
    own = {"x-session-id": session, "x-tokenmizer-key": "tmz_made_up", "cookie": "a=b"}
    hop = {"connection": "close, x-hop", "x-hop": "1", "te": "trailers", "proxy-connection": "keep-alive"}
    kept = {"authorization": "Bearer made-up", "x-stainless-lang": "python", "openai-beta": "a=1,b=2"}
    body = asked("fake-n3")
    call(served.port, CHAT, body, {**own, **hop, **kept})
    wanted = {"content-type": "application/json", "accept-encoding": "identity", **kept}
    wanted |= {"host": upstream.url.removeprefix("http://"), "content-length": str(len(body))}
    assert upstream.calls[0].headers == wanted


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/v1/embeddings", "/v1/embeddings"),
        ("/v1/messages/count_tokens", "/v1/messages/count_tokens"),
        ("/api/embed", "/api/embed"),
        ("/v2/rerank", "/v2/rerank"),
    ],
)
def test_other_calls_pass(served: Served, upstream: Upstream, path: str, sent: str) -> None:
    body = b'{"model": "some-model", "input": "caf\xc3\xa9"}'
    assert call(served.port, path, body)[::2] == (404, b'{"error":"not found"}')  # the upstream knows chats only
    assert (upstream.calls[0].path, upstream.calls[0].body) == (sent, body)


def test_models_are_listed_by_whom_the_client_speaks_to(served: Served, upstream: Upstream) -> None:
    for path in ("/v1/models", "/v1/models/gpt-4o", "/v1beta/models", "/api/tags"):
        call(served.port, path, None, method="GET")
    assert [(seen.method, seen.path, "content-length" in seen.headers) for seen in upstream.calls] == [
        ("GET", path, False) for path in ("/v1/models", "/v1/models/gpt-4o", "/v1beta/models", "/api/tags")
    ]


@pytest.mark.parametrize(
    "path", ["/v1/models/org%2Fname", "/v1/models/caf%C3%A9", "/v1beta/models/a%252Fb", "/v1/files/a%20b?purpose=x%20y"]
)
def test_paths_stay_escaped_as_they_were(served: Served, upstream: Upstream, path: str) -> None:
    call(served.port, path, None, method="GET")
    seen = upstream.calls[0]
    assert seen.path + (f"?{seen.query}" if seen.query else "") == path


@pytest.mark.parametrize("path", ["/v1/../admin", "/v1/%2e%2e/admin", "/v1beta/models/..%2f..%2fadmin", "/v2/./chat"])
def test_no_path_leads_out_of_its_place(served: Served, upstream: Upstream, path: str) -> None:
    assert call(served.port, path, b"{}")[0] == 404
    assert not upstream.calls


@pytest.mark.parametrize("path", ["/", "/nowhere", "/api/pull", "/v3/chat", "/chat/nothing"])
def test_other_paths_are_nobodys(served: Served, upstream: Upstream, path: str) -> None:
    assert call(served.port, path, b"{}")[0] == 404
    assert not upstream.calls


# -- a client that leaves ------------------------------------------------------------------------------------------


def leave(served: Served, upstream: Upstream, session: str, model: str, *, after: bytes) -> None:
    """Leave in the midst of an answer and wait until the provider has noticed."""
    body = asked(model, stream=True)
    before = upstream.statistics.aborted
    with closing(socket.create_connection(("127.0.0.1", served.port), timeout=SECONDS)) as link:
        head = (
            f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nx-session-id: {session}\r\ncontent-type: application/json\r\n"
        )
        link.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        assert eventually(lambda: upstream.statistics.active == 1)
        seen = b""
        while after not in seen:
            seen += link.recv(65_536)
    assert eventually(lambda: upstream.statistics.aborted == before + 1)


def test_a_provider_hears_of_it_before_the_first_byte(served: Served, upstream: Upstream, session: str) -> None:
    leave(served, upstream, session, "fake-n3-f90000", after=b"")


def test_a_provider_hears_of_it_amid_the_stream(served: Served, upstream: Upstream, session: str) -> None:
    leave(served, upstream, session, "fake-n2000-d50", after=b"data:")
    assert eventually(lambda: set(served.ended(session)) == {"aborted"})


def test_the_connection_of_a_client_that_stays_is_used_again(served: Served, upstream: Upstream) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=SECONDS)) as link:
        for _ in range(3):
            link.request("POST", CHAT, asked("fake-n3", stream=True), {"content-type": "application/json"})
            assert link.getresponse().read().endswith(b"[DONE]\n\n")
    before = upstream.statistics.connections
    for _ in range(3):
        call(served.port, CHAT, asked("fake-n3"))
    assert upstream.statistics.connections == before


# -- a provider that is not there ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "place"),
    [(CHAT, ("error", "message")), ("/v1/messages", ("error", "message")), ("/v2/chat", ("message",))],
)
def test_a_provider_that_is_not_there_is_told_in_the_clients_words(
    upstream: Upstream, path: str, place: tuple[str, ...]
) -> None:
    providers = {name: {"base_url": f"http://127.0.0.1:{free_port()}"} for name in ("openai", "anthropic", "cohere")}
    with serving(configured(upstream, providers=providers)) as served:
        status, headers, body = call(served.port, path, asked("some-model"))
    told = json.loads(body)
    for name in place:
        told = told[name]
    assert (status, ("content-type", "application/json") in headers) == (502, True)
    assert "cannot be reached" in told


def test_a_provider_that_does_not_answer_in_time(upstream: Upstream) -> None:
    with serving(configured(upstream, asking={"first_byte_seconds": 0.2})) as served:
        assert call(served.port, CHAT, asked("fake-n3-f20000"))[0] == 504
    assert len(upstream.calls) == 1


def test_a_provider_that_falls_silent_amid_the_stream(upstream: Upstream, session: str) -> None:
    with serving(configured(upstream, asking={"idle_seconds": 0.3})) as served:
        status, _, body = call(served.port, CHAT, asked("fake-n9-d30000", stream=True), {"x-session-id": session})
        assert (status, body.endswith(CUT), b"data:" in body) == (200, True, True)
        assert eventually(lambda: served.ended(session) == ["error"])


def test_a_body_that_is_too_large(upstream: Upstream) -> None:
    with serving(configured(upstream, asking={"body_max": 1_000})) as served:
        status, _, body = call(served.port, "/v1/messages", asked("fake-n3", said="x" * 2_000))
    assert (status, json.loads(body)["type"]) == (413, "error")
    assert not upstream.calls
