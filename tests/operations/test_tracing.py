"""Spans where OpenTelemetry is used, with names and counts only; nothing at all where it is not."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CHATTING = """
import asyncio, json
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from tokenmizer_mw import SessionMemory, Settings, TokenMizerMiddleware

memory = SessionMemory.open("memory://", Settings(context_window=200, block_tokens=64, reminder_tokens=100))

async def answer(request):
    await request.body()
    return JSONResponse({"choices": [{"message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}]})

app = TokenMizerMiddleware(Starlette(routes=[Route("/chat/completions", answer, methods=["POST"])]), memory=memory)
said = [f"zebrafinch {n}: use Redis for queue {n}. " * 3 for n in range(21)]
chat = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(said)]
body = json.dumps({"model": "m", "session_id": "zebrafinch", "messages": chat}).encode()

async def call():
    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}
    async def send(message):
        pass
    scope = {"type": "http", "method": "POST", "path": "/chat/completions", "headers": [], "query_string": b""}
    await app(scope, receive, send)

def run():
    asyncio.run(call())
    assert memory.flush(30)
    assert memory.counters().get("turn_complete") == 1, memory.counters()
"""

TRACED = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
with trace.get_tracer("host").start_as_current_span("host"):
    run()
memory.log.close()
try:
    memory.graph("zebrafinch")
except Exception:
    pass
print(json.dumps([json.loads(one.to_json()) for one in exporter.get_finished_spans()]))
"""

UNTRACED = """
import sys

import pytest
run()
print(json.dumps([name for name in sys.modules if name.startswith("opentelemetry")]))
"""


IMPORTED_ONLY = """
from opentelemetry import trace
made = []
trace.get_tracer = lambda *names: made.append(names)
run()
print(json.dumps(made))
"""


def ran(code: str) -> list[dict[str, object]]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found


def test_spans_of_a_chat() -> None:
    spans = {str(one["name"]): one for one in ran(CHATTING + TRACED)}
    assert {"tokenmizer.request", "tokenmizer.cut", "tokenmizer.commit", "tokenmizer.append", "tokenmizer.extract"} <= {
        *spans
    }
    assert spans["tokenmizer.cut"]["attributes"] == {"tokenmizer.messages": 21}
    traces = {one["context"]["trace_id"] for name, one in spans.items() if name in ("host", "tokenmizer.request")}  # type: ignore[index]
    assert len(traces) == 1
    assert "zebrafinch" not in json.dumps(list(spans.values()))


@pytest.mark.nightly
def test_no_cost_where_nobody_traces() -> None:
    assert ran(CHATTING + UNTRACED) == []


@pytest.mark.nightly
def test_no_span_is_made_where_a_framework_imports_the_library_and_nobody_takes_spans() -> None:
    assert ran(CHATTING + IMPORTED_ONLY) == []
