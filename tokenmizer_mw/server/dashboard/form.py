"""Parses queries and form bodies, within size limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from starlette.types import Receive

BODY_MAX: Final = 64 * 1_024
"""Bytes of a form."""

_FIELDS_MAX: Final = 50
_MEDIA: Final = "application/x-www-form-urlencoded"


class UnreadableForm(Exception):
    """Raised for a malformed query or form."""


class BrowserGone(Exception):
    """Raised when the browser disconnects before its form is complete."""


def fields_of(raw: bytes) -> Mapping[str, str]:
    """Return the fields of a query or a form. Raises ``UnreadableForm`` if there are too many."""
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, max_num_fields=_FIELDS_MAX, errors="replace")
    except ValueError:
        raise UnreadableForm from None
    return dict(pairs)


async def form_of(scope: Mapping[str, Any], receive: Receive) -> Mapping[str, str]:
    """Read a request's form. Raises ``UnreadableForm`` for another media type or a too large body, and
    ``BrowserGone``."""
    media = dict(scope["headers"]).get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    if media != _MEDIA:
        raise UnreadableForm
    raw, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise BrowserGone
        raw += message.get("body", b"")
        if len(raw) > BODY_MAX:
            raise UnreadableForm
        more = message.get("more_body", False)
    return fields_of(raw)
