"""Errors of our own carry the type that each dialect's clients tell errors by."""

from __future__ import annotations

import json

import pytest

from tokenmizer_mw.wire.reply import refusal


@pytest.mark.parametrize(
    ("dialect", "status", "told"),
    [
        ("openai_chat", 400, "invalid_request_error"),
        ("openai_chat", 401, "invalid_request_error"),
        ("openai_responses", 429, "rate_limit_error"),
        ("openai_chat", 503, "server_error"),
        ("anthropic", 400, "invalid_request_error"),
        ("anthropic", 401, "authentication_error"),
        ("anthropic", 403, "permission_error"),
        ("anthropic", 413, "request_too_large"),
        ("anthropic", 429, "rate_limit_error"),
        ("anthropic", 503, "api_error"),
    ],
)
def test_type_follows_the_status(dialect: str, status: int, told: str) -> None:
    body = json.loads(refusal(dialect, status, "a_code", "A sentence."))
    assert (body["error"]["type"], body["error"]["message"]) == (told, "A sentence.")


@pytest.mark.parametrize(
    ("status", "word"),
    [(400, "INVALID_ARGUMENT"), (401, "UNAUTHENTICATED"), (429, "RESOURCE_EXHAUSTED"), (503, "UNAVAILABLE")],
)
def test_gemini_names_the_status(status: int, word: str) -> None:
    body = json.loads(refusal("gemini", status, "a_code", "A sentence."))
    assert body == {"error": {"code": status, "message": "A sentence.", "status": word}}
