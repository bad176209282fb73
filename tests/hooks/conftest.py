"""Machines of users, and a scripted model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.upstream.server import Upstream

from .agent import Desk, desk


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


@pytest.fixture
def at_desk(tmp_path: Path) -> Iterator[Desk]:
    with desk(tmp_path) as found:
        yield found
