"""Judge values that are secret because of the name before them: in assignments, JSON members, headers, flags and
sentences."""

from __future__ import annotations

from itertools import takewhile
from typing import Final, NamedTuple

from tokenmizer_mw.safety.redact.findings import FindingRank, LetThrough, PlaceReading, SecretSpan, refusal
from tokenmizer_mw.safety.redact.judge import (
    is_hex,
    is_identifier,
    is_mixed,
    is_numbered_name,
    is_opaque,
    is_placeholder,
    is_uuid,
    is_worded,
    stands_in,
)
from tokenmizer_mw.safety.redact.keys import NAME_MAX, NameKind, asks, sort, vendor
from tokenmizer_mw.safety.redact.pattern import ByteMatch, compile_pattern
from tokenmizer_mw.safety.redact.rules.assignments import NAMED

VALUE_MAX: Final = 4096
"""Bytes of a value in which its end is searched for; a longer value is cut there."""

GLANCE: Final = 512
"""Bytes of an unquoted value in which its end is searched for before it is judged."""

JUDGED_MAX: Final = 160
"""Bytes at the start of a value that are judged."""

LONG: Final = 64
"""Bytes of a long value that was judged to be no secret after which the scan continues in it, because it may contain
further names."""

_NAMED: Final = compile_pattern(NAMED)
_NAME_CHARS: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
_RUN: Final = compile_pattern(r"[^\s\"'`<>|,;(){}\[\]\\&\x80-\xff]*")
_SHELL_RUN: Final = compile_pattern(r"[^\s\"'`\\]*")
_JOINING: Final = frozenset(b"&,;")
_GOES_ON: Final = compile_pattern(r"[A-Za-z_][A-Za-z0-9_.-]*[ \t]*[=:]|[^A-Za-z0-9!@#$%^*+~?_-]|$")
"""What follows "&", "," or ";" if the value ends before that sign: another name, or something that is not part of a
value."""

_CALL: Final = frozenset(b"([{<")
_REFERENCE: Final = compile_pattern(
    r"(?i)^(?:\$[a-z_{(]|\$\$?[A-Z_]+\b|\{\{|%[a-z_(]|#\{|<|@\{|redacted:|\*+$|\\?\$\{|[a-z]+://|arn:|ssh-|sha[0-9]+[:-]"
    r"|md5[:-]|data:|env[.:(]|file:|vault:|op:|ref\+|\.{1,2}/|~?/[a-z]|[a-z]:\\|[0-9]+(?:\.[0-9]+)*$|[a-z_]\w*\(|f[\"']|@[a-z-]+$"
    r"|!(?:vault|secret|ref|sub|getatt|include|env|env_var|reference|importvalue)$|\?[a-z_]*$"
    r"|(?:base64|md5sum|sha[0-9]+sum)$|[a-z0-9]+-hmac-sha[0-9]+$)"
)
_CONSTANT: Final = compile_pattern(
    r"^[A-Z]{2,}[0-9]*_[A-Za-z0-9_]+$|^[a-z_]{2,}(?:\.[A-Za-z_][A-Za-z0-9_]*)*\.[A-Za-z]\w*(?i:key|token|secret|password)$"
)
"""A name in code, alone or with its object ("config.API_TOKEN")."""

_LISTED: Final = compile_pattern(r"^[A-Za-z_][A-Za-z0-9_]*=?$")
_DATE: Final = compile_pattern(r"(?:^|[^0-9])20[0-9]{2}-[01][0-9]-[0-3][0-9](?:[^0-9]|$)")
_PADDED: Final = compile_pattern(r"^[A-Za-z0-9+/]{40,}={1,2}$")
"""Base64, which may begin like a path."""

_MADE_UP: Final = compile_pattern(r"^[A-Za-z0-9._-]*[A-Za-z0-9][!@#$%^&*+~?][A-Za-z0-9!@#$%^&*+~?._-]*$")
"""Words, numbers and signs as people combine them for a password."""

_STATED: Final = compile_pattern(r"(?i)[ \t](?:is|was|ist|war|est|es)[ \t:]+[\"'`*]*$")
"""What stands before a password in a sentence: "is", "was"."""

