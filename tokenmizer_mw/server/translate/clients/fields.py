"""A request's fields: what becomes of each is told by a table, and each is read with its place for those who must
find a fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from tokenmizer_mw.errors import MalformedRequest, Untranslatable


@dataclass(frozen=True, slots=True)
class Field:
    """What becomes of a field. It is ``carried``; or it is left out, for ``reason``: whatever its value, or only with
    one of ``values``. Any other value is refused; ``null`` never is, since it tells nothing."""

    carried: bool = False
    reason: str = ""
    values: tuple[Any, ...] | None = ()


Table = Mapping[str, Field]
"""Every field of an object by its name. A field that it does not hold is refused."""

CARRIED: Final = Field(carried=True)
REFUSED: Final = Field()


def left_out(reason: str) -> Field:
    """A field that no reply depends on."""
    return Field(reason=reason, values=None)


def only(*values: Any, reason: str = "is what happens anyway") -> Field:
    """A field that is refused unless it has one of ``values``."""
    return Field(reason=reason, values=values)


CACHED: Final = left_out("marks what a provider may keep in its cache; the answer is the same")
READ: Final = left_out("the same once more, as the client's SDK has read it")


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a JSON object and its place in the request, "" for the request itself.

    The readers give what the field tells, and raise ``MalformedRequest`` where it is of another kind. A field that is
    absent or ``null`` tells nothing.
    """

    raw: Mapping[str, Any]
    path: str = ""

    def at(self, name: str) -> str:
        """The place of a field."""
        return f"{self.path}.{name}" if self.path else name

    def text(self, name: str, default: str = "") -> str:
        """A text, ``default`` when it is not told."""
        return str(self._of(name, str, "a text", default))

    def needed(self, name: str) -> str:
        """A text that must be there, and not empty."""
        return self.text(name) or self._malformed(name, "a text is needed")

    def flag(self, name: str) -> bool | None:
        """True or false."""
        value: bool | None = self._of(name, bool, "true or false", None)
        return value

    def whole(self, name: str) -> int | None:
        """A whole number."""
        value = self.number(name)
        if value is not None and value != int(value):
            self._malformed(name, "a whole number is needed")
        return None if value is None else int(value)

    def number(self, name: str) -> float | None:
        """A number."""
        value = self.raw.get(name)
        if isinstance(value, bool) or (isinstance(value, float) and not isfinite(value)):
            self._malformed(name, "a number is needed")
        number: float | None = self._of(name, int | float, "a number", None)
        return number

    def mapping(self, name: str) -> Mapping[str, Any] | None:
        """An object as it is."""
        value: Mapping[str, Any] | None = self._of(name, dict, "an object", None)
        return value

    def child(self, name: str, table: Table) -> Fields | None:
        """An object whose fields are in ``table``."""
        value = self.mapping(name)
        return None if value is None else checked(value, self.at(name), table)

    def needed_child(self, name: str, table: Table) -> Fields:
        """An object that must be there."""
        return self.child(name, table) or self._malformed(name, "an object is needed")

    def items(self, name: str) -> list[Fields]:
        """The objects of a list, unchecked: what kind each is, its own fields tell."""
        return [
            Fields(item, f"{self.at(name)}[{place}]")
            if isinstance(item, dict)
            else self._malformed(f"{name}[{place}]", "an object is needed")
            for place, item in enumerate(self.values(name))
        ]

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, or one text in its place."""
        if isinstance(value := self.raw.get(name), str):
            return (value,)
        values = self.values(name)
        if not all(isinstance(value, str) for value in values):
            self._malformed(name, "a text or a list of texts is needed")
        return tuple(values)

    def values(self, name: str) -> list[Any]:
        """A list as it is."""
        value: list[Any] = self._of(name, list, "a list", [])
        return value

    def checked(self, table: Table) -> Fields:
        """Return these fields after checking them against ``table``.

        Raises ``Untranslatable`` for the first field that is not in ``table``, or whose value the table refuses.
        """
        return checked(self.raw, self.path, table)

    def one_of(self, name: str, tables: Mapping[str, Table], default: str = "") -> Fields:
        """These fields by the table of their kind, which the field ``name`` tells. Raises ``Untranslatable`` for a
        kind that is not in ``tables``."""
        kind = self.text(name, default)
        if kind not in tables:
            raise Untranslatable(self.at(name), f"{self.at(name)} {kind!r} has no counterpart in other dialects")
        return self.checked(tables[kind])

    def variant(self, name: str, tables: Mapping[str, Table]) -> Fields | None:
        """An object by the table of its kind, which its field "type" tells."""
        value = self.mapping(name)
        return None if value is None else Fields(value, self.at(name)).one_of("type", tables)

    def untranslatable(self, name: str, reason: str = "") -> Untranslatable:
        """The error for a field that cannot be said elsewhere."""
        return Untranslatable(self.at(name), f"{self.at(name)}: {reason}" if reason else "")

    def _of(self, name: str, kind: Any, called: str, default: Any) -> Any:
        value = self.raw.get(name)
        if value is not None and not isinstance(value, kind):
            self._malformed(name, f"{called} is needed")
        return default if value is None else value

    def _malformed(self, name: str, reason: str) -> Any:
        raise MalformedRequest(f"{self.at(name)}: {reason}")


def client_field(name: str, words: Mapping[str, str]) -> str:
    """The client's field for ``name``, or for what it begins with; "" in ``words`` stands for what follows."""
    head, _, rest = name.partition(".")
    found = words.get(name, words.get(head))
    return name if found is None else found or rest


def checked(raw: Mapping[str, Any], path: str, table: Table) -> Fields:
    """The fields of an object at ``path``. Raises ``Untranslatable`` for the first that ``table`` does not let pass."""
    fields = Fields(raw, path)
    for name, value in raw.items():
        field = table.get(name)
        if field is None:
            raise fields.untranslatable(name, "no such field is known")
        if value is not None and not field.carried and field.values is not None and value not in field.values:
            raise fields.untranslatable(name, "has no counterpart in other dialects")
    return fields
