"""Requests that two HTTP parsers could read in two ways, at a real server, directly and behind nginx and HAProxy."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
import uvicorn

from tests.sampling import sample
from tests.waiting import eventually
from tokenmizer_mw.server.access.http_protocols import PROTOCOL, BoundedH11

from .serving import SECONDS

INNER: Final = b"DELETE /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
LENGTH: Final = b"Content-Length: %d\r\n" % len(INNER)
CHUNKED_END: Final = b"0\r\n\r\n"

_POST: Final = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
_AS_CHUNK: Final = b"%x\r\n%s\r\n0\r\n\r\n" % (len(INNER), INNER)

ATTACKS: Final[dict[str, bytes]] = {
    "CL.TE": _POST + b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED_END + INNER,
    "TE.CL": _POST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n" + _AS_CHUNK,
    "two lengths, the same": _POST + LENGTH + LENGTH + b"\r\n" + INNER,
    "two lengths": _POST + LENGTH + b"Content-Length: 0\r\n\r\n" + INNER,
    "a list of lengths": _POST + b"Content-Length: 0, %d\r\n\r\n" % len(INNER) + INNER,
    "a signed length": _POST + b"Content-Length: +%d\r\n\r\n" % len(INNER) + INNER,
    "a negative length": _POST + b"Content-Length: -1\r\n\r\n" + INNER,
    "a hexadecimal length": _POST + b"Content-Length: 0x10\r\n\r\n" + INNER,
    "a length with an underscore": _POST + b"Content-Length: 1_0\r\n\r\n" + INNER,
    "an empty length": _POST + b"Content-Length: \r\n\r\n" + INNER,
    "two codings": _POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + CHUNKED_END + INNER,
    "chunked twice": _POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + CHUNKED_END + INNER,
    "an unknown coding": _POST + b"Transfer-Encoding: xchunked\r\n" + LENGTH + b"\r\n" + INNER,
    "identity": _POST + b"Transfer-Encoding: identity\r\n\r\n" + INNER,
    "chunked in HTTP/1.0": b"POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
    + CHUNKED_END
    + INNER,
    "space before the colon": _POST + b"Transfer-Encoding : chunked\r\n" + LENGTH + b"\r\n" + INNER,
    "tab before the colon": _POST + b"Transfer-Encoding\t: chunked\r\n" + LENGTH + b"\r\n" + INNER,
    "vertical tab in the coding": _POST + b"Transfer-Encoding: \x0bchunked\r\n" + LENGTH + b"\r\n" + INNER,
    "a folded line": _POST + b"Transfer-Encoding:\r\n chunked\r\n" + LENGTH + b"\r\n" + INNER,
    "a line that begins with a space": _POST + b" Transfer-Encoding: chunked\r\n" + LENGTH + b"\r\n" + INNER,
    "bare CR": _POST + b"X: 1\rTransfer-Encoding: chunked\r\n" + LENGTH + b"\r\n" + INNER,
    "bare LF in a chunk size": _POST + b"Transfer-Encoding: chunked\r\n\r\n0\n\n" + INNER,
    "a NUL in a value": _POST + b"X: a\x00b\r\n\r\n" + INNER,
    "a long chunk size": _POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"0" * 40 + b"10000000000000000\r\n" + INNER,
    "a negative chunk size": _POST + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n" + INNER,
    "a chunk size with 0x": _POST + b"Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n" + INNER,
    "a chunk without its end": _POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\nab0\r\n\r\n" + INNER,
    "two hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "CONNECT": b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n" + INNER,
    "a second version": b"POST / HTTP/1.1 HTTP/1.1\r\nHost: localhost\r\n" + LENGTH + b"\r\n" + INNER,
    "an upgrade without a body, and more behind it": _POST
    + b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 0\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}

UPGRADES: Final[dict[str, bytes]] = {
    "h2c": b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
    "websocket": b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
    "an unknown protocol": b"Connection: keep-alive, upgrade\r\nUpgrade: other/1\r\n",
    "without a protocol": b"Connection: upgrade\r\n",
    "without the option": b"Upgrade: h2c\r\n",
}


@dataclass
class Application:
    """Answers each request with its path, and keeps what it saw."""

    seen: list[tuple[str, str, bytes]] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.seen.append((scope["method"], scope["path"], body))
        answer = b"answer to " + scope["path"].encode()
        headers = [(b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    def smuggled(self) -> list[str]:
        return [path for _, path, _ in self.seen if "smuggled" in path]


@dataclass
class Running:
    """The server, and where it listens."""

    application: Application
    port: int

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), SECONDS)


@pytest.fixture(scope="module", params=["httptools", "h11"])
def running(request: pytest.FixtureRequest) -> Iterator[Running]:
    pytest.importorskip(request.param)
    application = Application()
    protocol: Any = BoundedH11 if request.param == "h11" else PROTOCOL
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application, http=protocol, log_level="critical", ws="none", timeout_keep_alive=60)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    assert eventually(lambda: server.started)
    yield Running(application, listener.getsockname()[1])
    server.should_exit = True
    thread.join(SECONDS)
    listener.close()


def _everything(link: socket.socket, quiet: float = 0.3) -> bytes:
    """What comes until the connection ends, or nothing comes for ``quiet`` seconds."""
    link.settimeout(quiet)
    answer = b""
    with contextlib.suppress(OSError):
        while piece := link.recv(65_536):
            answer += piece
    return answer


def _send(link: socket.socket, data: bytes, cuts: list[int]) -> None:
    with contextlib.suppress(OSError):
        for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            link.sendall(data[start:end])
            time.sleep(0.02)


def _cuts(attack: bytes) -> list[list[int]]:
    """The whole at once; the head, then the rest; in the middle of what is smuggled."""
    head = attack.index(b"\r\n\r\n") + 4
    return [[], [head], [head, (head + len(attack)) // 2]]


@pytest.mark.parametrize("name", ATTACKS)
def test_smuggling_reaches_nothing(running: Running, name: str) -> None:
    for cuts in _cuts(ATTACKS[name]):
        running.application.seen.clear()
        with running.connect() as link:
            _send(link, ATTACKS[name], cuts)
            answer = _everything(link)
            with contextlib.suppress(OSError):
                link.sendall(b"GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n")
                answer += _everything(link)
        paths = [path for _, path, _ in running.application.seen]
        assert paths in ([], ["/"], ["/", "/next"]), f"{name} {cuts}: {running.application.seen}"
        assert b"HTTP/1.1 101" not in answer


CONTROLS: Final = [byte for byte in (*range(0x20), 0x7F, 0x85, 0xFF) if byte != 0x09]


@pytest.mark.parametrize("place", [b"X%c: 1", b"X: a%cTransfer-Encoding: chunked", b"Transfer-Encoding:%cchunked"])
def test_control_characters_in_a_head_smuggle_nothing(running: Running, place: bytes) -> None:
    """Whatever one parser takes for the end of a line or for a blank, the length tells where the body ends."""
    for byte in CONTROLS:
        running.application.seen.clear()
        with running.connect() as link:
            _send(link, _POST + (place % byte) + b"\r\n" + LENGTH + b"\r\n" + INNER, [])
            assert b"HTTP/1.1 101" not in _everything(link, quiet=0.05)
        seen = running.application.seen
        assert seen in ([], [("POST", "/", INNER)]), f"{byte:#x}: {seen}"


@pytest.mark.parametrize("byte", [0x00, 0x0A, 0x0B, 0x0C, 0x0D, 0x1F, 0x7F])
def test_control_characters_in_an_address_smuggle_nothing(running: Running, byte: int) -> None:
    running.application.seen.clear()
    with running.connect() as link:
        _send(link, b"POST /a%cb HTTP/1.1\r\nHost: localhost\r\n" % byte + LENGTH + b"\r\n" + INNER, [])
        _everything(link, quiet=0.1)
    assert not running.application.smuggled()
    assert len(running.application.seen) <= 1


@pytest.mark.parametrize("name", sample(list(UPGRADES), 3))
def test_an_upgrade_is_ignored(running: Running, name: str) -> None:
    request = _POST + UPGRADES[name] + LENGTH + b"\r\n" + INNER
    plain = b"GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for cuts in _cuts(request):
        running.application.seen.clear()
        with running.connect() as link:
            for _ in range(2):
                _send(link, plain, [])
                assert _everything(link).endswith(b"answer to /next")
                _send(link, request, cuts)
                assert _everything(link).endswith(b"answer to /")
        expected = [("GET", "/next", b""), ("POST", "/", INNER)] * 2
        assert running.application.seen == expected, f"{name} {cuts}"


def test_trailers_and_extensions_end_a_connection(running: Running) -> None:
    endless = {
        "trailers": (b"0\r\n", b"X-Trailer: " + b"x" * 1_000 + b"\r\n"),
        "one trailer": (b"0\r\nX: ", b"x" * 1_000),
        "a chunk's extension": (b"1;", b"x" * 1_000),
    }
    for name, (start, piece) in endless.items():
        with running.connect() as link:
            link.sendall(_POST + b"Transfer-Encoding: chunked\r\n\r\n" + start)
            sent = 0
            with contextlib.suppress(OSError):
                while sent < 20_000_000:
                    link.sendall(piece)
                    sent += len(piece)
        assert sent < 20_000_000, f"{name}: 20 MB were taken"


def test_trailers_are_no_headers(running: Running) -> None:
    running.application.seen.clear()
    with running.connect() as link:
        for _ in range(2):
            link.sendall(_POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Trailer: 1\r\n\r\n")
            assert _everything(link).endswith(b"answer to /")
    assert running.application.seen == [("POST", "/", b"ok")] * 2


def test_a_pipeline_is_bounded(running: Running) -> None:
    with running.connect() as link:
        _send(link, b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20_000, [])
        answers = _everything(link, quiet=1.0)
    assert answers.count(b"answer to /a") <= 20_000
    with running.connect() as link:
        _send(link, b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n" * 8, [])
        assert _everything(link).count(b"answer to /a") == 8


_NGINX: Final = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream app {{ server 127.0.0.1:{upstream}; keepalive 1; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://app; proxy_http_version 1.1; proxy_request_buffering off;
      proxy_set_header Connection $http_connection; proxy_set_header Upgrade $http_upgrade;
    }}
  }}
}}
"""

