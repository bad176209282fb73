"""A real server in a thread: the door, the memory's middleware and its REST routes, and a model that tells what it saw.

``ProxyServing`` puts the reference proxy in the place of that small application.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.waiting import eventually
from tokenmizer_mw import SessionMemory, TokenMizerMiddleware
from tokenmizer_mw.server.access.caller import caller_of, is_own, tenant_of
from tokenmizer_mw.server.access.key_store import KeyStore
from tokenmizer_mw.server.access.middleware import Access
from tokenmizer_mw.server.access.settings import AccessSettings
from tokenmizer_mw.server.api import api
from tokenmizer_mw.server.proxy.app import Proxy
from tokenmizer_mw.server.proxy.configuration import Configuration

SECONDS: Final = 20.0
"""After which something that must happen has not happened."""

CHAT: Final = "/v1/chat/completions"
USAGE: Final = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}


class Model:
    """The application: answers chats, and notes what it saw of each request. Some words it answers with a redirect to
    ``elsewhere``, or with an error that repeats them."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.bodies: list[bytes] = []
        self.elsewhere = ""
        self.go = threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        body = b""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.seen.append({"gone": True})
                return
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        caller = caller_of(scope)
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        self.seen.append({"path": scope["path"], "headers": headers, "size": len(body), "caller": caller})
        self.bodies.append(body)
        await self._answer(body, send)

    async def _answer(self, body: bytes, send: Any) -> None:
        if b"go elsewhere" in body or b"fail with this" in body:
            told = [(b"location", self.elsewhere.encode())] if b"go elsewhere" in body else []
            await send({"type": "http.response.start", "status": 302 if told else 500, "headers": told})
            await send({"type": "http.response.body", "body": body})
            return
        message = {"role": "assistant", "content": "Noted."}
        answer = {"id": "c1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": USAGE}
        headers = [(b"content-type", b"application/json"), (b"x-request-id", b"r1")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if b"wait for me" in body:
            import anyio

            with anyio.fail_after(SECONDS):
                while not self.go.is_set():
                    await anyio.sleep(0.005)
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


async def _lifespan(receive: Any, send: Any) -> None:
    for stage in ("startup", "shutdown"):
        assert (await receive())["type"] == f"lifespan.{stage}"
        await send({"type": f"lifespan.{stage}.complete"})


@dataclass
class Answer:
    """A response as a client gets it."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Server:
    """What runs: its address, its parts, and plain ways to talk to it."""

    port: int
    door: Access
    model: Model
    memory: SessionMemory

    def ask(
        self,
        key: str | None = None,
        *,
        path: str = CHAT,
        method: str = "POST",
        headers: dict[str, str] | None = None,
        text: str = "Hello.",
        data: Any = None,
        session: str | None = None,
        source: str = "127.0.0.1",
    ) -> Answer:
        """One request, on a connection of its own."""
        sent = dict(headers or {})
        if key is not None:
            sent["authorization"] = f"Bearer {key}"
        if session is not None:
            sent["x-session-id"] = session
        if data is None and method == "POST":
            data = chat(text)
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS, source_address=(source, 0))
        with contextlib.closing(link):
            link.request(method, path, data, {"content-type": "application/json", **sent})
            response = link.getresponse()
            return Answer(response.status, {n.lower(): v for n, v in response.getheaders()}, response.read())

    def raw(self, data: bytes) -> bytes:
        """What a server says to ``data`` until it ends the connection, or has answered once."""
        with self.connect() as link:
            link.sendall(data)
            return until_answered(link)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)


def chat(text: str = "Hello.", **more: Any) -> bytes:
    return json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": text}], **more}).encode()


def until_answered(link: socket.socket) -> bytes:
    """One response by its length, or all that comes."""
    seen = b""
    while True:
        head, end, body = seen.partition(b"\r\n\r\n")
        for line in head.lower().split(b"\r\n"):
            name, _, value = line.partition(b":")
            if end and name == b"content-length" and len(body) >= int(value):
                return seen
        try:
            piece = link.recv(65_536)
        except ConnectionError:
            return seen
        if not piece:
            return seen
        seen += piece


class Serving:
    """Starts servers with a small application behind the door; all are stopped at the end of the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stops: list[Callable[[], None]] = []

    def app(self, memory: SessionMemory, model: Model, keys: KeyStore | None, settings: AccessSettings) -> App:
        """The application, and its door."""
        rest, chats = api(memory), TokenMizerMiddleware(model, memory=memory, tenant=tenant_of)

        async def inside(scope: Any, receive: Any, send: Any) -> None:
            own = scope["type"] == "http" and is_own(scope["path"])
            await (rest if own else chats)(scope, receive, send)

        door = Access(inside, keys=keys, settings=settings)
        return door, door

    def __call__(self, keys: KeyStore | None, *, http: str = "h11", below: str = "", **settings: Any) -> Server:
        """A server whose door is kept by ``keys`` and ``settings``; mounted ``below`` a path."""
        model = Model()
        memory = SessionMemory.open(f"sqlite:///{self.folder / 'data' / 'sessions.db'}")
        wanted = AccessSettings(**{"open_paths": ("/health", "/health/live"), **settings})
        app, door = self.app(memory, model, keys, wanted)
        port = self.run(Starlette(routes=[Mount(below, app)]) if below else app, http)
        self._stops += [memory.close, model.go.set]
        return Server(port, door, model, memory)

    def run(self, app: Any, http: str) -> int:
        """The port at which ``app`` is served."""
        listener = socket.create_server(("127.0.0.1", 0))
        options: dict[str, Any] = {"http": http, "ws": "none", "lifespan": "on", "log_level": "critical"}
        server = uvicorn.Server(uvicorn.Config(app, proxy_headers=False, **options))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()

        def stop() -> None:
            server.should_exit = True
            thread.join(SECONDS)
            assert not thread.is_alive()
            listener.close()

        self._stops.append(stop)
        assert eventually(lambda: server.started)
        return int(listener.getsockname()[1])

    def stop(self) -> None:
        for stop in reversed(self._stops):
            stop()


class ProxyServing(Serving):
    """Starts whole proxies, each with a model of its own as the only provider."""

    def app(self, memory: SessionMemory, model: Model, keys: KeyStore | None, settings: AccessSettings) -> App:
        """The application, and its door."""
        base = f"http://127.0.0.1:{self.run(model, 'h11')}"
        providers = {name: {"base_url": base, "keys": "client"} for name in ("openai", "anthropic", "ollama")}
        read = Configuration.read({"auth": keys is not None, "providers": providers}, {})
        proxy = Proxy(replace(read, access=settings), memory, keys)
        return proxy, proxy._access


App = tuple[Any, Access]


def served(folder: Path, name: str) -> Iterator[Serving]:
    serving = {"small": Serving, "proxy": ProxyServing}[name](folder)
    yield serving
    serving.stop()
