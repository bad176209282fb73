"""Stages "shorten" and "history": shorten long tool results, and prune old ones to the names in them.

"shorten" keeps beginning, end, important lines, and a note about the rest. Which lines are important depends on the
kind of output: definitions of a source file, failure lines of a log, number of matches per file. Line numbers are given
only if they are known: in a numbered file, or in output that no other stage shortened.

"history" keeps the newest results whole. When enough older ones have accumulated, all of them are pruned in one step,
and nothing changes until the next step; in between, a growing chat is sent with the same beginning. The steps depend
only on the chat, so that every process prunes the same results. A pruned result consists of a line that says how much
was removed, its lines about failures, and the names in it that did not occur earlier (paths, identifiers, addresses),
so that the model can look them up again. The note does not ask for a rerun: some commands must not run twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from .chat import ChatPassage, OutputKind, PassageKind
from .names import KnownNames, names
from .sorts import STAMP, is_numbered, is_stamped, number_of, strip_number

CHARACTERS_A_TOKEN: Final = 4
LINE_MAX: Final = 2_000
"""Characters that are shown of a line at the beginning or end of a shortened output."""

_HEAD: Final = 0.5
_TAIL: Final = 0.25
_SHOWN_MAX: Final = 160
"""Characters that are shown of an important line from the middle."""

_DEFINES: Final = re.compile(
    r"^\s{0,8}(?:export |default |public |private |protected |static |async |abstract |final |pub(?:\([a-z]+\))? )*"
    r"(?:def|class|func|function|fn|interface|struct|enum|trait|impl|type|module|namespace|package|record|#{1,3})"
    r" *\(?[\w\"'<:]"
)
FAILURE: Final = re.compile(
    r"(?i)(?:error|exception)\b|\bfail(?:ed|ure|ures)?\b|traceback|panic|fatal|critical|assert|^[EF]\d{4} \d\d:"
)
Name = Callable[[int], str]
"""A function that returns how to name the line at an index: "12" for line 12; "" if its number is not known."""
Matter = Callable[[Sequence[str], range, Name], Iterator[str]]
_FOUND: Final = re.compile(r"^([^:\n]{3,300}):\d+[:-]")


def shorten_passage(passage: ChatPassage, sort: OutputKind, most: int, *, whole: bool = True) -> str:
    """Return the text of ``passage`` shortened to about ``most`` tokens; the same object if it is not longer, or would
    not get shorter.

    ``sort``: its kind, which decides the important lines that stay; ``whole``: whether the text is the
    unchanged tool result, so that its lines can be counted.
    """
    text, room = passage.text, most * CHARACTERS_A_TOKEN
    if len(text) <= room:
        return text
    lines = text.split("\n")
    head = _count_fitting_lines(lines, int(room * _HEAD))
    tail = _count_fitting_lines(lines[head:][::-1], int(room * _TAIL))
    middle = range(head, len(lines) - tail)
    if not middle:
        return text
    name = _choose_naming(lines, whole)
    shown = "\n".join([*map(_cut, lines[:head]), _note(passage, lines, middle, name)])
    left = room - len(shown) - sum(len(line) for line in lines[middle.stop :])
    matter = _failures if is_stamped(text) else _MATTERS.get(sort, _failures)
    ends = [*_within(matter(lines, middle, name), max(0, left)), *map(_cut, lines[middle.stop :])]
    result = "\n".join([shown, *ends])
    return result if len(result) < len(text) else text


def _choose_naming(lines: Sequence[str], whole: bool) -> Name:
    """Return a function that names the line at an index: by the number at its beginning in a numbered file; by its
    place in the text, from 1, if ``whole`` (the text is the unchanged tool result); else "" (unknown)."""
    if is_numbered(list(lines)):
        return lambda at: "" if (number := number_of(lines[at])) is None else str(number)
    return lambda at: str(at + 1) if whole else ""


def _note(passage: ChatPassage, lines: Sequence[str], middle: range, name: Name) -> str:
    first, last = name(middle.start), name(middle.stop - 1)
    which = f"lines {first} to {last}" if first and last else f"{len(middle)} lines"
    left_out = sum(len(lines[at]) + 1 for at in middle)
    how = f"; to see them, read that part of {passage.path}" if passage.path else ""
    return f"[... {which} of this output are left out ({left_out} characters){how} ...]"


def _at(name: Name, at: int, text: str) -> str:
    where = name(at)
    return f"[line {where}] {text}" if where else text


def _count_fitting_lines(lines: Sequence[str], room: int) -> int:
    """Return how many of the first lines fit into ``room`` characters; at least one."""
    for at, line in enumerate(lines):
        room -= min(len(line), LINE_MAX) + 1
        if room < 0:
            return max(1, at)
    return len(lines)


def _cut(line: str) -> str:
    if len(line) <= LINE_MAX:
        return line
    return f"{line[:LINE_MAX]}[... {len(line) - LINE_MAX} characters of this line are left out ...]"


def _within(lines: Iterable[str], room: int) -> Iterator[str]:
    """Yield the first of ``lines``, as many as fit into ``room`` characters."""
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return
        yield line


def _definitions(lines: Sequence[str], middle: range, name: Name) -> Iterator[str]:
    count = is_numbered(list(lines))
    for at in middle:
        line = strip_number(lines[at]) if count else lines[at]
        if len(line) <= LINE_MAX and _DEFINES.match(line):
            yield _at(name, at, line.rstrip()[:_SHOWN_MAX])


def _failures(lines: Sequence[str], middle: range, name: Name) -> Iterator[str]:
    for at in middle:
        if FAILURE.search(lines[at][:LINE_MAX]):
            yield _at(name, at, lines[at].strip()[:_SHOWN_MAX])


def _files(lines: Sequence[str], middle: range, name: Name) -> Iterator[str]:
    found = (_FOUND.match(lines[at][:LINE_MAX]) for at in middle if not STAMP.match(lines[at]))
    counted = Counter(row.group(1) for row in found if row is not None)
    for path, count in counted.items():
        yield f"[{count} in {path}]"
    if not counted:
        yield from _failures(lines, middle, name)


_MATTERS: Final[Mapping[OutputKind, Matter]] = {OutputKind.FILE: _definitions, OutputKind.FOUND: _files}
"""For the kinds of output whose important lines are not failures: the function that finds these."""

PRUNED_MIN: Final = 400
"""Tool results with fewer characters are not pruned."""

LINES_KEPT: Final = 4
_LINE_MAX: Final = 160
_TELLING: Final = frozenset({OutputKind.LOG, OutputKind.PRINTED, OutputKind.TEXT})
NAMES_SHARE: Final = 0.15
LIST_SHARE: Final = 0.5
"""Largest share of a result's characters that the names in a pruned result may take (``NAMES_SHARE`` for source files).
How many more names there are is only counted."""


def pruned_before(passages: Sequence[ChatPassage], *, keep: int, step: int, cut: int | None = None) -> int:
    """Return which old tool results the stage "history" prunes: those before the returned index of ``passages``; 0 for
    none.

    - ``keep``: number of newest results that stay whole, with all that arrived together with them. Results that the
      model has not seen yet are never pruned.
    - ``step``: tokens in older unpruned results that trigger a step.
    - ``cut``: index of the newest message when the chat was cut; everything old at that time is pruned, because the
      provider's cache is invalid anyway. ``None`` if it was not cut.
    """
    places: list[int] = []
    behind = added = waiting = 0
    is_before_cut = cut is not None
    for start, end in _batches(passages):
        if is_before_cut and cut is not None and passages[start].message > cut:
            behind, waiting, is_before_cut = added, 0, False
        places += range(start, end)
        old = min(len(places) - keep, len(places) - (end - start))
        while added < old:
            waiting += _size(passages[places[added]].text)
            added += 1
        if waiting >= step:
            behind, waiting = added, 0
    if is_before_cut:
        behind = added
    return places[behind - 1] + 1 if behind else 0


def _batches(passages: Sequence[ChatPassage]) -> Iterator[tuple[int, int]]:
    """Yield start and end index of each group of results that arrived together, without a text of the model between
    them."""
    start = 0
    for is_result, together in groupby(passages, lambda passage: passage.kind is PassageKind.RESULT):
        end = start + sum(1 for _ in together)
        if is_result:
            yield start, end
        start = end


def _size(text: str) -> int:
    return 0 if len(text) < PRUNED_MIN else len(text) // CHARACTERS_A_TOKEN


def prune_result(passage: ChatPassage, sort: OutputKind, known: KnownNames) -> str:
    """Return the text that remains of a pruned tool result. ``sort``: its kind; ``known``: names that occurred before
    it, which are not repeated.

    Returns the same object if the result is short or would not get shorter.
    """
    text = passage.text
    if len(text) < PRUNED_MIN:
        return text
    kept = list(_find_failures(text)) if sort in _TELLING or is_stamped(text) else []
    shown_names = set(names("\n".join([passage.title, *kept])))
    counted = names(text, known.read)
    new = [name for name in counted if name not in shown_names and not known.is_known(name)]
    ranked = sorted(new, key=lambda name: ("/" not in name, -counted[name]))  # paths and addresses first
    shown = set(_within(ranked, int(len(text) * (NAMES_SHARE if sort is OutputKind.FILE else LIST_SHARE))))
    more = f" and {len(new) - len(shown)} more" if len(shown) < len(new) else ""
    named = f" Named: {' '.join(name for name in new if name in shown)}{more}" if shown else ""
    lines = text.count("\n") + 1
    left = "\n".join([f"[{lines} lines of this output are left out.{named}]", *kept])
    return left if len(left) < len(text) else text


def _find_failures(text: str) -> Iterator[str]:
    """Yield the first lines about failures, and the last line, which often shows how a command ended."""
    lines = [line for line in text.split("\n") if line.strip()]
    found = [line for line in lines[:-1] if FAILURE.search(line[:_LINE_MAX])]
    for line in [*found[: LINES_KEPT - 1], *lines[-1:]]:
        yield line.strip()[:_LINE_MAX]
