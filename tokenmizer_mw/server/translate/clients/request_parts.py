"""What the request parsers of all client dialects share: typed fields, attachments, tool results and tool names.

A table says how each field is handled; errors name the field's path.
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

    A field is translated (``carried``), or dropped because of ``reason``: with any value if ``values`` is ``None``,
    else only with one of ``values``. Any other value is refused. ``null`` is never refused.
    """

    carried: bool = False
    reason: str = ""
    values: tuple[Any, ...] | None = ()


Table = Mapping[str, Field]
"""How each field of a JSON object is handled, by the field's name. A field that is not in the table is refused."""

CARRIED: Final = Field(carried=True)
REFUSED: Final = Field()


def carry(*names: str) -> Table:
    """Return a table that lets the fields ``names`` be converted into the provider's format, whatever their values, and
    not dropped or refused (see ``Field``)."""
    return dict.fromkeys(names, CARRIED)


def left_out(reason: str) -> Field:
    """Return how a field is handled that is dropped, whatever its value, because the reply does not depend on it."""
    return Field(reason=reason, values=None)


def only(*values: Any) -> Field:
    """Return how a field is handled that is dropped with one of ``values``, which say what happens anyway, and refused
    with any other value."""
    return Field(reason="is the default", values=values)


CACHED: Final = left_out("marks what a provider may keep in its cache; the answer is the same")
READ: Final = left_out("the same once more, as the client's SDK has read it")


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a JSON object in a request, and the object's path in it ("" for the request itself).

    The methods return a field's value and raise ``MalformedRequest`` if it has another type. A field that is absent or
    ``null`` counts as not set.
    """

    raw: Mapping[str, Any]
    path: str = ""

    def at(self, name: str) -> str:
        """Return the path of the field ``name`` in the request, such as "tools[0].name", for error messages."""
        return f"{self.path}.{name}" if self.path else name

    def text(self, name: str, default: str = "") -> str:
        """Return the string in field ``name``; ``default`` if the field is not set (absent or ``null``)."""
        return str(self._of(name, str, "a text", default))

    def required_text(self, name: str) -> str:
        """Return the string in field ``name``. Raises ``MalformedRequest`` if it is not set or empty."""
        return self.text(name) or self._raise_malformed(name, "a text is needed")

    def flag(self, name: str) -> bool | None:
        """Return the boolean in field ``name``; ``None`` if the field is not set (absent or ``null``)."""
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
        """Return the finite number in field ``name``; ``None`` if the field is not set (absent or ``null``)."""
        value = self.raw.get(name)
        if isinstance(value, bool) or (isinstance(value, float) and not isfinite(value)):
            self._raise_malformed(name, "a number is needed")
        number: float | None = self._of(name, int | float, "a number", None)
        return number

    def mapping(self, name: str) -> Mapping[str, Any] | None:
        """Return the JSON object in field ``name``, its own fields unchecked; ``None`` if it is missing or null.

        Raises ``MalformedRequest`` for a value that is no object.
        """
        value: Mapping[str, Any] | None = self._of(name, dict, "an object", None)
        return value

    def child(self, name: str, table: Table) -> Fields | None:
        """Return the JSON object in field ``name``; ``None`` if the field is not set (absent or ``null``).

        Raises ``MalformedRequest`` for a value that is no object, and ``Untranslatable`` if the object has a field
        that is not in ``table`` (how each field is handled, by name), or whose value ``table`` refuses.
        """
        value = self.mapping(name)
        return None if value is None else check_fields(value, self.at(name), table)

    def needed_child(self, name: str, table: Table) -> Fields:
        """Return the JSON object in field ``name`` as ``child`` does. Raises ``MalformedRequest`` if it is not set."""
        return self.child(name, table) or self._raise_malformed(name, "an object is needed")

    def items(self, name: str) -> list[Fields]:
        """Return the JSON objects in the list in field ``name``, their fields unchecked; an empty list if the field is
        not set (absent or ``null``). Raises ``MalformedRequest`` if an item is no object."""
        return [
            Fields(item, f"{self.at(name)}[{place}]")
            if isinstance(item, dict)
            else self._raise_malformed(f"{name}[{place}]", "an object is needed")
            for place, item in enumerate(self.values(name))
        ]

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the strings in the list in field ``name``; a single string counts as a list of one. Empty if the field
        is not set (absent or ``null``)."""
        if isinstance(value := self.raw.get(name), str):
            return (value,)
        values = self.values(name)
        if not all(isinstance(value, str) for value in values):
            self._raise_malformed(name, "a text or a list of texts is needed")
        return tuple(values)

    def values(self, name: str) -> list[Any]:
        """Return the list in field ``name``, its items unchecked; an empty list if the field is not set (absent or
        ``null``)."""
        value: list[Any] = self._of(name, list, "a list", [])
        return value

    def check(self, table: Table) -> Fields:
        """Return these fields after checking them against ``table``.

        Raises ``Untranslatable`` for the first field that is not in ``table``, or whose value the table refuses.
        """
        return check_fields(self.raw, self.path, table)

    def one_of(self, name: str, tables: Mapping[str, Table], default: str = "") -> Fields:
        """Return these fields after checking them against one of ``tables``. The value of the field ``name`` selects
        the table; ``default`` is its value if the field is missing.

        Raises ``Untranslatable`` for a value that is not in ``tables``, and as ``check`` does.
        """
        kind = self.text(name, default)
        if kind not in tables:
            raise Untranslatable(self.at(name), f"{self.at(name)} {kind!r} has no counterpart in other dialects")
        return self.check(tables[kind])

    def variant(self, name: str, tables: Mapping[str, Table]) -> Fields | None:
        """Return the JSON object in field ``name`` after checking its fields against the table for its "type"; ``None``
        if the field is not set (absent or ``null``). Raises as ``one_of`` does."""
        value = self.mapping(name)
        return None if value is None else Fields(value, self.at(name)).one_of("type", tables)

    def untranslatable(self, name: str, reason: str = "") -> Untranslatable:
        """Return the error for the field ``name``, which other dialects cannot express. ``reason``: for people; "" for
        a standard text."""
        return Untranslatable(self.at(name), f"{self.at(name)}: {reason}" if reason else "")

    def _of(self, name: str, kind: Any, called: str, default: Any) -> Any:
        value = self.raw.get(name)
        if value is not None and not isinstance(value, kind):
            self._raise_malformed(name, f"{called} is needed")
        return default if value is None else value

    def _raise_malformed(self, name: str, reason: str) -> Any:
        raise MalformedRequest(f"{self.at(name)}: {reason}")


