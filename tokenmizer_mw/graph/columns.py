"""Convert a graph, and other typed values, to plain JSON values and back, for storing them.

A graph of thousands of nodes is read several times faster from columns than from records. Ids and times are stored
once, in tables; columns refer to them by index.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from itertools import chain, repeat
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Final, Generic, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from tokenmizer_mw.graph.fold import Life, SessionGraph
from tokenmizer_mw.model.event import Event, decode, encode, message_from_dict, message_to_dict
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.model.node import Edge, Node, Source, Status, Transition


@dataclass(frozen=True, slots=True)
class ValueCodec:
    """Two functions: ``write`` converts a value of a type to JSON values, ``read`` converts back. ``plain``: the values
    are JSON values already, so that both functions return them unchanged.

    For anything that ``write`` did not return, ``read`` may raise ``LookupError``, ``TypeError``, ``ValueError`` or
    ``AttributeError``.
    """

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    plain: bool = False


def forms(kind: type[Any], but: Collection[str] = ()) -> dict[str, ValueCodec]:
    """Return the codec of each field of the dataclass ``kind``, by the field's name, except the fields ``but``. Raises
    ``TypeError`` if there is no codec for a field's type."""
    hints = get_type_hints(kind)
    return {field.name: form(hints[field.name]) for field in fields(kind) if field.name not in but}


@cache
def form(hint: Any) -> ValueCodec:
    """Return the codec for values of the type ``hint``: plain types, enumerations, events, messages, dataclasses, and
    lists, deques, tuples, mappings and optional values of them. Raises ``TypeError`` for other types."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _KNOWN:
        return _KNOWN[hint]
    if origin in (Union, UnionType):
        return _choose_codec(tuple(part for part in parts if part is not NoneType), NoneType in parts, hint)
    if origin in _MANY:
        return _encode_items(_MANY[origin], parts)
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


def _choose_codec(options: tuple[Any, ...], maybe: bool, hint: Any) -> ValueCodec:
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


def _encode_items(made: Callable[[Iterable[Any]], Any], parts: tuple[Any, ...]) -> ValueCodec:
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


Columns = dict[str, Any]
"""Values that JSON can represent, by name."""

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)


def columns(graph: SessionGraph) -> Columns:
    """Convert ``graph`` to columns: a dictionary of lists that JSON can represent, one list for each field of its
    nodes, edges and so on. ``graph_of`` converts back."""
    nodes = list(graph._nodes.values())
    ids: _Table[str] = _Table(graph._nodes)
    by_word = graph.index_words()
    rest = {name: form.write(getattr(graph, name)) for name, form in _rest().items()}
    return rest | {
        "_nodes": _write_columns(Node, nodes, but=("id", "source")),
        "sources": _write_columns(Source, [node.source for node in nodes]),
        "_life": _encode_lives(list(graph._life.values())),
        "_edges": _edges_written(list(graph._edges.values()), ids),
        "_replaced": {"key": list(graph._replaced)} | _write_columns(Transition, list(graph._replaced.values())),
        "_by_key": [list(graph._by_key), ids.places(graph._by_key.values())],
        "_by_slot": [list(graph._by_slot), ids.places(graph._by_slot.values())],
        "_by_word": {
            "word": list(by_word),
            "count": list(map(len, by_word.values())),
            "ids": ids.places(chain.from_iterable(by_word.values())),
        },
        "_unfinished": ids.places(graph._unfinished),
        "_settled": ids.places(graph._settled),
        "_heirs": [ids.places(graph._heirs), ids.places(graph._heirs.values())],
        "ids": ids.entries,
    }


def graph_of(payload: Mapping[str, Any]) -> SessionGraph:
    """Build the graph from the columns that ``columns`` returned. Raises ``LookupError``, ``TypeError``, ``ValueError``
    or ``AttributeError`` for anything else."""
    ids: list[str] = payload["ids"]
    sources = _make_instances(Source, payload["sources"])
    own = ids[: len(sources)]
    nodes = _make_instances(Node, payload["_nodes"], id=own, source=sources)
    ends = {name: _at(ids, payload["_edges"][name]) for name in _ENDS}
    edges = _make_instances(
        Edge, {name: column for name, column in payload["_edges"].items() if name not in _ENDS}, **ends
    )
    steps = {name: column for name, column in payload["_replaced"].items() if name != "key"}
    words = payload["_by_word"]
    rest = {name: form.read(payload[name]) for name, form in _rest().items()}
    return SessionGraph(
        _nodes=dict(zip(own, nodes, strict=True)),
        _life=dict(zip(own, _lives(payload["_life"]), strict=True)),
        _edges={(edge.source, edge.type, edge.target): edge for edge in edges},
        _replaced=dict(zip(payload["_replaced"]["key"], _make_instances(Transition, steps), strict=True)),
        _by_key=dict(zip(payload["_by_key"][0], _at(ids, payload["_by_key"][1]), strict=True)),
        _by_slot=dict(zip(payload["_by_slot"][0], _at(ids, payload["_by_slot"][1]), strict=True)),
        _by_word=dict(zip(words["word"], _runs(_at(ids, words["ids"]), words["count"]), strict=True)),
        _unfinished=dict.fromkeys(_at(ids, payload["_unfinished"])),
        _settled=dict.fromkeys(_at(ids, payload["_settled"])),
        _heirs=dict(zip(*(_at(ids, places) for places in payload["_heirs"]), strict=True)),
        **rest,
    )


_ENDS: Final = ("source", "target")
_ENCODED_FIELDS: Final = frozenset(
    (
        *("_nodes", "_life", "_edges", "_replaced", "_by_key", "_by_slot", "_by_word", "_unindexed"),
        *("_unfinished", "_settled", "_heirs"),
    )
)


@cache
def _rest() -> dict[str, ValueCodec]:
    """Return the codecs of the graph's fields that have no columns of their own, because they are small."""
    return forms(SessionGraph, but=_ENCODED_FIELDS)


