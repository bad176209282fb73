"""Find where a text may contain a disguised key (invisible or look-alike characters, escapes, tags, line wraps, joined
string literals, encodings), and the windows (spans of text around such places) that are read again.

One RE2 pass over the bytes of a text or of its JSON, with some false alarms; ``views`` then undoes the disguises there.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from tokenmizer_mw.safety.redact.pattern import compile_pattern

NAMED: Final = "lowbar|UnderBar|period|sol|plus|equals|commat|percnt|shy|zwj|zwnj|ZeroWidthSpace|NoBreak"
GLUE: Final = (
    r"[ \t]{0,8}(?:[+.&|]{1,2}[ \t]{0,8})?(?:\\{0,3}(?:\r?\n|\\n)[ \t]{0,80})?(?:[+.&|]{1,2}[ \t]{0,8})?"
    r"(?:[fFrRbBuU]{1,2})?"
)
"""What may stand between two string literals that are joined to one: an operator, a line end, and a prefix of the
second."""

TAG: Final = (
    r"</?(?:a|b|big|br|code|del|em|font|i|ins|kbd|mark|s|samp|small|span|strong|sub|sup|tt|u|wbr)"
    r"(?:[ \t][^<>\n]{0,80})?/?>|<!--[^<>\n]{0,40}-->"
)
"""HTML tags and comments that are not visible on a page."""

_RUN: Final = r"[0-9A-Za-z+/_-]{27,}={0,2}"
ENCODED: Final = compile_pattern(_RUN)
ENCODED_MAX: Final = 2_048
"""Largest number of bytes of an encoded run that is decoded; longer ones are files."""
_HEX: Final = re.compile(rb"[0-9A-Fa-f]+")
WRAPPED_MIN: Final = 10
"""Least number of key characters on the longer side of a line wrap inside of a key; the shorter side needs two."""

_CHAR: Final = "[0-9A-Za-z_+/=.~-]"
_GONE: Final = (
    r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]|\\b"
    r"|(?:\x1b|\\(?:033|e|x1[bB]|u001[bB]))(?:\[[0-9;:?<=>]{0,24}[A-Za-z]|[()][0-9A-Z]|\][^\x07\x1b]{0,100})"
    r"|\\u(?i:00[01][0-9a-f]|00[7-9a][0-9a-f]|034f|061c|115f|1160|17b[45]|180[b-f]|200[b-f]|202[a-e]|206[0-9a-f]"
    r"|2800|3164|fe0[0-9a-f]|feff|ffa0|fff[9ab]|db40\\udc[0-9a-f]{2})"
    r"|\xc2[\x80-\x9f\xad]|\xcd\x8f|\xd8[\x80-\x85\x9c]|\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])"
    r"|\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf]|\xa0\x80)|\xe3\x85\xa4"
    r"|\xef(?:\xb8[\x80-\x8f]|\xbb\xbf|\xbe\xa0|\xbf[\xb9-\xbb])|\xf0\x93\x90[\xb0-\xbf]|\xf0\x9b\xb2[\xa0-\xa3]"
    r"|\xf0\x9d\x85[\xb3-\xba]|\xf3\xa0[\x80-\xbf][\x80-\xbf]"
    rf"|{TAG}"
)
_LETTERS: Final = (
    r"%(?i:2[bdef]|3[0-9d]|4[0-9a-f]|5[0-9af]|6[0-9a-f]|7[0-9ae])"
    rf"|&(?:amp;)?(?:#[0-9xX]|(?:{NAMED});)|\\x[0-9A-Fa-f]{{2}}|{_CHAR}\\+[-_.+=/~]{_CHAR}"
    rf"|%25|%(?i:c2|cd|e[1-3]|ef|f0|f3)%|\\u\{{|\\U000|(?:\\+[01][0-7]{{2}}){{4}}|{_CHAR}(?:`{{1,4}}|\*\*){_CHAR}"
    r"|\xc2[\xaa\xb2\xb3\xb9\xba\xbc-\xbe]|\xc4[\xb2\xb3\xbf]|\xc5[\x80\x89\xbf]|\xc7[\x84-\x8c\xb1-\xb3]|\xca[\xb0-\xb8]"
    r"|\xcb[\xa0-\xa4]|\xdb\x9d|\xdc\x8f|\xe0(?:\xa2[\x90\x91]|\xa3\xa2)|\xe1\xba\x9a"
    r"|\xe2(?:\x82\xa8|\x86\x89|\xa9[\xb4-\xb6]|\xb1[\xbc\xbd])|\xea\x9f[\xb2-\xb4]"
    r"|\xef(?:\xac\xa9|\xb8[\xb3\xb4]|\xb9[\x8d-\x8f])|\xf0(?:\x90\x9e\xa5|\x91\x82\xbd|\x91\x83\x8d|\x9f\x86\x90)"
    r"|\\u(?i:00(?:aa|b[239a-e])|013[23f]|014[09]|017f|01c[4-9a-c]|01f[123]|02b[0-8]|02e[0-4]|06dd|070f|089[01]|08e2"
    r"|1e9a|20a8|2a7[456]|2c7[cd]|a7f[234]|fb29|060[0-5]|d801|d804|d80d|d82f|d834|d83c\\ud[cd]|d83e\\udf|db40\\udd)"
    r"|\\u(?i:00[2-7][0-9a-f]|1d[2-9ab][0-9a-f]|20[2789][0-9a-f]|21[0-8][0-9a-f]|24[6-9a-f][0-9a-f]|32[5-9a-f][0-9a-f]"
    r"|33[0-9a-f]{2}|fb0[0-6]|fe[1-6][0-9a-f]|ff[0-5][0-9a-f]|d835)"
    r"|\xe1(?:\xb4[\xac-\xbf]|[\xb5\xb6][\x80-\xbf])"
    r"|\xe2(?:\x81[\xb0-\xbf]|\x82[\x80-\x9c]|[\x84\x85\x92\x93][\x80-\xbf]|\x91[\xa0-\xbf])|\xe3(?:\x89[\x90-\x9f]|\x8a[\xb1-\xbf]|[\x8b\x8d-\x8f][\x80-\xbf])"
    r"|\xef(?:\xac[\x80-\x86]|\xb9[\x92\x95\xa2\xa3\xa6\xaa\xab]|\xbc[\x85\x8b\x8d-\x99\x9d\xa0-\xba\xbf]"
    r"|\xbd[\x81-\x9a\x9e])|\xf0\x9d[\x90-\x9f][\x80-\xbf]|\xf0\x9f[\x84\x85][\x80-\xbf]|\xf0\x9f\xaf[\xb0-\xb9]"
)

_TURN: Final = "(?:[a-z][0-9A-Z]|[A-Z][0-9]|[0-9][A-Za-z])"

LINE_LEADS: Final = r" \t>|#*"
"""What may stand before the text of a line (indent, quotation and comment signs), as the inside of a character
class."""

BARS: Final = "│┃║▌"
"""Characters with which terminals draw frames; ``_BAR`` is a pattern for their bytes."""

_ARROW: Final = r"\xe2\x86\x92"
_BAR: Final = r"\xe2(?:\x94[\x82\x83]|\x95\x91|\x96\x8c)"


def line_tail(bar: str) -> str:
    """Return a pattern for what may stand between a part of a key and the end of its line. ``bar``: a pattern for one
    of ``BARS``."""
    return rf"[ \t]{{0,4}}(?:(?:\||{bar})[ \t]{{0,4}})?(?:<br ?/?>)?[\\=]{{0,7}}"


def line_number(arrow: str) -> str:
    """Return a pattern for the number that a tool puts in front of a line. ``arrow``: a pattern for "→"."""
    return rf"(?:[ \t]*[0-9]{{1,6}}(?:[:|\t]|{arrow}))?"


_LINE_END: Final = rf"{line_tail(_BAR)}(?:\r?\n|(?:\\r)?\\n){line_number(_ARROW)}(?:[{LINE_LEADS}]|{_BAR})*"

_DISGUISED: Final = (
    rf"(?:(?:{_GONE})+{_CHAR})+|(?:{_LETTERS})+"
    rf"""|{_CHAR}{{2}}\\{{0,3}}["']{GLUE}\\{{0,3}}["']{_CHAR}{{2}}"""
    rf"|{_TURN}{_CHAR}*{_TURN}{_CHAR}*{_LINE_END}{_CHAR}"
    rf"|{_TURN}{_CHAR}*{_LINE_END}{_CHAR}*{_TURN}"
    rf"|{_CHAR}{_LINE_END}{_CHAR}*{_TURN}{_CHAR}*{_TURN}"
)
"""Pattern for everything in a text, or in a JSON string, that may hide a part of a key from the rules. It is for bytes,
and also matches some texts that hide nothing."""

