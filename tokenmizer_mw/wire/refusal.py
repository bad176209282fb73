"""Build this package's own error responses in the format of a client's dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .text import json_text

_OPENAI_TYPES: Final = {429: "rate_limit_error"}

_ANTHROPIC_TYPES: Final = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}

_GEMINI_WORDS: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


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
    """Return the body of an error response; ``code`` is for programs, ``message`` for people. Unknown dialects get
    OpenAI's format.
    """
    return json_text(_SHAPES.get(dialect, _openai)(status, code, message)).encode()
