"""Graph exports: size, CPU of writing, and what the HTML page costs and requests in a real browser.

Two graphs of 500 facts are exported:

- *sessions*: the sessions of this repository, recorded as one session; its 500 most important facts are exported.
- *dense*: a generated graph with two relations per fact and a quotation for each, which is as dense as graphs get.

"until the page is on the screen": CPU time of the page's main thread in Chromium, from the start of the navigation
until two frames with the drawn graph have been rendered; the median of five runs. A busy machine makes it longer.
"""

from __future__ import annotations

import json
import re
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import combinations, cycle, islice
from pathlib import Path
from shutil import which
from typing import Any, Final

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.graph.export.formats import FORMATS
from tokenmizer_mw.graph.export.layout import Box
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import EdgeAdded, NodeAdded
from tokenmizer_mw.model.node import Edge, EdgeType, Node, NodeType, Source, Status
from tokenmizer_mw.operations.transcripts import ImportedTranscript, read_transcript

from .measure import at_most, cpu_seconds

FACTS: Final = 500
ROUNDS: Final = 5
SESSIONS: Final = Path(__file__).parent / "corpus" / "sessions"
AXE: Final = Path(__file__).parent.parent / ".agents" / "browser" / "node_modules" / "axe-core" / "axe.min.js"
LEVELS: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
TRACED: Final = ["devtools.timeline", "toplevel", "blink.user_timing"]
SHOWN: Final = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
    performance.mark('shown'); setTimeout(done, 50) })))"""


def run() -> dict[str, Any]:
    graphs = {"sessions": _sessions(), "dense": _dense()}
    written = {name: _written(graph) for name, graph in graphs.items()}
    bars = [
        at_most(f"HTML of {FACTS} facts, {name}", row["html"]["bytes"] / 1_000, 250, "kB", 1)
        for name, row in written.items()
    ]
    bars += [
        at_most(f"cards of a canvas that overlap, {name}", _overlaps(FORMATS["canvas"].write(graph, most=FACTS)), 0)
        for name, graph in graphs.items()
    ]
    figures: dict[str, Any] = {"written": written}
    if which("chromium") is None:
        return {"figures": figures, "bars": bars, "notes": f"{__doc__}\nChromium is missing: nothing was drawn."}
    with tempfile.TemporaryDirectory() as folder, _chromium() as browser:
        for name, graph in graphs.items():
            page = Path(folder) / f"{name}.html"
            page.write_text(FORMATS["html"].write(graph, title=name, most=FACTS), encoding="utf-8")
            figures[name] = _drawn(browser, page.as_uri())
            bars += _bars(name, figures[name])
    return {"figures": figures, "bars": bars, "notes": __doc__}


def _bars(name: str, row: dict[str, Any]) -> list[dict[str, Any]]:
    found = [
        at_most(f"until the page is on the screen, CPU, {name}", row["cpu_ms"], 300, "ms", 0),
        at_most(f"requests beyond the file itself, {name}", row["requests"], 0, digits=0),
        at_most(f"console errors and policy violations, {name}", row["complaints"], 0, digits=0),
    ]
    if row["violations"] is not None:
        found.append(at_most(f"accessibility violations A and AA, both themes, {name}", row["violations"], 0, digits=0))
    return found


def _sessions() -> SessionGraph:
    """The graph of the repository's sessions, recorded as one session."""
    memory = SessionMemory.open()
    try:
        for path in sorted(SESSIONS.glob("*.json")):
            found = read_transcript(path.read_bytes(), path.name)
            assert isinstance(found, ImportedTranscript)
            memory.record("all", found.messages, excerpt=True)
        return memory.graph("all")
    finally:
        memory.close()


def _dense() -> SessionGraph:
    graph = SessionGraph()
    ids = [f"{type_.value}-{place}" for place, type_ in enumerate(islice(cycle(NodeType), FACTS))]
    for place, id in enumerate(ids):
        label = f"fact number {place} about the part of the work that is called {id}"
        source = Source(1 + place // 3, "user", f"We want {label}, please, and soon.")
        status = list(Status)[place % len(Status)]
        graph.apply(NodeAdded(Node(id, NodeType(id.partition("-")[0]), label, status, source)), 1e9 + 60 * place)
        for other in {place // 2, place // 3} - {place}:
            graph.apply(EdgeAdded(Edge(id, list(EdgeType)[place % len(EdgeType)], ids[other], 1 + place // 3)))
    return graph


def _written(graph: SessionGraph) -> dict[str, Any]:
    """Bytes and CPU milliseconds of each format."""
    return {
        name: {
            "bytes": len(FORMATS[name].write(graph, most=FACTS).encode()),
            "cpu_ms": round(1_000 * cpu_seconds(partial(FORMATS[name].write, graph, most=FACTS), repeat=3), 1),
        }
        for name in FORMATS
    }


def _overlaps(canvas: str) -> int:
    nodes = [node for node in json.loads(canvas)["nodes"] if node["type"] == "text"]
    boxes = [Box(node["x"], node["y"], node["width"], node["height"]) for node in nodes]
    return sum(one.meets(other) for one, other in combinations(boxes, 2))


@contextmanager
def _chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        yield playwright.chromium.launch(executable_path=which("chromium"), args=arguments, timeout=120_000)


def _drawn(browser: Any, address: str) -> dict[str, Any]:
    rounds = [_round(browser, address) for _ in range(ROUNDS)]
    requests, complaints, violations = _looked_at(browser, address)
    return {
        "cpu_ms": round(statistics.median(rounds), 1),
        "cpu_ms_each": [round(one, 1) for one in rounds],
        "requests": requests,
        "complaints": complaints,
        "violations": violations,
    }


def _round(browser: Any, address: str) -> float:
    """Milliseconds of CPU of the page's main thread until it is on the screen."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    browser.start_tracing(page=page, categories=TRACED)
    page.goto(address)
    page.evaluate(SHOWN)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    context.close()
    [shown] = [event for event in events if event["name"] == "shown"]
    thread = (shown["pid"], shown["tid"])
    start = max(event["ts"] for event in events if event["name"] == "navigationStart" and event["pid"] == shown["pid"])
    tasks = (
        event.get("tdur", 0)
        for event in events
        if event["ph"] == "X"
        and re.fullmatch("ThreadControllerImpl::RunTask", event["name"])
        and (event["pid"], event["tid"]) == thread
        and start <= event["ts"] <= shown["ts"]
    )
    return float(sum(tasks)) / 1_000


def _looked_at(browser: Any, address: str) -> tuple[int, int, int | None]:
    """The number of requests and of complaints in both themes, and of violations that axe-core finds (``None`` if it is
    not installed)."""
    requests: list[str] = []
    complaints: list[str] = []
    violations = 0
    for theme in ("light", "dark"):
        context = browser.new_context(color_scheme=theme, viewport={"width": 1280, "height": 800})
        context.set_default_timeout(300_000)
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda fault: complaints.append(str(fault)))
        page.goto(address)
        page.click(".lane button")
        if AXE.is_file():
            page.evaluate(AXE.read_text(encoding="utf-8"))
            violations += page.evaluate("async levels => (await axe.run({runOnly: levels})).violations.length", LEVELS)
        context.close()
    beyond = [url for url in requests if url != address]
    return len(beyond), len(complaints), violations if AXE.is_file() else None