_ADJECTIVE: Final = compile_pattern(
    r"^base-?[0-9]{2}$|^[A-Za-z0-9]+-(?:[a-z]+(?:ed|able|iert|cod)|only|long|based|free|bit|byte|char(?:acter)?s?)$"
)
"""What a sentence may say of a password: "base64-encoded"."""

_STANDARD: Final = compile_pattern(
    r"(?i)^(?:hmac[-_]?)?(?:sha|md|bcrypt|argon|pbkdf|blake|base|utf|aes|rsa|ed|hs|rs|es|oauth)[-_]?[0-9]{1,5}(?:i?d|[bis])?$"
)
"""Names of methods by which a password is hashed, encrypted or encoded."""

_ADDRESS: Final = compile_pattern(r"@[A-Za-z0-9-]+\.[A-Za-z]|^@|\$[0-9{(]")
_MEMBER: Final = compile_pattern(r"^(?:[A-Za-z_$][A-Za-z0-9_$]{0,2})\.[A-Za-z_$]|^[a-z0-9]{1,4}:[a-z]\.")
_BEFORE: Final = 32
"""Bytes before a name in which further words of it are searched for ("stripe api key")."""

_NUMBER_MIN: Final = 3
"""A word before a name belongs to it if it has fewer digits than this: "s3 key" and "auth0 token" are names, but "4821"
is a value."""

_LOOSE: Final = (b"to", b"as", b"was", b"auf")


class SecretValue(NamedTuple):
    """The position of a value, in bytes, and how it was assigned.

    - ``quoted``: it is in quotes.
    - ``loose``: only blanks or a word such as "to" stand between name and value.
    - ``url``: it is a query parameter of a URL.
    - ``shell``: it is assigned to a shell variable.
    """

    start: int
    end: int
    quoted: bool
    loose: bool = False
    url: bool = False
    shell: bool = False


def read(text: bytes, start: int) -> PlaceReading:
    """Judge the value behind a name in ``text``. ``start``: position of the name's significant word ("PASSWORD" in
    "DB_PASSWORD"). The name may turn out to promise no secret, or the value to be none; both are then refused with a
    reason."""
    named = _NAMED.match(text, start, min(len(text), start + 256))
    if named is None:
        return refusal("value", start, start + 3, "nothing is assigned", start + 3)
    name = _name(text, start, named.end(1))
    value = _value(text, named, name)
    resume = max(start + 3, min(value.start, value.end))
    kind = sort(name)
    if kind is None:
        return refusal("value", value.start, value.end, f"{name!r} names no secret", resume)
    content = text[value.start : min(value.end, value.start + JUDGED_MAX)].decode("latin-1")
    why = _why_unassigned(named.group(2), name, content) or doubts(content, kind, name, value, text)
    if why:
        if value.end - value.start > 2 * LONG:
            resume = max(resume, value.start + LONG)
        return PlaceReading(resume, (), (LetThrough(kind.value, value.start, value.end, why),))
    end = value.end if value.end - value.start < GLANCE else _trim_end(text, value.start, _run(text, value, VALUE_MAX))
    return PlaceReading(
        end, (SecretSpan(_kind(kind, name), value.start, end, f"{name!r} names it", FindingRank.NAMED, name),)
    )


def _why_unassigned(separator: bytes, name: str, content: str) -> str:
    """Return why the text behind a name is not its value; "" if it is."""
    if separator[:1] == b"(" and asks(name):
        return "a function that asks for a value"
    listed = (
        not name.startswith("--")
        and separator.strip(b" \"'`)]}") == b","
        and _LISTED.search(content.encode("latin-1", "replace"))
    )
    return "one of a list of names" if listed and is_identifier(content) else ""


def _kind(kind: NameKind, name: str) -> str:
    service = vendor(name)
    return f"{service}-{kind.value}" if service and kind is not NameKind.PASSWORD else kind.value


def _name(text: bytes, start: int, end: int) -> str:
    """Return the whole name around its significant word: "DB_PASSWORD" for "PASSWORD"."""
    first = max(0, end - NAME_MAX)
    while start > first and text[start - 1] in _NAME_CHARS:
        start -= 1
    if text[start - 1 : start] == b"\\" and text[start : start + 1] in (b"n", b"t", b"r"):
        start += 1
    name = text[start:end].decode("utf-8", "replace")
    if text[start - 1 : start] != b" ":
        return name
    before = text[max(0, start - _BEFORE) : start].decode("latin-1").split()[-2:]
    near = [*takewhile(_belongs_to_name, reversed(before))][::-1]
    return " ".join((*near, name))


