"""The figures for people, written from the results: ``python -m benchmarks.table [--check]``.

``docs/benchmarks.md`` gets a line a benchmark with every bar that is missed, then all bars, and for a benchmark with a
page in ``benchmarks/remarks`` what was tried and what stands in the way.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw import __version__

from .__main__ import BENCHMARKS

ROOT: Final = Path(__file__).parent.parent
REMARKS: Final = Path(__file__).parent / "remarks"

INTRODUCTION: Final = (
    "Written by `python -m benchmarks.table` from `benchmarks/results/`, which `python -m benchmarks` writes. CPU",
    "time on a shared two-core machine: trust ratios more than absolute numbers. What was tuned on a set of texts is",
    "said with it.",
)


def results() -> list[dict[str, Any]]:
    """The newest result of each benchmark that has one, in their order."""
    folder = Path(__file__).parent / "results" / __version__
    paths = (folder / f"{name}.json" for name in BENCHMARKS)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]


def summary(found: list[dict[str, Any]]) -> str:
    """One row a benchmark; what is missed is said with its figure."""
    lines = ["| `python -m benchmarks` ... | what | bars met | missed |", "|---|---|---|---|"]
    for result in found:
        bars = result["bars"]
        missed = [f"{bar['what']}: {bar['value']} ({bar['bar']})" for bar in bars if not bar["met"]]
        met = f"{len(bars) - len(missed)} of {len(bars)}"
        lines.append(f"| `{result['benchmark']}` | {result['what']} | {met} | {'; '.join(missed) or '-'} |")
    return "\n".join(lines)


def page(found: list[dict[str, Any]]) -> str:
    """The summary, then every bar of every benchmark, with what was measured on."""
    return "\n".join(_page(found)) + "\n"


def _page(found: list[dict[str, Any]]) -> Iterator[str]:
    yield from ("# Figures", "", *INTRODUCTION, "", summary(found))
    for result in found:
        yield from ("", f"## {result['benchmark']}", "", f"{result['what'][0].upper()}{result['what'][1:]}.")
        yield from (result.get("notes", ""), "") if result.get("notes") else ("",)
        yield from ("| what | measured | bar | met |", "|---|---|---|---|")
        for bar in result["bars"]:
            yield f"| {bar['what']} | {bar['value']} | {bar['bar']} | {'yes' if bar['met'] else '**no**'} |"
        yield from ("", *result["page"]) if result.get("page") else ()
        remark = REMARKS / f"{result['benchmark']}.md"
        yield from ("", remark.read_text(encoding="utf-8").strip()) if remark.exists() else ()
        yield from (
            "",
            f"{result['date']}, version {result['version']}, Python {result['python']}, {result['system']}.",
        )


def main() -> int:
    path = ROOT / "docs" / "benchmarks.md"
    old, new = path.read_text(encoding="utf-8") if path.exists() else "", page(results())
    if "--check" in sys.argv[1:]:
        return int(new != old)
    path.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
