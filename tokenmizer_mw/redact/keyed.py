"""Reads values that are secret by the name they are given: assignments, members, headers, flags, prose."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from .found import Found, Rank, Reading, Refused, refusal
from .judge import is_hex, is_uuid, mixed, opaque, placeholder, stands_in
from .keys import NAME_MAX, Sort, sort, vendor
from .names import identifier
from .pattern import compiled

VALUE_MAX: Final = 4096
"""Bytes of a value that are searched for its end."""

JUDGED_MAX: Final = 160
"""Bytes of a value that are judged."""

LONG: Final = 64
"""Bytes of a refused value that are passed over by other names."""

_WORDS: Final = (
    r"passwor[dt]|passwd|passphrase|passcode|passwrd|kennwort"
    r"|senha|contrase(?:n|\xc3\xb1)a|wachtwoord|pass|pwd|pswd|pw|psk"
    r"|mot de passe|haslo|parola|\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c"
    r"|\xe5\xaf\x86[\xe7\xa0\x81\xbc\xa2]{2,3}"
    r"|\xe3\x83\x91\xe3\x82\xb9\xe3\x83\xaf\xe3\x83\xbc\xe3\x83\x89|\xeb\xb9\x84\xeb\xb0\x80\xeb\xb2\x88\xed\x98\xb8"
    r"|\xe4\xbb\xa4\xe7\x89\x8c|\xd1\x82\xd0\xbe\xd0\xba\xd0\xb5\xd0\xbd"
)
_OPAQUE_WORDS: Final = (
    r"secrets?|tokens?|credentials?|jwt|bearer|cookie|auth|authorization|sess(?:ion)?[_-]?id|session|sid|signature|sig"
    r"|csrf|secret_?id|connection[_ -]?string|sessid"
)
_TAIL: Final = r"(?:[_-]?[0-9]{1,3}|_[a-z0-9]+)?"
_FOR: Final = r"(?:[ \t](?:for|of|to|on|in)(?:[ \t][a-z0-9_.@/-]+){1,4}?)?"
_OPEN: Final = r"(?:[ \t]|\\*[\"'`*(\[]|\xe2\x80[\x9c\x98]|[bru](?:\\*[\"']))*"
_SEP: Final = (
    r"(?:(?:\\*[\"'])?,?(?:\s|\\+n)*(?:\\*[\"'])?value(?:\\*[\"'])?[ \t]*[:=](?:[ \t]|\\*[\"'])*"
    rf"|{_FOR}(?:\\*[\"'`*\])}}])*[ \t]*"
    r"(?::[ \t]*(?:&?[a-z]{3,6}|optional\[str\])[ \t]*=|:=|===?|=>|=|->|<-|:|\||\xef\xbc\x9a|\xe2\x86\x92|>|,"
    r"|[ \t](?:is|was|to|as|is now|should be|ist|lautet|est|es|\xd1\x8d\xd1\x82\xd0\xbe)[ \t]*:?[ \t]|\xe6\x98\xaf)"
    rf"{_OPEN}|[ \t]+{_OPEN})"
)
_LETTERS: Final = r"[A-Za-z_+/.~%!@#$^*-]"
_TO_DIGIT: Final = rf"{_LETTERS}*"
_MIXED_CASE: Final = r"[A-Za-z]{0,12}[a-z][A-Z][a-z]?[A-Z][A-Za-z]{3}"
"""Letters whose case changes faster than in names of code, so that those do not hold the first pass up."""

GATE: Final = (
    rf"(?i:(?:{_WORDS}){_TAIL}{_SEP})"
    r"(?:[A-Za-z_.-]*[0-9!@#$%^&*+~?][^\s\"'`]{2}|[A-Za-z_.-]{4}[A-Za-z_.-]*[0-9!@#$%^&*+~?]"
    rf"|{_MIXED_CASE})"
    rf"|(?i:(?:{_OPAQUE_WORDS}){_TAIL}{_SEP})"
    rf"(?:{_TO_DIGIT}[0-9][^\s\"'`(){{}}<>,;]{{4}}|{_LETTERS}{{6}}{_TO_DIGIT}[0-9][A-Za-z0-9+/=_-]{{3}}|{_MIXED_CASE})"
    rf"|(?i:keys?{_TAIL}{_SEP})"
    rf"(?:{_TO_DIGIT}[0-9][A-Za-z0-9+/=_.~%:!@#$^*-]{{6}}|{_LETTERS}{{6}}{_TO_DIGIT}[0-9][A-Za-z0-9+/=_-]{{3}}|{_MIXED_CASE})"
    r"|(?i:otp|pin|tan|totp|mfa|2fa|code)(?:\\*[\"'`*])*(?::|=|[ \t](?i:is|was)|\xef\xbc\x9a)(?:[ \t]|\\*[\"'`*])*"
    r"[0-9]{3,4}[ -]?[0-9]{1,4}"
)
"""What the first pass looks for: a telling name, something that assigns, and a value that is no plain word."""

_NAMED: Final = compiled(rf"(?i)((?:{_WORDS}|{_OPAQUE_WORDS}|keys?|otp|pin|tan|totp|mfa|2fa|code){_TAIL})({_SEP})")
_NAME_CHARS: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
_RUN: Final = compiled(r"[^\s\"'`<>|,;(){}\[\]\\&\x80-\xff]*")
_SHELL_RUN: Final = compiled(r"[^\s\"'`\\]*")
_CALL: Final = frozenset(b"([{<")
_REFERENCE: Final = compiled(
    r"(?i)^(?:\$[a-z_{(]|\$\$?[A-Z_]+\b|\{\{|%[a-z_(]|#\{|<|@\{|redacted:|\*+$|\\?\$\{|[a-z]+://|arn:|ssh-|sha[0-9]+[:-]"
    r"|md5[:-]|data:|env[.:(]|file:|vault:|op:|ref\+|\.{1,2}/|~?/[a-z]|[a-z]:\\|[0-9]+(?:\.[0-9]+)*$|[a-z_]\w*\(|f[\"']|@[a-z-]+$"
    r"|!(?:vault|secret|ref|sub|getatt|include|env|env_var|reference|importvalue)$|\?[a-z_]*$"
    r"|(?:base64|md5sum|sha[0-9]+sum)$)"
)
_MEMBER: Final = compiled(r"^(?:[A-Za-z_$][A-Za-z0-9_$]{0,2})\.[A-Za-z_$]|^[a-z0-9]{1,4}:[a-z]\.")
_BEFORE: Final = 32
"""Bytes before a name in prose in which words that belong to it are looked for."""

_LOOSE: Final = (b"to", b"as", b"was")


class Value(NamedTuple):
    """A value and how it was given: ``quoted``, after mere blanks (``loose``), or as a part of a URL."""

    start: int
    end: int
    quoted: bool
    loose: bool = False
    url: bool = False


def read(text: bytes, start: int) -> Reading:
    """What is given to the name of which the telling word starts at ``start``."""
    named = _NAMED.match(text, start, min(len(text), start + 256))
    if named is None:
        return refusal("value", start, start + 3, "nothing is assigned", start + 3)
    name = _name(text, start, named.end(1))
    value = _value(text, named, name)
    resume = max(start + 3, min(value.start, value.end))
    kind = sort(name)
    if kind is None:
        return refusal("value", value.start, value.end, f"{name!r} names no secret", resume)
    said = text[value.start : min(value.end, value.start + JUDGED_MAX)].decode("latin-1")
    why = doubts(said, kind, name, value, text)
    if why:
        if value.end - value.start > 2 * LONG:
            resume = max(resume, value.start + LONG)
        return Reading(resume, (), (Refused(kind.value, value.start, value.end, why),))
    return Reading(
        value.end, (Found(_kind(kind, name), value.start, value.end, f"{name!r} names it", Rank.NAMED, name),)
    )


def _kind(kind: Sort, name: str) -> str:
    service = vendor(name)
    return f"{service}-{kind.value}" if service and kind is not Sort.PASSWORD else kind.value


def _name(text: bytes, start: int, end: int) -> str:
    """The whole name around the telling word."""
    first = max(0, end - NAME_MAX)
    while start > first and text[start - 1] in _NAME_CHARS:
        start -= 1
    if text[start - 1 : start] == b"\\" and text[start : start + 1] in (b"n", b"t", b"r"):
        start += 1
    name = text[start:end].decode("utf-8", "replace")
    if text[start - 1 : start] != b" ":
        return name
    before = text[max(0, start - _BEFORE) : start].decode("latin-1").split()[-2:]
    return " ".join((*(word for word in before if word.isalpha()), name))


def _calls(behind: bytes) -> bool:
    """Whether an unquoted value goes on as code does; a tag that closes is none."""
    return bool(behind) and behind[0] in _CALL and behind != b"</"


def _value(text: bytes, named: Any, name: str) -> Value:
    """Where the value stands that begins behind the separator."""
    separator, start = named.group(2), named.end()
    url = text[max(0, start - len(name) - 2) : start - len(name) - 1] in (b"?", b"&") and separator == b"="
    said = separator.strip(b" \t\"'`*(\\")
    loose = not said or said.lower().endswith(_LOOSE)
    quote = _quote(separator)
    if quote:
        end = _closing(text, start, quote)
        if end > start:
            return Value(start, end, quoted=True, loose=loose)
    shell = separator == b"=" and name.isupper() and not url
    run = _SHELL_RUN if shell else _RUN
    end = run.match(text, start, min(len(text), start + VALUE_MAX)).end()
    return Value(start, _trimmed(text, start, end), quoted=False, loose=loose, url=url)


def _quote(separator: bytes) -> bytes:
    """The quote that opens at the end of the separator, with the backslashes in front of it; b"" for none."""
    if separator.endswith((b"\xe2\x80\x9c", b"\xe2\x80\x98")):
        return b"\xe2\x80"
    if separator[-1:] not in (b'"', b"'", b"`"):
        return b""
    bare = separator[:-1].rstrip(b"\\")
    return separator[len(bare) :]


def _closing(text: bytes, start: int, quote: bytes) -> int:
    """Where the quote closes, on the same line; -1 when it does not."""
    limit = min(len(text), start + VALUE_MAX)
    end = text.find(quote, start, limit)
    while len(quote) == 1 and end > start and _escaped(text, start, end):
        end = text.find(quote, end + 1, limit)
    line = text.find(b"\n", start, limit)
    return -1 if 0 <= line < end else end


def _escaped(text: bytes, start: int, place: int) -> bool:
    before = text[max(start, place - 16) : place]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 1


def _trimmed(text: bytes, start: int, end: int) -> int:
    """Without what ends a sentence or a bracket."""
    said = text[start:end]
    kept = said.rstrip(b".,;:?)]}>|*_")
    return start + len(kept)


def doubts(said: str, kind: Sort, name: str, value: Value, text: bytes = b"") -> str:
    """Why ``said``, the value of ``name``, is no secret; "" when it is one."""
    if kind is Sort.CODE:
        return "" if said.replace(" ", "").replace("-", "").isdigit() and len(said) >= 4 else "no code"
    if _REFERENCE.search(said[:256].encode("latin-1", "replace")):
        return "refers to a value, or is none"
    if text[value.start - 1 : value.start + 1] == b">@":
        return "the host behind a placeholder"
    if not value.quoted and (
        _MEMBER.search(said[:8].encode("latin-1", "replace")) or _calls(text[value.end : value.end + 2])
    ):
        return "reads like code"
    if placeholder(said) or stands_in(said):
        return "a placeholder"
    if kind is Sort.PASSWORD:
        if value.loose and name.lower().rsplit(" ", 1)[-1] == "pass" and identifier(said):
            return "reads like words"
        return _password_doubts(said, value)
    return _opaque_doubts(said, kind, name, value)


def _password_doubts(said: str, value: Value) -> str:
    if len(said) < 5 or (" " in said and len(said) > 60):
        return "too short or too long for a password"
    if said.isdigit():
        return "" if len(said) >= 6 and not value.loose else "a number"
    odd = sum(not char.isalnum() and char not in "-_. /:=" for char in said)
    if not any(map(str.isdigit, said)) and not odd:
        return "" if len(said) >= 12 and opaque(said, 12) else "reads like words"
    if value.loose and not value.quoted:
        return "" if len(said) >= 7 and not identifier(said) else "reads like words"
    return _code_doubts(said, value)


def _code_doubts(said: str, value: Value) -> str:
    """Words with blanks, and unquoted names with dots, are prose and code."""
    if " " in said and identifier(said):
        return "reads like words"
    if not value.quoted and any(char in said for char in "._") and identifier(said):
        return "reads like code"
    if not value.quoted and said.count("-") > 1 and identifier(said):
        return "reads like words"
    return ""


def _opaque_doubts(said: str, kind: Sort, name: str, value: Value) -> str:
    if " " in said:
        return "reads like words"
    known = bool(vendor(name)) or kind is Sort.TOKEN
    if not known and not value.url and (is_uuid(said) or is_hex(said)):
        return "an identifier or a hash"
    if kind is Sort.BARE and (not mixed(said) or value.loose):
        return "nothing says that this key opens something"
    least = 20 if kind is Sort.BARE else 16 if kind is Sort.WEAK or value.loose else 8
    return "" if opaque(said, least) else "reads like a name, or is too plain"
