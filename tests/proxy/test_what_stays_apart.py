"""What belongs to a client and this server, or to this server and a provider, does not cross the proxy."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from tests.upstream.server import Upstream

from .serving import SECONDS, Served, asked, call, configured, serving

CHAT = "/v1/chat/completions"


@contextmanager
def provider(answer: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A provider that gives one answer to everything; its address, and the heads that it saw."""
    seen: list[bytes] = []

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                link, _ = listener.accept()
            except OSError:
                return
            with link:
                link.settimeout(SECONDS)
                head = b""
                while b"\r\n\r\n" not in head:
                    head += link.recv(65_536)
                seen.append(head)
                link.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", seen
        listener.close()


def page(kind: str) -> bytes:
    body = b"<script>alert(1)</script>"
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nset-cookie: a=b\r\n"
    return head.encode() + b"connection: close\r\n\r\n" + body


@pytest.mark.parametrize(
    "kind",
    [
        "text/html",
        "image/svg+xml",
        "application/xhtml+xml",
        "text/plain",
        "application/json, text/html",
        "application/json\r\ncontent-type: text/html",
        "application/jsonx+html",
    ],
)
def test_cookies_and_pages(kind: str, upstream: Upstream) -> None:
    with provider(page(kind)) as (address, seen):
        configuration = configured(upstream, providers={"openai": {"base_url": f"{address}/v1"}})
        with serving(configuration) as served:
            sent = {"cookie": "tokenmizer_session=mine", "authorization": "Bearer k"}
            status, headers, body = call(served.port, CHAT, asked("gpt-4o"), sent)
    told = dict(headers)
    assert status == 200 and body.startswith(b"<script>")
    assert "set-cookie" not in told and told["x-content-type-options"] == "nosniff"
    assert told["content-security-policy"] == "default-src 'none'; sandbox"
    assert b"cookie" not in seen[0].lower()


@pytest.mark.parametrize("method", ["TRACE", "TRACK", "PROPFIND", "ANY"])
def test_methods_that_are_not_relayed(served: Served, upstream: Upstream, method: str) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=SECONDS)) as link:
        link.request(method, "/v1/models", headers={"authorization": "Bearer k"})
        status = link.getresponse().status
    assert status in (400, 405)
    assert not upstream.calls


@pytest.mark.parametrize(
    "path", ["/v1/..;/admin", "/v1/models/..;x=1/files", "/v1/%2e%2e;/admin", "/v1/.;/models", "/v1/a/%2e%2e/b"]
)
def test_segments_that_lead_out_of_a_path(served: Served, upstream: Upstream, path: str) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=SECONDS)) as link:
        link.request("GET", path, headers={"authorization": "Bearer k"})
        assert link.getresponse().status == 404
    assert not upstream.calls
