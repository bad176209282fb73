"""A server that erases what is old by itself."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from tests.waiting import eventually
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.operations.erasure import DAY, retaining
from tokenmizer_mw.server.proxy.app import Proxy
from tokenmizer_mw.server.proxy.configuration import Configuration
from tokenmizer_mw.store.memory import MemoryLog

from .test_imports import CHAT


def test_old_sessions_go_again_and_again(tmp_path: Path) -> None:
    memory = SessionMemory.open(f"sqlite:///{tmp_path / 'data' / 'chat.db'}", Settings(retain_days=30))
    now = time.time()
    memory.record("old", CHAT)
    memory.record("old", CHAT, tenant="other")
    with retaining(memory, every=0.02, clock=lambda: now):
        assert len(memory.sessions()) == 1
        now += 31 * DAY
        assert eventually(lambda: memory.counters().get("sessions_expired") == 2)
        assert memory.sessions() == memory.sessions(tenant="other") == []
        now -= 31 * DAY
        memory.record("young", CHAT)
    assert [info.key.id for info in memory.sessions()] == ["young"]
    memory.close()


def test_without_the_setting_nothing_is_erased() -> None:
    memory = SessionMemory.open()
    memory.record("old", CHAT)
    with retaining(memory, every=0.01, clock=lambda: time.time() + 1_000 * DAY):
        pass
    assert len(memory.sessions()) == 1
    memory.close()


def test_the_proxy_does_so() -> None:
    long_ago = time.time() - 400 * DAY
    log = MemoryLog(lambda: long_ago)
    memory = SessionMemory(log, Settings(retain_days=365))
    memory.record("old", CHAT)
    sent: list[str] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    async def receive() -> Any:
        if not sent:
            return {"type": "lifespan.startup"}
        assert await asyncio.to_thread(eventually, lambda: memory.counters().get("sessions_expired"))
        return {"type": "lifespan.shutdown"}

    asyncio.run(Proxy(Configuration(), memory)({"type": "lifespan"}, receive, send))
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_a_store_that_fails_is_tried_again() -> None:
    memory = SessionMemory.open(settings=Settings(retain_days=1))
    memory.log.close()
    with retaining(memory, every=0.01):
        assert eventually(lambda: memory.counters().get("retain_failed", 0) >= 2)
    memory.close()
