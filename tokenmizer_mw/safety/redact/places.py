"""The type of rules for secrets that are recognised by their position (in a URL, a header, a command), and the
functions that judge such secrets."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.safety.redact.findings import FindingRank, PlaceReading, SecretSpan, begins_word, refusal
from tokenmizer_mw.safety.redact.judge import (
    entropy,
    is_basic_pair,
    is_identifier,
    is_mixed,
    is_numbered_name,
    is_opaque,
    is_placeholder,
    is_uuid,
    is_worded,
    stands_in,
)
from tokenmizer_mw.safety.redact.pattern import compile_outline, compile_pattern

WINDOW: Final = 4096
"""Bytes from the start of a rule's match in which the pattern is tried; a secret that reaches their end is then
followed to its own end."""

VALUE: Final = r"[^\s\"'`\\]"
"""Pattern for one character of a value: anything but blanks, quotes and backslashes."""

QUOTES: Final = r"(?:\\*[\"'`])"
"""Pattern for a quote of any sort, escaped or not."""

LINE: Final = r"(?:[\r\n]|\\+[rn])+"
"""Pattern for the end of a line, escaped or not."""

_BEFORE: Final = 120
_ODD: Final = frozenset("!@#$%^&*+~?=|")
"""Signs that people put into passwords and that names do not have."""

_ENDING_SIGNS: Final = frozenset("!?#$%&*+")
_LOGIN_MIN: Final = 8
"""Least number of characters of a password behind a login name that has its only sign at the end."""

_PORT: Final = compile_pattern(r"^[0-9]{1,5},|:[0-9]{1,5}(?:,|$)")
_REFERENCE: Final = compile_pattern(
    r"^(?:&lt;|\]|\$|\{|<|%[({A-Z]|\*+$|x+$|\.+$|redacted:|\[)|^:?[A-Za-z_]*PASS(?:WORD)?$"
)


@dataclass(frozen=True, slots=True)
class PlaceRule:
    """A rule for secrets at a certain position, such as the password in "mysql -u root -p...". All patterns are RE2
    over bytes.

    - ``kind``: as in the placeholder, such as "url-password".
    - ``gate``: pattern for the beginning, by which positions are found; ``pattern``: for the whole, with one group
      around the secret.
    - ``judge``: name in ``JUDGES`` of a function that returns why the text is not a secret, "" if it is one.
    - ``example``: for tests, three parts: the text before the secret, the secret as a shape (see ``shape``), and the
      text behind it; ``counter``: a similar text without a secret.
    - ``edge``: whether a match that begins within a word is refused.
    - ``before``: pattern that must be found in the 120 bytes before the match ("" for no condition).
    - ``holds``: bytes that every match contains (b"" for none); without them in the text, ``pattern`` is not tried.
    - ``apart``: whether ``gate`` is searched only at word boundaries, which is possible if no other rule begins in the
      same way; otherwise it is searched everywhere, and ``edge`` is checked later.
    """

    kind: str
    gate: str
    pattern: str
    judge: str
    example: tuple[str, str, str]
    counter: str
    edge: bool = True
    before: str = ""
    holds: bytes = b""
    apart: bool = False

    def read(self, text: bytes, start: int) -> PlaceReading:
        """Judge whether a secret of this rule is in the text that begins at ``start``."""
        onward = start + 3
        if self.edge and not begins_word(text, start):
            return refusal(self.kind, start, onward, "in the middle of a word", onward)
        if self.before and not compile_pattern(self.before).search(text[max(0, start - _BEFORE) : start]):
            return refusal(self.kind, start, onward, "not behind such a command", onward)
        last = min(len(text), start + WINDOW)
        likely = not self.holds or text.find(self.holds, start, last) >= 0
        outline = compile_outline(self.pattern).reach(text, start, last) if likely else start
        match = compile_pattern(self.pattern).match(text, start, last) if outline > start else None
        if match is None:
            return refusal(self.kind, start, onward, "not the whole of it", onward)
        first, last = match.span(1)
        last -= len(text[first:last]) - len(text[first:last].rstrip(b".,;:"))
        why = JUDGES[self.judge](text[first:last].decode("latin-1"))
        if why:
            return refusal(self.kind, first, last, why, max(onward, first))
        if last == start + WINDOW:
            whole = compile_pattern(self.pattern).match(text, start)
            last = whole.end(1) if whole is not None else last
        return PlaceReading(last, (SecretSpan(self.kind, first, last, "by its place", FindingRank.PLACED),))


def behind(
    kind: str,
    lead: str,
    judge: str,
    example: tuple[str, str, str],
    counter: str,
    *,
    value: str = VALUE,
    least: int = 4,
    after: str = "",
    edge: bool = True,
    before: str = "",
) -> PlaceRule:
    """Return a ``PlaceRule`` for a secret directly after ``lead`` and before ``after`` (both RE2; "" for anything after
    it).

    The secret has at least ``least`` characters that match ``value`` (RE2 for one character). The other arguments are
    the fields of ``PlaceRule`` with the same names.
    """
    gate = f"{lead}{value}{{{least},}}{after}" if after else f"{lead}{value}{{{least}}}"
    return PlaceRule(kind, gate, f"{lead}({value}{{{least},}}){after}", judge, example, counter, edge, before)


AWS_SECRET: Final = 40
"""Number of characters of a secret access key of AWS."""

_BREAK: Final = re.compile(r"[ \t>\r\n]*(?:\\+[rn]?|[\r\n])[ \t>\r\n]*")
_SHORT_KEY: Final = compile_pattern(r"^sk-(?:[a-z]+-)*[A-Za-z0-9_]*[0-9][A-Za-z0-9_-]*$")
_TOO_PLAIN: Final = "reads like a name, or is too plain"


def _doubt_password(value: str) -> str:
    if (
        _REFERENCE.search(value.encode("latin-1", "replace"))
        or is_placeholder(value)
        or stands_in(value)
        or len(value) < 3
    ):
        return "a placeholder"
    return ""


def _doubt_chosen(value: str) -> str:
    """For positions where a password may stand but other values do too: a plain word or number is no secret."""
    if value.startswith(("-", ":")) or _PORT.search(value.encode("latin-1", "replace")):
        return "an option or an address"
    plain = value.isdigit() or not (any(map(str.isdigit, value)) or any(map(_ODD.__contains__, value)))
    return _doubt_password(value) or ("reads like a word or a number" if plain and not is_opaque(value, 12) else "")


def _doubt_strong(value: str) -> str:
    """For positions where other values are more common than passwords: at least six characters, with a sign inside and
    a digit, or mixed as password rules ask for."""
    sign = any(map(_ODD.__contains__, value[1:-1])) and any(map(str.isdigit, value))
    chosen = (
        len(value) >= 6
        and value[0] != "/"
        and (sign or is_numbered_name(value) or (is_mixed(value) and not is_identifier(value)))
    )
    return _doubt_password(value) or ("" if chosen else "reads like a word or a number")


def _doubt_login(value: str) -> str:
    """For a password behind a login name: what ``_doubt_strong`` accepts, and at least eight characters with both
    cases, two digits and a sign at the end, such as "Autumn1999!"."""
    ends = len(value) >= _LOGIN_MIN and value[-1] in _ENDING_SIGNS and sum(map(str.isdigit, value)) > 1
    return "" if ends and is_mixed(value) and not _doubt_password(value) else _doubt_strong(value)


def _doubt_stated(value: str) -> str:
    """For sentences that state a password: what ``_doubt_strong`` accepts, and words followed by a number."""
    return "" if is_worded(value) and not _doubt_password(value) else _doubt_strong(value)


def _doubt_encoded(value: str) -> str:
    """For positions where a protocol allows base 64 only: at least eight characters that vary."""
    return "" if len(value) >= 8 and entropy(value) > 2.5 and not is_placeholder(value) else "too plain"


def _doubt_grouped(value: str) -> str:
    """For groups of letters, such as app passwords: neither an identifier nor digits alone."""
    return "reads like words" if is_identifier(value) or value.replace(" ", "").replace("-", "").isdigit() else ""


def _doubt_codes(value: str) -> str:
    """For a list of codes, such as recovery codes: enough of the characters must be digits."""
    return "" if sum(map(str.isdigit, value)) >= max(3, len(value) // 6) else "reads like words"


def _doubt_key(value: str) -> str:
    """For positions that hold keys: a UUID, or a random string of 16 characters or more."""
    return "" if is_uuid(value) or is_opaque(value, 16) else _TOO_PLAIN


def _doubt_broken(value: str) -> str:
    """For a key of AWS that spans two lines: both parts together are 40 random characters."""
    whole = _BREAK.sub("", value)
    return "" if len(whole) == AWS_SECRET and is_opaque(whole, AWS_SECRET) else "not as long as such a key is"


JUDGES: Final[dict[str, Callable[[str], str]]] = {
    "drawn": lambda value: "" if is_opaque(value, 16) else _TOO_PLAIN,
    "short": lambda value: "" if is_opaque(value, 8) or is_numbered_name(value) else _TOO_PLAIN,
    "password": _doubt_password,
    "chosen": _doubt_chosen,
    "strong": _doubt_strong,
    "stated": _doubt_stated,
    "login": _doubt_login,
    "coded": _doubt_encoded,
    "key": _doubt_key,
    "grouped": _doubt_grouped,
    "codes": _doubt_codes,
    "broken-40": _doubt_broken,
    "short-key": lambda value: "" if _SHORT_KEY.search(value.encode()) and not is_placeholder(value) else _TOO_PLAIN,
    "basic": lambda value: "" if is_basic_pair(value) and entropy(value) > 2.5 else "no name and password",
    "any": lambda value: "a placeholder" if is_placeholder(value) else "",
    "userinfo": lambda value: "" if is_opaque(value, 20) and not value.startswith("git") else "a name",
}
"""Functions that judge a secret by its text, by the names that ``PlaceRule.judge`` has. They return why the text is no
secret, "" if it is one."""
