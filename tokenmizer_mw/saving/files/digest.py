"""Composes the digest of a file: a few lines within a token budget, chosen by weight."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tokenmizer_mw.safety.labels import flatten

BUDGET: Final = 300
"""Tokens of a digest, if nobody asks for more or less."""

LINE_MAX: Final = 400
"""Characters of one line of a digest."""

_PART_END: Final = re.compile(r"[,:;](?=\s)|\n")
_BETWEEN: Final = " ,:;"


@dataclass(frozen=True, slots=True)
class DigestLine:
    """One line of a digest. If not all lines fit, the heaviest are chosen; their order does not change."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Report:
    """What a reader found in a file.

    ``title``: such as "CSV, 12 rows"; ``broke``: where reading stopped, "" if it did not; ``more``: options that show
    more ("--lines 100:120"); ``facts``: the same content as JSON values.
    """

    title: str
    lines: tuple[DigestLine, ...] = ()
    broke: str = ""
    more: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Digest:
    """The digest of a file.

    ``tokens``: length of ``text``; ``kind``: name of the reader ("csv"); ``size``: in bytes; ``partial``: why the
    digest does not cover the whole file, "" if it does.
    """

    name: str
    kind: str
    size: int
    text: str
    tokens: int
    partial: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the digest as JSON values."""
        return {
            "name": self.name,
            "kind": self.kind,
            "size": self.size,
            "tokens": self.tokens,
            "partial": self.partial,
            "text": self.text,
            "facts": dict(self.facts),
        }


def make_digest(
    name: str,
    kind: str,
    size: int,
    report: Report,
    *,
    budget: int,
    count: Callable[[str], int],
    clean: Callable[[str], str],
) -> Digest:
    """Return the digest of ``report`` within ``budget`` tokens, counted by ``count``.

    The title, and where reading stopped, are always included. Lines are flat; ``clean`` redacts secrets in lines and
    facts.
    """

    def line(text: str) -> str:
        return flatten(clean(text), LINE_MAX)

    head = [line(f"{name}: {report.title}, {format_size(size)}")]
    if report.broke:
        head.append(line(f"incomplete: {report.broke}"))
    tail = [line(f"more: {'; '.join(report.more)}")] if report.more else []
    lines = [DigestLine(line(one.text), one.weight) for one in report.lines]
    text = _fit_lines(head, lines, tail, budget, count)
    return Digest(line(name), kind, size, text, count(text), line(report.broke), _clean_value(report.facts, clean))


def _clean_value(value: Any, clean: Callable[[str], str]) -> Any:
    """JSON with every string in it cleaned, the names of members too; of names that are one then, the first stands."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        cleaned: dict[str, Any] = {}
        for name, one in value.items():
            cleaned.setdefault(clean(name), _clean_value(one, clean))
        return cleaned
    return [_clean_value(one, clean) for one in value] if isinstance(value, list | tuple) else value


def _fit_lines(
    head: list[str], lines: list[DigestLine], tail: list[str], budget: int, count: Callable[[str], int]
) -> str:
    """The most lines that fit, by weight; which ones they are is found by halving, since a longer text never has fewer
    tokens."""
    ranked = sorted(range(len(lines)), key=lambda index: (-lines[index].weight, index))

    def join_shown(kept: int) -> str:
        places = sorted(ranked[:kept])
        left = len(lines) - kept
        rest = [f"({format_count(left, 'line')} of this description left out)"] if left else []
        return "\n".join([*head, *(lines[place].text for place in places), *rest, *tail])

    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(join_shown(middle)) <= budget else (low, middle - 1)
    text = join_shown(low)
    return text if low or count(text) <= budget else _cut("\n".join(head), budget, count)


def _cut(text: str, budget: int, count: Callable[[str], int]) -> str:
    """The beginning of ``text`` that fits, up to a comma, a colon or the end of a line, so that no number stands there
    halved or without its unit; where there is none of these, whole words."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle]) <= budget else (low, middle - 1)
    if low == len(text):
        return text.rstrip(_BETWEEN)
    fitting = text[: low + 1]
    ends = [found.start() for found in _PART_END.finditer(fitting)]
    return (fitting[: ends[-1]] if ends else fitting.rpartition(" ")[0]).rstrip(_BETWEEN)


def format_size(size: int) -> str:
    """Format a number of bytes for people."""
    amount = float(size)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1_000:
            return f"{amount:.0f} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1_000
    return f"{amount:.1f} GB"


def format_count(number: int, thing: str) -> str:
    """Format a number of things: "1 line", "2,000 lines"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def share(part: float, whole: float) -> str:
    """Format a part of a whole as a percentage: "12 %", "<1 %"."""
    if not whole:
        return "0 %"
    percent = 100 * part / whole
    return f"{percent:.0f} %" if percent >= 1 or not part else "<1 %"


def join_names(names: Iterable[str], most: int) -> str:
    """Join the first ``most`` names, and say how many more there are."""
    every = list(names)
    rest = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + rest
