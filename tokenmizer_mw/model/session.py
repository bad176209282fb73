"""What callers pass: ``SessionKey`` (tenant and session id, the key of every table and cache in this package), which
sessions belong to one project, times, converted to seconds since the epoch, and checks of the arguments of a class.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from inspect import iscoroutinefunction
from itertools import islice
from types import FunctionType
from typing import Any, Final, TypeGuard, TypeVar

from tokenmizer_mw.errors import CallerError, InvalidSession
from tokenmizer_mw.model.access import LOCAL_TENANT, OWN_TENANTS

__all__ = [
    "LOCAL_TENANT",
    "OWN_TENANTS",
    "SESSION_ID_MAX",
    "Moment",
    "SessionKey",
    "as_seconds",
    "check_arguments",
    "is_usable_id",
    "project_of",
    "siblings",
]

SESSION_ID_MAX: Final = 256
"""Longest session id or tenant, in characters."""


@dataclass(frozen=True, slots=True, order=True)
class SessionKey:
    """A session of a tenant. Both parts are plain text, never used as a path or as part of a query."""

    tenant: str
    id: str

    def valid(self) -> bool:
        """Whether both parts are non-empty texts of at most ``SESSION_ID_MAX`` characters without control
        characters.
        """
        for part in (self.tenant, self.id):  # each append asks
            if not (isinstance(part, str) and 0 < len(part) <= SESSION_ID_MAX and part.isprintable()):
                return False
        return True


def is_usable_id(part: object) -> TypeGuard[str]:
    """Whether ``part`` can be a session id or a tenant."""
    return isinstance(part, str) and 0 < len(part) <= SESSION_ID_MAX and part.isprintable()


Moment = float | datetime | str
"""Seconds since the epoch, or a date and time, also as ISO 8601 text; one without a zone is local time."""

_SECONDS_MAX: Final = 1e11
"""A larger number, a year beyond 5000, is one of milliseconds."""


def as_seconds(moment: Moment) -> float:
    """Return ``moment`` in seconds since the epoch. Raises ``CallerError`` for anything that is not a time."""
    try:
        if isinstance(moment, str):
            return datetime.fromisoformat(moment).timestamp()
        if isinstance(moment, datetime):
            return moment.timestamp()
    except (ValueError, OverflowError, OSError):  # years 1 and 9999 have no seconds in every zone
        raise CallerError(f"{str(moment)[:40]!r} is not a time in ISO 8601, such as '2026-11-23T12:00'") from None
    if isinstance(moment, bool) or not isinstance(moment, int | float) or math.isnan(moment):
        raise CallerError(f"a time is seconds since 1970, a datetime or ISO 8601 text, not {_describe(moment)}")
    if _SECONDS_MAX <= moment < float("inf"):
        raise CallerError(f"a time is in seconds since 1970; {moment:.0f} looks like milliseconds")
    return moment


def project_of(session_id: str, separator: str) -> str:
    """Return the part of a session id before the last ``separator``; "" when the id belongs to no project.

    A project is a group of a tenant's sessions, such as "shop/monday" and "shop/tuesday".

    >>> project_of("shop/2026-11-21", "/")
    'shop'
    """
    return session_id.rpartition(separator)[0] if separator else ""


def siblings(key: SessionKey, known: Iterable[SessionKey], separator: str, most: int) -> list[SessionKey]:
    """Return the other sessions of the same project and tenant as ``key``, in the order of ``known``, at most
    ``most``; ``[]`` if ``key`` belongs to no project.
    """
    project = project_of(key.id, separator)
    if not project:
        return []
    same = (other for other in known if other.tenant == key.tenant and other != key)
    found = (other for other in same if project_of(other.id, separator) == project)
    return list(islice(found, most))


C = TypeVar("C", bound=type)
Check = Callable[[str, Any], object]
"""Takes the name and the value of an argument; raises ``CallerError`` for a wrong value."""


def _describe(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _require_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise CallerError(f"{name} is text, not {_describe(value)}")


def _require_id(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidSession(f"{name} is text, not {_describe(value)}")


def _require_integer(name: str, value: Any) -> int:
    """Whole numbers of other libraries count; true and false do not."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise CallerError(f"{name} is a whole number, not {_describe(value)}")


def _require_whole(name: str, value: Any) -> None:
    if (number := _require_integer(name, value)) < 0:
        raise CallerError(f"{name} is 0 or more, not {number}")


def _require_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise CallerError(f"{name} is True or False, not {_describe(value)}")


def _require_duration(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise CallerError(f"{name} is a number of seconds, 0 or more, not {value!r:.40}")


def _require_moment(name: str, value: Any) -> None:
    try:
        as_seconds(value)
    except CallerError as error:
        raise CallerError(f"{name}: {error}") from None


def _require_callable(name: str, value: object) -> None:
    if not callable(value):
        raise CallerError(f"{name} is a function, not {_describe(value)}")


def _require_iterable(name: str, value: object) -> None:
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        raise CallerError(f"{name} is a list, not {_describe(value)}")


def _require_instance(of: type) -> Check:
    def require(name: str, value: object) -> None:
        if not isinstance(value, of):
            raise CallerError(f"{name} is a {of.__name__}, not {_describe(value)}")

    return require


_CHECKS: Final[Mapping[str, Check]] = {
    "str": _require_text,
    "int": _require_whole,
    "bool": _require_flag,
    "float": _require_duration,
    "Moment": _require_moment,
    "Callable": _require_callable,
    "Iterable": _require_iterable,
    "Collection": _require_iterable,
}
"""The check of an argument by its annotation, without what stands in brackets."""

_BY_NAME: Final[Mapping[str, Check]] = {"session_id": _require_id, "tenant": _require_id, "budget": _require_integer}
"""Checks of arguments whose wrong values have an error of their own; methods compare a budget with their smallest."""


def check_arguments(types: Mapping[str, type | str], unchecked: Iterable[str] = ()) -> Callable[[C], C]:
    """Return a class decorator: the public methods raise ``CallerError`` for arguments of a wrong type, ``NaN`` and
    negative numbers, and ``InvalidSession`` for ids that are not text. ``None`` is taken where the annotation says so.

    - ``types``: for annotations that have no row here, a class whose instances are taken, or another annotation.
    - ``unchecked``: annotations of arguments that the methods check themselves.

    Coroutine functions stay as they are. Raises ``KeyError`` for an annotation without a check.
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
    return _CHECKS[kind] if isinstance(kind, str) else _require_instance(kind)
