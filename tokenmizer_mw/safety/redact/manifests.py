"""Reader of Kubernetes Secrets: finds the values under ``data`` and ``stringData`` of a manifest in YAML or JSON.

In YAML, the values of ``data`` end at the first line that is not indented deeper than ``data`` itself; comments, blank
lines and template lines ("{{ ... }}") do not end them. Every value is one secret, in one or in several lines. A
manifest may stand in a JSON string, where line breaks and quotes are escaped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

from tokenmizer_mw.safety.redact.findings import FindingRank, PlaceReading, SecretSpan
from tokenmizer_mw.safety.redact.judge import is_placeholder
from tokenmizer_mw.safety.redact.pattern import compile_pattern

KIND: Final = r"kind\\*\"?:[ \t]*(?:\\*\")?Secret(?:\\*\"|\s|\\+n|,|$)"
"""RE2 for the line of a manifest that says that it is a Secret."""

MANIFEST_MAX: Final = 65536
"""Bytes of a Kubernetes manifest that are read on each side of its ``kind: Secret``."""

VALUE_MIN: Final = 4
"""Fewest bytes of a value that is redacted."""

BRACES_MAX: Final = 256
"""Most braces on each side of ``kind: Secret`` that are examined to find the JSON object around it."""

_NAMES: Final = r"(?:data|stringData|string_data)"
_DATA: Final = compile_pattern(
    rf"(?:^|[\n{{,\"']|\\n)([ \t]*(?:-[ \t]+)?)\\*[\"']?{_NAMES}\\*[\"']?[ \t]*:[ \t]*"
    r"(?:(\{)|(?:#[^\n\\]*)?(?:\\+r|\r)?(?:\n|\\+n))"
)
_KEY: Final = compile_pattern(r"\\*[\"']?[A-Za-z0-9_.-]{1,120}\\*[\"']?[ \t]*:[ \t]*(?:[!&][^\s\\]*[ \t]+)*")
_FLOW_KEY: Final = compile_pattern(
    r"(?:\s|,|\\+[nrt]|#[^\n\\]*)*\\*[\"']?[A-Za-z0-9_.-]{1,120}\\*[\"']?(?:\s|\\+[nrt])*:(?:\s|\\+[nrt])*"
)
_FLOW_PLAIN: Final = compile_pattern(r"[^,}\n\\\"]*")
_HEADER: Final = compile_pattern(r"[|>][-+0-9]{0,3}[ \t]*(?:#[^\n]*)?$")
_QUOTE: Final = compile_pattern(r"\\*[\"']")
_REMARK: Final = compile_pattern(r"[ \t]#")
_ITEM: Final = compile_pattern(r"-[ \t]+")
_BREAK: Final = compile_pattern(r"[^\n\\]*(\n|\\+r?\\*n)")
_END: Final = (b"---", b"...", b"```", b"~~~")
_SKIPPED: Final = (b"#", b"{{")


class _Line(NamedTuple):
    """Positions of a line: ``start`` of the line, ``first`` and ``end`` of its text without indent, and ``next``, the
    start of the next line, -1 if the JSON string ends with this line."""

    start: int
    first: int
    end: int
    next: int


class _Layout(NamedTuple):
    """How lines end in a manifest. ``mark``: a line break; if the manifest is in a JSON string, "n" with its
    backslashes."""

    mark: bytes

    def line(self, text: bytes, start: int, last: int) -> _Line:
        """Return the line that begins at ``start`` and ends before ``last``."""
        stop = text.find(self.mark, start, last)
        end = last if stop < 0 else stop
        after = last if stop < 0 else stop + len(self.mark)
        closing = self._string_end(text, start, end)
        bare = text[start : closing if closing >= 0 else end]
        if len(self.mark) > 1:
            bare = bare.removesuffix(self.mark[:-1] + b"r")
        bare = bare.rstrip()
        first = start + len(bare) - len(bare.lstrip(b" \t"))
        return _Line(start, first, start + len(bare), after if closing < 0 else -1)

    def lines(self, text: bytes, start: int, last: int) -> Iterator[_Line]:
        """Yield the lines from ``start`` on, up to ``last``."""
        while 0 <= start < last:
            line = self.line(text, start, last)
            yield line
            start = line.next

    def line_start(self, text: bytes, place: int, before: int) -> int:
        """Return the start of the line around ``place``, at least ``before``."""
        stop = text.rfind(self.mark, before, place)
        start = before if stop < 0 else stop + len(self.mark)
        while (quote := text.rfind(b'"', start, place)) >= 0 and not self._ends_string(text, quote):
            place = quote
        return max(start, quote + 1)

    def _string_end(self, text: bytes, start: int, end: int) -> int:
        """The end of the JSON string that contains the line; -1 if it does not end in this line."""
        quote = start - 1
        while len(self.mark) > 1 and (quote := text.find(b'"', quote + 1, end)) >= 0:
            if self._ends_string(text, quote):
                return quote - len(self.mark) + 2
        return -1

    def _ends_string(self, text: bytes, quote: int) -> bool:
        """Whether a quote ends the JSON string whose line breaks are ``mark``: it has fewer backslashes before it."""
        slashes = len(self.mark) - 1
        return slashes > 0 and text[max(0, quote - slashes) : quote] != b"\\" * slashes


def read_manifest(text: bytes, start: int) -> PlaceReading:
    """Find the values of a Kubernetes Secret under ``data`` and ``stringData``, each as one secret. ``start``: position
    of ``kind: Secret``.

    Reads the manifest on both sides of ``start``, up to ``MANIFEST_MAX`` bytes each. Values of fewer than ``VALUE_MIN``
    bytes, placeholders and references ("$NAME", "{{ ... }}") are skipped.
    """
    layout = _layout(text, start)
    first, last = _object(text, start) or _mapping(text, start, layout) or _document(text, start, layout)
    found: list[SecretSpan] = []
    place = max(0, first - len(layout.mark))
    while (block := _DATA.search(text, place, last)) is not None:
        place = block.end()
        if block.start(2) >= 0:
            spans = list(_flow_values(text, place, last))
        else:
            spans = list(_block_values(text, place, last, len(block.group(1)), layout))
        found += [secret for span in spans for secret in judge_value(text, *span)]
        place = max([place, *(end for _, end in spans)])
    return PlaceReading(max(last, start + 4), tuple(found))


def _layout(text: bytes, start: int) -> _Layout:
    """Return how lines end around ``start``: as before it, else as behind it."""
    before = text[max(0, start - 512) : start].rstrip(b" \t-")
    if before.endswith(b"\n"):
        return _Layout(b"\n")
    if before.endswith(b"\\n"):
        return _Layout(before[len(before[:-1].rstrip(b"\\")) :])
    behind = _BREAK.match(text, start, min(len(text), start + 512))
    mark = behind.group(1) if behind is not None else b"\n"
    return _Layout(b"\n" if mark == b"\n" else b"\\" * (len(mark) - len(mark.lstrip(b"\\"))) + b"n")


def _document(text: bytes, start: int, layout: _Layout) -> tuple[int, int]:
    """Return start and end of the YAML document around ``start``. It is used if the indents do not show what belongs to
    the manifest."""
    before, behind, mark = max(0, start - MANIFEST_MAX), min(len(text), start + MANIFEST_MAX), layout.mark
    first = max(text.rfind(mark + b"---", before, start), text.rfind(mark + b"kind: ", before, start), before)
    last = text.find(mark + b"---", start, behind)
    return first, last if last >= 0 else behind


def _object(text: bytes, start: int) -> tuple[int, int] | None:
    """Return start and end of the JSON object whose member ``kind`` is at ``start``; ``None`` if no such object can be
    parsed."""
    if text[start - 1 : start] != b'"':
        return None
    first = _brace(text, start, -1)
    last = _brace(text, start, 1)
    if first < 0 or last < 0:
        return None
    try:
        whole = json.loads(text[first : last + 1], strict=False)
    except (ValueError, RecursionError):
        return None
    return (first, last + 1) if whole.get("kind") == "Secret" else None


def _brace(text: bytes, place: int, step: int) -> int:
    """Return the position of the brace that encloses ``place``, before it (``step`` -1) or behind it (1); -1 if there
    is none. Braces in strings are not told from others."""
    inner, outer = (b"}", b"{") if step < 0 else (b"{", b"}")
    bound = max(0, place - MANIFEST_MAX) if step < 0 else min(len(text), place + MANIFEST_MAX)

    def find(brace: bytes, at: int) -> int:
        found = text.rfind(brace, bound, at) if step < 0 else text.find(brace, at, bound)
        return found if found >= 0 else bound + step

    depth, at, next_inner = 0, place, find(inner, place)
    for _ in range(BRACES_MAX):
        next_outer = find(outer, at)
        if next_outer == bound + step:
            return -1
        while depth <= BRACES_MAX and (next_outer - next_inner) * step > 0:
            depth, next_inner = depth + 1, find(inner, next_inner + max(0, step))
        if not depth:
            return next_outer
        depth, at = depth - 1, next_outer + max(0, step)
    return -1


def _mapping(text: bytes, start: int, layout: _Layout) -> tuple[int, int] | None:
    """Return start and end of the YAML mapping whose key is at ``start``; ``None`` if no line begins there."""
    before, behind = max(0, start - MANIFEST_MAX), min(len(text), start + MANIFEST_MAX)
    head = layout.line_start(text, start, before)
    front = text[head:start]
    if front.lstrip(b" \t-"):
        return None
    if not front and layout.mark == b"\n":
        return _top_mapping(text, start, before, behind)
    column, first = len(front), head
    while b"-" not in front and first > before and text[first - len(layout.mark) : first] == layout.mark:
        line = layout.line(text, layout.line_start(text, first - len(layout.mark), before), first)
        if _ends_mapping(text, line, column):
            if _item_column(text, line) == column:
                first = line.start
            break
        first = line.start
    last = start
    for line in layout.lines(text, start, behind):
        if line.start > start and _ends_mapping(text, line, column):
            break
        last = line.next if line.next >= 0 else line.end
    return first, last


def _top_mapping(text: bytes, start: int, before: int, behind: int) -> tuple[int, int]:
    """Return start and end of the YAML document around ``start``: up to a marker of its end or another ``kind``."""
    first, last = before, behind
    for mark in (b"\nkind:", *(b"\n" + end for end in _END)):
        first = max(first, text.rfind(mark, first, start - 1))
        stop = text.find(mark, start, last)
        last = stop if stop >= 0 else last
    return first, last


def _ends_mapping(text: bytes, line: _Line, column: int) -> bool:
    """Whether a line does not belong to a mapping whose keys stand in ``column``."""
    if line.first == line.end or text.startswith(_SKIPPED, line.first, line.end):
        return False
    if line.first - line.start < column or text.startswith(_END, line.first, line.end):
        return True
    return line.first - line.start == column and text.startswith(b"kind:", line.first, line.end)


def _item_column(text: bytes, line: _Line) -> int:
    """The column of the first key of a list item; -1 if the line begins no item."""
    return _ITEM.reach(text, line.first, line.end) - line.start if text[line.first : line.first + 1] == b"-" else -1


def _block_values(text: bytes, place: int, last: int, depth: int, layout: _Layout) -> Iterator[tuple[int, int]]:
    """Yield the spans of the values in a block of YAML whose name is indented by ``depth``."""
    value: tuple[int, int] | None = None
    indent, literal = last, False
    for line in layout.lines(text, place, last):
        if line.first == line.end:
            continue
        deep, skipped = line.first - line.start, text.startswith(_SKIPPED, line.first, line.end)
        if deep <= depth and not skipped:
            break
        key = _KEY.match(text, line.first, line.end)
        if deep > indent and (literal or value is not None or key is None):
            value = (value[0] if value is not None else line.first, line.end)
        elif not skipped:
            if value is not None:
                yield _bare_value(text, *value, literal)
            indent, value, literal = last, None, False
            if key is not None:
                indent, literal = deep, _HEADER.match(text[key.end() : line.end]) is not None
                empty = literal or key.end() == line.end or text[key.end()] == 0x23
                value = None if empty else (key.end(), line.end)
    if value is not None:
        yield _bare_value(text, *value, literal)


def _bare_value(text: bytes, start: int, end: int, literal: bool) -> tuple[int, int]:
    """The span of a value without quotes and without a comment behind it."""
    if literal:
        return start, end
    if (quote := _QUOTE.match(text, start, end)) is not None:
        closing = _closing(text, quote.end(), end, quote.group())
        return quote.end(), closing if closing >= 0 else end
    remark = _REMARK.first(text, start, end)
    end = remark if remark >= 0 else end
    return start, start + len(text[start:end].rstrip(b" \t,"))


def _closing(text: bytes, start: int, end: int, quote: bytes) -> int:
    """The end of the text of a string that ``quote``, with its backslashes, opened before ``start``; -1 if it is not
    closed."""
    mark, slashes = quote[-1:], len(quote) - 1
    place = start
    while (place := text.find(mark, place, end)) >= 0:
        before = 0
        while place - before > start and text[place - before - 1] == 0x5C:
            before += 1
        if mark == b"'" and text[place + 1 : place + 2] == mark:
            place += 2
        elif mark == b"'" or before % (2 * slashes + 2) == slashes:
            return place - slashes
        else:
            place += 1
    return -1


def _flow_values(text: bytes, place: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the values in a mapping in braces, from behind its opening brace on."""
    while (key := _FLOW_KEY.match(text, place, last)) is not None:
        place = key.end()
        if (quote := _QUOTE.match(text, place, last)) is not None:
            start, end = quote.end(), _closing(text, quote.end(), last, quote.group())
            if end < 0:
                return
            place = end + len(quote.group())
        else:
            start, end = place, _FLOW_PLAIN.reach(text, place, last)
            place, end = end, start + len(text[start:end].rstrip())
        yield start, end


def judge_value(text: bytes, start: int, end: int) -> list[SecretSpan]:
    """Return the value in ``[start, end)`` of ``text`` as the only element of a list; ``[]`` if it is too short, a
    placeholder, a reference such as "$NAME", or true, false or null."""
    value = text[start:end].decode("latin-1")
    if end - start < VALUE_MIN or value in ("true", "false", "null"):
        return []
    is_word, is_line = len(value.split(None, 1)) == 1, "\n" not in value
    if is_line and (value.startswith(("$", "{{")) or (value[0] == "<" and (is_word or value[-1] == ">"))):
        return []
    if is_word and (value.startswith("redacted:") or is_placeholder(value)):
        return []
    return [SecretSpan("kubernetes-secret", start, end, "a value of a Kubernetes Secret", FindingRank.PLACED)]
