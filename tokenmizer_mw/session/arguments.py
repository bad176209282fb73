"""Check the arguments of ``SessionMemory``'s methods against their annotations, and convert those that may be given in
several forms, such as times."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, datetime
from functools import wraps
from inspect import iscoroutinefunction
from types import FunctionType
from typing import Any, Final, TypeVar

from tokenmizer_mw.errors import (
    BudgetTooSmall,
    CallerError,
    ConfigError,
    InvalidMessage,
    InvalidSession,
    name_type,
)
from tokenmizer_mw.model.message import Message, Written
from tokenmizer_mw.model.session import SECONDS_MIN, Moment, SessionKey
from tokenmizer_mw.store.ledger import By, day_of, require_by
from tokenmizer_mw.store.log import Place, SessionInfo

_SECONDS_MAX: Final = 1e11
"""Smallest number that is taken for milliseconds. As seconds it would be in a year beyond 5000."""


def as_seconds(moment: Moment) -> float:
    """Return ``moment`` in seconds since the epoch (1970, UTC).

    ``moment``: seconds since the epoch, returned unchanged, also if infinite; a ``datetime``; or text in ISO 8601.
    Without a time zone, the last two are local time. Raises ``CallerError`` for anything else, for NaN, and for finite
    numbers from 1e11 on, which are milliseconds.
    """
    try:
        if isinstance(moment, str):
            return datetime.fromisoformat(moment).timestamp()
        if isinstance(moment, datetime):
            return moment.timestamp()
    except (ValueError, OverflowError, OSError):  # years 1 and 9999 have no seconds in every zone
        raise CallerError(f"{str(moment)[:40]!r} is not a time in ISO 8601, such as '2026-11-23T12:00'") from None
    if isinstance(moment, bool) or not isinstance(moment, int | float) or math.isnan(moment):
        raise CallerError(f"a time is seconds since 1970, a datetime or ISO 8601 text, not {name_type(moment)}")
    if _SECONDS_MAX <= moment < float("inf"):
        raise CallerError(f"a time is in seconds since 1970; {moment:.0f} looks like milliseconds")
    return moment


Day = Moment | date
"""A day as callers may give it: a ``date``, text such as "2026-11-21", or a point in time, which stands for its day in
UTC."""


def read_day(day: Day) -> str:
    """Return a day as text such as "2026-11-21". ``day``: such a text, a ``date``, or a time (seconds since the epoch,
    a ``datetime``, or ISO 8601 text), of which the day in UTC is returned. Raises ``CallerError`` for anything
    else."""
    if isinstance(day, date) and not isinstance(day, datetime):
        return day.isoformat()
    try:
        if not isinstance(day, str) or len(day) > len("2026-11-21"):
            return day_of(as_seconds(day))
        if date.fromisoformat(day).isoformat() == day:
            return day
    except (ValueError, OverflowError, OSError, CallerError):
        pass
    raise CallerError(f"a day is a date such as 2026-11-21, or a time, not {day!r:.40}")


def require_functions(**given: object) -> None:
    """Raise ``ConfigError`` if a value of ``given`` is neither a function nor ``None``; the message names its key."""
    for name, value in given.items():
        if value is not None and not callable(value):
            raise ConfigError(f"{name} is a function, not {name_type(value)}")


def require_written(messages: Iterable[Written]) -> list[Written]:
    """Return ``messages`` as a list. Raises ``InvalidMessage`` for anything that is not ``Written``."""
    if not _is_listing(messages):
        raise InvalidMessage(f"messages are a list of Written, not {name_type(messages)}")
    found = list(messages)
    for place, one in enumerate(found, 1):
        if not isinstance(one, Written) or not isinstance(one.message, Message):
            raise InvalidMessage(f"message {place} is {name_type(one)}: pass Written(message)")
    return found


def require_numbers(numbers: Iterable[int] | int) -> set[int]:
    """Return numbers of messages as a set; a single number may be given alone. Raises ``CallerError`` for anything
    else."""
    found: list[object] = list(numbers) if isinstance(numbers, Iterable) else [numbers]
    if wrong := [one for one in found if isinstance(one, bool) or not isinstance(one, int)]:
        raise CallerError(f"turns are numbers of messages, not {name_type(wrong[0])}")
    return {one for one in found if isinstance(one, int)}


def require_budget(budget: int) -> None:
    """Raise ``BudgetTooSmall`` if ``budget``, a number of tokens, is negative; else do nothing."""
    if budget < 0:
        raise BudgetTooSmall(f"a budget is 0 tokens or more, not {budget}")


def require_groups(by: By | Collection[By]) -> tuple[By, ...]:
    """Return the names of groups ("session", "model", ...) as a tuple; a single name may be given alone. Raises
    ``CallerError`` for unknown names."""
    groups: tuple[By, ...] = tuple(by) if isinstance(by, Iterable) and not isinstance(by, str) else (by,)
    require_by(groups)
    return groups


def require_key(key: SessionKey) -> SessionKey:
    """Return ``key``. Raises ``InvalidSession`` for anything that is not a ``SessionKey``."""
    if not isinstance(key, SessionKey):
        raise InvalidSession(f"a session is its id or a SessionKey(tenant, session_id), not {name_type(key)}")
    return key


def require_place(place: Place | None) -> None:
    """Raise ``CallerError`` for anything that is neither ``None`` nor a position in a listing
    (``SessionInfo.place``)."""
    match place:
        case None | (int() | float(), str()):
            return
    raise CallerError(f"after is the place of a listed session, SessionInfo.place, not {name_type(place)}")


C = TypeVar("C", bound=type)
Check = Callable[[str, Any], object]
"""Takes the name and the value of an argument; raises ``CallerError`` for a wrong value."""


def _require(what: str, fits: Callable[[Any], bool]) -> Check:
    """Return a check that raises unless ``fits`` returns true. ``what``: what the argument should be, for the
    message."""

    def require(name: str, value: object) -> None:
        if not fits(value):
            raise CallerError(f"{name} is {what}, not {name_type(value)}")

    return require


_require_text: Final = _require("text", lambda value: isinstance(value, str))


def _require_id(name: str, value: object) -> None:
    if not isinstance(value, str):
        hint = ": pass its id" if isinstance(value, SessionInfo | SessionKey) else ""
        raise InvalidSession(f"{name} is text, not {name_type(value)}{hint}")


def _require_level(name: str, value: object) -> None:
    if isinstance(value, int) and not isinstance(value, bool):
        raise CallerError(f"{name} is a text such as 'standard', not an int: pass a number of tokens as budget={value}")
    _require_text(name, value)


def _require_integer(name: str, value: Any) -> int:
    """Return a whole number, also one of another library's type. Raises ``CallerError`` for anything else, and for true
    and false."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise CallerError(f"{name} is a whole number, not {name_type(value)}")


