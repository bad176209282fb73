"""Functions that dialects share to parse replies, and this package's own error responses in the format of a client's
dialect. Parsing never raises.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tokenmizer_mw.wire.json_text import json_text, storable

ERROR_MAX: Final = 1_000
"""Characters of a provider's error message that are stored."""

COUNT_MAX: Final = 2**53
"""Largest number of tokens that is accepted from a provider."""


_decoder: Final = json.JSONDecoder()
_decode: Final = _decoder.decode
_scan: Final[Callable[[str, int], tuple[Any, int]]] = _decoder.scan_once  # type: ignore[attr-defined]


def parse_json(text: str) -> object:
    """Return the value of the JSON in ``text``; ``None`` if it is not valid JSON or nested too deeply, and also for the
    JSON value ``null``."""
    try:
        value: object
        value, end = _scan(text, 0)  # without white space around the value: two thirds of the time
        return value if end == len(text) else _decode(text)
    except StopIteration:
        pass
    except (ValueError, RecursionError):
        return None
    try:
        return _decode(text)  # white space in front
    except (ValueError, RecursionError):
        return None


def token_counts(raw: object, table: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return a provider's token counts under this package's names; ``{}`` if ``raw``, its usage object, is not a
    dictionary.

    ``table``: pairs of the path of a count in ``raw`` (a name, or two joined by a dot) and this package's name for it.
    If several paths have the same name, the last one that is there is used. Left out are values that are not whole
    numbers from 0 to ``COUNT_MAX``; 3.0 is accepted, because some providers write it.
    """
    if not isinstance(raw, dict):
        return {}
    found: dict[str, int] = {}
    for path, name in table:
        outer, _, inner = path.partition(".")
        value = raw.get(outer)
        if inner:
            value = value.get(inner) if isinstance(value, dict) else None
        if isinstance(value, int | float) and type(value) is not bool and 0 <= value <= COUNT_MAX and value % 1 == 0:
            found[name] = int(value)
    return found


def error_text(error: object) -> str:
    """Return the message of a provider's error, at most ``ERROR_MAX`` characters of it. ``error`` is a text, or an
    object with the text under "message"; anything else gives "unspecified error"."""
    message = error.get("message") if isinstance(error, dict) else error
    text = message if isinstance(message, str) else ""
    return storable(text[:ERROR_MAX]) or "unspecified error"


_OPENAI_TYPES: Final = {429: "rate_limit_error"}

_ANTHROPIC_TYPES: Final = {
    401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large",
    429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
}  # fmt: skip

_GEMINI_WORDS: Final = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 502: "UNAVAILABLE", 503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}  # fmt: skip


def _openai(status: int, code: str, message: str) -> Any:
    kind = _OPENAI_TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _anthropic(status: int, code: str, message: str) -> Any:
    kind = _ANTHROPIC_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def _gemini(status: int, code: str, message: str) -> Any:
    return {"error": {"code": status, "message": message, "status": _GEMINI_WORDS.get(status, "FAILED_PRECONDITION")}}


_SHAPES: Final[Mapping[str, Callable[[int, str, str], Any]]] = {
    "anthropic": _anthropic,
    "gemini": _gemini,
    "cohere": lambda status, code, message: {"message": message},
    "ollama": lambda status, code, message: {"error": message},
}


def refusal(dialect: str, status: int, code: str, message: str) -> bytes:
    """Return the body of an error response of this package in the format of ``dialect`` (such as "anthropic"). Unknown
    dialects get OpenAI's format.

    ``status``: the HTTP status; it selects the error's type in formats that have one. ``message`` is for people.
    ``code`` is for programs; only OpenAI's format contains it.
    """
    return json_text(_SHAPES.get(dialect, _openai)(status, code, message)).encode()


def objects(value: object) -> list[dict[str, Any]]:
    """Return the JSON objects in a list; an empty list if ``value`` is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
