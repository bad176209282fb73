"""The parts of a text around what may be a disguised key, which are read again."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from typing import Final

from tokenmizer_mw.safety.redact.disguise import KEY_BYTES, find_disguised

Span = tuple[int, int]

_AROUND: Final = 64
_TOKEN_MAX: Final = 2_048
"""A window around what is in disguise: so many bytes, and on to the next white space, this far at most."""

NAME_MAX: Final = 160
"""Bytes before a secret in which its name stands."""

_SPACED_MIN: Final = 8
"""Characters behind a secret and one blank that may be the rest of it."""

_SPACE: Final = re.compile(rb"\s")


def find_windows(raw: bytes) -> list[Span]:
    """Return where ``raw`` (UTF-8, lone surrogates allowed) may contain a disguised key, with what stands around it; in
    order and apart."""
    windows: list[Span] = []
    for first, last in sorted(find_disguised(raw)):
        if windows and last <= windows[-1][1]:
            continue
        _add_window(windows, _left_border(raw, first - _AROUND), _right_border(raw, last + _AROUND))
    return windows


def widen_windows(raw: bytes, windows: list[Span], found: Iterable[Span]) -> list[Span]:
    """Return windows that contain, with its name, whatever was found in a part of one of them. ``found`` is in
    order."""
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
    """Return where a blank and a run of a key's characters stand behind one of the secrets ``found``, with both."""
    windows: list[Span] = []
    for start, end in found:
        run = raw[end + 1 : end + 1 + _SPACED_MIN]
        if raw[end : end + 1] != b" " or len(run) < _SPACED_MIN or run.translate(None, KEY_BYTES):
            continue
        if not (run.isalpha() and run[1:].islower()):
            _add_window(windows, _left_border(raw, start - NAME_MAX), _right_border(raw, end + _AROUND))
    return windows


def _left_border(raw: bytes, place: int) -> int:
    """Behind the last white space before ``place``, or where a character begins."""
    least = max(0, place - _TOKEN_MAX)
    space = max(raw.rfind(char, least, max(place, 0)) for char in (b" ", b"\n", b"\t"))
    place = space + 1 if space >= 0 else least
    while 0 < place < len(raw) and 0x80 <= raw[place] < 0xC0:
        place -= 1
    return place


def _right_border(raw: bytes, place: int) -> int:
    """The first white space from ``place`` on, or where a character ends."""
    most = min(len(raw), place + _TOKEN_MAX)
    space = _SPACE.search(raw, min(place, most), most)
    place = space.start() if space else most
    while place < len(raw) and 0x80 <= raw[place] < 0xC0:
        place += 1
    return place