_TRIGGER: Final = compile_pattern(_DISGUISED)
ANY_DISGUISE: Final = compile_pattern(f"{_DISGUISED}|{_RUN}")
"""Pattern that also matches encoded runs. If it does not match, ``find_disguised`` finds nothing; this is so in most
texts."""

KEY_BYTES: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=.~"
"""The characters of keys."""

_WORD: Final = frozenset(KEY_BYTES)
_LETTERS_BEGIN: Final = frozenset(b"%&\\")
_RUN_MAX: Final = 64
_WRAPPED_KEY_MIN: Final = 20
_WRAPPED_TURNS_MIN: Final = 4
"""Least number of changes between small letters, capitals and digits in a run with a line end in it that may be a key.
(``_WRAPPED_KEY_MIN``: least length.) Most words at the end of a line are followed by words, which have fewer."""
_TURNS: Final = re.compile(rb"[a-z](?=[0-9A-Z])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])")
_BROKEN: Final = re.compile(_LINE_END.encode())


def find_disguised(raw: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans of ``raw`` (a text or JSON) in which a disguise may hide a part of a key; unordered, perhaps
    overlapping. Positions are in bytes."""
    place = ANY_DISGUISE.first(raw, 0, len(raw))
    if place < 0:
        return
    while (match := _TRIGGER.search(raw, place)) is not None:
        start, place = match.span()
        line_end = _line_end(raw, start, place)
        if line_end is not None:
            place = line_end[1]  # what stands behind one end of a line may stand before the next
            if _may_be_wrapped_key(raw, *line_end):
                yield line_end
        elif (raw[start] in _WORD and raw[place - 1] in _WORD) or _is_behind_key(raw, start, place):
            yield start, place
    for match in ENCODED.finditer(raw):
        start, end = match.span()
        if end - start <= ENCODED_MAX and decoded_text(match.group()):
            yield start, end


def _is_behind_key(raw: bytes, start: int, end: int) -> bool:
    """Whether the invisible characters in ``[start, end)`` follow a key character, or stand for one themselves."""
    if raw[end - 1] not in _WORD or raw[start] in _LETTERS_BEGIN or (start > 0 and raw[start - 1] in _WORD):
        return True
    return end - start - len(raw[start:end].translate(None, KEY_BYTES)) > 1


def _line_end(raw: bytes, start: int, end: int) -> tuple[int, int] | None:
    """Return the span of the line end between two runs of key characters in ``[start, end)``, with the indent behind
    it; ``None`` if there is none, or if there are quotes."""
    if raw[start] not in _WORD or raw[end - 1] not in _WORD:
        return None
    if raw.find(b'"', start, end) >= 0 or raw.find(b"'", start, end) >= 0:
        return None
    match = _BROKEN.search(raw, start, end)
    return match.span() if match else None


def _may_be_wrapped_key(raw: bytes, start: int, end: int) -> bool:
    """Whether the two runs around the line end ``[start, end)``, joined, look like a key."""
    before, behind = raw[max(0, start - _RUN_MAX) : start], raw[end : end + _RUN_MAX]
    before = before[len(before.rstrip(KEY_BYTES)) :]
    behind = behind[: len(behind) - len(behind.lstrip(KEY_BYTES))]
    if max(len(before), len(behind)) < WRAPPED_MIN or len(before) + len(behind) < _WRAPPED_KEY_MIN:
        return False
    return count_turns(before) + count_turns(behind) >= _WRAPPED_TURNS_MIN


def count_turns(run: bytes) -> int:
    """Return how often ``run`` changes between small letters, capitals and digits. A change from a capital to a small
    letter does not count, because words begin so."""
    return len(_TURNS.findall(run))


def decoded_text(run: bytes) -> bytes:
    """Return the printable UTF-8 text that ``run`` encodes in hexadecimal or base64; b"" if it encodes no such text."""
    try:
        if _HEX.fullmatch(run):
            plain = bytes.fromhex(run[: len(run) // 2 * 2].decode())
        else:
            body = run.rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
            plain = b64decode(body + b"=" * (-len(body) % 4))
    except (ValueError, binascii.Error):
        return b""
    if b"\0" in plain and plain.count(b"\0") * 2 in (len(plain), len(plain) + 1, len(plain) - 1):
        plain = plain.replace(b"\0", b"")  # letters of ASCII in UTF-16
    try:
        return plain if plain.translate(None, b"\t\r\n").decode().isprintable() else b""
    except UnicodeDecodeError:
        return b""


Span = tuple[int, int]

_AROUND: Final = 64

_TOKEN_MAX: Final = 2_048
"""Largest number of bytes by which a window is extended to the next white space."""

NAME_MAX: Final = 160
"""Bytes before a secret in which the name of its value may stand."""

_SPACED_MIN: Final = 8
"""Number of key characters behind a secret and one blank that may be the rest of it."""

_WHITE: Final = re.compile(rb"\s")


def find_windows(raw: bytes) -> list[Span]:
    """Return the spans of ``raw`` (UTF-8, lone surrogates allowed) in which a key may be disguised, each widened by
    some text on both sides, up to white space; in order and without overlaps."""
    windows: list[Span] = []
    for first, last in sorted(find_disguised(raw)):
        if windows and last <= windows[-1][1]:
            continue
        _add_window(windows, _left_border(raw, first - _AROUND), _right_border(raw, last + _AROUND))
    return windows


def widen_windows(raw: bytes, windows: list[Span], found: Iterable[Span]) -> list[Span]:
    """Return the windows, each extended to contain every secret of ``found`` that overlaps it, with the name of that
    secret. ``found`` is in order."""
    wider: list[Span] = []
    places = deque(found)
    for window in windows:
        start, end = window
        while places and places[0][1] < start:
            places.popleft()
        while places and places[0][0] <= end:
            first, last = places.popleft()
            start, end = min(start, _left_border(raw, first - NAME_MAX)), max(end, last)
        _add_window(wider, start, end)
    return wider


def _add_window(windows: list[Span], start: int, end: int) -> None:
    if windows and start <= windows[-1][1]:
        windows[-1] = min(start, windows[-1][0]), max(end, windows[-1][1])
    else:
        windows.append((start, end))


def find_spaced_windows(raw: bytes, found: Iterable[Span]) -> list[Span]:
    """Return a window around each secret of ``found`` that is followed by one blank and eight key characters, which may
    be the rest of it. Eight letters that look like a word do not count."""
    windows: list[Span] = []
    for start, end in found:
        run = raw[end + 1 : end + 1 + _SPACED_MIN]
        if raw[end : end + 1] != b" " or len(run) < _SPACED_MIN or run.translate(None, KEY_BYTES):
            continue
        if not (run.isalpha() and run[1:].islower()):
            _add_window(windows, _left_border(raw, start - NAME_MAX), _right_border(raw, end + _AROUND))
    return windows


def _left_border(raw: bytes, place: int) -> int:
    """Return the position behind the last white space before ``place``; if that is too far, the start of a
    character."""
    least = max(0, place - _TOKEN_MAX)
    space = max(raw.rfind(char, least, max(place, 0)) for char in (b" ", b"\n", b"\t"))
    place = space + 1 if space >= 0 else least
    while 0 < place < len(raw) and 0x80 <= raw[place] < 0xC0:
        place -= 1
    return place


def _right_border(raw: bytes, place: int) -> int:
    """Return the position of the first white space from ``place`` on; if that is too far, the end of a character."""
    most = min(len(raw), place + _TOKEN_MAX)
    space = _WHITE.search(raw, min(place, most), most)
    place = space.start() if space else most
    while place < len(raw) and 0x80 <= raw[place] < 0xC0:
        place += 1
    return place
