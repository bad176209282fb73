"""Projects: groups of a tenant's sessions whose ids are equal up to the last separator, such as "shop/monday" and
"shop/tuesday".
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.settings import Settings


def project_of(session_id: str, separator: str) -> str:
    """Return the part of a session id before the last ``separator``; "" when the id belongs to no project.

    >>> project_of("shop/2026-11-21", "/")
    'shop'
    """
    return session_id.rpartition(separator)[0] if separator else ""


def siblings(key: SessionKey, known: Iterable[SessionKey], settings: Settings) -> list[SessionKey]:
    """Return the other sessions of the same project and tenant as ``key``, in the order of ``known``, at most
    ``settings.project_sessions``; ``[]`` if ``key`` belongs to no project.
    """
    separator = settings.project_separator
    project = project_of(key.id, separator)
    if not project:
        return []
    same = (other for other in known if other.tenant == key.tenant and other != key)
    found = (other for other in same if project_of(other.id, separator) == project)
    return list(islice(found, settings.project_sessions))