def _require_whole(name: str, value: Any) -> None:
    if (number := _require_integer(name, value)) < 0:
        raise CallerError(f"{name} is 0 or more, not {number}")


def _require_duration(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise CallerError(f"{name} is a number of seconds, 0 or more, not {value!r:.40}")


def _require_moment(name: str, value: Any) -> None:
    try:
        as_seconds(value)
    except CallerError as error:
        raise CallerError(f"{name}: {error}") from None
    if isinstance(value, int | float) and float("-inf") < value < SECONDS_MIN:
        hint = "pass the number of a message as message, and an early date as text"
        raise CallerError(f"{name} is a time in seconds since 1970; {value:.0f} would be before the year 2000: {hint}")


def _is_listing(value: object) -> bool:
    return not isinstance(value, str | bytes | Mapping) and hasattr(value, "__iter__")


def _require_number(name: str, value: Any) -> None:
    if (number := _require_integer(name, value)) < 1:
        raise CallerError(f"{name} is the number of a message, 1 or more, not {number}")


_CHECKS: Final[Mapping[str, Check]] = {
    "str": _require_text,
    "int": _require_whole,
    "bool": _require("True or False", lambda value: isinstance(value, bool)),
    "float": _require_duration,
    "Moment": _require_moment,
    "Callable": _require("a function", callable),
    "Iterable": _require("a list", _is_listing),
    "Collection": _require("a list", _is_listing),
}
"""Maps the annotation of an argument, without what stands in brackets, to its check."""

_BY_NAME: Final[Mapping[str, Check]] = {
    "session_id": _require_id,
    "tenant": _require_id,
    "budget": _require_integer,
    "level": _require_level,
    "message": _require_number,
}
"""Checks of arguments whose wrong values have errors of their own, by the argument's name. Methods compare a budget
with their smallest one themselves."""


def check_arguments(types: Mapping[str, type | str], unchecked: Iterable[str] = ()) -> Callable[[C], C]:
    """Return a class decorator that makes the public methods check their arguments. They raise ``CallerError`` for a
    wrong type, ``NaN``, negative numbers, message numbers below 1, and times in seconds before the year 2000, and
    ``InvalidSession`` for ids that are not text. ``None`` is accepted where the annotation allows it. Of a ``budget``
    only the type is checked.

    - ``types``: maps annotations (as text) without a check in this module to a class whose instances are accepted, or
      to another annotation, whose check applies.
    - ``unchecked``: annotations (as text) of arguments that the methods check themselves.

    Coroutine functions are left unchanged. Raises ``KeyError`` for an annotation without a check.
    """

    def decorate(cls: C) -> C:
        for name, method in list(vars(cls).items()):
            if isinstance(method, FunctionType) and name[0] != "_" and not iscoroutinefunction(method):
                setattr(cls, name, _check_method(method, types, frozenset(unchecked)))
        return cls

    return decorate


def _check_method(method: FunctionType, types: Mapping[str, type | str], unchecked: frozenset[str]) -> Any:
    code = method.__code__
    names = code.co_varnames[: code.co_argcount]
    checks = {
        name: (_check_of(name, annotation.removesuffix(" | None"), types), annotation.endswith(" | None"))
        for name, annotation in method.__annotations__.items()
        if name != "return" and annotation.removesuffix(" | None") not in unchecked
    }
    if not checks:
        return method

    @wraps(method)
    def run(*args: Any, **kwargs: Any) -> Any:
        for name, value in (*zip(names, args, strict=False), *kwargs.items()):
            check, optional = checks.get(name, _NO_CHECK)
            if check is not None and not (value is None and optional):
                check(name, value)
        return method(*args, **kwargs)

    return run


_NO_CHECK: Final = (None, True)


def _check_of(name: str, annotation: str, types: Mapping[str, type | str]) -> Check:
    if name in _BY_NAME:
        return _BY_NAME[name]
    kind = types.get(annotation, annotation.partition("[")[0])
    return _CHECKS[kind] if isinstance(kind, str) else _require(f"a {kind.__name__}", lambda one: isinstance(one, kind))