class _Table(Generic[H]):
    """A table of distinct values, in the order in which they were first passed. ``places`` returns the index of each
    value."""

    def __init__(self, first: Iterable[H] = ()) -> None:
        self._places = {value: place for place, value in enumerate(first)}

    @property
    def entries(self) -> list[H]:
        return list(self._places)

    def places(self, values: Iterable[H]) -> list[int]:
        known = self._places
        return [known.setdefault(value, len(known)) for value in values]


def _at(table: Sequence[T], places: Iterable[int]) -> list[T]:
    return list(map(table.__getitem__, places))


def _edges_written(edges: Sequence[Edge], ids: _Table[str]) -> Columns:
    ends = {name: ids.places(map(attrgetter(name), edges)) for name in _ENDS}
    return ends | _write_columns(Edge, edges, but=_ENDS)


def _encode_lives(lives: Sequence[Life]) -> Columns:
    times: _Table[float | None] = _Table()
    return _write_columns(Life, lives, but=("added", "closed", "moves")) | {
        "added": times.places(life.added for life in lives),
        "closed": times.places(life.closed for life in lives),
        "moves": [len(life.moves) for life in lives],
        "moved_at": times.places(at for life in lives for at, _ in life.moves),
        "moved_to": [status.value for life in lives for _, status in life.moves],
        "times": times.entries,
    }


def _lives(payload: Mapping[str, Any]) -> list[Life]:
    times, statuses = payload["times"], map(form(Status).read, payload["moved_to"])
    moves = list(zip(_at(times, payload["moved_at"]), statuses, strict=True))
    return _make_instances(
        Life,
        {name: column for name, column in payload.items() if name not in ("moved_at", "moved_to", "times")},
        added=_at(times, payload["added"]),
        closed=_at(times, payload["closed"]),
        moves=_runs(moves, payload["moves"]),
    )


def _runs(values: Sequence[T], counts: Iterable[int]) -> list[tuple[T, ...]]:
    """Split ``values`` into tuples of the lengths ``counts``. Raises ``ValueError`` if the lengths do not add up to all
    values."""
    found, start = [], 0
    for count in counts:
        found.append(tuple(values[start : start + count]))
        start += count
    if start != len(values):
        raise ValueError("the runs do not add up to the values")
    return found


@dataclass(frozen=True, slots=True)
class _Field:
    """How the column of a field is written and read, and how the field is set in an instance that has none yet."""

    form: ValueCodec
    set: Callable[[Any, Any], None]


@cache
def _fields(kind: Any) -> dict[str, _Field]:
    return {name: _Field(form, getattr(kind, name).__set__) for name, form in forms(kind).items()}


def _write_columns(kind: type[Any], values: Sequence[object], but: Sequence[str] = ()) -> Columns:
    """Return a column (the list of values) for each field of the dataclass ``kind`` that is not in ``but``."""
    found: Columns = {}
    for name, field in _fields(cast(Hashable, kind)).items():
        if name not in but:
            column = map(attrgetter(name), values)
            found[name] = list(column if field.form.plain else map(field.form.write, column))
    return found


def _make_instances(kind: type[T], payload: Mapping[str, Sequence[Any]], **made: Sequence[Any]) -> list[T]:
    """Build instances of a frozen dataclass with slots from a column for each field. ``made``: columns that already
    contain the right values. Raises ``ValueError`` if a column is missing or surplus, or has another length.

    They are filled field by field, all of them at once and past the frozen ``__init__``: less than half of the time.
    """
    known = _fields(cast(Hashable, kind))
    read = {
        name: column if known[name].form.plain else list(map(known[name].form.read, column))
        for name, column in payload.items()
        if name not in made
    } | made
    counts = set(map(len, read.values()))
    if read.keys() != known.keys() or len(counts) != 1:
        raise ValueError(f"columns that do not make a {kind.__name__}")
    values = list(map(kind.__new__, repeat(kind, counts.pop())))
    for name, column in read.items():
        deque(map(known[name].set, values, column), maxlen=0)
    return values
