"""Readers of secrets that are recognised by their own form: credentials with a shape, personal data (only on request),
and made-up passwords in sentences ("Autumn#1999x")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from tokenmizer_mw.safety.redact import shape as shapes
from tokenmizer_mw.safety.redact.findings import FindingRank, PlaceReading, Reader, SecretSpan, begins_word, refusal
from tokenmizer_mw.safety.redact.judge import (
    CHECKS,
    LOOK_MAX,
    WHOLE,
    entropy,
    is_iban,
    is_identifier,
    is_mixed,
    is_placeholder,
    passes_luhn,
    stands_in,
)
from tokenmizer_mw.safety.redact.pattern import BytePattern, compile_outline, compile_pattern
from tokenmizer_mw.safety.redact.rules.assignments import spelt
from tokenmizer_mw.safety.redact.shape import Token

WINDOW: Final = 1024
"""Bytes in which a credential must be complete to be recognised; then it is followed to its end."""

SKIP: Final = 3
"""Bytes behind the start of a refused text at which the scan continues."""

_RUN: Final = compile_pattern(r"[A-Za-z0-9+/_-]*")
_BASE64: Final = compile_pattern(r"[A-Za-z0-9+/]*")
_BEFORE: Final = 40
_AROUND_MAX: Final = 100


def row(token: Token, shape: str) -> tuple[str, Reader]:
    """Return the RE2 pattern for the beginning of ``shape``, one of ``token.shapes``, and the reader that judges
    whether a credential of this shape is there."""
    if token.around:
        return shapes.mark_gate(shape), _Around(token, shape).read
    return shapes.gate(shape), _Shape(token, shape).read


class _Shape:
    """Reader for a credential that begins at the position."""

    __slots__ = ("_forbidden", "_hexadecimal", "_shape", "_token")

    def __init__(self, token: Token, shape: str) -> None:
        self._token = token
        self._shape = shape
        self._forbidden = frozenset(shapes.follows(shape).encode())
        self._hexadecimal = shapes.is_hexadecimal(shape)

    def read(self, text: bytes, start: int) -> PlaceReading:
        """Judge whether a credential begins at ``start``."""
        token, onward = self._token, start + SKIP
        last = min(len(text), start + WINDOW)
        outline, pattern = _compile_shape(self._shape)
        end = outline.reach(text, start, last)
        if end == start:
            return refusal(token.kind, start, onward, "too short or of other characters", onward)
        if end < len(text) and text[end] in self._forbidden:
            return refusal(token.kind, start, end, "longer than such a key is", onward)
        match = pattern.match(text, start, last)
        body = match.start(1) if match is not None else start
        why = doubts(token, text[start:end], body - start, named=not self._hexadecimal)
        if not why and is_in_base64(text, start):
            why = "in the middle of base 64"
        if why:
            return refusal(token.kind, start, end, why, max(onward, end - 1))
        if end == start + WINDOW:
            end = outline.reach(text, start, len(text))
        return PlaceReading(end, (SecretSpan(token.kind, start, end, f"has the shape {token.shape}"),))


@cache
def _compile_shape(shape: str) -> tuple[BytePattern, BytePattern]:
    """Return the patterns of a shape without and with groups. They are compiled at first use, because most of the
    hundreds of shapes never occur."""
    pattern = shapes.pattern(shape)
    return compile_outline(pattern), compile_pattern(pattern)


class _Around:
    """Reader for a credential with a mark in its middle, at the position: the run of characters around it is the
    secret."""

    __slots__ = ("_least", "_token")

    def __init__(self, token: Token, shape: str) -> None:
        self._token, self._least = token, shapes.least(shape)

    def read(self, text: bytes, start: int) -> PlaceReading:
        """Judge the run of characters around ``start``, where the mark of the credential is."""
        token = self._token
        first = start
        while first and start - first < _AROUND_MAX and _RUN.reach(text, first - 1, first) == first:
            first -= 1
        end = _RUN.reach(text, start, min(len(text), start + WINDOW))
        if end - first > _AROUND_MAX:
            return refusal(token.kind, first, end, "longer than such a key is", end)
        while end < len(text) and text[end] == 0x3D and end - first < _AROUND_MAX:
            end += 1
        short = "" if end - first >= self._least else "shorter than such a key is"
        why = short or doubts(token, text[first:end], 0, named=False)
        if why:
            return refusal(token.kind, first, end, why, end)
        return PlaceReading(end, (SecretSpan(token.kind, first, end, f"has the shape {token.shape}"),))


def doubts(token: Token, value: bytes, prefix: int, *, named: bool) -> str:
    """Return why ``value``, which has the shape of ``token``, is not a secret, in a few words; "" if it is one.

    ``prefix``: number of literal bytes at its start, which are not judged; ``named``: whether to also reject a value
    whose rest reads like a name, such as that of a function.
    """
    text = value[: LOOK_MAX + prefix].decode("latin-1")
    body = text[prefix:]
    if token.check and not CHECKS[token.check](text if token.check in WHOLE else body):
        return f"fails the check {token.check!r}"
    if is_placeholder(body):
        return "a placeholder"
    if entropy(body) < min(token.floor, 0.6 * len(body) ** 0.5):
        return "too little entropy"
    few = 4 if token.check == "mixed" else 2
    return "reads like a name" if named and sum(map(str.isdigit, body)) < few and is_identifier(body) else ""


def is_in_base64(text: bytes, start: int) -> bool:
    """Return whether ``start`` is probably inside base64 data, in which any pattern may occur by chance.

    True if the 40 bytes before ``start`` are all characters of base64, do not read like a name, and end with "+" or
    "/". False for any other byte before ``start``, and with fewer than 40 bytes before it.
    """
    if text[start - 1 : start] not in (b"+", b"/"):
        return False
    before = text[max(0, start - _BEFORE) : start]
    whole = len(before) == _BEFORE and _BASE64.reach(before, 0, _BEFORE) == _BEFORE
    return whole and not is_identifier(before.decode("latin-1"))


def _is_telephone(value: str) -> bool:
    digits = sum(map(str.isdigit, value))
    return 9 <= digits <= 15 and (value.startswith(("+", "(", "00")) or value.count("-") + value.count(" ") >= 2)


def _is_mail(value: str) -> bool:
    return not value.lower().endswith((".png", ".jpg", ".svg", ".js", ".css", "@example.com"))


@dataclass(frozen=True, slots=True)
class Personal:
    """A kind of personal data. ``gate``: RE2 pattern for its beginning, ``pattern``: for all of it; ``check``: function
    that returns whether a match really is such data."""

    kind: str
    gate: str
    pattern: str
    check: Callable[[str], bool]

    def read(self, text: bytes, start: int) -> PlaceReading:
        """Judge whether personal data of this kind begins at ``start`` of ``text``."""
        if not begins_word(text, start):
            return refusal(self.kind, start, start + 1, "in the middle of a word", start + 1)
        match = compile_pattern(self.pattern).match(text, start, min(len(text), start + 320))
        if match is None or not self.check(match.group().decode("latin-1")):
            return refusal(self.kind, start, start + 1, "fails its check", match.end() if match else start + 1)
        return PlaceReading(
            match.end(), (SecretSpan(self.kind, start, match.end(), "personal data", FindingRank.PERSONAL),)
        )


# fmt: off
PERSONAL: Final = (
    Personal("email", r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}\.",
        r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}", _is_mail),
    Personal("iban", r"[A-Z]{2}[0-9]{2}[ ]?[A-Z0-9]{4}", r"[A-Z]{2}[0-9]{2}(?:[ ]?[A-Z0-9]){11,30}", is_iban),
    Personal("payment-card", r"[3-6][0-9]{3}[ -]?[0-9]{4}", r"[3-6][0-9](?:[ -]?[0-9]){11,17}", passes_luhn),
    Personal("telephone", r"(?:\+[0-9]|\([0-9]{2,4}\)|00[1-9]|[0-9]{3,4}[ -][0-9]{3})",
        r"(?:\+|00)?(?:\([0-9]{1,4}\)[ -]?)?[0-9](?:[ ()./-]{0,2}[0-9]){7,14}", _is_telephone),
)
# fmt: on
"""The kinds of personal data: mail addresses, bank accounts, payment cards, telephone numbers."""


WORD_MAX: Final = 48
"""Number of bytes from which on a word is no made-up password any more."""

WORD_MIN: Final = 8
"""Least number of bytes of a made-up password."""

_COMPANY_BEFORE: Final = 120
_COMPANY_BEHIND: Final = 60
_COMPANY: Final = compile_pattern(
    rf"(?i)(?:{spelt(('password', 'passwort', 'kennwort', 'passwd', 'passphrase', 'credential', 'creds', 'login'))}"
    r"|log(?:ged)?[ -]?in|sign(?:ed)?[ -]?in|\bpwd?\b|\bpass\b|\bwi-?fi\b|wlan|ssid"
    rf"|{spelt(('contraseña', 'contrasena', 'clave', 'credenciales', 'senha', 'credenciais', 'mot de passe', 'mdp'))}"
    rf"|{spelt(('identifiant', 'connexion', 'zugangsdaten', 'anmeld', 'credenziali', 'wachtwoord', 'inlog', 'hasło'))}"
    rf"|{spelt(('heslo', 'şifre', 'парол', 'логин', '密码', '密碼', '登录', 'パスワード', 'ログイン', '비밀번호'))})"
)
_WORD: Final = compile_pattern(r"[A-Za-z0-9!@#$%^&*+~?-]*")
_LEAD: Final = compile_pattern(r"[A-Za-z0-9!@#$%^&*+~?-]*$")
_LETTERED: Final = compile_pattern(
    r"[!@#$%^*][!@#$%^&*+~?]*[a-z][a-z]|[!@#$%^*][A-Za-z]+[0-9]|[!@#$%^*][0-9]{3,}[A-Za-z]{2}"
)
_HOST: Final = compile_pattern(r"[.:][A-Za-z0-9]")
_CODE: Final = compile_pattern(r"\$[A-Z]|\*[A-Z]|%[0-9A-Fa-f]{2}|[!^*][A-Z][a-z]+\(")
_OPEN: Final = frozenset(b" \t\n\r\"'`(:=*_[|>,;/")
_CLOSE: Final = frozenset(b" \t\n\r\"'`),.;:*_]|<\\!?/")

MADE_UP_GATE: Final = r"[A-Za-z0-9]{3}(?:(?:[!#$^*]|%[g-zG-Z])[A-Za-z0-9!@#$%^&*]{2}|@[A-Za-z]+[0-9])"
"""Pattern for the beginning of a possible made-up password: a sign between letters or digits. Most signs that addresses
and arithmetic contain are left out."""


def read_made_up(text: bytes, start: int) -> PlaceReading:
    """Judge whether the word around ``start`` is a made-up password such as "Autumn#1999x". It is refused unless its
    line, near the word, speaks of passwords or of logging in."""
    onward = start + 4
    lead = _LEAD.search(text[max(0, start - WORD_MAX) : start])
    first = start - (len(lead.group()) if lead is not None else 0)
    last = _WORD.reach(text, start, min(len(text), start + WORD_MAX))
    while last > first and text[last - 1 : last] in (b"?", b"-", b"*"):
        last -= 1
    why = _doubts_made_up(text, first, last) or (
        "" if _has_company(text, first, last) else "nothing around it says what it is"
    )
    if why:
        return refusal("password", first, last, why, max(onward, last))
    return PlaceReading(
        last, (SecretSpan("password", first, last, "made up, where passwords are spoken of", FindingRank.NAMED),)
    )


def _doubts_made_up(text: bytes, first: int, last: int) -> str:
    value = text[first:last].decode("latin-1")
    if not WORD_MIN <= len(value) < WORD_MAX or not is_mixed(value):
        return "not as passwords are made up"
    opens = first == 0 or text[first - 1] in _OPEN or text[first - 1] > 127
    closes = last == len(text) or text[last] in _CLOSE or text[last] > 127
    if (
        not (opens and closes)
        or _HOST.match(text, last, last + 2)
        or not _LETTERED.search(text, first, last)
        or _CODE.search(text, first, last + 1)
    ):
        return "reads like code"
    return "a placeholder" if is_placeholder(value) or stands_in(value) else ""


def _has_company(text: bytes, first: int, last: int) -> bool:
    """Whether the line around the word is about passwords or logging in."""
    before = text[max(0, first - _COMPANY_BEFORE) : first].rpartition(b"\n")[2]
    behind = text[last : last + _COMPANY_BEHIND].partition(b"\n")[0]
    return _COMPANY.search(before) is not None or _COMPANY.search(behind) is not None
