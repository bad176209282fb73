"""Alternative readings of a text: without invisible characters, escapes, colours, line wraps and encodings.

A key with a zero-width space, in full-width letters, percent-escaped or broken by a line wrap does not match as it is,
and becomes a key again when a label is normalised (NFKC), a page is rendered or terminal output is joined. Each *view*
undoes one family of such changes and maps every position back, so that the rules for plain text apply to it.

Every pattern is bounded: a view takes time and memory in proportion to the text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import accumulate
from typing import Final
from urllib.parse import unquote_to_bytes

from tokenmizer_mw.safety.redact.disguise import (
    ENCODED,
    ENCODED_MAX,
    GLUE,
    NAMED,
    TAG,
    WRAPPED_MIN,
    decoded_text,
    find_disguised,
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
"""Characters beyond ASCII that vanish in a label, or become ASCII letters, digits or signs that keys are made of. Left
out are the full-width colon and comma and the ellipsis, which ordinary text is full of."""

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
_WRAP: Final = re.compile(r"[ \t]{0,4}[\\=]?\r?\n[ \t>|#]{0,12}")
_KEY: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=.~")
_CACHED_MAX: Final = 2
"""Characters of what is remembered: too few to be a secret."""

_CODES: Final = 0x110000
_ESCAPE_LEAST: Final = 4
"""Characters of the shortest escape that spells a character by its number."""

_AROUND: Final = 64
_TOKEN_MAX: Final = 2_048
"""A window around what is in disguise: so many bytes, and on to the next white space, this far at most."""
_SPACE: Final = re.compile(rb"\s")


Piece = tuple[str, str | None]
"""What stands in a text, and what is read in its place; ``None`` when it is read as it stands."""


class View:
    """A part of a text, from byte ``offset`` on, in which one kind of disguise is undone, so that a scan finds secrets
    that are written with, for example, escape sequences or line breaks in them. ``text``: the result, in UTF-8."""

    __slots__ = ("_origins", "_pieces", "_starts", "offset", "text")

    def __init__(self, pieces: list[Piece]) -> None:
        self.text = _encode("".join([old if new is None else new for old, new in pieces]))
        self.offset = 0
        self._pieces = pieces
        self._starts: list[int] = []
        self._origins: list[int] = []

    def origin(self, start: int, end: int, before: int = 0) -> tuple[int, int] | None:
        """Return the start and end, in bytes of the original text, of what bytes ``[start, end)`` of this view stand
        for.

        Returns ``None`` if no disguise was undone in these bytes or in the ``before`` bytes before them: then a scan of
        the original text finds the same.
        """
        self._measure()
        first, last = self._index(start), self._index(end - 1)
        nearest = self._index(max(0, start - before))
        if all(new is None for _, new in self._pieces[nearest : last + 1]):
            return None
        return self.offset + self._place(first, start), self.offset + self._place(last, end - 1, behind=True)

    def _measure(self) -> None:
        """Where each piece stands in the view and in the original, in bytes; few views are asked for it."""
        if not self._starts:
            self._starts = [0, *accumulate(len(_encode(old if new is None else new)) for old, new in self._pieces)]
            self._origins = [0, *accumulate(len(_encode(old)) for old, _ in self._pieces)]

    def _index(self, place: int) -> int:
        return bisect_right(self._starts, place) - 1

    def _place(self, index: int, place: int, *, behind: bool = False) -> int:
        if self._pieces[index][1] is not None:
            return self._origins[index + behind]
        return self._origins[index] + place - self._starts[index] + behind


def views(raw: bytes) -> Iterator[View]:
    """Return the alternative readings of ``raw`` (UTF-8, lone surrogates allowed), for disguised positions and their
    surroundings."""
    for start, end in _windows(raw):
        window = raw[start:end]
        text = window.decode("utf-8", "surrogatepass")
        for view in (_rewritten(text, _UNDONE, _undone), _rewritten(text, _WRAP, _unwrap_line), _decode_runs(window)):
            if view is not None:
                view.offset = start
                yield view


def _windows(raw: bytes) -> list[tuple[int, int]]:
    windows: list[tuple[int, int]] = []
    for first, last in sorted(find_disguised(raw)):
        if windows and last <= windows[-1][1]:
            continue
        start, end = _left_border(raw, first - _AROUND), _right(raw, last + _AROUND)
        if windows and start <= windows[-1][1]:
            windows[-1] = windows[-1][0], max(end, windows[-1][1])
        else:
            windows.append((start, end))
    return windows


def _left_border(raw: bytes, place: int) -> int:
    """Behind the last white space before ``place``, or where a character begins."""
    least = max(0, place - _TOKEN_MAX)
    space = max(raw.rfind(char, least, max(place, 0)) for char in (b" ", b"\n", b"\t"))
    place = space + 1 if space >= 0 else least
    while 0 < place < len(raw) and 0x80 <= raw[place] < 0xC0:
        place -= 1
    return place


def _right(raw: bytes, place: int) -> int:
    """The first white space from ``place`` on, or where a character ends."""
    most = min(len(raw), place + _TOKEN_MAX)
    space = _SPACE.search(raw, min(place, most), most)
    place = space.start() if space else most
    while place < len(raw) and 0x80 <= raw[place] < 0xC0:
        place += 1
    return place


def _rewritten(text: str, pattern: re.Pattern[str], rewrite: Callable[[str, re.Match[str]], str | None]) -> View | None:
    pieces: list[Piece] = []
    done = 0
    for match in pattern.finditer(text):
        new = rewrite(text, match)
        if new is not None:
            start, end = match.span()
            pieces += ((text[done:start], None), (text[start:end], new))
            done = end
    return View([*pieces, (text[done:], None)]) if pieces else None


def _undone(text: str, match: re.Match[str]) -> str | None:
    """What a reader sees in the place of ``match``; ``None`` where it is what it looks like."""
    found = match[0]
    if _ESCAPES.match(found):
        return ""
    match found[0]:
        case "%":
            return _unescape(_percent_decoded(found))
        case "&":
            return _unescape(html.unescape("&" + found[1:].replace("amp;", "")))
        case "\\":
            return _unescape(_literal(found))
        case '"' | "'" | "`" | "*":
            joins = found[-1] == found[0] and len(found) > (found[0] in "\"'")
            return "" if joins and _in_key(text, match.start() - 1, match.end()) else None
        case "<":
            return ""
    return _visible_text(found) if len(found) > _CACHED_MAX else _shown_cached(found)


def _visible_text(found: str) -> str:
    """What is seen of characters that vanish, or stand for others."""
    normal = unicodedata.normalize("NFKC", found)
    return "".join(char for char in normal if char.isprintable() and not _is_blank(char))


@lru_cache(maxsize=1_024)
def _shown_cached(found: str) -> str:
    return _visible_text(found)


def _unwrap_line(text: str, match: re.Match[str]) -> str | None:
    """Nothing, where a key may go on in the next line; ``None`` elsewhere."""
    before = text[max(0, match.start() - WRAPPED_MIN) : match.start()]
    behind = text[match.end() : match.end() + WRAPPED_MIN]
    if not (_KEY.issuperset(before[-2:]) and _KEY.issuperset(behind[:2]) and len(before) > 1 and len(behind) > 1):
        return None
    return "" if _is_long(before) or _is_long(behind) else None


def _is_long(side: str) -> bool:
    return len(side) == WRAPPED_MIN and _KEY.issuperset(side)


def _decode_runs(raw: bytes) -> View | None:
    """Runs of hexadecimal digits or of base 64 that hold text, each on a line of its own."""
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


def _percent_decoded(found: str) -> str:
    """What percent escapes of one character stand for, which may be escaped themselves; "" for no character."""
    while "%25" in found and found != "%25":
        found = found.replace("%25", "%")
    return unquote_to_bytes(found).decode("utf-8", "ignore")


def _literal(found: str) -> str:
    """What an escape in a string stands for, a terminal's nothing; "" for no character."""
    if found[1] not in "xuU01" or len(found) < _ESCAPE_LEAST:
        return found[1]
    digits, base = (found[1:], 8) if found[1] in "01" else (found[2:].strip("{}"), 16)
    code = int(digits, base)
    return chr(code) if code < _CODES else ""


def _unescape(value: str) -> str | None:
    """One character as it is seen, nothing for one that is not; ``None`` where that is no part of a key."""
    if len(value) != 1:
        return None
    if value.isascii():
        return value if "\x20" < value < "\x7f" else None
    shown = _shown_cached(value)
    return shown if shown.isascii() else None


def _in_key(text: str, before: int, behind: int) -> bool:
    return before >= 0 and behind < len(text) and text[before] in _KEY and text[behind] in _KEY


def _is_blank(char: str) -> bool:
    return (
        char in "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u180b\u180c\u180d\u180f"
        or "\ufe00" <= char <= "\ufe0f"
    )
