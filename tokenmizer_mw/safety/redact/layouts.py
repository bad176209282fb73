"""Readers of secrets that are recognised by the layout around them: PEM and PGP blocks, PuTTY keys, JSON web keys,
cookie headers, Markdown tables, comma-separated values and SQL inserts. Kubernetes manifests have a module of their
own.

The header of a table names its columns; a cell in a column whose name promises a secret is judged like a value of that
name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokenmizer_mw.safety.redact.findings import (
    FindingRank,
    LetThrough,
    PlaceReading,
    Reader,
    SecretSpan,
    begins_word,
    refusal,
)
from tokenmizer_mw.safety.redact.judge import is_opaque, is_placeholder, words
from tokenmizer_mw.safety.redact.keyed import SecretValue, doubts
from tokenmizer_mw.safety.redact.keys import NAME_MAX, NameKind, sort
from tokenmizer_mw.safety.redact.manifests import KIND, read_manifest
from tokenmizer_mw.safety.redact.pattern import compile_pattern

PRIVATE: Final = (
    r"-{4,5}[ ]?BEGIN[ ](?:(?:[A-Z0-9]{2,12}[ ]){0,4}(?:PRIVATE[ ]KEY(?:[ ]BLOCK)?|(?:PGP|GPG)[ ]MESSAGE)"
    r"|OpenVPN[ ](?:tls-crypt-v2[ ])?(?:Static[ ]key[ ]V1|client[ ]key|server[ ]key))[ ]?-{4,5}"
)
_BREAK: Final = r"(?:\s|\\+[nrt]|[\"'`,|>#*;+()\\]|[\n\r][ \t]*(?:[0-9]{1,6}[:|\t ]|\xe2\x86\x92|-)|\xe2\x86\x92)"
_HEADER: Final = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID)[ ]?:[^\n\\]{0,200}"
_BEGIN: Final = compile_pattern(PRIVATE)
_LINE: Final = compile_pattern(
    rf"{_BREAK}*(?:{_HEADER}|(?:[0-9]{{1,6}}[:|\t\x80-\xff ]+)?[A-Za-z0-9+/]{{20,}}={{0,2}}"
    r"|=[A-Za-z0-9+/]{4}(?:[^A-Za-z0-9]|$))"
)
_REST: Final = compile_pattern(
    rf"(?:{_BREAK}*[A-Za-z0-9+/]{{1,76}}={{0,2}})?{_BREAK}*(?:\.\.\.{_BREAK}*)?-{{4,5}}[ ]?END[ ][A-Za-z0-9 ]+-{{4,5}}"
)
_LAST: Final = compile_pattern(rf"{_BREAK}+[A-Za-z0-9+/]{{2,76}}={{1,2}}")
_BLOCK_END: Final = compile_pattern(r"-{4,5}[ ]?END[ ](?:[A-Z0-9]{2,12}[ ]){0,4}PRIVATE[ ]KEY(?:[ ]BLOCK)?-{4,5}")
_TAIL_BODY: Final = compile_pattern(
    rf"(?:[A-Za-z0-9+/]{{40,}}={{0,2}}{_BREAK}+)+(?:[A-Za-z0-9+/]{{1,76}}={{0,2}}{_BREAK}+)?$"
)
TAIL_MAX: Final = 8192


def read_block(text: bytes, start: int) -> PlaceReading:
    """Judge the key block whose BEGIN line starts at ``start``. The secret reaches to the END line, both lines
    included; without an END line, as far as the key's lines continue. Refused if the lines contain no key, or only a
    placeholder."""
    begin = _BEGIN.match(text, start, min(len(text), start + 120))
    if begin is None:
        return refusal("private-key", start, start + 5, "no key begins here", start + 5)
    end = begin.end()
    while (line := _LINE.match(text, end)) is not None:
        end = line.end()
    lines = text[begin.end() : end].decode("latin-1")
    rest = _REST.match(text, end) or _LAST.match(text, end)
    end = rest.end() if rest is not None else end
    head = text[start : start + 60]
    kind = "pgp-private-key" if b"PGP" in head or b"GPG" in head else "private-key"
    if len(lines) < 20 or (len(lines) < 400 and is_placeholder(lines)):
        return refusal(kind, start, end, "a block without a key", max(start + 5, end - 1))
    return PlaceReading(end, (SecretSpan(kind, start, end, "a key block", FindingRank.OWN),))


def read_block_end(text: bytes, start: int) -> PlaceReading:
    """Judge the end of a key block: its END line starts at ``start``, and its BEGIN line is missing. The secret is the
    key's lines before the END line, and that line. Refused if there are no such lines, or if a BEGIN line precedes
    them."""
    end = _BLOCK_END.match(text, start)
    if end is None:
        return refusal("private-key", start, start + 5, "no key ends here", start + 5)
    before = text[max(0, start - TAIL_MAX) : start]
    lines = _TAIL_BODY.search(before)
    if lines is None or b"BEGIN" in before[max(0, lines.start() - 60) : lines.start()]:
        return refusal("private-key", start, end.end(), "nothing of a key before it", end.end())
    first = start - len(before) + lines.start()
    return PlaceReading(
        end.end(), (SecretSpan("private-key", first, end.end(), "the end of a key block", FindingRank.OWN),)
    )


_PUTTY: Final = compile_pattern(
    r"Private-Lines:[ ]?[0-9]{1,3}((?:(?:\s|\\+[nr])+[A-Za-z0-9+/]{20,}={0,2})+"
    r"(?:(?:\s|\\+[nr])+[A-Za-z0-9+/]{2,64}={1,2})?)"
)


def read_putty(text: bytes, start: int) -> PlaceReading:
    """Judge the private lines of a PuTTY key. ``start``: position of its "Private-Lines:". Refused if no key lines
    follow."""
    lines = _PUTTY.match(text, start)
    if lines is None:
        return refusal("private-key", start, start + 8, "no private lines", start + 8)
    inner = lines.group(1)
    first = lines.end() - len(inner.lstrip(b"\\nr \t\r\n"))
    return PlaceReading(
        lines.end(), (SecretSpan("private-key", first, lines.end(), "private lines of a PuTTY key", FindingRank.OWN),)
    )


_KEY_MEMBER: Final = compile_pattern(
    r"[{,\s]\\*[\"'](?:d|p|q|dp|dq|qi|k)\\*[\"'][ \t]*:[ \t]*\\*[\"']([A-Za-z0-9_-]{22,})\\*[\"']"
)
KEY_MAX: Final = 8192
"""Bytes before and behind the type of a JSON web key in which its other members are searched for."""


def read_web_key(text: bytes, start: int) -> PlaceReading:
    """Find the private members ("d", "p" and others) of a JSON web key, each as one secret. ``start``: position within
    the object, where its type was found. Refused if no object encloses it."""
    first = text.rfind(b"{", max(0, start - KEY_MAX), start)
    last = text.find(b"}", start, start + KEY_MAX)
    if first < 0 or last < 0:
        return refusal("web-key", start, start + 5, "no object", start + 5)
    found: list[SecretSpan] = []
    place = first
    while (member := _KEY_MEMBER.search(text, place, last)) is not None:
        place = member.end()
        found.append(SecretSpan("web-key", *member.span(1), "a private member of a JSON web key", FindingRank.OWN))
    return PlaceReading(last, tuple(found))


_COOKIES: Final = compile_pattern(r"(?i)(?:set-)?cookie\\*[\"']?[ \t]*[:=,][ \t]*\\*[\"']?")
_PAIR: Final = compile_pattern(r"[ \t]*([A-Za-z0-9_.%-]{1,80})=([^;\s\"'`\\,]*)(?:;|$|[\"'`\s\\,])")
_ATTRIBUTES: Final = words("path domain expires max-age samesite secure httponly priority partitioned version")
_SESSION: Final = (
    "sess", "sid", "auth", "token", "jwt", "remember", "csrf", "xsrf", "login", "identity", "secret", "access",
    "refresh",
    "ticket", "aspnet", ".aspxauth", "laravel", "connect", "sso", "user_key", "credential", "bearer", "_id",
)  # fmt: skip


def read_cookies(text: bytes, start: int) -> PlaceReading:
    """Judge the cookies of the ``Cookie`` or ``Set-Cookie`` header that starts at ``start``. Each value that looks
    random is a secret; if the name of the cookie suggests a session or a login, a shorter value is enough."""
    head = _COOKIES.match(text, start)
    if head is None or not begins_word(text, start):
        return refusal("cookie", start, start + 6, "no header", start + 6)
    found: list[SecretSpan] = []
    refused: list[LetThrough] = []
    place = head.end()
    while (pair := _PAIR.match(text, place, min(len(text), place + 8192))) is not None:
        name, value = pair.group(1).decode("latin-1").lower(), pair.group(2).decode("latin-1")
        first, last = pair.span(2)
        least = 8 if any(word in name for word in _SESSION) else 24
        if name not in _ATTRIBUTES and is_opaque(value, least):
            found.append(SecretSpan("cookie", first, last, f"the cookie {name!r}", FindingRank.PLACED))
        elif name not in _ATTRIBUTES:
            refused.append(LetThrough("cookie", first, last, "reads like a name, or is too plain"))
        place = pair.end()
        if text[place - 1] != 0x3B:
            break
    return PlaceReading(max(place - 1, start + 6), tuple(found), tuple(refused))


BLOCKS: Final[tuple[tuple[str, Reader], ...]] = (
    (PRIVATE, read_block),
    (r"-{4,5}[ ]?END[ ][A-Z0-9 ]{0,30}PRIVATE[ ]KEY", read_block_end),
    (r"Private-Lines:", read_putty),
    (r"[\"']kty\\*[\"'][ \t]*:[ \t]*\\*[\"'](?:RSA|EC|OKP|oct)", read_web_key),
    (KIND, read_manifest),
    (
        r"(?i:(?:set-)?cookie\\*[\"']?[ \t]*[:=,][ \t]*\\*[\"']?)"
        r"(?:[^\s=;\"']+=[^\s;\"']{0,7};[ ]?)*[^\s=;\"']+=[^\s;\"']{8}",
        read_cookies,
    ),
)
"""Pairs of an RE2 pattern for the beginning of a layout, and the reader that judges the text there."""


TABLE_MAX: Final = 16384
"""Bytes of a table or of an SQL statement, behind its header, that are read."""

HEAD_MAX: Final = 1024
"""Largest number of bytes of the header of a table."""

_NAMES: Final = (
    r"(?:pass(?:word|wort|wd|phrase)?|pwd|pw|secret|token|credentials?|(?:secret|api|access|private|auth)[ _-]?"
    r"(?:access[ _-]?)?key|contrase\xc3\xb1a|senha|mot de passe|wachtwoord)"
)
_CELL: Final = r"[ \t*`\"']*"
TABLE_HEAD: Final = (
    rf"(?i:[|,;\t]{_CELL}(?:[a-z]{{1,12}}[ _-])?{_NAMES}{_CELL}(?:[|,;\t][^\n\\]{{0,80}})?(?:\r?\n|\\+n))"
)
"""RE2 for the header of a table in which the name of one column promises a secret."""

INSERT_HEAD: Final = rf"(?i:insert[ \t]+into[ \t]+[^\s(]{{1,80}}[ \t]*\([^()]{{0,200}}\b{_NAMES}[a-z_]{{0,16}}\b)"
"""RE2 for an SQL statement that fills a column whose name promises a secret."""

_DECORATION: Final = b" \t*`\"'"
_ROW: Final = compile_pattern(r"([^\r\n\\]*)(?:\r?\n|\\+n|$)")
_COLUMNS: Final = compile_pattern(r"(?i)insert[ \t]+into[ \t]+[^\s(]+[ \t]*\(([^()]*)\)\s*values\s*")
_TUPLE: Final = compile_pattern(r"[\s,]*\(((?:'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|[^()'\"])*)\)")
_FIELD: Final = compile_pattern(r"\s*((?:[NE]?'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|[^,'\"])+),?")


def read_table(text: bytes, start: int) -> PlaceReading:
    """Judge the cells of a table (Markdown, CSV, TSV) in the columns whose names promise a password or a token.
    ``start``: position of a separator in the header line. The table ends at the first row with another number of
    cells."""
    mark = text[start : start + 1]
    line = _line(text, start)
    head = _ROW.match(text, line, min(len(text), line + HEAD_MAX))
    if head is None or head.end() <= start:
        return refusal("value", start, start + 3, "no head of a table", start + 3)
    names = [_cell_text(cell) for cell in head.group(1).split(mark)]
    kinds = _secret_columns(names)
    found: list[SecretSpan] = []
    place, limit = head.end(), min(len(text), head.end() + TABLE_MAX)
    while kinds and place < limit and (row := _ROW.match(text, place, limit)) is not None:
        cells = row.group(1).split(mark)
        if len(cells) != len(names) or any(sort(_cell_text(cells[column])) is kind for column, kind in kinds):
            break
        for column, kind in kinds:
            first = row.start(1) + sum(map(len, cells[:column])) + column
            found += _judge_cell(text, _bare(text, first, first + len(cells[column])), kind, names[column])
        place = max(row.end(), place + 1)
    return PlaceReading(place if found else max(start + 3, head.end() - 1), tuple(found))


def _secret_columns(names: list[str]) -> list[tuple[int, NameKind]]:
    """Return the columns that hold secrets, judged by their names: index and kind of each."""
    kinds = enumerate(map(sort, names))
    return [(place, kind) for place, kind in kinds if kind in (NameKind.PASSWORD, NameKind.TOKEN)]


def _line(text: bytes, start: int) -> int:
    """Return the start of the line around ``start``; line breaks may be escaped."""
    before = text[max(0, start - HEAD_MAX) : start]
    return start - len(before) + max(before.rfind(b"\n") + 1, before.rfind(b"\\n") + 2 if b"\\n" in before else 0)


def _cell_text(cell: bytes) -> str:
    """The text of a cell without blanks, quotes and emphasis around it."""
    return cell[:NAME_MAX].strip(_DECORATION).decode("utf-8", "replace")


def _bare(text: bytes, start: int, end: int) -> tuple[int, int]:
    """Return start and end of a cell's text, without blanks, quotes and emphasis around it."""
    cell = text[start:end]
    first = start + len(cell) - len(cell.lstrip(_DECORATION))
    return first, max(first, start + len(cell.rstrip(_DECORATION)))


