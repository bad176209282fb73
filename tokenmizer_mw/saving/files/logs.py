"""Reader for log files: reports the time range, the number of lines by level, and repeated errors with the first line
of each."""

from __future__ import annotations

from collections import Counter
from typing import Final

import re2

from .digest import DigestLine, Report, format_count
from .reading import FileSource, Stopped, clip_text

PATTERNS_MAX: Final = 2_000
"""Number of different complaints (warnings and errors) that are counted separately."""

SHOWN_MAX: Final = 8
_LINE_MAX: Final = 600
_TIME = re2.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}|\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2}"
    r"|[A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2}|\b\d{2}:\d{2}:\d{2}\b"
)
_LEVEL = re2.compile(
    r"(?i)\b(fatal|critical|panic|emerg|alert|error|err|severe|warning|warn|notice|info|debug|trace)\b"
    r'|(?:HTTP/[\d.]+" )(\d{3})\b'
)
_TRACE = re2.compile(
    r"^(?:Traceback \(most recent call last\)|\s+at [\w$.<>]+\(|goroutine \d+|thread '.{0,80}' panicked)"
)
_VARIABLE = re2.compile(
    r"0x[0-9a-fA-F]+|\b[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}\b|\b[0-9a-f]{12,}\b|\d+(?:[.:,]\d+)*|\"[^\"]{1,200}\"|'[^']{1,200}'"
)
_NAMES: Final = {
    **dict.fromkeys(("fatal", "critical", "panic", "emerg", "alert"), "fatal"),
    **dict.fromkeys(("error", "err", "severe"), "error"),
    **dict.fromkeys(("warning", "warn"), "warning"),
    **dict.fromkeys(("notice", "info"), "info"),
    **dict.fromkeys(("debug", "trace"), "debug"),
}
_BAD: Final = ("fatal", "error", "warning")
_WEIGHTS: Final = {"fatal": 6.0, "error": 5.0, "warning": 3.0}


def looks_like_log(lines: list[str]) -> bool:
    """Return whether ``lines`` look like a log file. At least three of them must not be blank. At least 60 % of these
    must have a time or a level in their first 80 characters.

    All lines are examined. Pass only the beginning of a file.
    """
    starts = [line[:80] for line in lines if line.strip()]
    marked = sum(bool(_TIME.search(line) or _LEVEL.search(line)) for line in starts)
    return len(starts) >= 3 and marked * 10 >= len(starts) * 6


class _Log:
    def __init__(self) -> None:
        self.lines = self.traces = 0
        self.first = self.last = ""
        self.levels: Counter[str] = Counter()
        self.complaints: Counter[tuple[str, str]] = Counter()
        self.example: dict[tuple[str, str], tuple[int, str]] = {}
        self.uncounted = 0

    def add(self, line: str) -> None:
        """Count the next line of the log: its time, its level, and, for a warning or error, its text."""
        self.lines += 1
        head = line[:_LINE_MAX]
        if (time := _TIME.search(head[:120])) is not None:
            self.first = self.first or time.group()
            self.last = time.group()
        if _TRACE.match(head) is not None and (head[:1] != " "):
            self.traces += 1
        level = _level(head)
        if not level:
            return
        self.levels[level] += 1
        if level in _BAD:
            self._complaint(level, head, line)

    def _complaint(self, level: str, head: str, line: str) -> None:
        pattern = (level, _VARIABLE.sub("#", _TIME.sub("", head)).strip()[:160])
        if pattern not in self.complaints and len(self.complaints) >= PATTERNS_MAX:
            self.uncounted += 1
            return
        self.complaints[pattern] += 1
        if pattern not in self.example:
            self.example[pattern] = self.lines, clip_text(line, _LINE_MAX).strip()


def _level(head: str) -> str:
    found = _LEVEL.search(head[:200])
    if found is None:
        return ""
    if found.group(2):
        return {"5": "error", "4": "warning"}.get(found.group(2)[0], "info")
    return _NAMES[found.group(1).lower()]


def read(source: FileSource) -> Report:
    """Report a log: number of lines, time range, levels, stack traces, and the most frequent errors."""
    log = _Log()
    broke = ""
    try:
        for line in source.lines():
            log.add(line)
    except Stopped:
        broke = f"stopped after {log.lines:,} lines"
    return Report(
        f"log, {format_count(log.lines, 'line')}",
        tuple(_lines(log, source)),
        broke,
        ("--lines 100:120", "--find ERROR"),
        _facts(log),
    )


def _lines(log: _Log, source: FileSource) -> list[DigestLine]:
    lines = []
    if log.first:
        lines.append(DigestLine(f"from {log.first} to {log.last}", 9.0))
    if log.levels:
        levels = [*_BAD, "info", "debug"]
        counts = ", ".join(f"{log.levels[level]:,} {level}" for level in levels if log.levels[level])
        lines.append(DigestLine(f"levels: {counts}", 9.0))
    if log.traces:
        lines.append(DigestLine(f"stack traces: {log.traces:,}", 8.0))
    ranked = sorted(log.complaints.items(), key=lambda one: (-_WEIGHTS[one[0][0]], -one[1]))
    for place, (pattern, count) in enumerate(ranked[:SHOWN_MAX]):
        number, text = log.example[pattern]
        lines.append(DigestLine(f"- {count:,} x (first: line {number:,}) {text}", _WEIGHTS[pattern[0]] - place / 100))
    if left := len(ranked) - SHOWN_MAX:
        lines += [DigestLine(f"{left:,} further kinds of complaints", 2.0)] * (left > 0)
    if log.uncounted:
        lines.append(DigestLine(f"{log.uncounted:,} complaints of still other kinds are not counted one by one", 2.0))
    return [*lines, *([DigestLine(source.cut, 8.0)] if source.cut else [])]


def _facts(log: _Log) -> dict[str, object]:
    common = log.complaints.most_common(50)
    return {
        "lines": log.lines,
        "first": log.first,
        "last": log.last,
        "levels": dict(log.levels),
        "stack_traces": log.traces,
        "complaints": [
            {"level": pattern[0], "count": count, "line": log.example[pattern][0]} for pattern, count in common
        ],
    }
