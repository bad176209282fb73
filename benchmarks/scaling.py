"""What a turn costs when the session grows, and what of it is still known at the end.

The client resends its whole history with every turn, as clients do. Measured is CPU time of this process.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.chat.exchange import ChatExchange
from tokenmizer_mw.extract.derive import CONTEXT_MESSAGES, derive
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.text import words
from tokenmizer_mw.model.node import DecisionKind, NodeType
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.wire.dialects.openai_chat import OpenAIChat
from tokenmizer_mw.wire.messages import history

from .measure import at_least, at_most, percentile, quartile_ratio
from .sessions import LongSession, long_session

TURNS: Final = 1_000
PLACES: Final = (10, 100, 1_000, 5_000)
RECALL: Final = 200
COVERED: Final = 0.6
QUESTIONS: Final = {
    "done": "is the {subject} finished?",
    "pending": "what is left to do for the {subject}?",
    "decisions": "what did we choose for the {subject}?",
    "rules": "which rule is there for the {subject}?",
    "files": "where is the code of the {subject}?",
    "errors": "what went wrong with the {subject}?",
}
TYPES: Final = {
    "done": (NodeType.TASK,),
    "pending": (NodeType.TASK,),
    "decisions": (NodeType.DECISION,),
    "rules": (NodeType.DECISION,),
    "files": (NodeType.FILE,),
    "errors": (NodeType.ERROR,),
}


def run() -> dict[str, Any]:
    session = long_session(TURNS)
    recording = _recording(session)
    path = _request_path(session)
    drawn = _drawn()
    kept = recording.pop("kept")
    return {
        "figures": {"record_ms": recording, "request_path_ms": path, "extraction_ms": drawn, "facts_kept": kept},
        "bars": [
            at_most("memory.record alone: median last quarter / first quarter", recording["ratio"], 1.5),
            at_most("whole request path: median last quarter / first quarter", path["ratio"], 3.0),
            at_most("whole request path: CPU at turn 1,000, median of the last 20", path["at_end"], 5.0, "ms"),
            at_most("extraction alone: median at turn 5,000 / at turn 100", drawn["5000"] / drawn["100"], 1.5),
            at_least("share of the session's facts in the graph at turn 1,000", kept["share"], 0.95),
            at_least("share told by a 600-token block, or 200 tokens recalled for a question", kept["carried"], 0.8),
        ],
        "notes": "SQLite on disk. The request path is: read the body, prepare, forward, commit, extract. The history"
        " stays below the 128k window, so that no cut is made; every call is counted against it all the same."
        " The sessions are made by benchmarks/sessions.py.",
    }


def _recording(session: LongSession) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        memory = SessionMemory.open(f"sqlite:///{Path(folder) / 'memory.db'}")
        costs = []
        for end in range(1, len(session.messages) + 1):
            history = session.messages[:end]
            start = time.process_time()
            memory.record("s", history)
            costs.append((time.process_time() - start) * 1e3)
        kept = {**_kept(memory.graph("s"), session), "carried": _carried(memory, session)}
        memory.close()
    return {
        **quartile_ratio(costs),
        "p95_last_quarter": percentile(costs[-len(costs) // 4 :], 0.95),
        "kept": kept,
    }


def _drawn() -> dict[str, float]:
    """The median CPU time of extraction over up to a hundred messages before each of several places."""
    numbered = list(enumerate(history(long_session(PLACES[-1]).messages), 1))
    graph, settings, costs = SessionGraph(), Settings(), list[float]()
    for index, message in enumerate(numbered):
        start = time.process_time()
        for event in derive(graph, [message], numbered[max(0, index - CONTEXT_MESSAGES) : index], settings):
            graph.apply(event)
        costs.append((time.process_time() - start) * 1e3)
    return {str(place): statistics.median(costs[max(0, place - 100) : place]) for place in PLACES}


def _carried(memory: SessionMemory, session: LongSession) -> float:
    """The share of facts that the block of 600 tokens holds, or else the 200 tokens recalled for a question that names
    the piece of work and no more."""
    block = memory.resume("s", "full").text
    told = []
    for category, facts in session.facts.items():
        for fact in facts:
            subject = _subject(fact, session)
            asked = QUESTIONS[category].format(subject=subject)
            told.append(_holds(block, fact) or _holds(memory.recall("s", asked, budget=RECALL).text, fact))
    return sum(told) / len(told)


def _subject(fact: str, session: LongSession) -> str:
    spoken = fact.replace("/", " ").replace(".py", "").split()
    return next(name for name in session.facts["done"] if set(name.split()) <= set(spoken))


def _holds(text: str, fact: str) -> bool:
    return any(len(words(fact) & words(line)) >= COVERED * len(words(fact)) for line in text.splitlines())


def _request_path(session: LongSession) -> dict[str, Any]:
    """Each turn as the middleware treats it, redaction included, without the sockets."""
    with tempfile.TemporaryDirectory() as folder:
        memory = SessionMemory.open(f"sqlite:///{Path(folder) / 'memory.db'}", Settings())
        key = SessionKey("local", "s")
        costs = []
        for end in range(1, len(session.messages) + 1):
            body = json.dumps({"model": "gpt-4o", "session_id": "s", "messages": session.messages[:end]}).encode()
            start = time.process_time()
            _turn(memory, key, body)
            costs.append((time.process_time() - start) * 1e3)
        memory.close()
    return {**quartile_ratio(costs), "at_end": percentile(costs[-20:], 0.5)}


def _turn(memory: SessionMemory, key: SessionKey, body: bytes) -> None:
    service = memory.service
    exchange = ChatExchange(OpenAIChat(), {}, body, memory.settings, path="/v1/chat/completions", known=service.known)
    assert service.prepare(exchange)
    assert service.redaction.redactor is not None
    service.turns.commit_turn(key, exchange.request.messages, None)
    service.redaction.redactor.note(key, body, exchange.body, exchange.request)
    service.extraction.extract(key)


def _kept(graph: SessionGraph, session: LongSession) -> dict[str, Any]:
    """A fact is kept when a node of its type holds at least 60 % of its words."""
    by_type: dict[NodeType, list[frozenset[str]]] = {}
    for node in graph.nodes():
        if node.kind is not DecisionKind.OPTION:
            by_type.setdefault(node.type, []).append(words(f"{node.label} {node.detail}"))
    shares = {}
    for category, facts in session.facts.items():
        bags = [bag for type in TYPES[category] for bag in by_type.get(type, [])]
        found = sum(any(len(words(fact) & bag) >= 0.6 * len(words(fact)) for bag in bags) for fact in facts)
        shares[category] = found / len(facts)
    total = sum(shares[category] * len(facts) for category, facts in session.facts.items())
    return {"share": total / sum(map(len, session.facts.values())), **shares, "nodes": len(graph)}
