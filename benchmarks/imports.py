"""What importing costs, and which frameworks it imports.

- Imports: CPU time of a new interpreter with compiled byte code, the least of ten. ``import tokenmizer_mw`` imports
  almost nothing; a class imports what it needs when it is first used, and extraction is imported when the first
  memory is opened. For the distributions for frameworks, what they import before a class is used is listed.
- Commands that read: run on a store of one small session; medians.
- MCP server: CPU time of its process until it has answered ``initialize``, until it has listed its tools, and until
  it has answered a first tool call that comes at once; medians. Most of the last is the import of the MCP SDK.
  ``later_call_ms``: the first tool call alone if it comes two seconds after the list of tools.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from typing import Any, Final

from tokenmizer_mw import SessionMemory

from .measure import at_most

ROUNDS: Final = 10
FRAMEWORKS: Final = (
    "langchain",
    "langchain_core",
    "langchain_classic",
    "langgraph",
    "llama_index",
    "starlette",
    "pydantic",
)
IMPORTS: Final = {
    "tokenmizer_mw": "import tokenmizer_mw",
    "SessionMemory": "from tokenmizer_mw import SessionMemory",
    "TokenMizerMiddleware": "from tokenmizer_mw import TokenMizerMiddleware",
    "langchain_tokenmizer_mw": "import langchain_tokenmizer_mw",
}
MEASURED: Final = """
import sys, time
before = time.process_time()
{code}
taken = time.process_time() - before
tops = {{name.partition(".")[0] for name in sys.modules}}
import json
print(json.dumps([taken, sorted(tops & set({frameworks!r})), len(sys.modules)]))
"""


MCP_MS: Final = 500
_MESSAGES: Final = (
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "host", "version": "1"},
        },
    },
    {"id": 2, "method": "tools/list"},
    {"id": 3, "method": "tools/call", "params": {"name": "list_sessions", "arguments": {}}},
)
COMMANDS: Final = (
    ("sessions",),
    ("why", "s", "postgres"),
    ("search", "s", "postgres"),
    ("graph", "s"),
    ("edits", "s"),
    ("resume", "s"),
    ("recall", "s", "which database do we use?"),
)
COMMAND_MS: Final = 350
COUNTING: Final = ("resume", "recall")
"""Commands that count tokens and therefore load a tokenizer's table."""
COMMAND_ROUNDS: Final = 5


def run() -> dict[str, Any]:
    known = {name: code for name, code in IMPORTS.items() if find_spec(code.split()[1])}
    figures = {name: _measured(code) for name, code in known.items()}
    alone = figures["tokenmizer_mw"]
    bars = [
        at_most("import tokenmizer_mw, CPU", alone["cpu_ms"], 120, "ms", 1),
        at_most("import of SessionMemory, CPU", figures["SessionMemory"]["cpu_ms"], 300, "ms", 1),
        *(
            at_most(f"frameworks that importing {name} pulls in", len(row["frameworks"]), 0, digits=0)
            for name, row in figures.items()
            if IMPORTS[name].startswith("import")
        ),
    ]
    figures["commands"] = _run_commands()
    slowest = max((name for name in figures["commands"] if name not in COUNTING), key=figures["commands"].__getitem__)
    bars.append(
        at_most(
            f"slowest command that reads and counts no tokens ({slowest}), CPU",
            figures["commands"][slowest],
            COMMAND_MS,
            "ms",
            0,
        )
    )
    if find_spec("mcp") and os.path.exists("/proc/self/stat"):
        figures["mcp"] = _start_mcp()
        answered = figures["mcp"]["initialize_ms"]
        bars.append(at_most("MCP server: CPU from its start to the answer of initialize", answered, MCP_MS, "ms", 0))
    return {"figures": figures, "bars": bars, "notes": __doc__}


def _start_mcp() -> dict[str, Any]:
    rows = [_start_mcp_once() for _ in range(ROUNDS)]
    later = [_start_mcp_once(pause=2.0) for _ in range(COMMAND_ROUNDS)]
    alone = statistics.median(row["call_ms"] - row["paused_ms"] for row in later)
    named = ("initialize_ms", "tools_ms", "call_ms")
    return {name: round(statistics.median(row[name] for row in rows)) for name in named} | {
        "later_call_ms": round(alone)
    }


def _run_commands() -> dict[str, int]:
    """CPU milliseconds of each command."""
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{folder}/sessions.db"
        with SessionMemory.open(store) as memory:
            memory.record("s", [{"role": "user", "content": "Use postgres for the database, because it is known."}])
        return {command[0]: round(_run_command([*command, "--store", store])) for command in COMMANDS}


def _run_command(arguments: list[str]) -> float:
    spent = []
    for _ in range(COMMAND_ROUNDS + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "tokenmizer_mw", *arguments]
        subprocess.run(command, check=True, env=_with_byte_code(), stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent[1:]) * 1e3  # the first may have written byte code


def _with_byte_code() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _start_mcp_once(pause: float = 0.0) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tokenmizer_mw", "mcp", "--store", f"sqlite:///{folder}/sessions.db"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_with_byte_code()) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            spent = []
            paused = 0.0
            for message in _MESSAGES:
                if message["id"] == len(_MESSAGES):
                    time.sleep(pause)
                    paused = _cpu_ms(process.pid)
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
                process.stdin.flush()
                assert json.loads(process.stdout.readline())["id"] == message["id"]
                spent.append(_cpu_ms(process.pid))
                if message["id"] == 1:
                    process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
            process.stdin.close()
    return {"initialize_ms": spent[0], "tools_ms": spent[1], "call_ms": spent[2], "paused_ms": paused}


def _cpu_ms(process: int) -> float:
    """CPU milliseconds that a running process (its id) has used so far."""
    with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1e3 / os.sysconf("SC_CLK_TCK")


def _measured(code: str) -> dict[str, Any]:
    told = MEASURED.format(code=code, frameworks=FRAMEWORKS)
    command = [sys.executable, "-c", told]
    runs = [json.loads(subprocess.check_output(command, env=_with_byte_code())) for _ in range(ROUNDS)]
    _, frameworks, modules = runs[0]
    return {"cpu_ms": round(min(run[0] for run in runs) * 1e3, 1), "frameworks": frameworks, "modules": modules}
