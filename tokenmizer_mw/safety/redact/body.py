"""Redact secrets in JSON text string by string; all other characters stay unchanged.

Only the parts of the text in which a first, fast search found something suspicious are parsed; the rest is skipped with
the C scanner of the standard library.
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
"""Number of nested arrays and objects down to which a string is judged together with the name of its member. Deeper
strings are judged without a name."""

NESTED_MAX: Final = 6
"""Number of levels to which JSON in strings of JSON is parsed. A deeper one is redacted as plain text."""

Find = Callable[[str, str], list[Edit]]
"""Function that returns the replacements in a text. It gets two arguments: the name of the member whose value the text
is ("" for none), and the text."""

UNTOUCHED: Final = words(
    "signature encrypted_content thoughtSignature thought_signature id call_id tool_call_id tool_use_id item_id"
    " previous_response_id response_id conversation_id container_id file_id system_fingerprint model role type object"
    " finish_reason stop_reason status service_tier encoding_format mime_type mimeType media_type"
)
"""Members of requests and replies whose texts are never redacted, because a changed one breaks the call: providers
check it, or it names something."""

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
"""Further members that are never redacted, by the name or the ``type`` of the object that contains them ("": a
top-level object or array). Providers open links in them, signed ones too, and use credentials in them for servers of
tools and data sources; none of these is stored."""

LISTED: Final = words("images")
"""Members whose value, if it is a list of texts, is never redacted, because the texts are base64 or links."""

FREE: Final = words("input arguments args parameters metadata env headers")
"""Objects whose contents come from people and tools, so that every member in them is scanned, whatever its name."""

NAMELESS: Final = words("encrypted_content thoughtSignature thought_signature")
"""Members whose names do not make their values secret, such as the signature of a model's reasoning."""

HEADERS: Final = words("authorization proxy-authorization cookie set-cookie x-authorization")

DATA_MIN: Final = 256
"""Fewest characters of base64 behind ``data:`` that count as the content of a file, which is not scanned. Fewer may be
a key, and are scanned like any text."""

_DATA: Final = re.compile(r"data:[^,\s]{0,110};base64,([A-Za-z0-9+/]*)={0,2}")
_DATA_TAIL: Final = 64
"""Last characters of such file content that are scanned with the text behind it, which may be the rest of a key."""

_MANIFEST: Final = "kind: Secret"
"""Name that stands for "value of a Kubernetes Secret" in this module."""
_KEY: Final = "jwk_private_key"
"""Name that stands for "private member of a JSON web key" in this module."""
_READ: Final = frozenset({_MANIFEST, _KEY})
"""Names whose values are all scanned, even if the first pass found nothing suspicious."""
_PRIVATE: Final = words("d p q dp dq qi k")
"""Members of a JSON web key that are secret."""


def member_findings(name: str, raw: bytes, scan: Callable[[bytes], list[SecretSpan]]) -> list[SecretSpan]:
    """Return the secrets in ``raw``, the value of the JSON member ``name``, that are recognised by that name, such as
    "password"; ``[]`` for none. Positions are in bytes of ``raw``.

    ``scan``: finds the secrets in a text; it is called if ``name`` is an HTTP header such as "authorization", with the
    header as it stands in HTTP.
    """
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
    """Return the replacements in the JSON text, in order of position; empty if nothing is to be redacted. Positions are
    in characters of ``text``.

    - ``places``: spans of ``text``, in order, in which a secret may begin; strings outside of them are skipped.
    - ``find``: gets a name and a string without JSON's escapes, and returns the replacements in that string. The name
      is that of the string's member, or of a flag before it in an array; "" for none.

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
    """Where a value stands in the JSON.

    ``name``: the name by which it is judged, "" for none; ``parent``: the name of the object around it; ``depth``:
    number of arrays and objects around it; ``free``: whether it is in an object of ``FREE``; ``sealed``: whether it is
    never redacted.
    """

    name: str = ""
    parent: str = ""
    depth: int = 0
    free: bool = False
    sealed: bool = False


class _Walk:
    """One walk over a JSON text. ``edits``: the replacements found, in characters of the text, unordered."""

    def __init__(self, text: str, places: list[Span], find: Find, nested: int) -> None:
        self._text, self._find, self._nested = text, find, nested
        self._starts = [start for start, _ in places]
        self._ends = [end for _, end in places]
        self.edits: list[Edit] = []

    def value(self, place: int, context: _Context) -> int:
        """Walk over the value that starts at ``place``; return where it ends. Raises ``ValueError`` if there is no
        value."""
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
        """Whether the first pass found something suspicious in ``[start, end)``."""
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
        """Redact every string in ``[place, end)``, without the names of members."""
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
        """Return the replacements in a text. File content in a ``data:`` URL at its start stays unchanged."""
        data = _DATA.match(value)
        if data is None or data.end() - data.start(1) < DATA_MIN:
            return self._find(name, value)
        end = data.end()
        start = end - _DATA_TAIL
        edits = self._find(name, value[start:])
        return [(first + start, last + start, new) for first, last, new in edits if last + start > end]

    def _inside(self, value: str) -> list[Edit] | None:
        """Return the replacements in JSON that a string contains; ``None`` if it contains none."""
        if self._nested >= NESTED_MAX or value.strip(SPACE)[:1] not in ("{", "["):
            return None
        try:
            return _edits(value, [(0, len(value))], self._find, self._nested + 1)
        except ValueError:
            return None

    def _edit(self, start: int, end: int, value: str) -> None:
        """Redact a string that has no name, such as the name of a member. ``start``, ``end``: its quotes, the closing
        one included."""
        if self._was_touched(start, end):
            self._keep(start, end, value, self._find("", value))

    def _keep(self, start: int, end: int, value: str, edits: list[Edit]) -> None:
        """Store replacements in a string's value as replacements in the raw JSON text, in which escapes are longer."""
        if not edits:
            return
        if end - start - 2 == len(value):
            self.edits += [(first + start + 1, last + start + 1, new) for first, last, new in edits]
            return
        places = _Escapes(self._text, start + 1, end - 1)
        self.edits += [(places.raw(first), places.raw(last), new) for first, last, new in edits]


