"""Reader of passwords made up by people and written in sentences: recognised by their form and the words around
them."""

from __future__ import annotations

from typing import Final

from .found import FindingRank, PlaceReading, SecretSpan, refusal
from .judge import is_mixed, placeholder, stands_in
from .pattern import compile_pattern
from .rules.assignments import spelt

WORD_MAX: Final = 48
"""Bytes that a made-up password has at most."""

WORD_MIN: Final = 8
"""Bytes that it has at least."""

_BEFORE: Final = 120
_BEHIND: Final = 60
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

GATE: Final = r"[A-Za-z0-9]{3}(?:(?:[!#$^*]|%[g-zG-Z])[A-Za-z0-9!@#$%^&*]{2}|@[A-Za-z]+[0-9])"
"""A sign between letters or digits; most signs of addresses and of arithmetic left out."""


def read(text: bytes, start: int) -> PlaceReading:
    """Judge the word around ``start``, if its line is about passwords or logging in."""
    onward = start + 4
    lead = _LEAD.search(text[max(0, start - WORD_MAX) : start])
    first = start - (len(lead.group()) if lead is not None else 0)
    last = _WORD.reach(text, start, min(len(text), start + WORD_MAX))
    while last > first and text[last - 1 : last] in (b"?", b"-", b"*"):
        last -= 1
    why = _doubts(text, first, last) or ("" if _has_company(text, first, last) else "nothing around it says what it is")
    if why:
        return refusal("password", first, last, why, max(onward, last))
    return PlaceReading(
        last, (SecretSpan("password", first, last, "made up, where passwords are spoken of", FindingRank.NAMED),)
    )


def _doubts(text: bytes, first: int, last: int) -> str:
    said = text[first:last].decode("latin-1")
    if not WORD_MIN <= len(said) < WORD_MAX or not is_mixed(said):
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
    return "a placeholder" if placeholder(said) or stands_in(said) else ""


def _has_company(text: bytes, first: int, last: int) -> bool:
    """Whether the line around the word speaks of passwords or of logging in."""
    before = text[max(0, first - _BEFORE) : first].rpartition(b"\n")[2]
    behind = text[last : last + _BEHIND].partition(b"\n")[0]
    return _COMPANY.search(before) is not None or _COMPANY.search(behind) is not None
