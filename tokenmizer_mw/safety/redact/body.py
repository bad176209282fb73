"""Redacts secrets in JSON text string by string; all other characters stay unchanged.

Only the parts of the text at which the first pass stopped are parsed; the rest is skipped with the C scanner of the
standard library.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw.safety.redact.findings import FindingRank, SecretSpan
from tokenmizer_mw.safety.redact.judge import words
from tokenmizer_mw.safety.redact.keyed import SecretValue, doubts
from tokenmizer_mw.safety.redact.keys import sort, vendor
from tokenmizer_mw.safety.redact.manifests import judge_value
from tokenmizer_mw.wire.json_text import (
    SPACE,
    Edit,
    Span,
    decode_value,
    scan_string,
    skip_space,
    walk_elements,
    walk_members,
)

DEPTH_MAX: Final = 64
"""Levels of arrays and objects that are walked with their names; deeper strings are read without."""

NESTED_MAX: Final = 6
"""Levels of JSON inside strings of JSON."""

Find = Callable[[str, str], list[Edit]]
"""For the name of a member and its text: what to replace in it."""

UNTOUCHED: Final = words(
    "signature encrypted_content thoughtSignature thought_signature id call_id tool_call_id tool_use_id item_id"
    " previous_response_id response_id conversation_id container_id file_id system_fingerprint model role type object"
    " finish_reason stop_reason status service_tier encoding_format mime_type mimeType media_type"
)
"""Members of requests and replies that providers check or that name things: a changed one breaks the call."""

UNTOUCHED_IN: Final = {
    "redacted_thinking": frozenset({"data"}),
    "base64": frozenset({"data"}),
    "inlineData": frozenset({"data"}),
    "inline_data": frozenset({"data"}),
    "input_audio": frozenset({"data"}),
    "audio": frozenset({"data", "base64"}),
    "image": frozenset({"data", "base64"}),
    "video": frozenset({"data", "base64"}),
    "image_generation_call": frozenset({"result"}),
    "input_image": frozenset({"image_url"}),
    "image_url": frozenset({"url", "image_url"}),
    "video_url": frozenset({"url"}),
    "audio_url": frozenset({"url"}),
    "file": frozenset({"file_data", "data", "base64"}),
    "input_file": frozenset({"file_data", "file_url"}),
    "url": frozenset({"url"}),
    "fileData": frozenset({"fileUri"}),
    "file_data": frozenset({"file_uri"}),
    "": frozenset({"data_sources"}),
    "mcp": frozenset({"authorization", "headers", "server_url"}),
    "mcp_servers": frozenset({"authorization_token", "url"}),
    "domain_secrets": frozenset({"value"}),
    **dict.fromkeys(words("streamableHttpTransport streamable_http_transport"), frozenset({"headers", "url"})),
    **dict.fromkeys(words("authConfig auth_config"), frozenset({"apiKey", "api_key"})),
    **dict.fromkeys(words("apiKeyConfig api_key_config"), frozenset({"apiKeyString", "api_key_string"})),
    **dict.fromkeys(words("oauthConfig oauth_config"), frozenset({"accessToken", "access_token"})),
}
"""The same by the name, or by the ``type``, of the object that they are in, "" for the request itself. Providers fetch
what links lead to, signed ones too, and sign in at servers of tools and at data sources with what the request brings
for it; nothing of either is kept."""

LISTED: Final = words("images")
"""Lists whose texts are base 64 or links."""

FREE: Final = words("input arguments args parameters metadata env headers")
"""Objects that hold what people and tools said: no member of them belongs to the API."""

NAMELESS: Final = words("encrypted_content thoughtSignature thought_signature")
"""Members whose names say nothing about their values even there: a thought's signature is no secret."""

HEADERS: Final = words("authorization proxy-authorization cookie set-cookie x-authorization")

DATA_MIN: Final = 256
"""Characters of base 64 behind ``data:`` that are data: fewer may be a key, and are read like any text."""

_DATA: Final = re.compile(r"data:[^,\s]{0,110};base64,([A-Za-z0-9+/]*)={0,2}")
_DATA_TAIL: Final = 64
"""Characters of data that are read with what stands behind it, which may be the rest of a key."""

_MANIFEST: Final = "kind: Secret"
"""The name under which values of a Kubernetes Secret are read."""
_KEY: Final = "jwk_private_key"
"""The name under which private members of JSON web keys are read."""
_READ: Final = frozenset({_MANIFEST, _KEY})
"""Names under which every value is read, also where the first pass stopped nowhere."""
_PRIVATE: Final = words("d p q dp dq qi k")
"""Members of JSON web keys that nobody else may know."""