class _Escapes:
    """Maps positions in a JSON string's value to positions in its raw text ``[start, end)``."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._decoded, self._raw = [0], [start]
        place = start
        while (place := text.find("\\", place, end)) >= 0:
            length = _length(text, place)
            self._decoded += (self._decoded[-1] + place - self._raw[-1], self._decoded[-1] + place - self._raw[-1] + 1)
            self._raw += (place, place + length)
            place += length

    def raw(self, position: int) -> int:
        """Return the position in the raw text for a position in the value."""
        index = bisect_right(self._decoded, position) - 1
        return self._raw[index] + position - self._decoded[index]


def _length(text: str, place: int) -> int:
    """Number of characters of the escape at ``place``: two, six, or twelve for a surrogate pair."""
    if text[place + 1] != "u":
        return 2
    first = text[place + 2 : place + 6].lower()
    second = text[place + 6 : place + 12].lower()
    halves = "d800" <= first <= "dbff" and second[:2] == "\\u" and "dc00" <= second[2:] <= "dfff"
    return 12 if halves else 6


def _member(name: str, parsed: dict[str, Any], context: _Context, opening: str) -> _Context:
    """Return the context of a member's value."""
    sort_of = parsed.get("type")
    inside = UNTOUCHED_IN.get(context.parent, frozenset()) | UNTOUCHED_IN.get(str(sort_of), frozenset())
    sealed = not context.free and (name in inside or _stays(name, parsed[name], opening))
    free = context.free or (name in FREE and opening == "{")
    if context.parent == "functionResponse" and name == "response":
        free = True
    named = "" if name in NAMELESS else _name_member(name, parsed, context)
    return _Context(named, name, context.depth + 1, free, sealed or context.sealed)


def _stays(name: str, value: object, opening: str) -> bool:
    """Whether a member is never redacted, wherever it stands."""
    if opening == '"':
        return name in UNTOUCHED
    return name in LISTED and isinstance(value, list) and all(isinstance(one, str) for one in value)


def _names(element: str, count: int) -> bool:
    """Whether an element of an array of ``count`` elements names the next one: a flag, or the name of a header in a
    pair."""
    return element.startswith("-") or (count == 2 and ("-" in element or element.lower() in HEADERS))


def _name_member(name: str, parsed: dict[str, Any], context: _Context) -> str:
    """Return the name by which a member's value is judged: normally that of the member. In a list of names and values
    it is the neighbour's value, in a Kubernetes Secret or a JSON web key a name for that kind."""
    if name in ("value", "SecretValue"):
        other = parsed.get("name", parsed.get("key", parsed.get("Name", "")))
        return other if isinstance(other, str) and other else name
    if parsed.get("kind") == "Secret" and name in ("data", "stringData"):
        return _MANIFEST
    if "kty" in parsed and name in _PRIVATE:
        return _KEY
    return context.name if context.name in _READ else name
