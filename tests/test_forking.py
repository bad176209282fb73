"""A process that forks at any moment: the child remembers at once, and the parent goes on."""

from __future__ import annotations

import http.client
import importlib
import json
import os
import subprocess
import sys
import time
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.server import free_port
from tests import services
from tokenmizer_mw import SessionMemory

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

SECONDS = 2.0
"""Within which a child has recorded, beside ``TIMES`` what the same takes its parent."""

TIMES = 10
"""A child connects anew; one that waits for a lock of its parent's never ends."""

AT_ANY_MOMENT = """
import asyncio, os, signal, sys, threading, time
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.runtime.offload import CPU, STORE, offload

url, children = sys.argv[1], int(sys.argv[2])
memory = SessionMemory.open(url)
over = threading.Event()

def talk(name):
    number = 0
    while not over.is_set():
        number += 1
        said = [{"role": "user", "content": f"{part}. Use PostgreSQL {number} for the orders, port {5000 + part}."}
                for part in range(12)]
        memory.record(f"{name}-{number % 3}", said, later=bool(number % 2))
        memory.graph(f"{name}-{number % 3}")

def record(name):
    begun = time.monotonic()
    said = [{"role": "user", "content": f"We use Redis for the queue of {name}."}]
    memory.record("talk-0-1", [{"role": "user", "content": f"{name} uses Kafka."}])
    memory.record(name, said)
    assert len(memory.messages(name)) == 1
    return time.monotonic() - begun

def child(number):
    taken = record(f"child-{number}")
    assert len(memory.graph(f"child-{number}")) > 0
    memory.add(f"child-{number}", [])
    memory.service.extraction.schedule(memory.service.access.key_of(f"child-{number}", "local"))
    assert memory.flush(10), "the background queue is stuck"

    async def hop():
        return await asyncio.wait_for(asyncio.gather(offload(lambda: 1, CPU), offload(lambda: 2, STORE)), 10)

    assert asyncio.run(hop()) == [1, 2]
    memory.close()
    return taken

record("first")  # what is compiled and connected at first use is there when the others begin
memory.graph("first")
threads = [threading.Thread(target=talk, args=(f"talk-{number}",)) for number in range(3)]
for thread in threads:
    thread.start()
usual = max(record(f"parent-{number}") for number in range(5))
worst = 0.0
for number in range(children):
    time.sleep(0.013 * (number % 7))
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        signal.alarm(60)
        try:
            os.write(write, str(child(number)).encode())
            os._exit(0)
        except BaseException as error:
            os.write(write, repr(error).encode())
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.close(write)
    told = os.read(read, 10_000).decode()
    assert code == 0, f"child {number} ended with {code}: {told}"
    worst = max(worst, float(told))
over.set()
for thread in threads:
    thread.join(60)
    assert not thread.is_alive()
assert memory.flush(60)
for number in range(children):
    assert len(memory.messages(f"child-{number}")) == 1
memory.close()
print(worst, usual)
"""

PRELOADED = """
import json, os, threading
from tokenmizer_mw import SessionMemory, TokenMizerMiddleware

memory = SessionMemory.open(os.environ["TEST_STORE"])
said = [{"role": "user", "content": f"{part}. Use PostgreSQL for the orders, port {5000 + part}."}
        for part in range(300)]
memory.record("preloaded", said, later=True)  # its extraction runs while the workers are forked

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    while (await receive()).get("more_body"):
        pass
    reply = {"choices": [{"index": 0, "message": {"role": "assistant", "content": str(os.getpid())},
             "finish_reason": "stop"}]}
    head = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": json.dumps(reply).encode()})

app = TokenMizerMiddleware(app, memory=memory)
"""


def forked(url: str, children: int) -> tuple[float, float]:
    """Seconds that the slowest child took until it had recorded, and its parent for the same."""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", AT_ANY_MOMENT, url, str(children)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    worst, usual = map(float, ran.stdout.split())
    return worst, usual


def test_a_child_forked_during_extraction_records(tmp_path: Path) -> None:
    worst, usual = forked(f"sqlite:///{tmp_path / 'memory.db'}", 25)
    assert worst <= SECONDS + TIMES * usual
    with closing(SessionMemory.open(f"sqlite:///{tmp_path / 'memory.db'}")) as memory:
        memory.log.verify()  # type: ignore[attr-defined]


def test_a_child_forked_during_extraction_records_in_postgres() -> None:
    address = services.postgres()
    pytest.importorskip("psycopg")
    database = importlib.import_module("tests.store.postgres_database").Database(address)
    try:
        worst, usual = forked(database.url(timeout=60), 10)  # one call to a loaded server may take longer than usual
        assert worst <= SECONDS + TIMES * usual
    finally:
        database.drop()


@pytest.mark.skipif(find_spec("gunicorn") is None, reason="gunicorn is not installed")
def test_workers_of_a_preloaded_application_record(tmp_path: Path) -> None:
    (tmp_path / "preloaded.py").write_text(PRELOADED)
    store = f"sqlite:///{tmp_path / 'memory.db'}"
    port = free_port()
    command = ["-m", "gunicorn", "--preload", "-w", "2", "-k", "uvicorn_worker.UvicornWorker", "preloaded:app"]
    server = subprocess.Popen(
        [sys.executable, *command, "-b", f"127.0.0.1:{port}", "--graceful-timeout", "10"],
        cwd=tmp_path,
        env={**os.environ, "TEST_STORE": store, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )
    try:
        workers = {_ask(port, number) for number in range(12)}
    finally:
        server.terminate()
        server.wait(30)
    assert server.pid not in workers
    with closing(SessionMemory.open(store)) as memory:
        assert len(memory.messages("asked")) == 24
        assert len(memory.graph("preloaded")) > 0


def _ask(port: int, number: int) -> int:
    """The process that answers."""
    said = [{"role": "user", "content": f"Question {number}?"}]
    body = json.dumps({"model": "gpt-4o", "messages": said}).encode()
    deadline = time.monotonic() + 60
    while True:
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            link.request("POST", "/v1/chat/completions", body, {"x-session-id": "asked"})
            return int(json.loads(link.getresponse().read())["choices"][0]["message"]["content"])
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        finally:
            link.close()
