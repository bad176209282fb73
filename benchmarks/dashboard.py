"""The dashboard over 10,000 sessions, one with 5,000 facts: CPU of every page, delay until a browser is updated.

Pages are requested in process, without sockets; CPU time is that of all threads. "at hand": the session is cached, as
while somebody uses the dashboard. "first look": nothing of it is cached, as right after a start of ``tokenmizer-mw
dashboard``. Live updates: another process appends to the store; wall time on a machine with two cores, so only the
order of magnitude counts.
"""

from __future__ import annotations

import asyncio
import gc
import http.client
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import uvicorn

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.model.event import (
    Checkpointed,
    DecisionReplaced,
    Derived,
    EdgeAdded,
    Event,
    MessageRecorded,
    NodeAdded,
    StatusChanged,
)
from tokenmizer_mw.model.message import Message, Role, digest
from tokenmizer_mw.model.node import DecisionKind, Edge, EdgeType, Node, NodeType, Source, Status, Transition
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.collection import freeze_started
from tokenmizer_mw.server.dashboard import Dashboard, dashboard, local

from .measure import at_most

SESSIONS: Final = 10_000
FACTS: Final = 5_000
ROUNDS: Final = 7
HEARD: Final = 20
_BIG: Final = SessionKey("local", "big")
_TEXT: Final = "parser queue login cache invoice report export worker index retry schema cursor webhook ledger batch"
_WORDS: Final = tuple(re.findall(r"\w+", _TEXT))
_TYPES: Final = (
    *[NodeType.TASK] * 6,
    *[NodeType.FILE] * 5,
    *[NodeType.DECISION] * 3,
    *[NodeType.ERROR] * 2,
    NodeType.CONCEPT,
    NodeType.TEST,
    NodeType.ENDPOINT,
    NodeType.DEPENDENCY,
)


