"""One scripted upstream, and two proxies in front of it: one that answers for every provider, one as it comes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.proxy.serving import Served, configured, serving
from tests.upstream.server import Upstream

from .clients import KEYS


@pytest.fixture(scope="session")
def upstream() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


@pytest.fixture(scope="session")
def ours(upstream: Upstream) -> Iterator[Served]:
    """Answers for every provider, Anthropic too."""
    with serving(configured(upstream, KEYS, memory={"compaction": "ours"})) as served:
        yield served


@pytest.fixture(scope="session")
def plain(upstream: Upstream) -> Iterator[Served]:
    """As it comes: what a provider offers is left to it."""
    with serving(configured(upstream, KEYS)) as served:
        yield served
