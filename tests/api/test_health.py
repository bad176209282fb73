"""What an orchestrator and Prometheus see."""

from __future__ import annotations

import asyncio
import secrets
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.runtime.offload import CALLS, CALLS_THREADS, offload
from tokenmizer_mw.server.api import api, local
from tokenmizer_mw.server.api.health import RECENT_SECONDS, TROUBLES, Health
from tokenmizer_mw.store.open import open_log

from .hosts import CHAT, ask, starlette, who


def test_health_of_a_memory_that_works(memory: SessionMemory) -> None:
    app = starlette(api(memory))
    for path in ("/health", "/health/live", "/health/ready"):
        answer = ask(app, "GET", path, token=None)
        assert (answer.status_code, answer.json()) == (
            200,
            {"status": "ok", "live": True, "ready": True, "reasons": []},
        )


def test_a_store_that_fails_makes_it_unready_but_not_dead(memory: SessionMemory) -> None:
    app = starlette(api(memory))
    memory.close()
    answer = ask(app, "GET", "/health/ready", token=None)
    assert (answer.status_code, answer.json()["status"]) == (503, "unready")
    assert answer.json()["reasons"] == ["store_unavailable", "store_closed"]
    assert ask(app, "GET", "/health/live", token=None).status_code == 200


def test_a_process_whose_threads_all_wait_for_the_store_is_live(memory: SessionMemory) -> None:
    app, gate = starlette(api(memory)), threading.Event()

    async def use() -> int:
        waiting = [asyncio.create_task(offload(gate.wait, CALLS)) for _ in range(CALLS_THREADS)]
        await asyncio.sleep(0)
        try:
            asked = asyncio.to_thread(ask, app, "GET", "/health/live", token=None)
            return (await asyncio.wait_for(asked, 30)).status_code
        finally:
            gate.set()
            await asyncio.gather(*waiting)

    assert asyncio.run(use()) == 200


def test_it_names_why_the_store_takes_nothing(memory: SessionMemory) -> None:
    app = starlette(api(memory))
    memory.service.store_monitor.note_failure(StoreUnavailable("full", cause="disk_full", place="/some/place.db"))
    answer = ask(app, "GET", "/health", token=None)
    assert (answer.status_code, answer.json()["status"], answer.json()["ready"]) == (200, "degraded", True)
    assert answer.json()["reasons"] == ["store_disk_full"]
    memory.service.store_monitor.note_answer(0.0)
    assert ask(app, "GET", "/health", token=None).json()["status"] == "ok"


def test_the_database_is_named_to_whoever_may_administer_it(memory: SessionMemory, tmp_path: Path) -> None:
    database = str(tmp_path / "data" / "chat.db")
    guarded, own = starlette(api(memory, authorize=who)), starlette(api(memory, authorize=local))
    assert "place" not in ask(own, "GET", "/health", token=None).json()
    memory.service.store_monitor.note_failure(StoreUnavailable("full", cause="disk_full", place=database))
    for token, seen in ((None, False), ("a", False), ("chat", False), ("admin", True)):
        assert ("place" in ask(guarded, "GET", "/health", token=token).json()) is seen
    assert ask(own, "GET", "/health", token=None).json()["place"] == database
    memory.close()
    answer = ask(own, "GET", "/health", token=None)
    assert (answer.status_code, answer.json()["place"]) == (503, database)


def test_a_password_is_no_part_of_the_place() -> None:
    word = secrets.token_urlsafe(12)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    address = f"postgresql://me:{word}@127.0.0.1:{port}/shop?timeout=2"
    with closing(SessionMemory(open_log(address), Settings(redact=False))) as memory:
        answer = ask(starlette(api(memory, authorize=local)), "GET", "/health", token=None)
    assert (answer.status_code, answer.json()["place"]) == (503, f"127.0.0.1:{port}/shop")
    assert word not in answer.text


def test_a_host_that_drains_is_unready(memory: SessionMemory) -> None:
    draining: list[str] = []
    app = starlette(api(memory, checks=[lambda: draining[0] if draining else None]))
    assert ask(app, "GET", "/health").status_code == 200
    draining.append("draining")
    answer = ask(app, "GET", "/health")
    assert (answer.status_code, answer.json()["reasons"]) == (503, ["draining"])


def test_what_does_not_work_degrades_it_and_keeps_it_ready(memory: SessionMemory) -> None:
    amiss: list[str] = []
    app = starlette(api(memory, doubts=[lambda: amiss[0] if amiss else None]))
    assert ask(app, "GET", "/health").json()["status"] == "ok"
    amiss.append("limits_not_shared")
    answer = ask(app, "GET", "/health/ready")
    assert (answer.status_code, answer.json()["status"], answer.json()["ready"]) == (200, "degraded", True)
    assert answer.json()["reasons"] == ["limits_not_shared"]


def test_failures_degrade_it_for_a_while(memory: SessionMemory) -> None:
    now = time.time()
    health = Health(memory, (), lambda: now)
    assert health.look()["status"] == "ok"
    memory.service.count("redaction_failed")
    memory.service.count("turn_complete")
    assert (health.look()["status"], health.look()["reasons"]) == ("degraded", ["redaction_failed"])
    now += RECENT_SECONDS - 1
    assert health.look()["status"] == "degraded"
    now += 60
    assert health.look() == {"status": "ok", "live": True, "ready": True, "reasons": []}


def test_a_failure_of_yesterday_is_not_recent_at_the_first_look(memory: SessionMemory) -> None:
    memory.service.count("cut_failed")
    assert Health(memory, (), lambda: time.time() + 86_400).look()["status"] == "ok"
    assert Health(memory, (), time.time).look()["reasons"] == ["cut_failed"]


@pytest.mark.parametrize("name", TROUBLES)
def test_every_trouble_is_a_counter_that_there_is(name: str) -> None:
    found = subprocess.run(["grep", "-rlq", f'"{name}"', "tokenmizer_mw", "--include=*.py", "--exclude-dir=api"])
    assert found.returncode == 0


class Streams(Collector):
    def collect(self) -> list[GaugeMetricFamily]:
        return [GaugeMetricFamily("tokenmizer_streams", "Streams that are open", value=3)]


def test_metrics(memory: SessionMemory) -> None:
    app = starlette(api(memory, authorize=local, collectors=[Streams()]))
    memory.record("secret session", CHAT)
    memory.service.count("turn_complete", 2)
    ask(app, "GET", "/api/graph/secret%20session")
    ask(app, "GET", "/api/graph/none")
    answer = ask(app, "GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    found = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    assert found["tokenmizer_events_total", "turn_complete"] == 2
    assert found["tokenmizer_api_requests_total", "200", "graph"] == 1
    assert found["tokenmizer_api_requests_total", "404", "graph"] == 1
    assert found["tokenmizer_ready",] == 1
    assert found["tokenmizer_streams",] == 3
    assert "secret" not in answer.text


def test_metrics_are_for_admins(memory: SessionMemory) -> None:
    app = starlette(api(memory, authorize=who))
    assert [ask(app, "GET", "/metrics", token=token).status_code for token in (None, "a", "admin")] == [401, 403, 200]


def test_without_the_library_the_route_is_not_there() -> None:
    code = (
        "import sys; sys.modules['prometheus_client'] = None\n"
        "from tokenmizer_mw import SessionMemory\nfrom tokenmizer_mw.server.api import api\n"
        "print('metrics' in {route.name for route in api(SessionMemory.open()).routes})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"
