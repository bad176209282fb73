"""Judge whether a key continues behind a break. A break is what may stand in the middle of a key: a line end, a tag, a
blank, or the end of one string literal and the beginning of the next.

Ordinary words stand behind a key far more often than its rest does. So a run of characters counts as the rest of a key
only if it looks random, has the same kinds of characters as the text before the break, and ends as a key ends. If
equally long lines were joined already, a short last line needs less.
"""

from __future__ import annotations

import re
from collections.abc import Container
from functools import cache
from typing import Final, NamedTuple

from tokenmizer_mw.safety.redact.disguise import (
    BARS,
    KEY_BYTES,
    LINE_LEADS,
    WRAPPED_MIN,
    count_turns,
    line_number,
    line_tail,
)
from tokenmizer_mw.safety.redact.judge import is_identifier, is_uuid
from tokenmizer_mw.safety.redact.rules import TOKENS
from tokenmizer_mw.safety.redact.shape import leads

_KEY: Final = KEY_BYTES.decode()
KEY_CHARS: Final = frozenset(_KEY)
"""The characters of keys."""

REST_MIN: Final = 8
"""Fewest characters of a run behind a break that can be told from words."""

_NEWLINE: Final = re.compile(rf"\n{line_number('→')}[{LINE_LEADS}{BARS}]*|\\n{line_number('→')}[{LINE_LEADS}{BARS}]*")
_LEAD_MAX: Final = 32
_LEAD: Final = re.compile(line_tail(f"[{BARS}]") + r"(?:\r|\\r)?$")
_LEADING: Final = frozenset(f" \t\r\\=>|r{BARS}")
"""Characters that may stand before the end of a line and do not belong to the key before them."""

TAIL_MIN: Final = 4
"""Fewest characters of the rest of a key, if other evidence shows that the key continues."""

_BLANK: Final = re.compile(r"(?<=[0-9A-Za-z_+/=.~-]) (?=[0-9A-Za-z_+/=.~-])")
_SPACED_MIN: Final = 16
"""Least number of characters behind a blank for the rest of a key, unless there are as many before it."""

_HEX: Final = frozenset("0123456789abcdefABCDEF")
RUN_MAX: Final = 2_048
"""Most characters on each side of a break that are examined."""

_TAIL_OF: Final = 24
"""Number of characters before a break whose kinds are compared with those behind it."""

_SORTED_MIN: Final = 10
"""Least number of characters of a run whose lack of capitals, or of small letters, means something."""

_CAPITALS: Final = re.compile("[A-Z][^A-Z]*[A-Z]")
_SMALL: Final = re.compile("[a-z][^a-z]*[a-z]")
_SEGMENT: Final = re.compile(r"[A-Za-z0-9]+")
_SEGMENT_MIN: Final = 6
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_ORDINARY: Final = re.compile(r"(?:[A-Z]?[a-z]+|[A-Z]+|[0-9]{1,4})[.=~/]*")
_NAMES: Final = re.compile(r"(?:19|20)[0-9]{2}-?[01][0-9]-?[0-3][0-9]|[0-9a-f]{7,40}\.\.+[0-9a-f]{7,40}$")
"""Dates, and ranges of commits: these are no rest of a key."""

_UUID: Final = 36
_ENDS: Final = frozenset("\"'`)]},;<>|*\\!?")
"""ASCII signs that may stand behind a key. White space and other characters than ASCII may, too."""

_ASSIGNS: Final = re.compile(r"[ \t]{1,8}(?::|=|->)")


class Break(NamedTuple):
    """A break in ``[start, end)`` of a text (in characters), which may interrupt a key. ``before``, ``behind``: the
    runs of key characters next to it on either side, "" for none."""

    start: int
    end: int
    before: str
    behind: str

    @classmethod
    def at(cls, text: str, start: int, end: int) -> Break:
        """Return the break in ``[start, end)`` of ``text``, with the key characters directly before and behind it, at
        most ``RUN_MAX`` each."""
        before, behind = text[max(0, start - RUN_MAX) : start], text[end : end + RUN_MAX]
        before = before[len(before.rstrip(_KEY)) :]
        return cls(start, end, before, behind[: len(behind) - len(behind.lstrip(_KEY))])

    def shift(self, by: int) -> Break:
        """Return the same break ``by`` characters later."""
        return self._replace(start=self.start + by, end=self.end + by)

    def is_even(self) -> bool:
        """Return whether both runs have the same length, as in lines of equal length."""
        return len(self.before) == len(self.behind)


def find_line_breaks(text: str) -> list[Break]:
    """Return the line ends in ``text`` with key characters on both sides, in order. Each includes what belongs to the
    ends of the two lines: a line number, an indent, a quotation or comment sign, a frame."""
    found: list[Break] = []
    for match in _NEWLINE.finditer(text):
        start, end = match.span()
        if not start or end == len(text) or text[end] not in KEY_CHARS:
            continue
        if text[start - 1] in _LEADING:
            lead = _LEAD.search(text[max(0, start - _LEAD_MAX) : start])
            start -= len(lead[0]) if lead else 0
        if start and text[start - 1] in KEY_CHARS:
            found.append(Break.at(text, start, end))
    return found


