"""Write ``docs/benchmarks.md`` from the results: ``python -m benchmarks.table [--check]``.

The page has a summary with one row per benchmark and bars that it misses. Then it has a section per benchmark: its
notes, all bars, its own tables, and the page of ``benchmarks/remarks`` with its name, if there is one.
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
    "Written by `python -m benchmarks.table` from `benchmarks/results/`, which `python -m benchmarks` writes, from",
    "the explanations in `benchmarks/remarks/`, and from texts in its own source. CPU time was measured on a shared",
    "two-core machine: trust ratios more than absolute numbers. Each section says which of its data the code was",
    "tuned on.",
    "",
    "Words of this page:",
    "",
    "| word | meaning |",
    "|---|---|",
    "| bar | the target of a figure; the summary lists those that are missed, at most four of a benchmark |",
    "| development data, tuned on | texts that were read, or on which weights were fitted, during development |",
    "| held out | texts that nobody reads: they are only counted |",
    "| first run | the figure on new texts, before anything was changed for them |",
    "| in force | a fact that a resume block states as true: neither replaced, rejected nor only proposed |",
    "| replaced | a decision or value that a later one has superseded; *stale*: still stated as if it were true |",
    "| block | the resume block that replaces old messages; *block300*: in at most 300 tokens |",
    "| turn | a message of the user and everything that answers it |",
    "| F1, lenient and strict | strictly, each label matches one fact, which is not much longer than the label |",
    "| macro F1 | mean F1 of: goal, finished and open tasks, decisions, replaced decisions, files, errors |",
    "| `own`, `second`, `third` | labelled sessions in `benchmarks/corpus`: tuned on; by two authors, only thresholds"
    " chosen on |",
    "| `real_dev`, `authored_dev`, `research100` | real, written, generated sessions, not in the repository;"
    " tuned on |",
    "| classifier, sentence model | classifies sentences by their words; with all-MiniLM-L6-v2 in addition |",
)


MISSED_MAX: Final = 4
"""How many missed bars of a benchmark the summary lists."""


def results() -> list[dict[str, Any]]:
    """Return the results of this version of the package, in the order of ``BENCHMARKS``; benchmarks without one are
    left out."""
    folder = Path(__file__).parent / "results" / __version__
    paths = (folder / f"{name}.json" for name in BENCHMARKS)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]


def summary(found: list[dict[str, Any]]) -> str:
    """Return a Markdown table with one row per benchmark and the figures that miss their bars."""
    lines = ["| `python -m benchmarks` ... | what | bars met | missed |", "|---|---|---|---|"]
    for result in found:
        bars = result["bars"]
        missed = [f"{bar['what']}: {bar['value']} ({bar['bar']})" for bar in bars if not bar["met"]]
        met = f"{len(bars) - len(missed)} of {len(bars)}" if bars else "no bars"
        if len(missed) > MISSED_MAX:
            missed[MISSED_MAX:] = [f"and {len(missed) - MISSED_MAX} more, see below"]
        lines.append(f"| `{result['benchmark']}` | {result['what']} | {met} | {'; '.join(missed) or '-'} |")
    return "\n".join(lines)


def page(found: list[dict[str, Any]]) -> str:
    """Return the whole page: the summary, then every benchmark with all its bars, and what it was measured on."""
    return "\n".join(_page(found)) + "\n"


def _page(found: list[dict[str, Any]]) -> Iterator[str]:
    yield from ("# Figures", "", *INTRODUCTION, "", summary(found))
    for result in found:
        yield from ("", f"## {result['benchmark']}", "", *_notes(result), "")
        yield from ("| what | measured | bar | met |", "|---|---|---|---|") if result["bars"] else ()
        for bar in result["bars"]:
            yield f"| {bar['what']} | {bar['value']} | {bar['bar']} | {'yes' if bar['met'] else '**no**'} |"
        yield from ("", *result["page"]) if result.get("page") else ()
        remark = REMARKS / f"{result['benchmark']}.md"
        yield from ("", remark.read_text(encoding="utf-8").strip()) if remark.exists() else ()
        yield from (
            "",
            f"{result['date']}, version {result['version']}, Python {result['python']}, {result['system']}.",
        )


def _notes(result: dict[str, Any]) -> Iterator[str]:
    """Yield what the benchmark measures, and its notes. The first part is left out if the notes begin with a sentence
    that says so, as module docstrings do."""
    notes = result.get("notes", "").strip()
    first, _, rest = notes.partition("\n\n")
    if not rest or "\n" in first or len(first) > 120 or first[-1] not in ".?":
        yield from (f"{result['what'][0].upper()}{result['what'][1:]}.", "")
    yield notes


def main() -> int:
    path = ROOT / "docs" / "benchmarks.md"
    old, new = path.read_text(encoding="utf-8") if path.exists() else "", page(results())
    if "--check" in sys.argv[1:]:
        return int(new != old)
    path.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