_HAPROXY: Final = """
global
  maxconn 64
defaults
  mode http
  timeout connect 5s
  timeout client 20s
  timeout server 20s
  http-reuse always
  option http-keep-alive
frontend in
  bind 127.0.0.1:{port}
  default_backend app
backend app
  server one 127.0.0.1:{upstream} pool-max-conn 1
"""

_BALANCERS: Final = {
    "nginx": (_NGINX, ["nginx", "-p", "{folder}", "-c", "{file}"]),
    "haproxy": (_HAPROXY, ["haproxy", "-db", "-f", "{file}"]),
}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture(params=list(_BALANCERS))
def balanced(request: pytest.FixtureRequest, running: Running, tmp_path: Path) -> Iterator[Running]:
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    template, command = _BALANCERS[request.param]
    names = {"folder": str(tmp_path), "file": str(tmp_path / "conf"), "port": _free_port(), "upstream": running.port}
    (tmp_path / "conf").write_text(template.format(**names))
    process = subprocess.Popen([part.format(**names) for part in command], stderr=subprocess.DEVNULL)
    front = Running(running.application, int(names["port"]))

    def is_up() -> bool:
        with contextlib.suppress(OSError), front.connect():
            return True
        return False

    try:
        assert eventually(is_up)
        yield front
    finally:
        process.terminate()
        process.wait(SECONDS)


def test_behind_a_balancer_callers_stay_apart(balanced: Running) -> None:
    """After each attack, somebody else's request over the balancer's reused connection gets its own answer."""
    attacks = {**ATTACKS, **{name: _POST + head + LENGTH + b"\r\n" + INNER for name, head in UPGRADES.items()}}
    attacks.pop("a second version")
    victim = b"GET /victim HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    for name, attack in attacks.items():
        balanced.application.seen.clear()
        with balanced.connect() as link:
            _send(link, attack, [attack.index(b"\r\n\r\n") + 4])
            with balanced.connect() as other:
                other.sendall(victim)
                answer = _everything(other, quiet=2.0)
            _everything(link, quiet=0.05)
        assert answer.endswith(b"answer to /victim"), f"{name}: {answer!r}"
        smuggled = [entry for entry in balanced.application.seen if "smuggled" in entry[1] and entry[0] != "DELETE"]
        assert smuggled == [], name
