"""Texts as others will read them: without invisible characters, escapes, colours, line wraps and encodings.

A key with a zero-width space in it, in full-width letters, percent-escaped or cut by a line wrap is no key as it
stands, and becomes one again when a label is normalised (NFKC), a page rendered or a terminal's output joined. Each
*view* of a text undoes one family of such changes and maps every place back, so that the rules that read the plain
text can read the view, too.

Every pattern is bounded: a view costs time and memory in proportion to the text.
"""

from __future__ import annotations

import binascii
import html
import re
import unicodedata
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from .pattern import compiled

_RANGES: Final = (
    (0x80, 0x9F), (0xAA, 0xAA), (0xAD, 0xAD), (0xB2, 0xB3), (0xB9, 0xBA), (0xBC, 0xBE), (0x132, 0x133),
    (0x13F, 0x140), (0x149, 0x149), (0x17F, 0x17F), (0x1C4, 0x1CC), (0x1F1, 0x1F3), (0x2B0, 0x2FF), (0x34F, 0x34F),
    (0x600, 0x605), (0x61C, 0x61C), (0x6DD, 0x6DD), (0x70F, 0x70F), (0x890, 0x891), (0x8E2, 0x8E2),
    (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x1D2C, 0x1DBF), (0x1E9A, 0x1E9A), (0x200B, 0x200F),
    (0x2024, 0x2025), (0x202A, 0x202E), (0x2060, 0x209F), (0x20A8, 0x20A8), (0x2100, 0x218F), (0x2460, 0x24FF),
    (0x2800, 0x2800), (0x2A74, 0x2A76), (0x2C7C, 0x2C7D), (0x3164, 0x3164), (0x3250, 0x33FF), (0xA7F2, 0xA7F4),
    (0xFB00, 0xFB06), (0xFB29, 0xFB29), (0xFE00, 0xFE0F), (0xFE13, 0xFE13), (0xFE19, 0xFE19), (0xFE30, 0xFE6F),
    (0xFEFF, 0xFEFF), (0xFF01, 0xFF0B), (0xFF0D, 0xFF19), (0xFF1B, 0xFF5E), (0xFFA0, 0xFFA0), (0xFFF9, 0xFFFB),
    (0x107A5, 0x107A5), (0x110BD, 0x110BD), (0x110CD, 0x110CD), (0x13430, 0x13438), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0x1D400, 0x1D7FF), (0x1F100, 0x1F1AF), (0x1FBF0, 0x1FBF9), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Characters beyond ASCII that vanish in a label, or become ASCII letters, digits or signs that keys are made of. Left
out are the full-width colon and comma and the ellipsis, which ordinary text is full of."""

_ODD: Final = "".join(f"{chr(first)}-{chr(last)}" for first, last in _RANGES)

_NAMED: Final = "lowbar|UnderBar|period|sol|plus|equals|commat|percnt|shy|zwj|zwnj|ZeroWidthSpace|NoBreak"
_GLUE: Final = r"[ \t]{0,8}(?:[+.&|]{1,2}[ \t]{0,8})?(?:\\{0,3}(?:\r?\n|\\n)[ \t]{0,80})?(?:[+.&|]{1,2}[ \t]{0,8})?"
"""What stands between two literals that are one string: an operator, a line's end."""

_UNDONE: Final = re.compile(
    r"\x1b(?:\[[0-9;?]{0,16}[A-Za-z]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\))"
    r"|%[0-9A-Fa-f]{2}"
    rf"|&(?:\#[0-9]{{1,7}}|\#[xX][0-9A-Fa-f]{{1,6}}|{_NAMED});"
    r"|\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[-_.+=/~])"
    rf"""|["']{_GLUE}["']"""
    r"|</?(?:wbr|b|i|em|strong|span|code)/?>"
    rf"|[\x01-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f{_ODD}]+"
)
_WRAP: Final = re.compile(r"[ \t]{0,4}[\\=]?\r?\n[ \t>|]{0,12}")
_ENCODED: Final = compiled(r"[0-9A-Za-z+/_-]{28,}={0,2}")
_ENCODED_MAX: Final = 2_048
"""Bytes of a run that is decoded: longer ones are files."""
_HEX: Final = re.compile(rb"[0-9A-Fa-f]+")
_KEY: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=.~")
_WRAPPED_MIN: Final = 10
"""Characters of keys on the longer side of a wrap inside of one; two on the other."""

