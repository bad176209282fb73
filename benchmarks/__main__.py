"""Run benchmarks and keep their results.

    python -m benchmarks                    all of them
    python -m benchmarks paper3 scaling     some
    python -m benchmarks --list             what there is
    python -m benchmarks --check            fail when a bar is missed

Each result goes to ``benchmarks/results/<version>/<name>.json``: the figures, the bars, and what they ran on. A
benchmark without figures, because something that it needs is not installed, leaves the result of an earlier run as it
is.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw import __version__

from .measure import machine

RESULTS: Final = Path(__file__).parent / "results"

BENCHMARKS: Final = {
    "paper3": "the paper's three sessions: facts preserved in the graph and in the resume block, precision, CPU time",
    "extraction": "labelled sessions: precision, recall and F1 per category at the end of each session, CPU per turn",
    "llm_pass": "refinement with recorded model replies, compared with extraction without a model",
    "transitions": "short chats in which a choice replaces another: current value, predecessor, reason",
    "beliefs": "short chats and one more message: whether it changes the facts that it should change, and no others",
    "scaling": "cost per turn and facts preserved over 1,000 turns, history resent with each turn",
    "middleware": "CPU that the middleware adds per chunk and per request, compared with a no-op middleware",
    "first_byte": "time to the first byte with and without the middleware, by length of the history",
    "cut_cost": "how long a chat waits for a request that is cut, by size of the context window",
    "sick_store": "chats while another process holds the store locked, and what is stored after the outage",
    "durability": "kill -9 under load; four processes writing one session",
    "dialects": "CPU that the middleware adds per request, in every dialect at 3 kB and 100 kB",
    "streams": "streams compared with the bare application: CPU per chunk, memory, lag of the event loop",
    "proxy": "the proxy compared with a bare relay: throughput, CPU, time to the first byte",
    "proxy_clients": "the proxy with its own HTTP client, with aiohttp and with httpx2: throughput, CPU",
    "client_gone": "how soon the application sees that a client has left",
    "windows": "cuts in every dialect: 10,000 conversations, and 300 turns with a small window",
    "respelled": "clients that change the history they resend: cuts, prefix reused, messages recorded, by dialect",
    "compaction": "compaction through the provider's API: CPU time with 150,000 tokens, and rules after ten in a row",
    "agent_compaction": "the real Claude Code, 60 prompts and three compactions: rules preserved, no work done twice",
    "continuation": "what a model needs after a cut: points contained in blocks, recall, requests, against baselines",
    "people": "chats between people, questions in other words: how many of them 400 tokens of recall answer",
    "reminder": "reminders after the newest message: CPU time per request, prefix reused, tokens sent",
    "state": "long chats: rules, preferences, facts and their updates in a small block, or when asked for",
    "prefix": "a long chat with a small window: what a provider's prompt cache can serve, and what the input costs",
    "savings": "cost of input where providers cache prompts, with and without the middleware, over 10 to 300 calls",
    "economy": "cuts made to save money: names of the next answers and calls that the shortened context still has",
    "resume": "labelled sessions: facts in a block of 100 to 2,000 tokens, stale ones, against simpler methods",
    "retention": "agent sessions cut in the middle: names of the next tool calls that a small block still has",
    "compression": "agent sessions in fewer tokens: tokens saved, names of the next calls, facts changed, speed",
    "compressed_cuts": "an agent's messages that a cut keeps, with compression and without, in every dialect",
    "handed_over": "texts that a user pastes: how many are taken for the user's own statements, and own words lost",
    "redaction": "secrets found and wrongly found in chat text, throughput, pathological input",
    "shown_secrets": "secrets in statements that become facts: shown in labels, quotes and resume blocks, and stored",
    "hostile": "time(2n) / time(n), and the time for 1 MB of pathological input",
    "guard": "prompt-injection attempts: benign texts flagged, attacks found, by kind",
    "postgres": "the PostgreSQL store: appends compared with the bare driver, and a load with failures",
    "opening": "opening sessions: 10,000 in the store, and one of 5,000 turns, cold and warm, in both stores",
    "export": "graph exports: size, CPU, and what the HTML page of 500 facts costs and requests in Chromium",
    "cache": "response cache: which questions share a response, and what a lookup among 100,000 costs",
    "files": "file digests of at most 300 tokens: memory, progress and interruption with a table of 1 GB",
    "hook": "hook events of a coding agent: CPU time of the process that the agent waits for, and of the worker",
    "dashboard": "dashboard over 10,000 sessions, one with 5,000 facts: CPU per page, delay until browsers update",
    "imports": "CPU time of importing, and which frameworks it pulls in",
    "langchain_chain": "a LangChain chain: calls, tokens, stale values, restarts, lost messages, and stock memories",
    "langchain_agent": "a LangChain agent: calls, tokens, stale choices, lost messages, and the stock summarization",
    "llamaindex_chat": "a LlamaIndex chat: calls, tokens, stale values, restarts, lost messages, and stock memories",
}


_QUICK: Final = frozenset({"dashboard", "postgres", "opening"})
_SHOWS_MISSES: Final = frozenset({"extraction", "continuation"})


def run(name: str, **options: object) -> dict[str, Any]:
    """Run one benchmark and return its result, with its name and description, the date, the machine and the seconds it
    took. ``options`` are passed to it.

    Its module has ``run() -> {"figures": ..., "bars": [...], "notes": ...}``. The result may also have "lines", which
    are printed and not stored, and "page", lines of Markdown for ``docs/benchmarks.md``.
    """
    started = time.perf_counter()
    result = importlib.import_module(f"benchmarks.{name}").run(**options)
    stamp = datetime.now(UTC).strftime("%Y-%m-%d")
    head = {"benchmark": name, "what": BENCHMARKS[name], "date": stamp, **machine()}
    return {**head, "seconds": round(time.perf_counter() - started, 1), **result}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], help="default: all")
    parser.add_argument("--list", action="store_true", help="name the benchmarks and end")
    parser.add_argument("--check", action="store_true", help="end with status 1 when a bar is missed")
    parser.add_argument("--no-write", action="store_true", help="print only")
    parser.add_argument("--misses", type=int, default=0, metavar="N", help="extraction, continuation: show N misses")
    parser.add_argument("--quick", action="store_true", help="postgres: a load of one minute; opening: few sessions")
    parser.add_argument(
        "--only",
        default="",
        metavar="NAMES",
        help="continuation: some ways, joined by commas; hostile: rows with this word; not kept",
    )
    arguments = parser.parse_args()
    if arguments.misses and not (arguments.names and set(arguments.names) <= _SHOWS_MISSES):
        parser.error(f"--misses is for {' and '.join(sorted(_SHOWS_MISSES))} alone")
    if arguments.only and arguments.names not in (["continuation"], ["hostile"]):
        parser.error("--only is for continuation or hostile alone")
    if arguments.quick and not (arguments.names and set(arguments.names) <= _QUICK):
        parser.error(f"--quick is for {' and '.join(sorted(_QUICK))} alone")
    if arguments.list:
        for name, what in BENCHMARKS.items():
            print(f"{name:12} {what}")
        return 0
    missed = 0
    for name in arguments.names or BENCHMARKS:
        options = {"misses": arguments.misses, "quick": arguments.quick, "only": arguments.only}
        result = run(name, **{option: value for option, value in options.items() if value})
        print(f"\n{name}: {BENCHMARKS[name]}  ({result['seconds']} s)")
        for line in result.pop("lines", []):
            print(f"  {line}")
        for bar in result["bars"]:
            missed += not bar["met"]
            print(f"  {'met   ' if bar['met'] else 'MISSED'}  {bar['what']}: {bar['value']} (bar: {bar['bar']})")
        if result["figures"] and not (arguments.no_write or arguments.only):
            path = RESULTS / __version__ / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if missed and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
