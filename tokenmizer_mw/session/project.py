"""Projects: groups of a tenant's sessions whose ids are equal up to the last separator, such as "shop/monday" and
"shop/tuesday".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import islice
from typing import Final

from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.settings import Settings


def project_of(session_id: str, separator: str) -> str:
    """Return the part of a session id before the last ``separator``; "" when the id belongs to no project.

    >>> project_of("shop/2026-11-21", "/")
    'shop'
    """
    return session_id.rpartition(separator)[0] if separator else ""


_NAME_MAX: Final = 60


def project_named(folder: str) -> str:
    """Return a project name for the directory ``folder`` (an absolute path): its last component, and digits that
    distinguish it from other directories of the same name. The name is printable and contains no path separator.

    >>> project_named("/home/ada/shop")
    'shop-01221a02'
    """
    name = folder.replace("\\", "/").rstrip("/").rpartition("/")[2]
    plain = "".join(char if char.isprintable() and char not in "/: " else "-" for char in name)
    mark = hashlib.blake2b(folder.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return f"{plain[:_NAME_MAX] or 'root'}-{mark}"


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