def check_fields(raw: Mapping[str, Any], path: str, table: Table) -> Fields:
    """Return the fields of the object ``raw`` at ``path`` in the request. Raises ``Untranslatable`` for the first field
    that ``table`` refuses or does not have."""
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
    """Return an attachment for a link; a data URL is decoded into its media type and base64 data.

    ``detail`` "auto" means the provider's default. ``at``: path of the field for errors. Raises ``MalformedRequest``
    for a data URL that is not base64.
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
    """Return the content in the field ``name`` as parts: of a string, or of a list of objects, which ``read`` parses.
    Each object is checked against the table of its type in ``tables``, as in ``Fields.one_of``. An empty list if the
    field is not set."""
    if isinstance(fields.raw.get(name), str):
        return [chat.Text(fields.text(name))]
    return [read(part.one_of("type", tables)) for part in fields.items(name)]


def make_turns(role: chat.Role, parts: Iterable[chat.Part]) -> list[chat.ChatTurn]:
    """Return ``parts`` as a list of one turn, without empty texts; an empty list if there is nothing else."""
    values = tuple(part for part in parts if not (isinstance(part, chat.Text) and not part.text))
    return [chat.ChatTurn(role, values)] if values else []


def join_turns(values: Iterable[chat.ChatTurn]) -> tuple[chat.ChatTurn, ...]:
    """Return ``values`` with consecutive assistant turns, and consecutive turns of tool results, merged into one turn
    each. Each tool result gets the name of its tool, if its call is among ``values``."""
    return _name_results([chat.ChatTurn(role, tuple(chain(*parts))) for role, parts in _runs(values)])


def _runs(values: Iterable[chat.ChatTurn]) -> Iterator[tuple[chat.Role, list[tuple[chat.Part, ...]]]]:
    for (role, alone), run in groupby(values, key=_sort):
        if alone:
            yield from ((role, [one.parts]) for one in run)
        else:
            yield role, [one.parts for one in run]


def _sort(one: chat.ChatTurn) -> tuple[chat.Role, bool]:
    """Return the role of a turn, and whether it must not be merged with its neighbours: turns of users and systems are
    not merged, turns of tool results and of the assistant are."""
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
    """Return a signature in the form in which a client of ``dialect`` gets it: ``seal`` itself if ``dialect`` is its
    origin ``sealed_by``, else with the origin in front ("gemini:..."). Returns "" if there is no signature."""
    alone = sealed_by in ("", dialect) and not _TAGGED.fullmatch(seal)
    return seal if alone or not seal else f"{sealed_by}:{seal}"


def untag_seal(seal: str, dialect: str) -> tuple[str, str]:
    """Undo ``tag_seal``: return the signature without the tag, and its origin. ``seal``: the signature as a client of
    ``dialect`` sent it back.

    The tag names the origin; without a tag the origin is ``dialect``. Returns two empty strings if ``seal`` is "".
    """
    found = _TAGGED.fullmatch(seal)
    if found is not None:
        return found.group(2), found.group(1)
    return seal, dialect if seal else ""


def call_id(call: chat.ModelToolCall) -> str:
    """Return the id of a tool call for the client, with the call's signature in it. Clients send the id back with the
    call and with the result, so that the signature is preserved."""
    if not call.seal:
        return call.id
    seal = urlsafe_b64encode(call.seal.encode("utf-8", "replace")).decode("ascii").rstrip("=")
    return f"{call.id}__sealed_by_{call.sealed_by}__{seal}"


def bare_id(sent: str) -> str:
    """Return the id of a tool call without the signature that ``call_id`` put into it."""
    return sealed_call(sent, "", "").id


def sealed_call(sent: str, name: str, arguments: str) -> chat.ModelToolCall:
    """Undo ``call_id``: return the tool call with its own id, and with the signature that the id ``sent`` contains, if
    any."""
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
    """Return reasoning that a client of ``dialect`` sent back. ``seal``: its signature as ``tag_seal`` returned it.
    ``hidden``: true if the client does not see the text."""
    proof, sealed_by = untag_seal(seal, dialect)
    return chat.Thought(text, proof, sealed_by, hidden=hidden)
