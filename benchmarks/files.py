"""Digests of files of every kind in at most 300 tokens; one of 1 GB in bounded memory; broken files up to the break.

A table of 1 GB is written in pieces. A new process reads it, and the operating system reports the peak memory of that
process.

The peak memory of the command ``analyze`` is measured, too: with a file of three lines, and with a table of 50 MB while
it shows its progress on a terminal.
"""

from __future__ import annotations

import json
import os
import pty
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Final

from .measure import at_least, at_most

SIZE: Final = 1_000_000_000
COMMAND_SIZE: Final = 50_000_000
BLOCK_ROWS: Final = 20_000
MEASURED: Final = """
import json, resource, sys, time
from tokenmizer_mw.saving.files import analyze
analyze(sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
calls = 0
def advance(done):
    global calls
    calls += 1
started = time.process_time()
digest = analyze(sys.argv[1], progress=advance)
taken = time.process_time() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"peak": peak, "before": before, "seconds": taken, "calls": calls, "tokens": digest.tokens,
                  "rows": digest.facts.get("rows"), "partial": digest.partial, "size": digest.size}))
"""
COMMAND: Final = """
import resource, sys
from tokenmizer_mw.cli import main
status = main(["analyze", sys.argv[1]])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
sys.exit(status)
"""
INTERRUPTED: Final = """
import signal, sys
from tokenmizer_mw.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever starts us in the background has it ignored
print("begun", flush=True)
sys.exit(main(["analyze", sys.argv[1]]))
"""


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "orders.csv", Path(folder) / "few.csv"
        rows = _table(large, SIZE)
        _table(small, 20_000)
        commands = _commands(Path(folder))
        told = json.loads(subprocess.check_output([sys.executable, "-c", MEASURED, str(large), str(small)]))
        stopped = _interrupted(large)
    grown = (told["peak"] - told["before"]) / 1_024
    figures = {
        "bytes": told["size"],
        "rows": rows,
        "cpu_seconds": round(told["seconds"], 1),
        "megabytes_per_second": round(told["size"] / 1e6 / told["seconds"], 1),
        "peak_mb": round(told["peak"] / 1_024, 1),
        "peak_above_imports_mb": round(grown, 1),
        "command_peak_mb": {name: round(peak, 1) for name, peak in commands.items()},
        "told_of_progress": told["calls"],
        "interrupted_after_seconds": round(stopped, 2),
    }
    bars = [
        at_most("table of 1 GB: memory of the whole process", told["peak"] / 1_024, 64, "MB", 1),
        at_most("the command, on a terminal too: memory of the whole process", max(commands.values()), 64, "MB", 1),
        at_most("table of 1 GB: tokens of the digest", told["tokens"], 300, digits=0),
        at_least("table of 1 GB: rows counted", told["rows"] / rows, 1),
        at_least("table of 1 GB: times that progress was reported", told["calls"], 1_000, digits=0),
        at_most("from an interrupt to the end", stopped, 1.0, "s", 2),
    ]
    return {"figures": figures, "bars": bars, "notes": __doc__}


def _table(path: Path, size: int) -> int:
    """Write a table of at least ``size`` bytes; returns its number of rows."""
    drawn = random.Random(3)
    rows = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("id,created,price,status,city,note,paid,quantity\n")
        while file.tell() < size:
            lines = []
            for _ in range(min(BLOCK_ROWS, 1 + size // 60)):
                rows += 1
                note = '"late, again"' if rows % 3 == 0 else ""
                lines.append(
                    f"{rows},2024-{1 + rows % 12:02d}-{1 + rows % 28:02d},{drawn.gauss(50, 10):.2f},"
                    f"{('open', 'closed', 'failed')[rows % 3]},city {rows % 5_000},{note},true,{rows % 100}\n"
                )
            file.write("".join(lines))
    return rows


def _commands(folder: Path) -> dict[str, float]:
    """The peak memory of the command ``analyze`` in MB, by its input."""
    few, many = folder / "ports.csv", folder / "many.csv"
    few.write_text("service,port\nweb,8080\napi,8081\n", encoding="utf-8")
    _table(many, COMMAND_SIZE)
    return {"3_lines": _command(few), "50_mb_on_a_terminal": _command(many, terminal=True)}


def _command(path: Path, *, terminal: bool = False) -> float:
    """The peak memory of the command ``analyze`` in MB. ``terminal``: whether its standard error is a terminal."""
    ours, theirs = pty.openpty()
    reader = threading.Thread(target=_drained, args=(ours,))
    reader.start()
    try:
        stderr = theirs if terminal else subprocess.DEVNULL
        said = subprocess.check_output([sys.executable, "-c", COMMAND, str(path)], stderr=stderr, text=True)
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)
    return int(said.splitlines()[-1]) / 1_024


def _drained(terminal: int) -> None:
    """Read what is written to a terminal until its other side is closed."""
    try:
        while os.read(terminal, 1 << 16):
            pass
    except OSError:  # how a terminal of Linux ends
        return


def _interrupted(path: Path) -> float:
    """Seconds from an interrupt of the command to its end. Raises ``RuntimeError`` unless it ends with status 130."""
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as command:
        assert command.stdout is not None
        command.stdout.readline()
        time.sleep(2.0)
        started = time.perf_counter()
        command.send_signal(signal.SIGINT)
        status = command.wait(60)
    if status != 130:
        raise RuntimeError(f"an interrupted command ended with {status}")
    return time.perf_counter() - started