def select_possible(breaks: list[Break]) -> list[Break]:
    """Return those of ``breaks`` that may interrupt a key: at least one of the two runs is long, the run before is no
    word (unless a vendor's key begins so), and nothing is assigned in the run behind."""
    return [
        found
        for found in breaks
        if max(len(found.before), len(found.behind)) >= WRAPPED_MIN
        and (found.before in _beginnings() or not _is_prose(found.before))
        and "=" not in found.behind.rstrip("=")
    ]


def select_likely(breaks: list[Break]) -> list[Break]:
    """Return those of ``breaks`` that may interrupt a key (``select_possible``) and behind which there is no ordinary
    word."""
    return [found for found in select_possible(breaks) if not _is_prose(found.behind)]


def select_joined(text: str, breaks: list[Break], heads: Container[int] = ()) -> list[Break]:
    """Return those of ``breaks`` behind which a key surely continues.

    ``breaks``: in the order of ``text``. ``heads``: positions where another secret begins, which is no rest of a key
    before it.
    """
    joined: list[Break] = []
    steady = False
    for found in breaks:
        steady = steady and found.start - len(found.before) == joined[-1].end
        explicit = text[found.start] in "\\=" and text[found.end - 1] == "\n"
        if found.end not in heads and goes_on(text, found, explicit=explicit, steady=steady):
            joined.append(found)
            steady = steady or found.is_even()
    return joined


def find_joined_blanks(text: str, heads: Container[int]) -> list[Break]:
    """Return the single blanks in ``text`` behind which a key surely continues: between groups of equal length, or
    before a long rest. ``heads``: as in ``select_joined``."""
    breaks = [Break.at(text, *match.span()) for match in _BLANK.finditer(text)]
    long = [found for found in breaks if found.is_even() or len(found.behind) >= _SPACED_MIN]
    return select_joined(text, breaks if any(found.is_even() for found in long) else long, heads)


def goes_on(text: str, found: Break, *, explicit: bool = False, steady: bool = False) -> bool:
    """Return whether the run behind ``found``, a break in ``text``, is the rest of a key.

    ``explicit``: whether the break itself shows that the line continues (a backslash); ``steady``: whether equally long
    lines were joined before it.
    """
    before, rest = found.before, found.behind.rstrip("=").rstrip(".~")
    if not before or not rest or "=" in rest or is_word(before) or not _may_end(text, found):
        return False
    if _NAMES.match(rest) or (len(rest) == _UUID and is_uuid(rest)) or not _is_of_alphabet(before, rest):
        return False
    if explicit or (steady and len(rest) <= len(before)) or (found.is_even() and len(rest) >= REST_MIN):
        return len(rest) >= TAIL_MIN and not is_worded(rest) and not is_identifier(rest)
    return is_drawn(rest)


def is_drawn(run: str) -> bool:
    """Return whether a run of key characters looks random: it is long enough, changes often between letters and digits,
    and is not made of words and numbers."""
    if len(run) < REST_MIN or max(map(len, _SEGMENT.findall(run)), default=0) < max(_SEGMENT_MIN, len(run) / 4):
        return False
    return count_turns(run.encode()) >= min(4, max(2, len(run) // 6)) and not is_identifier(run)


def is_worded(run: str) -> bool:
    """Return whether each part of a run, split at signs, is one word or one number."""
    return all(map(_WORD.fullmatch, _SEGMENT.findall(run)))


def _may_end(text: str, found: Break) -> bool:
    """Whether what stands behind the run behind a break may stand behind a key: it assigns nothing and calls
    nothing."""
    end = found.end + len(found.behind)
    char = text[end : end + 1]
    if not char or not char.isascii() or len(found.behind) == RUN_MAX:
        return True
    return char in _ENDS or (char.isspace() and not _ASSIGNS.match(text, end))


def is_word(run: str) -> bool:
    """Return whether a run is one ordinary word or a number of up to four digits, perhaps with a sign that ends a
    sentence."""
    return _ORDINARY.fullmatch(run) is not None


def _is_prose(run: str) -> bool:
    """Whether a run is a word, and neither an abbreviation nor hexadecimal digits."""
    return len(run) > 2 and not run.isupper() and not _HEX.issuperset(run) and is_word(run)


@cache
def _beginnings() -> frozenset[str]:
    """The possible ends of a line at which the prefix of a vendor's key is interrupted."""
    known = [lead for token in TOKENS for shape in token.shapes for lead in leads(shape)]
    return frozenset(lead[:size] for lead in known for size in range(1, len(lead) + 1))


def _is_of_alphabet(before: str, rest: str) -> bool:
    """Whether ``rest`` has the same kinds of letters as ``before``, as far as its length allows to say."""
    tail = before[-_TAIL_OF:]
    if len(tail) < _SORTED_MIN:
        return True
    if len(rest) >= REST_MIN and _HEX.issuperset(rest) and not _HEX.issuperset(tail[-REST_MIN:]):
        return False
    if len(rest) < _SORTED_MIN:
        return True
    lacks_capitals = rest == rest.lower() and _CAPITALS.search(tail)
    lacks_small = rest == rest.upper() and _SMALL.search(tail)
    return not (lacks_capitals or lacks_small)
