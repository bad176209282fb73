"""Alternative readings of a text: without invisible characters, escapes, colours, line wraps and encodings.

A key with a zero-width space, in full-width letters, percent-escaped or broken by a line wrap matches no rule as it is,
but becomes a key again when a label is normalised (NFKC), a page is rendered or terminal output is joined. Each *view*
undoes one family of such changes and maps every position back to the original, so that the rules for plain text can be
applied to it.

Every pattern is bounded: a view takes time and memory in proportion to the text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator
from functools import lru_cache, partial
from itertools import accumulate
from typing import Final
from urllib.parse import unquote_to_bytes

from tokenmizer_mw.safety.redact.disguise import (
    ENCODED,
    ENCODED_MAX,
    GLUE,
    NAME_MAX,
    NAMED,
    TAG,
    Span,
    decoded_text,
)
from tokenmizer_mw.safety.redact.findings import ALNUM
from tokenmizer_mw.safety.redact.key_breaks import (
    KEY_CHARS,
    RUN_MAX,
    Break,
    find_joined_blanks,
    find_line_breaks,
    goes_on,
    select_joined,
    select_likely,
    select_possible,
)

_RANGES: Final = (
    (0x80, 0x9F), (0xAA, 0xAA), (0xAD, 0xAD), (0xB2, 0xB3), (0xB9, 0xBA), (0xBC, 0xBE), (0x132, 0x133),
    (0x13F, 0x140), (0x149, 0x149), (0x17F, 0x17F), (0x1C4, 0x1CC), (0x1F1, 0x1F3), (0x2B0, 0x2FF), (0x34F, 0x34F),
    (0x600, 0x605), (0x61C, 0x61C), (0x6DD, 0x6DD), (0x70F, 0x70F), (0x890, 0x891), (0x8E2, 0x8E2),
    (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x1D2C, 0x1DBF), (0x1E9A, 0x1E9A), (0x200B, 0x200F),
    (0x2024, 0x2025), (0x202A, 0x202E), (0x2060, 0x209F), (0x20A8, 0x20A8), (0x2100, 0x218F), (0x2460, 0x24FF),
    (0x2800, 0x2800), (0x2A74, 0x2A76), (0x2C7C, 0x2C7D), (0x3164, 0x3164), (0x3250, 0x33FF), (0xA7F2, 0xA7F4),
    (0xFB00, 0xFB06), (0xFB29, 0xFB29), (0xFE00, 0xFE0F), (0xFE13, 0xFE13), (0xFE19, 0xFE19), (0xFE30, 0xFE6F),
    (0xFEFF, 0xFEFF), (0xFF01, 0xFF0B), (0xFF0D, 0xFF19), (0xFF1B, 0xFF5E), (0xFFA0, 0xFFA0), (0xFFF9, 0xFFFB),
    (0x107A5, 0x107A5), (0x110BD, 0x110BD), (0x110CD, 0x110CD), (0x13430, 0x1343F), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0x1D400, 0x1D7FF), (0x1F100, 0x1F1AF), (0x1FBF0, 0x1FBF9), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Characters beyond ASCII that vanish in a label, or become ASCII letters, digits or signs that keys are made of. The
full-width colon and comma and the ellipsis are left out, because ordinary text is full of them."""

_ODD: Final = "".join(f"{chr(first)}-{chr(last)}" for first, last in _RANGES)
_ESC: Final = r"(?:\x1b|\\(?:033|e|x1[bB]|u001[bB]))"
_UNDONE: Final = re.compile(
    rf"[^\n\x08]\x08|(?:\x9b|{_ESC}\[)[0-9;:?<=>]{{0,24}}[A-Za-z]"
    rf"|{_ESC}(?:[()][0-9A-Z]|\][^\x07\x1b]{{0,200}}(?:\x07|{_ESC}\\))"
    r"|%(?:25){0,3}[CEcedDF][0-9A-Fa-f](?:%(?:25){0,3}[89ABab][0-9A-Fa-f]){1,3}|%(?:25){0,3}[0-9A-Fa-f]{2}"
    rf"|&(?:amp;){{0,3}}(?:\#[0-9]{{1,9}};?|\#[xX][0-9A-Fa-f]{{1,8}};?|(?:{NAMED});)"
    r"|\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,8}\}|U[0-9A-Fa-f]{8}|[01][0-7]{2}|[-_.+=/~])"
    rf"""|["']{GLUE}["']|`{{1,4}}|\*\*"""
    rf"|{TAG}"
    rf"|[\x01-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f{_ODD}]+"
)
_ESCAPES: Final = re.compile(rf"{_ESC}[\[\]()]|\x9b|.\x08")
_BREAKING: Final = frozenset("\"'`*<")
"""First characters of what may separate a key from a word instead of hiding a part of it."""

