"""Errors of our own in the shape that the client of a dialect expects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .text import json_text

_STATUS_WORDS: Final = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}


def _openai(status: int, code: str, message: str) -> Any:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}


def _anthropic(status: int, code: str, message: str) -> Any:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def _gemini(status: int, code: str, message: str) -> Any:
    return {"error": {"code": status, "message": message, "status": _STATUS_WORDS.get(status, "FAILED_PRECONDITION")}}


_SHAPES: Final[Mapping[str, Callable[[int, str, str], Any]]] = {
    "anthropic": _anthropic,
    "gemini": _gemini,
    "cohere": lambda status, code, message: {"message": message},
    "ollama": lambda status, code, message: {"error": message},
}


def refusal(dialect: str, status: int, code: str, message: str) -> bytes:
    """The body of an error response: ``code`` for programs, ``message`` for people. Dialects that are not in the
    table get OpenAI's shape."""
    return json_text(_SHAPES.get(dialect, _openai)(status, code, message)).encode()
