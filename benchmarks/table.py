"""The table of figures in the README, written from the results: ``python -m benchmarks.table [--check]``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

from tokenmizer_mw import __version__

ROOT: Final = Path(__file__).parent.parent
START: Final = "<!-- figures: start (written by `python -m benchmarks.table`) -->"
END: Final = "<!-- figures: end -->"


def table() -> str:
    """One row a bar, in the order of the benchmarks' names, each with the command that reproduces it."""
    lines = ["| what | measured | bar | met | reproduce |", "|---|---|---|---|---|"]
    for path in sorted((Path(__file__).parent / "results" / __version__).glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        command = f"`python -m benchmarks {result['benchmark']}`"
        for bar in result["bars"]:
            met = "yes" if bar["met"] else "**no**"
            lines.append(f"| {bar['what']} | {bar['value']} | {bar['bar']} | {met} | {command} |")
    return "\n".join(lines)


def main() -> int:
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(START)
    _, after = rest.split(END)
    written = f"{before}{START}\n{table()}\n{END}{after}"
    if "--check" in sys.argv[1:]:
        return int(written != text)
    readme.write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
