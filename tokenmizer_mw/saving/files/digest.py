"""Composes the digest of a file: the lines of its report that fit into a token budget, the most important ones first
chosen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tokenmizer_mw.safety.labels import flatten

BUDGET: Final = 300
"""Default number of tokens of a digest."""

LINE_MAX: Final = 400
"""Largest number of characters of one line of a digest."""

_PART_END: Final = re.compile(r"[,:;](?=\s)|\n")
_BETWEEN: Final = " ,:;"


@dataclass(frozen=True, slots=True)
class DigestLine:
    """One line of the description of a file (``Report``). If not all lines fit into the token budget of the digest
    that is made from it, those with the smallest ``weight`` are left out; the others keep their order."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Report:
    """The description of a file, as the reader for its kind (CSV, JSON, log, ...) makes it. The digest, which has a
    token budget, is made from it.

    ``title``: such as "CSV, 12 rows"; ``broke``: where and why reading stopped early, "" if it did not; ``more``:
    options of the command ``analyze`` that show more ("--lines 100:120"); ``facts``: the content as JSON values.
    """

    title: str
    lines: tuple[DigestLine, ...] = ()
    broke: str = ""
    more: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Digest:
    """The digest of a file: a description of its content within a token budget.

    - ``name``: of the file; ``kind``: what it was read as ("csv"); ``size``: in bytes.
    - ``text``: the description, for a model; ``tokens``: its length.
    - ``partial``: why the digest does not cover the whole file, "" if it does.
    - ``facts``: what the description is made of, as JSON values.
    """

    name: str
    kind: str
    size: int
    text: str
    tokens: int
    partial: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields of the digest as a dict for JSON."""
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

    The title, and where reading stopped, come first; if not even they fit, they are cut. Line breaks in lines are
    removed; ``clean`` redacts secrets in lines and facts.
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
    """Return the JSON value with ``clean`` applied to every string in it, names of members included. If two names
    become equal, the first member stays."""
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
    """Return ``head``, as many of ``lines`` as fit into ``budget`` tokens, and ``tail``, as one text. The lines with
    the highest weight are chosen and stay in their order; a note says how many are left out. If not even ``head`` and
    ``tail`` fit, the beginning of ``head`` is returned. ``count``: returns the tokens of a text."""
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
    """Return the beginning of ``text`` that fits into ``budget``. It ends at a comma, a colon or a line end, so that no
    number loses its digits or its unit; if there is none of these, at the end of a word."""
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
    """Format a number of bytes for people: "12 bytes", "3.4 MB" (millions of bytes)."""
    amount = float(size)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1_000:
            return f"{amount:.0f} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1_000
    return f"{amount:.1f} GB"


def format_count(number: int, thing: str) -> str:
    """Format a number of things, with the plural of ``thing`` unless it is one: "1 line", "2,000 lines"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def share(part: float, whole: float) -> str:
    """Format a part of a whole as a percentage: "12 %", "<1 %"; "0 %" if ``whole`` is 0."""
    if not whole:
        return "0 %"
    percent = 100 * part / whole
    return f"{percent:.0f} %" if percent >= 1 or not part else "<1 %"


def join_names(names: Iterable[str], most: int) -> str:
    """Join the first ``most`` names, and say how many more there are: "a, b and 3 more"."""
    every = list(names)
    rest = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + rest