def run(*, quick: bool = False) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="tokenmizer-dashboard-") as folder:
        store = f"sqlite:///{Path(folder) / 'many.db'}"
        middle = _fill(store, SESSIONS // (50 if quick else 1))
        pages = _pages(middle)
        at_hand = _at_hand(store, pages)
        first = {name: _first(store, page) for name, page in pages.items()}
        heard = _heard(store, HEARD // (5 if quick else 1))
    slowest, coldest = max(at_hand, key=at_hand.__getitem__), max(first, key=first.__getitem__)
    bars = [
        at_most(f"slowest page, session at hand ({slowest}), CPU", at_hand[slowest], 100, "ms", 1),
        *(
            at_most(f"{name} of the session, first look after a start, CPU", first[name], 100, "ms", 1)
            for name in ("overview", "transcript", "requests")
        ),
        at_most(f"slowest page, first look after a start ({coldest}), CPU", first[coldest], 100, "ms", 1),
        at_most("live: from the append of another process to the event in the browser, median", heard[0], 1, "s", 2),
        at_most("live: the slowest of them", heard[1], 1, "s", 2),
    ]
    rounded = {name: {"at_hand_ms": round(at_hand[name], 1), "first_ms": round(first[name], 1)} for name in pages}
    page = ["| page | CPU at hand, ms | first look, ms |", "|---|---|---|"]
    page += [f"| {name} | {row['at_hand_ms']} | {row['first_ms']} |" for name, row in rounded.items()]
    sizes = {"sessions": SESSIONS // (50 if quick else 1) + 1, "facts": FACTS}
    return {"figures": {"pages": rounded, **sizes}, "bars": bars, "notes": __doc__, "page": page}


def _pages(middle: float) -> dict[str, str]:
    return {
        "sessions": "",
        "sessions, another page": f"?before={middle!r}&last=zzz",
        "overview": "session?id=big",
        "transcript": "transcript?id=big",
        "transcript, messages with words": "transcript?id=big&q=parser+login",
        "requests": "request?id=big",
        "graph": "graph?id=big",
        "graph, as recorded at a time": f"graph?id=big&at={middle!r}",
        "graph, as valid at a time": f"graph?id=big&at={middle!r}&as=valid",
        "facts": "facts?id=big&page=40",
        "fact": "fact?id=big&node=task-7",
        "history, two checkpoints compared": "history?id=big&from=checkpoint-1&to=checkpoint-2",
        "search in the session": "search?id=big&q=parser+login",
        "search in all": "search?q=parser",
        "savings": "savings",
        "health": "status",
        "erase": "forget?id=big",
    }


def _at_hand(store: str, pages: dict[str, str]) -> dict[str, float]:
    with closing(_opened(store)) as memory:
        board = dashboard(memory, authorize=local)
        for page in pages.values():
            _asked(board, page)
        return {name: statistics.median(_asked(board, page) for _ in range(ROUNDS)) for name, page in pages.items()}


def _first(store: str, page: str) -> float:
    found = []
    for _ in range(ROUNDS):
        with closing(_opened(store)) as memory:
            board = dashboard(memory, authorize=local)
            _asked(board, "status")
            freeze_started()
            found.append(_asked(board, page))
            memory.flush()
            gc.unfreeze()
    return statistics.median(found)


def _opened(store: str) -> SessionMemory:
    return SessionMemory.open(store, Settings(nodes_max=2 * FACTS))


def _asked(board: Dashboard, page: str) -> float:
    """CPU time of one page, in milliseconds. ``page``: its path and query."""
    path, _, query = page.partition("?")
    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": f"/{path}",
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 1),
    }
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        statuses.append(message.get("status", 0))

    started = time.process_time()
    asyncio.run(board(scope, receive, send))
    spent = time.process_time() - started
    assert statuses[0] == 200, (page, statuses)
    return spent * 1_000


_WRITER: Final = """
import sys, time
from tokenmizer_mw import SessionMemory
memory = SessionMemory.open(sys.argv[1])
said = []
for line in sys.stdin:
    said.append({"role": "user", "content": f"Use tool{line.strip()} for module{line.strip()}."})
    memory.record("heard", said)
    print(time.time(), flush=True)
memory.close()
"""


def _heard(store: str, count: int) -> tuple[float, float]:
    """Median and greatest number of seconds from an append in another process to the event at a client, over ``count``
    appends."""
    with closing(_opened(store)) as memory:
        board = dashboard(memory, authorize=local)
        server = uvicorn.Server(uvicorn.Config(board, port=0, log_level="critical", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        writer = subprocess.Popen(
            [sys.executable, "-c", _WRITER, store], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            seconds = [_heard_once(port, writer, number) for number in range(count + 1)][1:]
        finally:
            writer.communicate()
            board.end()
            server.should_exit = True
            thread.join()
    return statistics.median(seconds), max(seconds)


def _heard_once(port: int, writer: subprocess.Popen[str], number: int) -> float:
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as link:
        link.request("GET", "/events?id=heard")
        answer = link.getresponse()
        answer.readline()
        time.sleep(random.Random(number).random())  # anywhere between two looks at the log
        assert writer.stdin is not None
        assert writer.stdout is not None
        writer.stdin.write(f"{number}\n")
        writer.stdin.flush()
        while not answer.readline().startswith(b"data:"):
            pass
        heard = time.time()
        answer.close()
        return max(0.0, heard - float(writer.stdout.readline()))


def _fill(store: str, sessions: int) -> float:
    """Write the small sessions and the big one. Returns a time (seconds since the epoch) at which half of the big one
    was stored."""
    with closing(_opened(store)) as memory:
        for number in range(sessions):
            memory.log.append(SessionKey("local", f"session-{number:05}"), list(_small(number)), expected_seq=0)
        seq, events = 0, list(_big())
        for start in range(0, len(events), 500):
            seq += len(memory.log.append(_BIG, events[start : start + 500], expected_seq=seq))
        memory.view("big", lambda state: None)
        recorded = memory.log.read(_BIG)
        return recorded[len(recorded) // 2].recorded_at


def _small(number: int) -> Iterator[Event]:
    text = f"Let's build the {_WORDS[number % len(_WORDS)]} number {number}."
    message = Message(Role.USER, text)
    yield MessageRecorded(1, digest(message), message)
    for index, type_ in enumerate((NodeType.GOAL, NodeType.DECISION, NodeType.TASK)):
        label = f"{_WORDS[(number + index) % len(_WORDS)]} {number}"
        yield NodeAdded(Node(f"{type_.value}-1", type_, label, Status.ACTIVE, Source(1, "user", text)))
    yield Derived(1)


def _big() -> Iterator[Event]:
    """Events of a long session: facts of all kinds, some of them completed, replaced or archived, and two
    checkpoints."""
    chance = random.Random(11)
    counts: dict[NodeType, int] = {}
    ids: list[str] = []
    decisions: list[str] = []
    for index in range(FACTS):
        turn = index // 2 + 1
        if index % 2 == 0:
            message = Message(Role.USER if turn % 2 else Role.ASSISTANT, " ".join(chance.choices(_WORDS, k=60)))
            yield MessageRecorded(turn, digest(message), message, turn - 1)
        type_ = NodeType.GOAL if index == 0 else chance.choice(_TYPES)
        counts[type_] = counts.get(type_, 0) + 1
        node = _fact(chance, f"{type_.value}-{counts[type_]}", type_, turn, index)
        yield NodeAdded(node)
        if ids and chance.random() < 0.7:
            yield EdgeAdded(Edge(node.id, EdgeType.RELATED_TO, chance.choice(ids), turn))
        if type_ is NodeType.DECISION:
            if decisions and chance.random() < 0.2:
                yield DecisionReplaced(Transition(decisions.pop(), node.id, turn, "it was too slow", node.label))
            decisions.append(node.id)
        elif ids and chance.random() < 0.2:
            yield StatusChanged(node.id, Status.ARCHIVED if chance.random() < 0.2 else Status.COMPLETED, turn, "done")
        ids.append(node.id)
        if index % 2:
            yield Derived(turn)
        if index in (FACTS // 3, 2 * FACTS // 3):
            yield _cut(f"checkpoint-{index * 3 // FACTS + 1}", turn, decisions)


def _cut(id: str, turn: int, decisions: Sequence[str]) -> Checkpointed:
    """A checkpoint of a cut that left out all but the last ten messages."""
    block = "\n".join(f"- decided: {name}" for name in decisions[-20:])
    return Checkpointed(id, turn, 300, block, "anchor", turn - 9, turn - 10, tuple(decisions[-20:]), 10)


def _fact(chance: random.Random, id: str, type_: NodeType, turn: int, index: int) -> Node:
    label = f"{' '.join(chance.choices(_WORDS, k=5))} {index}"
    kind = chance.choice(list(DecisionKind)) if type_ is NodeType.DECISION else None
    status = chance.choice((Status.PENDING, Status.COMPLETED)) if type_ is NodeType.TASK else Status.ACTIVE
    quote = " ".join(chance.choices(_WORDS, k=10))
    return Node(id, type_, label, status, Source(turn, "user", quote), 0.9, kind=kind)