_GOES_ON: Final = ALNUM | frozenset(b"_-")
_GLUED: Final = frozenset("+.&|\n")
"""Characters between two string literals that show that they are one string."""

_AROUND: Final = 64
_CACHED_MAX: Final = 2
"""Largest number of characters of a cached text: too few to be a secret."""

_CODES: Final = 0x110000
_ESCAPE_LEAST: Final = 4
"""Number of characters of the shortest escape that names a character by its number."""

Piece = tuple[str, str | None]
"""A part of the original text, and the text that a view has instead; ``None`` if it is the same."""


class View:
    """A part of a text in which one kind of disguise is undone, so that a scan finds secrets that are written with, for
    example, escape sequences or line breaks in them.

    - ``pieces``: the part, cut into pieces, each with its replacement (``None``: it stays).
    - ``whole``: whether, behind a break that was removed, a run of characters belongs to a key either as a whole or not
      at all.
    - ``text``: the result, in UTF-8. ``offset``: where the part begins, in bytes of the whole text; set by the caller.
    """

    __slots__ = ("_origins", "_pieces", "_starts", "_whole", "offset", "text")

    def __init__(self, pieces: list[Piece], *, whole: bool = False) -> None:
        self.text = _encode("".join([old if new is None else new for old, new in pieces]))
        self.offset = 0
        self._whole = whole
        self._pieces = pieces
        self._starts: list[int] = []
        self._origins: list[int] = []

    def origin(self, start: int, end: int, before: int = 0) -> tuple[int, int] | None:
        """Return the start and end, in bytes of the original text, of what bytes ``[start, end)`` of this view stand
        for.

        Returns ``None`` if no disguise was undone in these bytes or in the ``before`` bytes before them, because a scan
        of the original text then finds the same.
        """
        self._measure()
        first, last = self._index(start), self._index(end - 1)
        nearest = self._index(max(0, start - before))
        if all(new is None for _, new in self._pieces[nearest : last + 1]):
            return None
        return self.offset + self._place(first, start), self.offset + self._place(last, end - 1, behind=True)

    def whole_end(self, start: int, end: int) -> int:
        """Return where the secret in bytes ``[start, end)`` of this view ends: normally ``end``. It ends earlier,
        before the last removed break, if the view is ``whole`` and the run of key characters goes on behind ``end``:
        that run is then no rest of the key."""
        if not self._whole or end >= len(self.text) or self.text[end] not in _GOES_ON:
            return end
        self._measure()
        index = self._index(end - 1)
        while index and self._pieces[index][1] is None:
            index -= 1
        return self._starts[index] if self._starts[index] > start else end

    def _measure(self) -> None:
        """Compute the positions of each piece in the view and in the original, in bytes; few views need them."""
        if not self._starts:
            self._starts = [0, *accumulate(len(_encode(old if new is None else new)) for old, new in self._pieces)]
            self._origins = [0, *accumulate(len(_encode(old)) for old, _ in self._pieces)]

    def _index(self, place: int) -> int:
        return bisect_right(self._starts, place) - 1

    def _place(self, index: int, place: int, *, behind: bool = False) -> int:
        if self._pieces[index][1] is not None:
            return self._origins[index + behind]
        return self._origins[index] + place - self._starts[index] + behind


