"""Run benchmarks and keep their results.

    python -m benchmarks                    all of them
    python -m benchmarks paper3 scaling     some
    python -m benchmarks --list             what there is
    python -m benchmarks --check            fail when a bar is missed

Each result goes to ``benchmarks/results/<version>/<name>.json``: the figures, the bars, and what they ran on.
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
    "paper3": "the paper's three sessions: what survives in the graph and in the resume block, precision, CPU time",
    "extraction": "labelled sessions: precision, recall and F1 a category at the end of each, CPU a turn",
    "llm_pass": "the optional pass with a model: recorded replies merged, beside the graph without them",
    "transitions": "short talks in which a choice replaces another: current value, predecessor, reason",
    "beliefs": "short talks and one more message: what is believed stays, changes and statuses arrive",
    "scaling": "cost per turn and facts kept over 1,000 turns, history resent with each turn",
    "middleware": "CPU that the middleware adds per chunk and per request, beside a no-op middleware",
    "first_byte": "time to the first byte with and without the middleware, by length of the history",
    "cut_cost": "how long a chat waits whose request is cut, by the size of the window",
    "sick_store": "chats while another process holds the store locked, and what is in it after the outage",
    "durability": "kill -9 under load; four processes writing one session",
    "dialects": "CPU that the middleware adds per request, in every dialect at 3 kB and 100 kB",
    "streams": "streams beside the bare application: CPU per chunk, memory, lag of the event loop",
    "proxy": "the reference proxy beside a bare relay: throughput, CPU, time to the first byte",
    "proxy_clients": "the proxy with its own HTTP client to providers, with aiohttp and with httpx2: throughput, CPU",
    "client_gone": "how soon the application sees that a client has left",
    "windows": "the cut in every dialect: 10,000 conversations, 300 turns with a small window",
    "respelled": "clients that spell their history anew: cuts, prefix reused, messages recorded, in every dialect",
    "compaction": "compaction by contract: CPU time with 150,000 tokens, and rules in force after ten in a row",
    "agent_compaction": "the real Claude Code, 60 prompts and three compactions: rules kept, no work done twice",
    "continuation": "what a model needs after a cut: points told by blocks, recall, whole requests, beside baselines",
    "people": "chats between people, questions in other words: what 400 tokens of recall answer",
    "reminder": "reminders behind the newest message: CPU time on the path, prefix reused, tokens sent",
    "state": "long chats: rules, preferences, facts and their updates still told in a small block, or when asked for",
    "prefix": "a long chat with a small window: what a provider's prompt cache can serve, and what the input costs",
    "savings": "what input costs where providers cache prompts, with and without the middleware, over 10 to 300 calls",
    "economy": "cuts that are made when they pay: what of the next answers and calls the shortened context still names",
    "resume": "labelled sessions: facts in a block of 100 to 2,000 tokens, stale ones, beside simpler ways",
    "retention": "agent sessions cut in the middle: what of the next actions a small block still names",
    "compression": "agent sessions in fewer tokens: saved, next actions still named, facts changed, speed",
    "compressed_cuts": "an agent's messages that a cut keeps, with compression and without, in every dialect",
    "handed_over": "text that a user hands over: what of it ends as the user's own word, and own words beside it",
    "redaction": "secrets found and wrongly found in chat text, what goes with them, throughput, input made to hurt",
    "hostile": "time(2n) / time(n) and the time for 1 MB of input made to hurt",
    "guard": "attempts to take over the model: benign texts flagged, attacks found, by kind",
    "postgres": "the PostgreSQL store: appends beside the bare driver, and a load in which things break",
    "opening": "opening sessions, 10,000 in the store and one of 5,000 turns, cold and warm, on both stores",
    "export": "the graph as files: size, CPU, and what the page of 500 facts costs and asks for in Chromium",
    "cache": "answers given again: which questions share one, what looking up among 100,000 costs",
    "files": "a file in at most 300 tokens: memory, progress and interruption with a table of 1 GB",
    "hook": "events of a coding agent: CPU of the process that it waits for, and of the worker behind it",
    "dashboard": "pages over 10,000 sessions, one of 5,000 facts: CPU of each, how soon browsers hear of changes",
    "imports": "CPU time of importing, and which frameworks it pulls in",
    "langchain_chain": "a LangChain chain: calls, tokens, stale values, restarts, lost messages, beside stock memories",
    "langchain_agent": "a LangChain agent: calls, tokens, stale choices, lost messages, beside the stock summarization",
    "llamaindex_chat": "a LlamaIndex chat: calls, tokens, stale values, restarts, lost messages, beside stock memories",
}


_QUICK: Final = frozenset({"dashboard", "postgres", "opening"})
_SHOWS_MISSES: Final = frozenset({"extraction", "continuation"})


def run(name: str, **options: object) -> dict[str, Any]:
    """Run one benchmark; its module offers ``run() -> {"figures": ..., "bars": [...], "notes": ...}``, and may add
    "lines" that are printed and not kept, and "page", lines of Markdown for ``docs/benchmarks.md``."""
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
        if not (arguments.no_write or arguments.only):
            path = RESULTS / __version__ / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if missed and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
