"""Which sessions belong to one project: those of a tenant whose ids share everything before the last separator."""

from __future__ import annotations

from collections.abc import Iterable

from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.settings import Settings


def project_of(session_id: str, separator: str) -> str:
    """What stands before the last ``separator`` of an id; "" when it belongs to no project.

    >>> project_of("shop/2026-11-21", "/")
    'shop'
    """
    return session_id.rpartition(separator)[0] if separator else ""


def siblings(key: SessionKey, known: Iterable[SessionKey], settings: Settings) -> list[SessionKey]:
    """The other sessions of the project that ``key`` belongs to, in the order of ``known``, at most
    ``settings.project_sessions``; [] where there is no project. Never one of another tenant."""
    separator = settings.project_separator
    project = project_of(key.id, separator)
    if not project:
        return []
    same = (other for other in known if other.tenant == key.tenant and other != key)
    return [other for other in same if project_of(other.id, separator) == project][: settings.project_sessions]