def views(raw: bytes, windows: Iterable[Span]) -> Iterator[View]:
    """Yield the alternative readings of each window (a span in bytes) of ``raw``: with disguises undone; with lines
    joined where a key surely, probably or possibly goes on; with encoded runs decoded. A reading that would be the same
    as another or as the text is left out."""
    for start, end in windows:
        window = raw[start:end]
        text = window.decode("utf-8", "surrogatepass")
        breaks = find_line_breaks(text)
        joined, likely, possible = select_joined(text, breaks), select_likely(breaks), select_possible(breaks)
        made = (
            _rewrite_view(text, _UNDONE, _undo_disguise),
            _join_breaks(text, joined, whole=True) if joined != likely else None,
            _join_breaks(text, likely),
            _join_breaks(text, possible) if possible != likely else None,
            _decode_runs(window),
        )
        yield from _set_offset(made, start)


def join_views(raw: bytes, windows: Iterable[Span], found: list[Span]) -> Iterator[View]:
    """Yield readings of the windows of ``raw`` in which a secret that was found already is joined with the rest of it.
    ``found``: the spans of those secrets, in bytes and in order; a window without one gives no reading."""
    starts = [start for start, _ in found]
    for start, end in windows:
        near = starts[bisect_left(starts, start) : bisect_left(starts, end)]
        if not near:
            continue
        text = raw[start:end].decode("utf-8", "surrogatepass")
        heads = frozenset(_characters(raw, start, near))
        breaks = select_joined(text, find_line_breaks(text), heads), find_joined_blanks(text, heads)
        yield from _set_offset((_rewrite_view(text, _UNDONE, partial(_undo_inside, heads)),), start)
        for joined in breaks:
            for first, last, chain in _group_breaks(text, joined):
                moved = [found.shift(-first) for found in chain]
                offset = start + len(_encode(text[:first]))
                yield from _set_offset((_join_breaks(text[first:last], moved, whole=True),), offset)


def _group_breaks(text: str, breaks: list[Break]) -> Iterator[tuple[int, int, list[Break]]]:
    """Yield the breaks in groups, each with the start and end of the part of ``text`` that contains its key and the
    key's name."""
    chain: list[Break] = []
    for found in breaks:
        if chain and found.start - len(found.before) > chain[-1].end + _AROUND:
            yield (*_find_part(text, chain), chain)
            chain = []
        chain.append(found)
    if chain:
        yield (*_find_part(text, chain), chain)


def _find_part(text: str, chain: list[Break]) -> tuple[int, int]:
    """Return the start and end of the part of ``text`` around some breaks, from one white space to another."""
    first = max(0, chain[0].start - len(chain[0].before) - NAME_MAX)
    least = max(0, first - RUN_MAX)
    first = max(text.rfind(" ", least, first) + 1, text.rfind("\n", least, first) + 1, least)
    last = min(len(text), chain[-1].end + len(chain[-1].behind) + _AROUND)
    most = min(len(text), last + RUN_MAX)
    ends = [place for place in (text.find(" ", last, most), text.find("\n", last, most)) if place >= 0]
    return first, min(ends, default=most)


def _characters(raw: bytes, start: int, places: list[int]) -> Iterator[int]:
    """Yield for each position in ``places`` (bytes, in order) the number of characters between ``start`` and it."""
    count = 0
    for place in places:
        count += len(raw[start:place].decode("utf-8", "surrogatepass"))
        yield count
        start = place


def _set_offset(views: Iterable[View | None], offset: int) -> Iterator[View]:
    for view in views:
        if view is not None:
            view.offset = offset
            yield view


def _rewrite_view(
    text: str, pattern: re.Pattern[str], rewrite: Callable[[str, re.Match[str]], str | None]
) -> View | None:
    pieces: list[Piece] = []
    done = 0
    for match in pattern.finditer(text):
        new = rewrite(text, match)
        if new is not None:
            start, end = match.span()
            pieces += ((text[done:start], None), (text[start:end], new))
            done = end
    return View([*pieces, (text[done:], None)]) if pieces else None


