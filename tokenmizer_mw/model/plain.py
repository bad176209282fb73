"""Convert typed values to plain JSON values and back, by their type annotations."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from tokenmizer_mw.model.event import Event, decode, encode, message_from_dict, message_to_dict
from tokenmizer_mw.model.message import Message


@dataclass(frozen=True, slots=True)
class ValueCodec:
    """Functions that convert values of a type to JSON values and back. ``plain``: the values are JSON values already.

    ``read`` raises ``LookupError``, ``TypeError`` or ``ValueError`` for anything that ``write`` did not return.
    """

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    plain: bool = False


def forms(kind: type[Any], but: Collection[str] = ()) -> dict[str, ValueCodec]:
    """Return the codec of each field of a dataclass, except the fields ``but``. Raises ``TypeError`` if a field has
    none.
    """
    hints = get_type_hints(kind)
    return {field.name: form(hints[field.name]) for field in fields(kind) if field.name not in but}


@cache
def form(hint: Any) -> ValueCodec:
    """Return the codec of a type: plain types, enumerations, events, messages, dataclasses, and lists, tuples, mappings
    and options of them. Raises ``TypeError`` for others.
    """
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _KNOWN:
        return _KNOWN[hint]
    if origin in (Union, UnionType):
        return _either(tuple(part for part in parts if part is not NoneType), NoneType in parts, hint)
    if origin in _MANY:
        return _many(_MANY[origin], parts)
    if origin in (dict, Mapping, MutableMapping):
        return _mapping(form(parts[0]), form(parts[1]))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enumeration(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return _record(hint)
    raise TypeError(f"values of {hint} have no plain form")


def _same(value: Any) -> Any:
    return value


def _event(stored: Any) -> Event:
    kind, version, payload = stored
    return decode(kind, version, payload)


_PLAIN: Final = ValueCodec(_same, _same, plain=True)
_EVENT: Final = ValueCodec(encode, _event)
_KNOWN: Final[dict[Any, ValueCodec]] = (
    dict.fromkeys((int, str, bool, float, NoneType), _PLAIN)
    | dict.fromkeys((Event, *get_args(Event)), _EVENT)
    | {Message: ValueCodec(message_to_dict, message_from_dict)}
)
_MANY: Final[dict[Any, Callable[[Iterable[Any]], Any]]] = {list: list, deque: deque, tuple: tuple}


def _either(options: tuple[Any, ...], maybe: bool, hint: Any) -> ValueCodec:
    found = [form(option) for option in options]
    if all(one.plain for one in found):
        return _PLAIN
    if len(found) != 1 or not maybe:
        raise TypeError(f"values of {hint} have no plain form")
    write, read = found[0].write, found[0].read
    if isinstance(options[0], type) and issubclass(options[0], Enum):
        members = {None: None} | {each.value: each for each in options[0]}
        return ValueCodec(lambda value: value and value.value, members.__getitem__)
    return ValueCodec(
        lambda value: None if value is None else write(value), lambda value: None if value is None else read(value)
    )


def _enumeration(kind: type[Enum]) -> ValueCodec:
    members = {each.value: each for each in kind}
    return ValueCodec(lambda value: value.value, members.__getitem__)


def _many(made: Callable[[Iterable[Any]], Any], parts: tuple[Any, ...]) -> ValueCodec:
    if all(part is Ellipsis or form(part).plain for part in parts):
        return ValueCodec(list, made)
    if made is tuple and parts[-1] is not Ellipsis:
        each = [form(part) for part in parts]
        return ValueCodec(
            lambda values: [one.write(value) for one, value in zip(each, values, strict=True)],
            lambda items: tuple(one.read(item) for one, item in zip(each, items, strict=True)),
        )
    item = form(parts[0])
    return ValueCodec(lambda values: list(map(item.write, values)), lambda value: made(map(item.read, value)))


def _mapping(keys: ValueCodec, values: ValueCodec) -> ValueCodec:
    return ValueCodec(
        lambda mapping: [[keys.write(key), values.write(value)] for key, value in mapping.items()],
        lambda pairs: {keys.read(key): values.read(value) for key, value in pairs},
    )


def _record(kind: type[Any]) -> ValueCodec:
    known = forms(kind)

    def read(value: Any) -> Any:
        if value.keys() != known.keys():
            raise ValueError(f"not the fields of a {kind.__name__}")
        return kind(**{name: one.read(value[name]) for name, one in known.items()})

    return ValueCodec(lambda value: {name: one.write(getattr(value, name)) for name, one in known.items()}, read)
