"""One scripted upstream and one proxy for all tests that change nothing about it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.upstream.server import Upstream
from tests.waiting import eventually

from .serving import LOOP_VARIABLE, Served, configured, serving

_sessions = itertools.count(1)


@pytest.fixture(scope="session")
def _running() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


# A server runs on uvloop where that is installed; the other loop is then tried by night.
LOOPS = ["asyncio"] if find_spec("uvloop") is None else [pytest.param("asyncio", marks=pytest.mark.nightly), "uvloop"]


@pytest.fixture(scope="session", params=LOOPS)
def loop(request: pytest.FixtureRequest) -> Iterator[str]:
    """The event loop of all servers and clients of the test, in this process and in those that it starts."""
    before = os.environ.get(LOOP_VARIABLE)
    os.environ[LOOP_VARIABLE] = request.param
    yield request.param
    os.environ.pop(LOOP_VARIABLE)
    if before is not None:
        os.environ[LOOP_VARIABLE] = before


@pytest.fixture
def upstream(_running: Upstream, loop: str) -> Iterator[Upstream]:
    _running.script.clear()
    _running.by_model.clear()
    _running.calls.clear()
    yield _running
    assert eventually(lambda: _running.statistics.active == 0)


@pytest.fixture(scope="session")
def _served(_running: Upstream, loop: str) -> Iterator[Served]:
    with serving(configured(_running)) as served:
        yield served


@pytest.fixture
def served(_served: Served, upstream: Upstream) -> Served:
    return _served


@pytest.fixture
def session() -> str:
    """The id of a session that no other test has."""
    return f"session-{next(_sessions)}"