_CHAR: Final = "[0-9A-Za-z_+/=.~-]"
_GONE: Final = (
    r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]|\x1b\[[0-9;?]{0,16}[A-Za-z]|\\u001b\[[0-9;?]{0,16}[A-Za-z]"
    r"|\\u(?i:00[01][0-9a-f]|00[7-9a][0-9a-f]|034f|061c|115f|1160|17b[45]|180[b-f]|200[b-f]|202[a-e]|206[0-9a-f]"
    r"|2800|3164|fe0[0-9a-f]|feff|ffa0|fff[9ab]|db40\\udc[0-9a-f]{2})"
    r"|\xc2[\x80-\x9f\xad]|\xcd\x8f|\xd8[\x80-\x85\x9c]|\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])"
    r"|\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf]|\xa0\x80)|\xe3\x85\xa4"
    r"|\xef(?:\xb8[\x80-\x8f]|\xbb\xbf|\xbe\xa0|\xbf[\xb9-\xbb])|\xf0\x93\x90[\xb0-\xbf]|\xf0\x9b\xb2[\xa0-\xa3]"
    r"|\xf0\x9d\x85[\xb3-\xba]|\xf3\xa0[\x80-\xbf][\x80-\xbf]|</?(?:wbr|b|i|em|strong|span|code)/?>"
)
_LETTERS: Final = (
    r"%(?i:2[bdef]|3[0-9d]|4[0-9a-f]|5[0-9af]|6[0-9a-f]|7[0-9ae])"
    rf"|&(?:#[0-9xX]|(?:{_NAMED});)|\\x[0-9A-Fa-f]{{2}}|{_CHAR}\\+[-_.+=/~]{_CHAR}"
    r"|\\u(?i:00[2-7][0-9a-f]|1d[2-9ab][0-9a-f]|20[2789][0-9a-f]|21[0-8][0-9a-f]|24[6-9a-f][0-9a-f]|32[5-9a-f][0-9a-f]"
    r"|33[0-9a-f]{2}|fb0[0-6]|fe[1-6][0-9a-f]|ff[0-5][0-9a-f]|d835)"
    r"|\xe1(?:\xb4[\xac-\xbf]|[\xb5\xb6][\x80-\xbf])"
    r"|\xe2(?:\x81[\xb0-\xbf]|\x82[\x80-\x9c]|[\x84\x85\x92\x93][\x80-\xbf]|\x91[\xa0-\xbf])|\xe3(?:\x89[\x90-\x9f]|\x8a[\xb1-\xbf]|[\x8b\x8d-\x8f][\x80-\xbf])"
    r"|\xef(?:\xac[\x80-\x86]|\xb9[\x92\x95\xa2\xa3\xa6\xaa\xab]|\xbc[\x85\x8b\x8d-\x99\x9d\xa0-\xba\xbf]"
    r"|\xbd[\x81-\x9a\x9e])|\xf0\x9d[\x90-\x9f][\x80-\xbf]|\xf0\x9f[\x84\x85][\x80-\xbf]|\xf0\x9f\xaf[\xb0-\xb9]"
)

_TRIGGER: Final = compiled(
    rf"(?:(?:{_GONE})+{_CHAR})+|(?:{_LETTERS})+"
    rf"""|{_CHAR}{{2}}\\{{0,3}}["']{_GLUE}\\{{0,3}}["']{_CHAR}{{2}}"""
    rf"|{_CHAR}{{10}}[ \t]{{0,4}}[\\=]{{0,2}}(?:\r?\n|(?:\\r)?\\n)[ \t>|]{{0,12}}{_CHAR}{{2}}"
    rf"|{_CHAR}{{2}}[ \t]{{0,4}}[\\=]{{0,2}}(?:\r?\n|(?:\\r)?\\n)[ \t>|]{{0,12}}{_CHAR}{{10}}"
)
"""What a text holds, as it stands or as a JSON string, where a view of it may say something else about a key. Bytes,
with room for false alarms."""

_KEY_BYTES: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=.~"
_WORD: Final = frozenset(_KEY_BYTES)
_LETTERS_BEGIN: Final = frozenset(b"%&\\")
_RUN_MAX: Final = 64
_WRAPPED_KEY_MIN: Final = 20
_WRAPPED_TURNS_MIN: Final = 4
"""A run with a line's end in it may be a key when it is so long and changes so often between small letters, capitals
and digits: most words at the end of a line are followed by words."""
_TURNS: Final = re.compile(rb"[a-z](?=[0-9A-Z])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])")

_AROUND: Final = 64
_TOKEN_MAX: Final = 2_048
"""A window around what is in disguise: so many bytes, and on to the next white space, this far at most."""
_SPACE: Final = re.compile(rb"\s")


@dataclass(slots=True)
class View:
    """A stretch of a text, from ``offset`` on, read in another way: the bytes that are read, and where its pieces stand
    in the original."""

    text: bytes = b""
    offset: int = 0
    _pieces: list[bytes] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _origins: list[tuple[int, int, bool]] = field(default_factory=list)
    _length: int = 0

    def add(self, piece: bytes, start: int, end: int, *, changed: bool) -> None:
        """Append what is read for the original's bytes ``[start, end)``."""
        self._pieces.append(piece)
        self._starts.append(self._length)
        self._origins.append((start, end, changed))
        self._length += len(piece)

    def finish(self) -> View | None:
        """The view, ready to be read; ``None`` when nothing is read in another way."""
        if not any(changed for _, _, changed in self._origins):
            return None
        self.text = b"".join(self._pieces)
        self._pieces.clear()
        return self

    def origin(self, start: int, end: int, before: int = 0) -> tuple[int, int] | None:
        """Where ``[start, end)`` stands in the original; ``None`` when nothing in it, or in the ``before`` bytes before
        it, is read in another way."""
        first, last = self._index(start), self._index(end - 1)
        nearest = self._index(max(0, start - before))
        if not any(changed for _, _, changed in self._origins[nearest : last + 1]):
            return None
        return self.offset + self._place(first, start), self.offset + self._place(last, end - 1, behind=True)

    def _index(self, place: int) -> int:
        return bisect_right(self._starts, place) - 1

    def _place(self, index: int, place: int, *, behind: bool = False) -> int:
        start, end, changed = self._origins[index]
        if changed:
            return end if behind else start
        return start + place - self._starts[index] + behind


def views(raw: bytes) -> Iterator[View]:
    """The ways to read ``raw``, UTF-8 with lone surrogates allowed, other than as it stands: of the places that are in
    disguise and what stands around them."""
    for start, end in _windows(raw):
        window = raw[start:end]
        text = window.decode("utf-8", "surrogatepass")
        for view in (_rewritten(text, _UNDONE, _undone), _rewritten(text, _WRAP, _unwrapped), _decoded(window)):
            if view is not None:
                view.offset = start
                yield view


def disguised(raw: bytes) -> Iterator[tuple[int, int]]:
    """Where ``raw``, a text or JSON, may hold a key in disguise; not in order."""
    for match in _TRIGGER.finditer(raw):
        start, end = match.span()
        if _may_be_in_key(raw, start, end):
            yield start, end
    for match in _ENCODED.finditer(raw):
        start, end = match.span()
        if end - start <= _ENCODED_MAX and _plain(match.group()):
            yield start, end


def _may_be_in_key(raw: bytes, start: int, end: int) -> bool:
    """Of what is not seen, whether it stands behind a character of a key; of a line's end, whether what it would join
    is like a key."""
    if raw[end - 1] not in _WORD:
        return True
    if raw[start] not in _WORD:
        behind_key = raw[start] in _LETTERS_BEGIN or (start > 0 and raw[start - 1] in _WORD)
        return behind_key or end - start - len(raw[start:end].translate(None, _KEY_BYTES)) > 1
    found = raw[start:end]
    if (b"\n" not in found and b"\\n" not in found) or b'"' in found or b"'" in found:
        return True
    before, behind = raw[max(0, start - _RUN_MAX) : start], raw[end : end + _RUN_MAX]
    first = start - len(before) + len(before.rstrip(_KEY_BYTES))
    last = end + len(behind) - len(behind.lstrip(_KEY_BYTES))
    return last - first >= _WRAPPED_KEY_MIN and len(_TURNS.findall(raw[first:last])) >= _WRAPPED_TURNS_MIN


def _windows(raw: bytes) -> list[tuple[int, int]]:
    windows: list[tuple[int, int]] = []
    for first, last in sorted(disguised(raw)):
        if windows and last <= windows[-1][1]:
            continue
        start, end = _left(raw, first - _AROUND), _right(raw, last + _AROUND)
        if windows and start <= windows[-1][1]:
            windows[-1] = windows[-1][0], max(end, windows[-1][1])
        else:
            windows.append((start, end))
    return windows


def _left(raw: bytes, place: int) -> int:
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
    view, done, at = View(), 0, 0
    for match in pattern.finditer(text):
        new = rewrite(text, match)
        if new is None:
            continue
        literal = text[done : match.start()].encode("utf-8", "surrogatepass")
        old = len(match[0].encode("utf-8", "surrogatepass"))
        view.add(literal, at, at + len(literal), changed=False)
        at += len(literal)
        view.add(new.encode("utf-8", "surrogatepass"), at, at + old, changed=True)
        at += old
        done = match.end()
    if not done:
        return None
    rest = text[done:].encode("utf-8", "surrogatepass")
    view.add(rest, at, at + len(rest), changed=False)
    return view.finish()


def _undone(text: str, match: re.Match[str]) -> str | None:
    """What a reader sees in the place of ``match``; ``None`` where it is what it looks like."""
    found = match[0]
    match found[0]:
        case "%":
            return _ascii(int(found[1:], 16))
        case "&":
            said = html.unescape(found)
            return said if len(said) == 1 else None
        case "\\":
            return _ascii(int(found[2:], 16)) if found[1] in "xu" else found[1]
        case '"' | "'":
            joins = found[-1] == found[0] and len(found) > 1
            return "" if joins and _in_key(text, match.start() - 1, match.end()) else None
        case "\x1b" | "<":
            return ""
    normal = unicodedata.normalize("NFKC", found)
    return "".join(char for char in normal if char.isprintable() and not _is_blank(char))


def _unwrapped(text: str, match: re.Match[str]) -> str | None:
    """Nothing, where a key may go on in the next line; ``None`` elsewhere."""
    before = text[max(0, match.start() - _WRAPPED_MIN) : match.start()]
    behind = text[match.end() : match.end() + _WRAPPED_MIN]
    if not (_KEY.issuperset(before[-2:]) and _KEY.issuperset(behind[:2]) and len(before) > 1 and len(behind) > 1):
        return None
    return "" if _is_long(before) or _is_long(behind) else None


def _is_long(side: str) -> bool:
    return len(side) == _WRAPPED_MIN and _KEY.issuperset(side)


def _decoded(raw: bytes) -> View | None:
    """Runs of hexadecimal digits or of base 64 that hold text, each on a line of its own."""
    view = View()
    for match in _ENCODED.finditer(raw):
        start, end = match.span()
        plain = _plain(match.group()) if end - start <= _ENCODED_MAX else b""
        if plain:
            view.add(b"\n", start, start, changed=False)
            view.add(plain, start, end, changed=True)
    return view.finish()


def _plain(run: bytes) -> bytes:
    try:
        if _HEX.fullmatch(run):
            plain = bytes.fromhex(run[: len(run) // 2 * 2].decode())
        else:
            body = run.rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
            plain = b64decode(body + b"=" * (-len(body) % 4))
    except (ValueError, binascii.Error):
        return b""
    return plain if plain.isascii() and plain.replace(b"\n", b"").decode().isprintable() else b""


def _ascii(code: int) -> str | None:
    return chr(code) if 0x20 < code < 0x7F else None


def _in_key(text: str, before: int, behind: int) -> bool:
    return before >= 0 and behind < len(text) and text[before] in _KEY and text[behind] in _KEY


def _is_blank(char: str) -> bool:
    return (
        char in "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u180b\u180c\u180d\u180f"
        or "\ufe00" <= char <= "\ufe0f"
    )