def member_findings(name: str, raw: bytes, scan: Callable[[bytes], list[SecretSpan]]) -> list[SecretSpan]:
    """Return what the name of a member implies about its value ``raw``."""
    if not name or not raw or "redacted:" in name:
        return []
    if name == _MANIFEST:
        return judge_value(raw, 0, len(raw))
    if name.lower() in HEADERS:
        head = f"{name}: ".encode()
        return [found.shift(-len(head)) for found in scan(head + raw) if found.start >= len(head)]
    kind = sort(name)
    if kind is None:
        return []
    if doubts(raw.decode("latin-1"), kind, name, SecretValue(0, len(raw), quoted=True)):
        return []
    service = vendor(name)
    shown = f"{service}-{kind.value}" if service else kind.value
    return [SecretSpan(shown, 0, len(raw), f"the member {name!r}", FindingRank.NAMED, name)]


def body_edits(text: str, places: list[Span], find: Find) -> list[Edit]:
    """Return the replacements to make in the JSON text, in order of position; empty if nothing is to be redacted.

    - ``places``: spans of ``text`` that the fast first search found suspicious, in order.
    - ``find``: returns the replacements for the name of a member and its text.

    Raises ``ValueError`` if the text is not JSON.
    """
    return _edits(text, places, find, nested=0)


def _edits(text: str, places: list[Span], find: Find, nested: int) -> list[Edit]:
    walk = _Walk(text, places, find, nested)
    try:
        end = walk.value(skip_space(text, int(text.startswith("\ufeff"))), _Context(free=nested > 0))
    except (RecursionError, IndexError):
        raise ValueError("no JSON that can be walked") from None
    if skip_space(text, end) != len(text):
        raise ValueError("extra data behind the value")
    return sorted(walk.edits)


@dataclass(frozen=True, slots=True)
class _Context:
    """Where a value stands: the name it is given, the name of the object around it, how deep, and whether it is free
    of the API's own members. ``sealed`` values stay as they are."""

    name: str = ""
    parent: str = ""
    depth: int = 0
    free: bool = False
    sealed: bool = False


class _Walk:
    """One walk over a JSON text. ``edits`` are in characters of it, in no order."""

    def __init__(self, text: str, places: list[Span], find: Find, nested: int) -> None:
        self._text, self._find, self._nested = text, find, nested
        self._starts = [start for start, _ in places]
        self._ends = [end for _, end in places]
        self.edits: list[Edit] = []

    def value(self, place: int, context: _Context) -> int:
        """Walk the value that starts at ``place``; returns where it ends. Raises ``ValueError`` when it is none."""
        text = self._text
        if text[place] == '"':
            return self._read_string(place, context)
        parsed, end = decode_value(text, place)
        if context.sealed or not (context.name in _READ or self._was_touched(place, end)):
            return end
        if context.depth >= DEPTH_MAX:
            self._flat(place, end)
        elif text[place] == "{":
            self._object(place, parsed, context)
        elif text[place] == "[":
            self._array(place, parsed, context)
        return end

    def _was_touched(self, start: int, end: int) -> bool:
        """Whether the first pass stopped anywhere in ``[start, end)``."""
        place = bisect_right(self._ends, start)
        return place < len(self._starts) and self._starts[place] < end

    def _object(self, place: int, parsed: dict[str, Any], context: _Context) -> None:
        def visit(name: str, span: Span, start: int) -> int:
            self._edit(*span, name)
            return self.value(start, _member(name, parsed, context, self._text[start]))

        walk_members(self._text, place, visit)

    def _array(self, place: int, parsed: list[Any], context: _Context) -> None:
        def visit(index: int, start: int) -> int:
            before = parsed[index - 1] if index else None
            name = before.lstrip("-") if isinstance(before, str) and _names(before, len(parsed)) else ""
            return self.value(start, _Context(name, context.parent, context.depth + 1, context.free, context.sealed))

        walk_elements(self._text, place, visit)

    def _flat(self, place: int, end: int) -> None:
        """Every string in ``[place, end)`` by itself."""
        while 0 <= (start := self._text.find('"', place, end)) < end:
            value, place = scan_string(self._text, start + 1)
            self._edit(start, place, value)

    def _read_string(self, start: int, context: _Context) -> int:
        value, end = scan_string(self._text, start + 1)
        if context.sealed or not (context.name in _READ or self._was_touched(start, end)):
            return end
        inner = self._inside(value)
        self._keep(start, end, value, self._read(context.name, value) if inner is None else inner)
        return end

    def _read(self, name: str, value: str) -> list[Edit]:
        """The edits in a text, of which the data of a ``data:`` URL that it begins with stays as it is."""
        data = _DATA.match(value)
        if data is None or data.end() - data.start(1) < DATA_MIN:
            return self._find(name, value)
        end = data.end()
        start = end - _DATA_TAIL
        edits = self._find(name, value[start:])
        return [(first + start, last + start, new) for first, last, new in edits if last + start > end]

    def _inside(self, value: str) -> list[Edit] | None:
        """The edits in JSON that a string holds; ``None`` when it holds none."""
        if self._nested >= NESTED_MAX or value.strip(SPACE)[:1] not in ("{", "["):
            return None
        try:
            return _edits(value, [(0, len(value))], self._find, self._nested + 1)
        except ValueError:
            return None

    def _edit(self, start: int, end: int, value: str) -> None:
        """Read a string without a name between its quotes at ``start`` and before ``end``."""
        if self._was_touched(start, end):
            self._keep(start, end, value, self._find("", value))

    def _keep(self, start: int, end: int, value: str, edits: list[Edit]) -> None:
        """Keep edits in the text of a string as edits of the raw text, where escapes take more room."""
        if not edits:
            return
        if end - start - 2 == len(value):
            self.edits += [(first + start + 1, last + start + 1, new) for first, last, new in edits]
            return
        places = _Escapes(self._text, start + 1, end - 1)
        self.edits += [(places.raw(first), places.raw(last), new) for first, last, new in edits]


