"""Blocks that are built in advance, over a real store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.agents.hooks import WorkerFiles
from tokenmizer_mw.agents.hooks.start import BlockBuilder, reader_of
from tokenmizer_mw.errors import Conflict, StoreCorrupt, StoreUnavailable
from tokenmizer_mw.store.sqlite_blocks import BlockName, at, find_block

SESSIONS = ("shop/one", "shop/two", "shop/three")


def build_blocks_again(folder: Path, error: Exception) -> set[str]:
    """Build the blocks of three sessions, change the project, and build them again while the second session raises
    ``error``. Returns the sessions whose blocks are new."""
    path = str(folder / "sessions.db")
    spot = WorkerFiles(str(folder), "worker")
    failing: set[str] = set()
    built: list[str] = []

    def build(session: str) -> str:
        if session in failing:
            raise error
        built.append(session)
        return f"block of {session}"

    with SessionMemory.open(f"sqlite:///{path}", Settings(project_separator="/")) as memory:
        builder = BlockBuilder(path, spot, build, "/")
        for session in SESSIONS:
            memory.record(session, [{"role": "user", "content": "We use SQLite for the orders."}])
        for session in SESSIONS:
            builder.build_for(session.partition("/")[2], session, "shop")
        with at(path) as cursor:
            assert find_block(cursor, BlockName(reader_of(spot), chat="one")) is not None
        memory.record(SESSIONS[0], [{"role": "assistant", "content": "Fine."}])
        built.clear()
        failing.add(SESSIONS[1])
        builder.build_again("shop")
    return set(built)


@pytest.mark.parametrize("error", [StoreCorrupt("the session is damaged"), Conflict("the session is being written")])
def test_a_session_that_cannot_be_read_is_skipped(tmp_path: Path, error: Exception) -> None:
    assert build_blocks_again(tmp_path, error) == {"shop/one", "shop/three"}


def test_a_store_that_cannot_be_reached_ends_the_work(tmp_path: Path) -> None:
    assert "shop/two" not in build_blocks_again(tmp_path, StoreUnavailable("the file is locked"))
