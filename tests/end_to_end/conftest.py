"""The example applications under uvicorn, between the SDKs and the scripted upstream."""

from __future__ import annotations

import asyncio
import importlib
import itertools
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import MappingProxyType
from typing import Any

import pytest

from tests.upstream.server import Upstream
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.cli.demo.app import serve_app
from tokenmizer_mw.store.memory import MemoryLog

from .sdks.talk import CLIENTS
from .served import APPS, EXAMPLES, Served

_sessions = itertools.count(1)


def _settings_of(app: str) -> AbstractContextManager[Any]:
    """Django's settings exist once in a process: those of the example stand over what other tests have made."""
    if app != "django":
        return nullcontext()
    from django.test import override_settings

    return override_settings(ROOT_URLCONF="django_app", ALLOWED_HOSTS=["*"], MIDDLEWARE=[])


@pytest.fixture(scope="session")
def upstream() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


@pytest.fixture(scope="session")
def serve(upstream: Upstream) -> Callable[..., Any]:
    """Serves an example in front of the upstream, with a memory of its own and the settings that are given."""

    @contextmanager
    def serving_example(app: str, keys: Mapping[str, str] = MappingProxyType({}), **settings: Any) -> Iterator[Served]:
        if str(EXAMPLES) not in sys.path:
            sys.path.append(str(EXAMPLES))
        example, relay = importlib.import_module(f"{app}_app"), importlib.import_module("relay")
        log = MemoryLog()
        memory = SessionMemory(log, Settings(**settings))
        try:
            application = example.create_app(memory, relay.Relay({"UPSTREAM_URL": upstream.url, **keys}))
            with _settings_of(app), serve_app(application) as url:
                yield Served(app, url, memory, log)
        finally:
            memory.close()

    return serving_example


@pytest.fixture(scope="session", params=APPS)
def served(request: pytest.FixtureRequest, serve: Callable[..., Any]) -> Iterator[Served]:
    with serve(request.param) as running:
        yield running


@pytest.fixture
def session() -> str:
    """The id of a session that no other test has."""
    return f"session-{next(_sessions)}"


@pytest.fixture(scope="session", autouse=True)
def run() -> Iterator[Callable[[Awaitable[Any]], Any]]:
    """Runs a coroutine on the one loop of all tests, to which the asynchronous clients are bound."""
    with asyncio.Runner() as runner:
        yield runner.run
        runner.run(CLIENTS.aclose_all())
    CLIENTS.close_all()