class _Escapes:
    """Where the characters of a JSON string stand in its raw text ``[start, end)``."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._decoded, self._raw = [0], [start]
        place = start
        while (place := text.find("\\", place, end)) >= 0:
            length = _length(text, place)
            self._decoded += (self._decoded[-1] + place - self._raw[-1], self._decoded[-1] + place - self._raw[-1] + 1)
            self._raw += (place, place + length)
            place += length

    def raw(self, position: int) -> int:
        """The place in the raw text of a place in the string."""
        index = bisect_right(self._decoded, position) - 1
        return self._raw[index] + position - self._decoded[index]


def _length(text: str, place: int) -> int:
    """Characters of the escape at ``place``: two, six, or twelve for the two halves of one character."""
    if text[place + 1] != "u":
        return 2
    first = text[place + 2 : place + 6].lower()
    second = text[place + 6 : place + 12].lower()
    halves = "d800" <= first <= "dbff" and second[:2] == "\\u" and "dc00" <= second[2:] <= "dfff"
    return 12 if halves else 6


def _member(name: str, parsed: dict[str, Any], context: _Context, opening: str) -> _Context:
    """The context of a member of an object."""
    sort_of = parsed.get("type")
    inside = UNTOUCHED_IN.get(context.parent, frozenset()) | UNTOUCHED_IN.get(str(sort_of), frozenset())
    sealed = not context.free and (name in inside or _stays(name, parsed[name], opening))
    free = context.free or (name in FREE and opening == "{")
    if context.parent == "functionResponse" and name == "response":
        free = True
    named = "" if name in NAMELESS else _name_member(name, parsed, context)
    return _Context(named, name, context.depth + 1, free, sealed or context.sealed)


def _stays(name: str, value: object, opening: str) -> bool:
    """Whether a member of the API stays as it is wherever it stands."""
    if opening == '"':
        return name in UNTOUCHED
    return name in LISTED and isinstance(value, list) and all(isinstance(one, str) for one in value)


def _names(element: str, count: int) -> bool:
    """Whether an element of an array of ``count`` names the next one: a flag, or the name of a header in a pair."""
    return element.startswith("-") or (count == 2 and ("-" in element or element.lower() in HEADERS))


def _name_member(name: str, parsed: dict[str, Any], context: _Context) -> str:
    """What a member's value is called: by a neighbour in lists of names and values, by its kind in a Secret."""
    if name in ("value", "SecretValue"):
        other = parsed.get("name", parsed.get("key", parsed.get("Name", "")))
        return other if isinstance(other, str) and other else name
    if parsed.get("kind") == "Secret" and name in ("data", "stringData"):
        return _MANIFEST
    if "kty" in parsed and name in _PRIVATE:
        return _KEY
    return context.name if context.name in _READ else name