def _belongs_to_name(word: str) -> bool:
    """Whether a word before a name may be a part of it, and is not a value."""
    return word.replace("-", "").isalnum() and sum(map(str.isdigit, word)) < _NUMBER_MIN


def _calls(behind: bytes) -> bool:
    """Whether an unquoted value continues like code, with a bracket. A closing tag or a line break in HTML is none."""
    return bool(behind) and behind[0] in _CALL and not behind.startswith((b"</", b"<br"))


def _value(text: bytes, named: ByteMatch, name: str) -> SecretValue:
    """Return the position of the value behind the separator ("=", ":")."""
    separator, start = named.group(2), named.end()
    url = text[max(0, start - len(name) - 2) : start - len(name) - 1] in (b"?", b"&") and separator == b"="
    content = separator.strip(b" \t\"'`*(\\")
    loose = not content or content.lower().endswith(_LOOSE)
    quote = _quote(separator)
    if quote:
        end = _closing(text, start, quote)
        if end > start:
            return SecretValue(start, end, quoted=True, loose=loose)
    shell = separator == b"=" and name.isupper() and not url
    value = SecretValue(start, start, quoted=False, loose=loose, url=url, shell=shell)
    end = _run(text, value, GLANCE)
    if content and not content.startswith(b"=") and separator[-1:] in (b" ", b"\t", b":"):
        end = _end_of_stated(text, value, end)
    element = separator.endswith(b">") and text[end : end + 2] == b"</"
    return value._replace(end=end if element else _trim_end(text, start, end), quoted=element)


def _run(text: bytes, value: SecretValue, most: int) -> int:
    """Return where an unquoted value ends, at most ``most`` bytes behind its start."""
    run = _SHELL_RUN if value.shell else _RUN
    return run.reach(text, value.start, min(len(text), value.start + most))


def _end_of_stated(text: bytes, value: SecretValue, end: int) -> int:
    """Return where a value in a sentence or in YAML ends if its run ended at ``end``. A sign such as "," belongs to the
    value unless a blank or another name follows."""
    limit = min(len(text), value.start + GLANCE)
    while value.start < end < limit and text[end] in _JOINING and not _GOES_ON.match(text, end + 1):
        end = _run(text, value._replace(start=end + 1), limit - end - 1)
    return end


def _quote(separator: bytes) -> bytes:
    """The quote that opens at the end of the separator, with the backslashes before it; b"" if there is none."""
    if separator.endswith((b"\xe2\x80\x9c", b"\xe2\x80\x98")):
        return b"\xe2\x80"
    if separator[-1:] not in (b'"', b"'", b"`"):
        return b""
    bare = separator[:-1].rstrip(b"\\")
    return separator[len(bare) :]


def _closing(text: bytes, start: int, quote: bytes) -> int:
    """Return where the quote closes, on the same line; -1 if it does not."""
    limit = min(len(text), start + VALUE_MAX)
    end = text.find(quote, start, limit)
    while len(quote) == 1 and end > start and _is_escaped(text, start, end):
        end = text.find(quote, end + 1, limit)
    line = text.find(b"\n", start, limit)
    return -1 if 0 <= line < end else end


def _is_escaped(text: bytes, start: int, place: int) -> bool:
    before = text[max(start, place - 16) : place]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 1


def _trim_end(text: bytes, start: int, end: int) -> int:
    """Return the end of a value without the signs that end a sentence or a bracket."""
    content = text[start:end]
    trimmed = content.rstrip(b".,;:?)]}>|*_")
    return start + len(trimmed)


