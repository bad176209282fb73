"""Typed access to request fields. A table says how each field is handled; errors name the field's path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from tokenmizer_mw.errors import MalformedRequest, Untranslatable


@dataclass(frozen=True, slots=True)
class Field:
    """How a request field is handled.

    A field is translated (``carried``), or dropped for ``reason``: with any value (``values`` is ``None``) or only with
    one of ``values``. Any other value is refused. ``null`` is never refused.
    """

    carried: bool = False
    reason: str = ""
    values: tuple[Any, ...] | None = ()


Table = Mapping[str, Field]
"""Every field of an object by its name. A field that it does not hold is refused."""

CARRIED: Final = Field(carried=True)
REFUSED: Final = Field()


def left_out(reason: str) -> Field:
    """Return a field that is dropped because the reply does not depend on it."""
    return Field(reason=reason, values=None)


def only(*values: Any, reason: str = "is what happens anyway") -> Field:
    """Return a field that is refused unless it has one of ``values``; these are dropped."""
    return Field(reason=reason, values=values)


CACHED: Final = left_out("marks what a provider may keep in its cache; the answer is the same")
READ: Final = left_out("the same once more, as the client's SDK has read it")


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a JSON object, and the object's path in the request ("" for the request itself).

    The methods return a field's value and raise ``MalformedRequest`` if it has another type. A field that is absent or
    ``null`` counts as not set.
    """

    raw: Mapping[str, Any]
    path: str = ""

    def at(self, name: str) -> str:
        """Return the path of a field."""
        return f"{self.path}.{name}" if self.path else name

    def text(self, name: str, default: str = "") -> str:
        """Return a string; ``default`` if it is not set."""
        return str(self._of(name, str, "a text", default))

    def required_text(self, name: str) -> str:
        """Return a string that must be set and not empty."""
        return self.text(name) or self._raise_malformed(name, "a text is needed")

    def flag(self, name: str) -> bool | None:
        """Return a boolean; ``None`` if it is not set."""
        value: bool | None = self._of(name, bool, "true or false", None)
        return value

    def whole(self, name: str) -> int | None:
        """Return an integer; ``None`` if it is not set."""
        value = self.number(name)
        if value is not None and value != int(value):
            self._raise_malformed(name, "a whole number is needed")
        return None if value is None else int(value)

    def number(self, name: str) -> float | None:
        """Return a finite number; ``None`` if it is not set."""
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
        """Return an object after checking its fields against ``table``; ``None`` if it is not set."""
        value = self.mapping(name)
        return None if value is None else check_fields(value, self.at(name), table)

    def needed_child(self, name: str, table: Table) -> Fields:
        """Return an object that must be set, after checking its fields against ``table``."""
        return self.child(name, table) or self._raise_malformed(name, "an object is needed")

    def items(self, name: str) -> list[Fields]:
        """Return the objects of a list without checking their fields; an empty list if it is not set."""
        return [
            Fields(item, f"{self.at(name)}[{place}]")
            if isinstance(item, dict)
            else self._raise_malformed(f"{name}[{place}]", "an object is needed")
            for place, item in enumerate(self.values(name))
        ]

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of strings; a single string counts as a list of one."""
        if isinstance(value := self.raw.get(name), str):
            return (value,)
        values = self.values(name)
        if not all(isinstance(value, str) for value in values):
            self._raise_malformed(name, "a text or a list of texts is needed")
        return tuple(values)

    def values(self, name: str) -> list[Any]:
        """Return a list unchecked; an empty one if it is not set."""
        value: list[Any] = self._of(name, list, "a list", [])
        return value

    def check(self, table: Table) -> Fields:
        """Return these fields after checking them against ``table``.

        Raises ``Untranslatable`` for the first field that is not in ``table``, or whose value the table refuses.
        """
        return check_fields(self.raw, self.path, table)

    def one_of(self, name: str, tables: Mapping[str, Table], default: str = "") -> Fields:
        """Return these fields after checking them against the table of their kind, the value of the field ``name``.

        Raises ``Untranslatable`` for a kind that is not in ``tables``.
        """
        kind = self.text(name, default)
        if kind not in tables:
            raise Untranslatable(self.at(name), f"{self.at(name)} {kind!r} has no counterpart in other dialects")
        return self.check(tables[kind])

    def variant(self, name: str, tables: Mapping[str, Table]) -> Fields | None:
        """Return an object after checking it against the table of its "type"; ``None`` if it is not set."""
        value = self.mapping(name)
        return None if value is None else Fields(value, self.at(name)).one_of("type", tables)

    def untranslatable(self, name: str, reason: str = "") -> Untranslatable:
        """Return the error for a field that other dialects cannot express."""
        return Untranslatable(self.at(name), f"{self.at(name)}: {reason}" if reason else "")

    def _of(self, name: str, kind: Any, called: str, default: Any) -> Any:
        value = self.raw.get(name)
        if value is not None and not isinstance(value, kind):
            self._raise_malformed(name, f"{called} is needed")
        return default if value is None else value

    def _raise_malformed(self, name: str, reason: str) -> Any:
        raise MalformedRequest(f"{self.at(name)}: {reason}")


def client_field(name: str, words: Mapping[str, str]) -> str:
    """Return the client's name of the field ``name``, from ``words``, which maps whole names or their first component.

    A value of "" in ``words`` stands for the rest of the name; a name that is not in ``words`` is returned unchanged.
    """
    head, _, rest = name.partition(".")
    found = words.get(name, words.get(head))
    return name if found is None else found or rest


def check_fields(raw: Mapping[str, Any], path: str, table: Table) -> Fields:
    """Return the fields of an object at ``path``. Raises ``Untranslatable`` for the first field that ``table``
    refuses."""
    fields = Fields(raw, path)
    for name, value in raw.items():
        field = table.get(name)
        if field is None:
            raise fields.untranslatable(name, "no such field is known")
        if value is not None and not field.carried and field.values is not None and value not in field.values:
            raise fields.untranslatable(name, "has no counterpart in other dialects")
    return fields