def _join_breaks(text: str, breaks: list[Break], *, whole: bool = False) -> View | None:
    """Return a view of ``text`` without these breaks; ``None`` if there are none."""
    pieces: list[Piece] = []
    done = 0
    for found in breaks:
        pieces += ((text[done : found.start], None), (text[found.start : found.end], ""))
        done = found.end
    return View([*pieces, (text[done:], None)], whole=whole) if pieces else None


def _undo_inside(heads: Container[int], text: str, match: re.Match[str]) -> str | None:
    """Do what ``_undo_disguise`` does, but return ``None`` for what separates a key from something else."""
    found = match[0]
    if found[0] not in _BREAKING or _ESCAPES.match(found):
        return _undo_disguise(text, match)
    explicit = found[0] in "\"'" and not _GLUED.isdisjoint(found)
    goes = match.end() not in heads and goes_on(text, Break.at(text, *match.span()), explicit=explicit)
    return _undo_disguise(text, match) if goes else None


def _undo_disguise(text: str, match: re.Match[str]) -> str | None:
    """Return what a reader sees in place of ``match``; ``None`` if that is no disguise."""
    found = match[0]
    if _ESCAPES.match(found):
        return ""
    match found[0]:
        case "%":
            return _unescape(_decode_percent(found))
        case "&":
            return _unescape(html.unescape("&" + found[1:].replace("amp;", "")))
        case "\\":
            return _unescape(_literal(found))
        case '"' | "'" | "`" | "*":
            joins = found[-1] == found[0] and len(found) > (found[0] in "\"'")
            return "" if joins and _is_in_key(text, match.start() - 1, match.end()) else None
        case "<":
            return "" if not found.startswith("<br") or select_likely([Break.at(text, *match.span())]) else None
    return _visible_text(found) if len(found) > _CACHED_MAX else _shown_cached(found)


def _visible_text(found: str) -> str:
    """Return what is visible of characters that vanish or stand for others."""
    normal = unicodedata.normalize("NFKC", found)
    return "".join(char for char in normal if char.isprintable() and not _is_blank(char))


@lru_cache(maxsize=1_024)
def _shown_cached(found: str) -> str:
    return _visible_text(found)


def _decode_runs(raw: bytes) -> View | None:
    """Return a view that consists of the texts in hexadecimal or base64 runs, each on a line of its own; ``None`` if
    there are none."""
    pieces: list[Piece] = []
    done = 0
    for match in ENCODED.finditer(raw):
        start, end = match.span()
        plain = decoded_text(match.group()) if end - start <= ENCODED_MAX else b""
        if plain:
            run = raw[start:end].decode()
            pieces += ((raw[done:start].decode("utf-8", "surrogatepass"), ""), (run, "\n" + plain.decode()))
            done = end
    return View(pieces) if pieces else None


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decode_percent(found: str) -> str:
    """Return the character that percent escapes stand for, even if they are escaped themselves; "" if it is not one
    valid character."""
    while "%25" in found and found != "%25":
        found = found.replace("%25", "%")
    return unquote_to_bytes(found).decode("utf-8", "ignore")


def _literal(found: str) -> str:
    """Return the character that an escape in a string literal stands for; "" if there is no such character."""
    if found[1] not in "xuU01" or len(found) < _ESCAPE_LEAST:
        return found[1]
    digits, base = (found[1:], 8) if found[1] in "01" else (found[2:].strip("{}"), 16)
    code = int(digits, base)
    return chr(code) if code < _CODES else ""


def _unescape(value: str) -> str | None:
    """Return one character as it is seen, "" if it is invisible; ``None`` if it cannot be a part of a key."""
    if len(value) != 1:
        return None
    if value.isascii():
        return value if "\x20" < value < "\x7f" else None
    shown = _shown_cached(value)
    return shown if shown.isascii() else None


def _is_in_key(text: str, before: int, behind: int) -> bool:
    return before >= 0 and behind < len(text) and text[before] in KEY_CHARS and text[behind] in KEY_CHARS


def _is_blank(char: str) -> bool:
    return (
        char in "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u180b\u180c\u180d\u180f"
        or "\ufe00" <= char <= "\ufe0f"
    )
