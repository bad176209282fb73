"""Readers of secrets that are recognised by their position: key blocks, JWTs, URLs, headers, cookies, commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .found import FindingRank, PlaceReading, SecretSpan, begins_word, refusal
from .judge import basic_pair, entropy, is_mixed, is_numbered_name, is_uuid, is_worded, opaque, placeholder, stands_in
from .names import identifier
from .pattern import compile_outline, compile_pattern

WINDOW: Final = 4096
"""Bytes that a reader looks at before it has accepted anything."""

VALUE: Final = r"[^\s\"'`\\]"
"""One character of a value, for rows: anything but blanks, quotes and backslashes."""

QUOTES: Final = r"(?:\\*[\"'`])"
"""A quote of any sort, escaped or not, for rows."""

LINE: Final = r"(?:[\r\n]|\\+[rn])+"
"""The end of a line, escaped or not, for rows."""

_BEFORE: Final = 120
_ODD: Final = frozenset("!@#$%^&*+~?=|")
"""Signs that people put into passwords and that names do not have."""

_PORT: Final = compile_pattern(r"^[0-9]{1,5},|:[0-9]{1,5}(?:,|$)")
_REFERENCE: Final = compile_pattern(
    r"^(?:&lt;|\]|\$|\{|<|%[({A-Z]|\*+$|x+$|\.+$|redacted:|\[)|^:?[A-Za-z_]*PASS(?:WORD)?$"
)


@dataclass(frozen=True, slots=True)
class PlaceRule:
    """A rule for secrets at a certain position.

    - ``gate``: RE2 for its beginning; ``pattern``: RE2 for the whole, with one group around the secret.
    - ``judge``: how the secret is judged, a name in ``JUDGES``.
    - ``edge``: true if it must begin at the start of a word.
    - ``before``: RE2 that must match in the preceding text ("" for anything).
    - ``holds``: bytes that every match contains (b"" if there are none).
    - ``apart``: true if no other rule begins in the same way, so that the first pass may stop at an ``edge`` only.
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
        """Judge the text at ``start``."""
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
    """Return a rule for a secret directly after ``lead`` and before ``after`` (both RE2).

    The secret has at least ``least`` characters of the class ``value``.
    """
    gate = f"{lead}{value}{{{least},}}{after}" if after else f"{lead}{value}{{{least}}}"
    return PlaceRule(kind, gate, f"{lead}({value}{{{least},}}){after}", judge, example, counter, edge, before)


def _doubt_drawn(said: str) -> str:
    return "" if opaque(said, 16) else "reads like a name, or is too plain"


def _short(said: str) -> str:
    return "" if opaque(said, 8) or is_numbered_name(said) else "reads like a name, or is too plain"


def _password(said: str) -> str:
    if _REFERENCE.search(said.encode("latin-1", "replace")) or placeholder(said) or stands_in(said) or len(said) < 3:
        return "a placeholder"
    return ""


def _doubt_chosen(said: str) -> str:
    """Of what stands where a password may stand, and other things as well."""
    if said.startswith(("-", ":")) or _PORT.search(said.encode("latin-1", "replace")):
        return "an option or an address"
    plain = said.isdigit() or not (any(map(str.isdigit, said)) or any(map(_ODD.__contains__, said)))
    return _password(said) or ("reads like a word or a number" if plain and not opaque(said, 12) else "")


def _strong(said: str) -> str:
    """Of what stands where mostly other things stand: a word with a sign in its middle, or letters of both cases and
    a digit, as rules for passwords ask for."""
    sign = any(map(_ODD.__contains__, said[1:-1])) and any(map(str.isdigit, said))
    chosen = (
        len(said) >= 6
        and said[0] != "/"
        and (sign or is_numbered_name(said) or (is_mixed(said) and not identifier(said)))
    )
    return _password(said) or ("" if chosen else "reads like a word or a number")


def _doubt_stated(said: str) -> str:
    """Of what is said to be the password: what is strong, and words with a number behind them."""
    return "" if is_worded(said) and not _password(said) else _strong(said)


def _basic(said: str) -> str:
    return "" if basic_pair(said) and entropy(said) > 2.5 else "no name and password"


def _any(said: str) -> str:
    return "a placeholder" if placeholder(said) else ""


def _doubt_encoded(said: str) -> str:
    """Of base 64 in a protocol that knows nothing else."""
    return "" if len(said) >= 8 and entropy(said) > 2.5 and not placeholder(said) else "too plain"


def _doubt_grouped(said: str) -> str:
    """Of groups of letters that may be words."""
    return "reads like words" if identifier(said) or said.replace(" ", "").replace("-", "").isdigit() else ""


def _codes(said: str) -> str:
    """Of a list of codes that may be words."""
    return "" if sum(map(str.isdigit, said)) >= max(3, len(said) // 6) else "reads like words"


def _key(said: str) -> str:
    """Of what is a key by its place, whether drawn, hexadecimal or a UUID."""
    return "" if is_uuid(said) or opaque(said, 16) else "reads like a name, or is too plain"


def _userinfo(said: str) -> str:
    return "" if opaque(said, 20) and not said.startswith("git") else "a name"


JUDGES: Final = {
    "drawn": _doubt_drawn,
    "short": _short,
    "password": _password,
    "chosen": _doubt_chosen,
    "strong": _strong,
    "told": _doubt_stated,
    "coded": _doubt_encoded,
    "key": _key,
    "grouped": _doubt_grouped,
    "codes": _codes,
    "basic": _basic,
    "any": _any,
    "userinfo": _userinfo,
}
"""Judges of what stands in a place: the reason why it is no secret, "" when it is one."""
