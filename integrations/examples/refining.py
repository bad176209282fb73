"""Refinement of a session by a model. Run: python integrations/examples/refining.py

TOKENMIZER_LLM_URL and TOKENMIZER_LLM_MODEL select the model, for example of a local Ollama:

    TOKENMIZER_LLM_URL=http://localhost:11434/v1 TOKENMIZER_LLM_MODEL=qwen3 python integrations/examples/refining.py

Without them, a scripted provider in this file answers over HTTP. Needs the extra ``llm``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tokenmizer_mw import SessionMemory, Settings

CHAT = [
    {
        "role": "user",
        "content": "The allotment club wants its watering rota online. Whatever we make must work on Erna's old phone.",
    },
    {
        "role": "assistant",
        "content": "A plain page per week then, without scripts. I put a first one into rota/week.html.",
    },
    {
        "role": "user",
        "content": "Lovely. Though with swaps a page per week will not do: one page per plot, they swap all the time.",
    },
    {"role": "assistant", "content": "One page per plot it is; rota/plot.html has the first of them."},
    {"role": "user", "content": "Erna sees a white page on it. And nobody has told the plumber yet."},
]

RECORD = {
    "goal": ["watering rota of the allotment club online"],
    "decisions": ["must work on Erna's old phone", "plain page, without scripts", "one page per plot"],
    "superseded": [{"old": "a page per week", "new": "one page per plot", "reason": "they swap all the time"}],
    "rejected": [],
    "tasks_done": ["first page in rota/week.html", "first page per plot in rota/plot.html"],
    "tasks_pending": ["tell the plumber"],
    "errors": [{"label": "Erna sees a white page", "resolved": False}],
    "files": ["rota/week.html", "rota/plot.html"],
    "environment": [],
    "dependencies": [],
    "endpoints": [],
}
"""What a good model answers about ``CHAT``."""


class Scripted(BaseHTTPRequestHandler):
    """HTTP handler that answers every call in the format of OpenAI Chat Completions."""

    def do_POST(self) -> None:
        """Read the request and send the scripted record."""
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": json.dumps(RECORD)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = json.dumps({"id": "1", "object": "chat.completion", "model": "scripted", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Keep quiet."""


@contextmanager
def scripted_provider() -> Iterator[str]:
    """Run the scripted provider on this machine; yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def main() -> None:
    """Record the chat, print the session, refine it with the model, print it again."""
    settings = Settings.load()
    with nullcontext(settings.llm_url) if settings.llm_url else scripted_provider() as url:
        settings = settings.with_(llm_url=url, llm_model=settings.llm_model or "scripted")
        memory = SessionMemory.open("memory://", settings)
        memory.record("rota", CHAT)
        print(f"Without a model:\n{memory.resume('rota', 'full').text}\n")
        refinement = memory.refine("rota")
        counts = ", ".join(f"{count} {name}" for name, count in sorted(refinement.counts.items()) if count)
        print(f"{refinement.outcome}: {counts} ({refinement.calls} call, {refinement.tokens} tokens in)\n")
        print(f"With one:\n{memory.resume('rota', 'full').text}")
        memory.close()


if __name__ == "__main__":
    main()
