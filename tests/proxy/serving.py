"""The proxy under uvicorn, in a thread, on a free port of this machine, with a memory that tests can look into."""

from __future__ import annotations

import asyncio
import http.client
import importlib
import json
import os
import socket
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

import uvicorn

from tests.upstream.server import Upstream
from tests.waiting import eventually
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.event import MessageRecorded, TurnClosed
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.server.access.key_store import KeyStore
from tokenmizer_mw.server.proxy.app import Proxy
from tokenmizer_mw.server.proxy.configuration import Configuration
from tokenmizer_mw.store.memory import MemoryLog

SECONDS: Final = 40.0
"""After which something that must happen has not happened."""

CONNECTION: Final = frozenset({"transfer-encoding", "connection", "keep-alive"})
"""Headers that belong to one connection."""

Call = tuple[int, list[tuple[str, str]], bytes]
"""Status, headers in order, body; a body that was cut ends with ``CUT``."""

CUT: Final = b"\0cut"


@dataclass(frozen=True)
class Served:
    """A running proxy: its port, and what it remembers."""

    port: int
    memory: SessionMemory
    log: MemoryLog
    app: Proxy

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def said(self, session: str, tenant: str = LOCAL_TENANT) -> list[tuple[str, str]]:
        """Role and text of every message, in order."""
        self.memory.flush()
        events = [item.event for item in self.log.read(SessionKey(tenant, session))]
        return [
            (event.message.role.value, event.message.text) for event in events if isinstance(event, MessageRecorded)
        ]

    def ended(self, session: str) -> list[str]:
        """Outcome of every turn."""
        self.memory.flush()
        events = [item.event for item in self.log.read(SessionKey(LOCAL_TENANT, session))]
        return [event.outcome.value for event in events if isinstance(event, TurnClosed)]

    def sessions(self, tenant: str = LOCAL_TENANT) -> list[str]:
        self.memory.flush()
        return [info.key.id for info in self.log.sessions(tenant)]


def configured(upstream: Upstream, environ: Mapping[str, str] | None = None, **given: Any) -> Configuration:
    """A configuration whose providers are all the scripted upstream; ``given`` as the file would say it."""
    base = upstream.url
    providers = {
        **{name: {"base_url": f"{base}/v1"} for name in ("openai", "deepseek", "mistral", "openrouter", "grok")},
        "anthropic": {"base_url": base},
        "gemini": {"base_url": base},
        "cohere": {"base_url": base},
        "ollama": {"base_url": base},
    }
    told = {"providers": providers, **given}
    return Configuration.read(told, environ or {})


LOOP_VARIABLE: Final = "TOKENMIZER_LOOP"
"""Names the event loop of servers and clients in these tests: "asyncio" or "uvloop"."""

T = TypeVar("T")


def loop_name() -> Literal["auto", "asyncio", "uvloop"]:
    """The event loop that servers of the running test use."""
    named = os.environ.get(LOOP_VARIABLE, "auto")
    assert named in ("auto", "asyncio", "uvloop")
    return named  # type: ignore[return-value]


def run_on_loop(work: Coroutine[Any, Any, T], seconds: float = SECONDS) -> T:
    """Run ``work`` on the event loop of the running test, for at most so many seconds."""
    factory = importlib.import_module("uvloop").new_event_loop if loop_name() == "uvloop" else None
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(asyncio.wait_for(work, seconds))


def free_port() -> int:
    """A port at which nothing listens."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(configuration: Configuration, keys: KeyStore | None = None) -> Iterator[Served]:
    """The proxy while the context lasts."""
    log = MemoryLog()
    memory = SessionMemory(log, configuration.memory)
    app = Proxy(configuration, memory, keys)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        options = uvicorn.Config(
            app,
            loop=loop_name(),
            log_level="critical",
            date_header=False,
            server_header=False,
            timeout_graceful_shutdown=5,
        )
        server = uvicorn.Server(options)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            assert eventually(lambda: server.started)
            yield Served(listening.getsockname()[1], memory, log, app)
        finally:
            server.should_exit = True
            thread.join(SECONDS)
            assert not thread.is_alive()


def asked(model: str, *, stream: bool = False, said: str = "Which database?", **more: Any) -> bytes:
    """A chat request in OpenAI's dialect, spelled so that a change of it would show."""
    body = {"model": model, "stream": stream, "messages": [{"role": "user", "content": said}], **more}
    return json.dumps(body, indent=1).encode()


def call(
    port: int, path: str, body: bytes | None, headers: Mapping[str, str] | None = None, method: str = "POST"
) -> Call:
    """One call over a connection of its own."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)) as link:
        link.request(method, path, body, {"content-type": "application/json", **(headers or {})})
        response = link.getresponse()
        received = [(name, value) for name, value in response.getheaders() if name.lower() not in CONNECTION]
        try:
            return response.status, received, response.read()
        except http.client.IncompleteRead as cut:
            return response.status, received, cut.partial + CUT
        except ConnectionResetError:
            return response.status, received, CUT
