"""Classes and functions with which the translators for clients parse requests: typed access to fields, attachments,
tool results, tool names, and signatures that clients send back.

Tables say how each field is handled; errors name the field's path in the request.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from math import isfinite
from typing import Any, Final, Literal

import re2

from tokenmizer_mw.errors import MalformedRequest, Untranslatable
from tokenmizer_mw.server.translate import chat


@dataclass(frozen=True, slots=True)
class Field:
    """How a request field is handled: translated, dropped or refused.

    - ``carried`` true: any value is accepted, and the caller translates it.
    - Otherwise a value in ``values`` is dropped, for ``reason``, and any other value is refused. ``values`` of ``None``
      drops any value; ``()`` refuses any value.

    The value ``null`` of a field in a ``Table`` is never refused.
    """

    carried: bool = False
    reason: str = ""
    values: tuple[Any, ...] | None = ()


Table = Mapping[str, Field]
"""Name of a field of a JSON object -> how the field is handled. A field that is not in the table is refused."""

CARRIED: Final = Field(carried=True)
REFUSED: Final = Field()


def carry(*names: str) -> Table:
    """Return a table that accepts the fields ``names`` with any value; the caller translates them."""
    return dict.fromkeys(names, CARRIED)


def left_out(reason: str) -> Field:
    """Return how a field is handled that is dropped, whatever its value, because the reply does not depend on it.
    ``reason``: why, for readers of the code."""
    return Field(reason=reason, values=None)


def only(*values: Any) -> Field:
    """Return how a field is handled that has only values without effect: one of ``values`` is dropped, any other value
    is refused."""
    return Field(reason="is the default", values=values)


CACHED: Final = left_out("marks what a provider may keep in its cache; the answer is the same")
READ: Final = left_out("the same once more, as the client's SDK has read it")


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one JSON object in a request. ``raw``: the object. ``path``: where it is in the request, such as
    "tools[0]"; "" for the request itself.

    The methods return a field's value and raise ``MalformedRequest`` if it has another type. A field that is absent or
    ``null`` is treated as not set.
    """

    raw: Mapping[str, Any]
    path: str = ""

    def at(self, name: str) -> str:
        """Return the path of the field ``name`` in the request, such as "tools[0].name", for error messages."""
        return f"{self.path}.{name}" if self.path else name

    def text(self, name: str, default: str = "") -> str:
        """Return the string in the field ``name``; ``default`` if the field is not set (absent or ``null``). Raises
        ``MalformedRequest`` for another type."""
        return str(self._of(name, str, "a text", default))

    def required_text(self, name: str) -> str:
        """Return the string in the field ``name``. Raises ``MalformedRequest`` if the field is not set or "", or has
        another type."""
        return self.text(name) or self._raise_malformed(name, "a text is needed")

    def flag(self, name: str) -> bool | None:
        """Return the boolean in the field ``name``; ``None`` if the field is not set (absent or ``null``). Raises
        ``MalformedRequest`` for another type."""
        value: bool | None = self._of(name, bool, "true or false", None)
        return value

    def whole(self, name: str) -> int | None:
        """Return the integer in field ``name`` (2.0 counts as 2); ``None`` if the field is not set (absent or
        ``null``). Raises ``MalformedRequest`` for any other value, such as 2.5 or "2"."""
        value = self.number(name)
        if value is not None and value != int(value):
            self._raise_malformed(name, "a whole number is needed")
        return None if value is None else int(value)

    def number(self, name: str) -> float | None:
        """Return the number in the field ``name``; ``None`` if the field is not set (absent or ``null``). Raises
        ``MalformedRequest`` for another type, and for NaN and infinity."""
        value = self.raw.get(name)
        if isinstance(value, bool) or (isinstance(value, float) and not isfinite(value)):
            self._raise_malformed(name, "a number is needed")
        number: float | None = self._of(name, int | float, "a number", None)
        return number

    def mapping(self, name: str) -> Mapping[str, Any] | None:
        """Return the JSON object in the field ``name``; ``None`` if the field is not set (absent or ``null``). The
        object's own fields are not checked.

        Raises ``MalformedRequest`` for a value that is no object.
        """
        value: Mapping[str, Any] | None = self._of(name, dict, "an object", None)
        return value

    def child(self, name: str, table: Table) -> Fields | None:
        """Return the JSON object in the field ``name``, checked against ``table``; ``None`` if the field is not set
        (absent or ``null``).

        Raises ``MalformedRequest`` for a value that is no object, and ``Untranslatable`` if ``table`` refuses one of
        the object's fields or does not have it.
        """
        value = self.mapping(name)
        return None if value is None else check_fields(value, self.at(name), table)

    def needed_child(self, name: str, table: Table) -> Fields:
        """Return the JSON object in the field ``name``, checked against ``table``. Raises ``MalformedRequest`` if the
        field is not set or no object, and ``Untranslatable`` if ``table`` refuses one of the object's fields or does
        not have it."""
        return self.child(name, table) or self._raise_malformed(name, "an object is needed")

    def items(self, name: str) -> list[Fields]:
        """Return the JSON objects in the list in the field ``name``; ``[]`` if the field is not set (absent or
        ``null``). The objects' fields are not checked. Raises ``MalformedRequest`` if the value is no list or an item
        is no object."""
        return [
            Fields(item, f"{self.at(name)}[{place}]")
            if isinstance(item, dict)
            else self._raise_malformed(f"{name}[{place}]", "an object is needed")
            for place, item in enumerate(self.values(name))
        ]

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the strings in the list in the field ``name``; a single string is treated as a list of one. ``()`` if
        the field is not set (absent or ``null``). Raises ``MalformedRequest`` for another type."""
        if isinstance(value := self.raw.get(name), str):
            return (value,)
        values = self.values(name)
        if not all(isinstance(value, str) for value in values):
            self._raise_malformed(name, "a text or a list of texts is needed")
        return tuple(values)

    def values(self, name: str) -> list[Any]:
        """Return the list in the field ``name``; ``[]`` if the field is not set (absent or ``null``). The items are not
        checked. Raises ``MalformedRequest`` if the value is no list."""
        value: list[Any] = self._of(name, list, "a list", [])
        return value

    def check(self, table: Table) -> Fields:
        """Check these fields against ``table``, and return them.

        Raises ``Untranslatable`` for the first field that ``table`` refuses or does not have.
        """
        return check_fields(self.raw, self.path, table)

    def one_of(self, name: str, tables: Mapping[str, Table], default: str = "") -> Fields:
        """Check these fields against one of ``tables``, and return them. The value of the field ``name``, such as a
        type, selects the table; ``default`` is used if that field is not set.

        Raises ``Untranslatable`` if ``tables`` has no such value, and for a field that the selected table refuses or
        does not have.
        """
        kind = self.text(name, default)
        if kind not in tables:
            raise Untranslatable(self.at(name), f"{self.at(name)} {kind!r} has no counterpart in other dialects")
        return self.check(tables[kind])

    def variant(self, name: str, tables: Mapping[str, Table]) -> Fields | None:
        """Return the JSON object in the field ``name``, checked against the table that its own field "type" selects;
        ``None`` if the field ``name`` is not set (absent or ``null``).

        Raises ``MalformedRequest`` for a value that is no object, and ``Untranslatable`` if ``tables`` has no such type
        or the selected table refuses a field or does not have it.
        """
        value = self.mapping(name)
        return None if value is None else Fields(value, self.at(name)).one_of("type", tables)

    def untranslatable(self, name: str, reason: str = "") -> Untranslatable:
        """Return (not raise) the error for the field ``name``, which other API formats cannot express. ``reason``: text
        for people; "" for a standard text."""
        return Untranslatable(self.at(name), f"{self.at(name)}: {reason}" if reason else "")

    def _of(self, name: str, kind: Any, called: str, default: Any) -> Any:
        value = self.raw.get(name)
        if value is not None and not isinstance(value, kind):
            self._raise_malformed(name, f"{called} is needed")
        return default if value is None else value

    def _raise_malformed(self, name: str, reason: str) -> Any:
        raise MalformedRequest(f"{self.at(name)}: {reason}")


def check_fields(raw: Mapping[str, Any], path: str, table: Table) -> Fields:
    """Check the JSON object ``raw`` against ``table``, and return its fields. ``path``: where the object is in the
    request, "" for the request itself. Raises ``Untranslatable`` for the first field that ``table`` refuses or does not
    have."""
    fields = Fields(raw, path)
    for name, value in raw.items():
        field = table.get(name)
        if field is None:
            raise fields.untranslatable(name, "no such field is known")
        if value is not None and not field.carried and field.values is not None and value not in field.values:
            raise fields.untranslatable(name, "has no counterpart in other dialects")
    return fields


_DATA_URL = re2.compile(r"(?is)data:([^;,]*)((?:;[^;,]*)*),(.*)")
_BASE64: Final = ";base64"
_Kind = Literal["image", "document", "audio"]


def attachment(kind: _Kind, link: str, *, at: str, detail: str = "", name: str = "") -> chat.Attachment:
    """Return an attachment for ``link``, a link or a data URL. A data URL is split into its media type and its base64
    data.

    ``at``: path of the field, for errors. ``detail``: resolution of an image; "auto" means the provider's default.
    Raises ``MalformedRequest`` for a data URL that is not base64.
    """
    detail = "" if detail == "auto" else detail
    found = _DATA_URL.fullmatch(link) if link[:5].lower() == "data:" else None
    if found is None:
        return chat.Attachment(kind, url=link, detail=detail, name=name)
    media_type, options, data = found.groups()
    if not options.lower().endswith(_BASE64):
        raise MalformedRequest(f"{at}: data in base64 are needed")
    return chat.Attachment(kind, media_type.lower(), data, detail=detail, name=name)


def read_content(
    fields: Fields, name: str, tables: Mapping[str, Table], read: Callable[[Fields], chat.Part]
) -> list[chat.Part]:
    """Return the content of a message, which is in the field ``name``, as a list of parts. The content is a string or a
    list of objects; ``[]`` if the field is not set.

    Each object is checked against the table that its type selects in ``tables``, and parsed by ``read``. Raises
    ``MalformedRequest`` if the content is neither a string nor a list of objects, and ``Untranslatable`` for a type or
    field that is unknown or refused.
    """
    if isinstance(fields.raw.get(name), str):
        return [chat.Text(fields.text(name))]
    return [read(part.one_of("type", tables)) for part in fields.items(name)]


def make_turns(role: chat.Role, parts: Iterable[chat.Part]) -> list[chat.ChatTurn]:
    """Return a list with one turn of the role ``role`` that has ``parts`` without empty texts; ``[]`` if no part is
    left."""
    values = tuple(part for part in parts if not (isinstance(part, chat.Text) and not part.text))
    return [chat.ChatTurn(role, values)] if values else []


def join_turns(values: Iterable[chat.ChatTurn]) -> tuple[chat.ChatTurn, ...]:
    """Merge consecutive assistant turns into one, and consecutive turns that have only tool results into one; return
    all turns. Each tool result without a tool name gets the name of its tool, if the call comes before it in
    ``values``."""
    return _name_results([chat.ChatTurn(role, tuple(chain(*parts))) for role, parts in _runs(values)])


def _runs(values: Iterable[chat.ChatTurn]) -> Iterator[tuple[chat.Role, list[tuple[chat.Part, ...]]]]:
    for (role, alone), run in groupby(values, key=_sort):
        if alone:
            yield from ((role, [one.parts]) for one in run)
        else:
            yield role, [one.parts for one in run]


def _sort(one: chat.ChatTurn) -> tuple[chat.Role, bool]:
    """Return two values: the role of a turn, and whether it must not be merged with its neighbours. Turns of the
    assistant and of tool results are merged, those of users and systems are not."""
    results = all(isinstance(part, chat.ModelToolResult) for part in one.parts)
    return one.role, not (one.role == "assistant" or (one.role == "user" and results))


def _name_results(pieces: Sequence[chat.ChatTurn]) -> tuple[chat.ChatTurn, ...]:
    names: dict[str, str] = {}
    named = []
    for one in pieces:
        names |= {part.id: part.name for part in one.parts if isinstance(part, chat.ModelToolCall)}
        parts = tuple(_with_name(part, names) if isinstance(part, chat.ModelToolResult) else part for part in one.parts)
        named.append(chat.ChatTurn(one.role, parts))
    return tuple(named)


def _with_name(result: chat.ModelToolResult, names: dict[str, str]) -> chat.ModelToolResult:
    return result if result.name else replace(result, name=names.get(result.call_id, ""))


_TAGGED = re2.compile(r"(?s)(anthropic|cohere|gemini|ollama|openai_chat|openai_responses):(.*)")
_IN_ID = re2.compile(r"(?s)(.*?)__sealed_by_([a-z_]+?)__([A-Za-z0-9_-]*)")


def tag_seal(seal: str, sealed_by: str, dialect: str) -> str:
    """Return a provider's signature in the form in which a client of the API format ``dialect`` gets it: unchanged if
    its origin ``sealed_by`` is "" or that API format, else with the origin in front, such as "gemini:...". "" if there
    is no signature."""
    alone = sealed_by in ("", dialect) and not _TAGGED.fullmatch(seal)
    return seal if alone or not seal else f"{sealed_by}:{seal}"


def untag_seal(seal: str, dialect: str) -> tuple[str, str]:
    """Undo ``tag_seal``: return the signature without the origin in front, and the origin. ``seal``: the signature as a
    client of ``dialect`` sent it back.

    Without an origin in front, the origin is ``dialect``. Two empty strings if ``seal`` is "".
    """
    found = _TAGGED.fullmatch(seal)
    if found is not None:
        return found.group(2), found.group(1)
    return seal, dialect if seal else ""


def call_id(call: chat.ModelToolCall) -> str:
    """Return the id of a tool call as the client gets it: if the provider signed the call, the signature is part of the
    id. Clients send the id back with the call and with the result, so the signature is not lost."""
    if not call.seal:
        return call.id
    seal = urlsafe_b64encode(call.seal.encode("utf-8", "replace")).decode("ascii").rstrip("=")
    return f"{call.id}__sealed_by_{call.sealed_by}__{seal}"


def bare_id(sent: str) -> str:
    """Return the id of a tool call without the signature that ``call_id`` added. ``sent``: the id as the client sent
    it."""
    return sealed_call(sent, "", "").id


def sealed_call(sent: str, name: str, arguments: str) -> chat.ModelToolCall:
    """Undo ``call_id``: return a tool call with its own id and with the signature that was part of ``sent``, the id as
    the client sent it. If ``sent`` has no signature, it is the id."""
    found = _IN_ID.fullmatch(sent)
    if found is None:
        return chat.ModelToolCall(sent, name, arguments)
    bare, sealed_by, packed = found.groups()
    try:
        seal = urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode()
    except ValueError:
        return chat.ModelToolCall(sent, name, arguments)
    return chat.ModelToolCall(bare, name, arguments, seal, sealed_by)


def make_thought(text: str, seal: str, dialect: str, *, hidden: bool = False) -> chat.Thought:
    """Return reasoning that a client of ``dialect`` sent back. ``seal``: its signature as ``tag_seal`` returned it, ""
    for none. ``hidden``: whether there is only a signature and no readable text."""
    proof, sealed_by = untag_seal(seal, dialect)
    return chat.Thought(text, proof, sealed_by, hidden=hidden)
