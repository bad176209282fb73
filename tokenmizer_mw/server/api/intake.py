"""Parses the query and the body of an API request, within size limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError

from tokenmizer_mw.settings import Settings

from .errors import ApiRefusal, invalid, misfit, too_large, wrong_media
from .table import JSON, LINES, Route

if TYPE_CHECKING:
    from starlette.types import Receive

_FIELDS_MAX: Final = 50
_LENGTH_DIGITS: Final = 18


class ClientGone(Exception):
    """Raised when the client disconnects before its body is complete."""


def query_of(route: Route, query_string: bytes) -> BaseModel:
    """Return the validated query parameters of a request. Raises ``ApiRefusal``."""
    try:
        pairs = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True, max_num_fields=_FIELDS_MAX)
    except ValueError:
        raise ApiRefusal(invalid("The query has too many parameters.")) from None
    given = dict(pairs)
    if len(given) < len(pairs):
        raise ApiRefusal(invalid("A parameter is given twice."))
    try:
        return route.query.model_validate(given)
    except ValidationError as error:
        raise ApiRefusal(misfit(error)) from None


async def body_of(route: Route, scope: Mapping[str, Any], receive: Receive, settings: Settings) -> Any:
    """Read the body of a request, within the size limit of its route.

    Returns an instance of the model ``route.body``; the raw bytes when ``route.body`` is a tuple of media types; or
    ``None`` when the route takes no body.

    The size limit is ``api_body_max`` for a model, ``import_max`` for JSON Lines, and the smaller of ``request_max``
    and ``import_max`` for other raw bytes. ``request_max`` is lower because one ``json.loads`` call blocks the whole
    process. A route that reads JSON Lines must apply ``request_max`` to each line itself.

    Raises ``ApiRefusal`` (wrong media type, too large, invalid), and ``ClientGone`` when the client disconnects.
    """
    if route.body is None:
        return None
    headers = {name.lower(): value for name, value in reversed(list(scope["headers"]))}
    taken = route.body if isinstance(route.body, tuple) else (JSON,)
    media = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    if media not in taken or headers.get(b"content-encoding", b"identity").lower() not in (b"", b"identity"):
        raise ApiRefusal(wrong_media(" or ".join(taken)))
    raw = await _read(headers.get(b"content-length", b""), receive, _limit(route, media, settings))
    if isinstance(route.body, tuple):
        return raw
    try:
        return route.body.model_validate_json(raw)
    except ValidationError as error:
        raise ApiRefusal(misfit(error)) from None


def _limit(route: Route, media: str, settings: Settings) -> int:
    if not isinstance(route.body, tuple):
        return settings.api_body_max
    return settings.import_max if media == LINES else min(settings.request_max, settings.import_max)


async def _read(told: bytes, receive: Receive, limit: int) -> bytes:
    if told.isdigit() and int(told[:_LENGTH_DIGITS]) > limit:
        raise ApiRefusal(too_large(limit))
    pieces: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGone
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > limit:
            raise ApiRefusal(too_large(limit))
        more = message.get("more_body", False)
    return b"".join(pieces)
