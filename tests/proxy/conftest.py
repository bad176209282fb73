"""One scripted upstream and one proxy for all tests that change nothing about it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests.upstream.server import Upstream

from .serving import Served, configured, eventually, serving

_sessions = itertools.count(1)


@pytest.fixture(scope="session")
def _running() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


@pytest.fixture
def upstream(_running: Upstream) -> Iterator[Upstream]:
    _running.script.clear()
    _running.calls.clear()
    yield _running
    assert eventually(lambda: _running.statistics.active == 0)


@pytest.fixture(scope="session")
def _served(_running: Upstream) -> Iterator[Served]:
    with serving(configured(_running)) as served:
        yield served


@pytest.fixture
def served(_served: Served, upstream: Upstream) -> Served:
    return _served


@pytest.fixture
def session() -> str:
    """The id of a session that no other test has."""
    return f"session-{next(_sessions)}"
