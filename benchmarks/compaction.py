"""Compaction through the provider's API: cost with 150,000 tokens, and which rules are left after ten in a row.

The session is generated, in OpenAI's Responses format, with 210 tokens per message, most of them in tool results, as
in sessions of coding agents of that length.

- *Latency*: CPU time of the standalone compaction endpoint, from the bytes of the request to those of the response.
  All but the newest turn is already recorded, as behind a proxy; each time there is one more turn. A call of a model
  would take 10 to 60 seconds.
- *Cold*: the same in a process that has read nothing of the session.
- *Rules*: a user states standing rules; then the chat grows and is compacted to one item, ten times in a row. A rule
  counts as preserved if its words are in the result.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tokenmizer_mw.context.compaction import responses
from tokenmizer_mw.context.tokens import ModelCounters
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.server.proxy.compaction_call import AnsweredCall, CompactionCall
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialects import ROUTES

from .measure import at_least, at_most, forget_texts, percentile
from .sessions import long_session

TOKENS: Final = 150_000
PER_MESSAGE: Final = 210
CALLS: Final = 100
ROUNDS: Final = 10
MODEL: Final = "gpt-5"
RULES: Final = (
    ("Never push to the main branch.", "push to the main branch"),
    ("Always answer in French.", "answer in French"),
    ("Never delete the backups.", "delete the backups"),
    ("Always run the tests before a commit.", "run the tests before a commit"),
    ("Use tabs, never spaces, for indentation.", "tabs"),
    ("Never call the production database.", "call the production database"),
    ("Always name files in lower case.", "name files in lower case"),
    ("Never add a dependency without asking.", "add a dependency without asking"),
    ("Every function must have a docstring.", "must have a docstring"),
    ("Never print secrets.", "print secrets"),
)


def run() -> dict[str, Any]:
    figures = {"latency": latency(), "rules": rules()}
    return {"figures": figures, "bars": bars(figures), "notes": __doc__}


def bars(figures: dict[str, Any]) -> list[dict[str, Any]]:
    took, kept = figures["latency"], figures["rules"]
    what = f"compaction of {TOKENS:,} tokens, p99 of {CALLS}: CPU time"
    return [
        at_most(what, took["p99_ms"], 150, "ms", 1),
        at_least(f"rules preserved after {ROUNDS} compactions in a row", kept["in_force_percent"][-1], 100, "%", 1),
    ]


def items_of(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return chat messages as input items of the Responses API."""
    items: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "tool":
            output = {
                "type": "function_call_output",
                "call_id": message.get("tool_call_id", ""),
                "output": message["content"],
            }
            items.append(output)
            continue
        if message.get("content"):
            items.append({"role": message["role"], "content": message["content"]})
        for call in message.get("tool_calls", ()):
            told = call["function"]
            items.append({"type": "function_call", "call_id": call["id"], **told})
    return items


def compact(memory: SessionMemory, name: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the response of the compaction endpoint to these input items, as parsed JSON."""
    body = json.dumps({"model": MODEL, "input": items}).encode()
    call = CompactionCall(memory, responses, ROUTES["/responses"], "local", (name, True), body, now=True)
    done = call.process()
    assert isinstance(done, AnsweredCall) and done.status == 200
    answer: dict[str, Any] = json.loads(done.body)
    return answer


def latency() -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'chat.db'}"
        messages = _long_enough()
        with SessionMemory.open(url, Settings()) as memory:
            memory.record("warm", messages)
            memory.flush()
            took, walls = [], []
            for number in range(CALLS):
                messages += [
                    {"role": "user", "content": f"Now do step {number} of the plan, and keep it small."},
                    {"role": "assistant", "content": f"Step {number} is done; it took a file and a test."},
                ]
                items = items_of(messages)
                wall, start = time.perf_counter(), time.process_time()
                compact(memory, "warm", items)
                took.append((time.process_time() - start) * 1_000)
                walls.append((time.perf_counter() - wall) * 1_000)
        forget_texts()
        with SessionMemory.open(url, Settings()) as memory:
            start = time.process_time()
            compact(memory, "warm", items)
            cold = (time.process_time() - start) * 1_000
    return {
        "median_ms": round(percentile(took, 0.5), 1),
        "p99_ms": round(percentile(took, 0.99), 1),
        "first_ms": round(took[0], 1),
        "wall_median_ms": round(percentile(walls, 0.5), 1),
        "cold_ms": round(cold, 1),
    }


def _long_enough() -> list[dict[str, Any]]:
    """Generated messages of about ``TOKENS`` tokens, most of them in tool results."""
    counter = ModelCounters(None).of(MODEL).counter
    messages = long_session(TOKENS // PER_MESSAGE).messages
    results = [message for message in messages if message["role"] == "tool"]
    left = TOKENS - sum(counter.count(json.dumps(message)) for message in messages)
    line = "2026-11-23 09:00:{:02d} worker {}: order {} of customer {} sorted, {} rows left\n"
    each = counter.count(line.format(1, 2, 345, 678, 90))
    for number, message in enumerate(results):
        rows = range(max(0, left // len(results) // each))
        message["content"] += "".join(line.format(row % 60, number, row * 7, row * 13, row) for row in rows)
    return messages


def rules() -> dict[str, Any]:
    in_force, tokens = [], []
    with SessionMemory.open("memory://", Settings()) as memory:
        items = [{"role": "user", "content": rule} for rule, _ in RULES]
        items = [part for item in items for part in (item, {"role": "assistant", "content": "Understood."})]
        for number in range(ROUNDS):
            items += items_of(long_session(200, seed=number + 1).messages)
            answer = compact(memory, "rules", items)
            items = answer["output"]
            kept = memory.service.compaction.seal().open("local", items[-1]["encrypted_content"])
            in_force.append(100 * sum(words in kept.text for _, words in RULES) / len(RULES))
            tokens.append(kept.tokens)
    return {"in_force_percent": in_force, "tokens_replaced": tokens}