def _judge_cell(text: bytes, cell: tuple[int, int], kind: NameKind, name: str) -> list[SecretSpan]:
    """Return the cell's span if its value is a secret under the column's name; else an empty list."""
    start, end = cell
    value = text[start : min(end, start + HEAD_MAX)].decode("latin-1")
    if (
        not any(map(str.isdigit, value))
        or " " in value
        or doubts(value, kind, name, SecretValue(start, end, quoted=True))
    ):
        return []
    return [SecretSpan(kind.value, start, end, f"the column {name!r}", FindingRank.NAMED, name)]


def read_insert(text: bytes, start: int) -> PlaceReading:
    """Judge the values that the SQL statement at ``start`` inserts into columns whose names promise a password or a
    token. Only quoted values count."""
    columns = _COLUMNS.match(text, start, min(len(text), start + HEAD_MAX))
    if columns is None:
        return refusal("value", start, start + 6, "no columns and values", start + 6)
    names = [name.strip(b' \t\r\n`"[]').decode("utf-8", "replace") for name in columns.group(1).split(b",")]
    kinds = _secret_columns(names)
    found: list[SecretSpan] = []
    place, limit = columns.end(), min(len(text), columns.end() + TABLE_MAX)
    while kinds and (values := _TUPLE.match(text, place, limit)) is not None:
        fields = list(_fields(text, *values.span(1)))
        for column, kind in kinds:
            if column < len(fields):
                found += _judge_cell(text, fields[column], kind, names[column])
        place = values.end()
    return PlaceReading(max(columns.end(), start + 6), tuple(found))


def _fields(text: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of each field of a row, inside its quotes; an empty span for a field without quotes."""
    while start < end and (field := _FIELD.match(text, start, end)) is not None and field.end() > start:
        first, last = field.span(1)
        if text[first:last].rstrip()[-1:] in (b"'", b'"'):
            yield _bare(text, first + (text[first : first + 1] in (b"N", b"E")), last)
        else:
            yield first, first
        start = field.end()
