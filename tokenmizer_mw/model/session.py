"""How callers name a session and a point in time: ``SessionKey`` (tenant and session id, the key of every table and
cache in this package), which sessions belong to one project, and in which forms a time may be given."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Final, NamedTuple, TypeGuard

from tokenmizer_mw.model import LOCAL_TENANT, OWN_TENANTS

__all__ = [
    "LOCAL_TENANT", "OWN_TENANTS", "SECONDS_MIN", "SESSION_ID_MAX", "Moment", "SessionKey", "is_usable_id",
    "project_of", "siblings",
]  # fmt: skip

SESSION_ID_MAX: Final = 256
"""Longest session id or tenant, in characters."""


class SessionKey(NamedTuple):
    """Names a session: ``tenant`` (the customer or user it belongs to) and ``id``, which is unique within the tenant.
    Both are plain text, never used as a path or as part of a query."""

    tenant: str
    id: str

    def valid(self) -> bool:
        """Whether both parts are texts of 1 to ``SESSION_ID_MAX`` characters, all of them printable
        (``str.isprintable``): no control characters and line breaks, and no white space but the plain space."""
        for part in (self.tenant, self.id):  # each append asks
            if not (isinstance(part, str) and 0 < len(part) <= SESSION_ID_MAX and part.isprintable()):
                return False
        return True


def is_usable_id(part: object) -> TypeGuard[str]:
    """Whether ``part`` can be a session id or a tenant: a text of 1 to ``SESSION_ID_MAX`` characters, all of them
    printable, as in ``SessionKey.valid``."""
    return isinstance(part, str) and 0 < len(part) <= SESSION_ID_MAX and part.isprintable()


Moment = float | datetime | str
"""A point in time as callers may give it: seconds since the epoch, a ``datetime``, or a date and time as ISO 8601 text.
A ``datetime`` or text without a time zone is local time."""

SECONDS_MIN: Final = 946_684_800
"""The start of the year 2000, in seconds since the epoch. Nothing was recorded before it. A smaller number that a
caller gives as a time is refused, because it is probably something else, such as the number of a message."""


def project_of(session_id: str, separator: str) -> str:
    """Return the part of a session id before the last ``separator``; "" when the id belongs to no project: it has no
    separator in it, or ``separator`` is "".

    A project is a group of a tenant's sessions, such as "shop/monday" and "shop/tuesday".

    >>> project_of("shop/2026-11-21", "/")
    'shop'
    """
    return session_id.rpartition(separator)[0] if separator else ""


def siblings(key: SessionKey, known: Iterable[SessionKey], separator: str, most: int) -> list[SessionKey]:
    """Return the keys in ``known`` of the other sessions of the same project and tenant as ``key``, in the order of
    ``known``, at most ``most``; ``[]`` if ``key`` belongs to no project. The project is the part of a session id before
    the last ``separator``."""
    project = project_of(key.id, separator)
    if not project:
        return []
    same = (other for other in known if other.tenant == key.tenant and other != key)
    found = (other for other in same if project_of(other.id, separator) == project)
    return list(islice(found, most))