def doubts(content: str, kind: NameKind, name: str, value: SecretValue, text: bytes = b"") -> str:
    """Return why ``content``, the value of ``name``, is not a secret, in a few words; "" if it is one.

    - ``kind``: which kind of secret ``name`` promises; a value of an ambiguous kind is judged more strictly.
    - ``value``: where ``text`` has the value, and how it was assigned. ``text`` is b"" if nothing around the value is
      known.
    """
    if kind is NameKind.CODE:
        digits = content.replace(" ", "").replace("-", "")
        return "" if digits.isdigit() and len(content) >= 4 and not is_placeholder(digits) else "no code"
    raw = content[:256].encode("latin-1", "replace")
    if _REFERENCE.search(raw) and not _PADDED.search(raw):
        return "refers to a value, or is none"
    if text[value.start - 1 : value.start + 1] == b">@":
        return "the host behind a placeholder"
    if not value.quoted and _CONSTANT.search(raw):
        return "reads like code"
    if not value.quoted and (
        (
            "." in content[:8]
            and not (value.shell and not is_identifier(content))
            and _MEMBER.search(content[:8].encode("latin-1", "replace"))
        )
        or _calls(text[value.end : value.end + 3])
    ):
        return "reads like code"
    if is_placeholder(content) or stands_in(content):
        return "a placeholder"
    if kind is NameKind.PASSWORD:
        return _named_password_doubts(content, name, value, text)
    return _opaque_doubts(content, kind, name, value)


def _named_password_doubts(content: str, name: str, value: SecretValue, text: bytes) -> str:
    """Return why the value of a password's name is no password, by the text around it too; "" if it is one."""
    if _STANDARD.search(content[:LONG].encode("latin-1", "replace")):
        return "names a standard"
    if is_worded(content) and _STATED.search(text[max(0, value.start - _BEFORE) : value.start]):
        return ""
    is_pass = name.lower().rsplit(" ", 1)[-1] == "pass"
    if value.loose and is_pass and is_identifier(content) and not is_numbered_name(content):
        return "reads like words"
    return _password_doubts(content, value)


def _password_doubts(content: str, value: SecretValue) -> str:
    if len(content) < 5 or (" " in content and len(content) > 60):
        return "too short or too long for a password"
    if content.isdigit():
        return "" if len(content) >= 6 and not value.loose else "a number"
    end = "" if value.quoted else "!?"
    odd = sum(not char.isalnum() and char not in "-_. /:=" for char in content.rstrip(end))
    if not any(map(str.isdigit, content)) and not odd:
        return "" if len(content) >= 12 and is_opaque(content, 12) else "reads like words"
    if value.loose and not value.quoted:
        return "" if len(content) >= 7 and (not is_identifier(content) or is_made_up(content)) else "reads like words"
    return _code_doubts(content, value)


def is_made_up(content: str) -> bool:
    """Return whether ``content`` looks like a password that a person made up: at least seven characters with letters,
    digits and a sign such as "!" or "#", or a form such as "Meadow-4821qk". An address with "@" does not count."""
    if is_numbered_name(content):
        return True
    raw = content.encode("latin-1", "replace")
    letters, digits = any(map(str.isalpha, content)), any(map(str.isdigit, content))
    return len(content) >= 7 and letters and digits and bool(_MADE_UP.search(raw)) and not _ADDRESS.search(raw)


def _code_doubts(content: str, value: SecretValue) -> str:
    """Return why a value is words or code; "" if it is neither. Words with blanks, and unquoted names with dots,
    are."""
    if " " in content and is_identifier(content):
        return "reads like words"
    if is_numbered_name(content):
        return ""
    if not value.quoted and any(char in content for char in "._") and is_identifier(content):
        return "reads like code"
    if not value.quoted and (content.count("-") > 1 or _is_adjective(content)) and is_identifier(content):
        return "reads like words"
    return ""


def _is_adjective(content: str) -> bool:
    return content[-1:] in "dyegetsr46" and _ADJECTIVE.search(content.encode("latin-1", "replace")) is not None


def _opaque_doubts(content: str, kind: NameKind, name: str, value: SecretValue) -> str:
    if " " in content:
        return "reads like words"
    if kind is NameKind.TOKEN and (is_made_up(content) if value.quoted else is_numbered_name(content)):
        return ""
    if kind is NameKind.WEAK and _DATE.search(content.encode("latin-1", "replace")):
        return "a name with a date"
    known = bool(vendor(name)) or kind is NameKind.TOKEN
    if not known and not value.url and (is_uuid(content) or is_hex(content)):
        return "an identifier or a hash"
    if kind is NameKind.BARE and (not is_mixed(content) or value.loose):
        return "nothing says that this key opens something"
    least = 20 if kind is NameKind.BARE else 16 if kind is NameKind.WEAK or value.loose else 8
    return "" if is_opaque(content, least) else "reads like a name, or is too plain"
