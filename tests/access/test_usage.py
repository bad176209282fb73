"""What calls took, as the providers tell it, however their responses are cut into pieces."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.server.access.limiting import ResponseEnds

SSE, JSON, NDJSON = b"text/event-stream", b"application/json", b"application/x-ndjson"


def _events(*events: object) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


_LONG = [{"choices": [{"delta": {"content": "word " * 40}}]}] * 300
_CHAT = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
_STARTED = {"type": "message_start", "message": {"usage": {"input_tokens": 100, "cache_creation_input_tokens": 7}}}
_TALK = [{"type": "content_block_delta", "delta": {"text": "word " * 40}}] * 300
_ENDED = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 20}}

CASES = {
    "chat": (JSON, json.dumps({"choices": [], "usage": _CHAT}).encode(), 120),
    "chat, streamed": (SSE, _events(*_LONG, {"choices": [], "usage": _CHAT}) + b"data: [DONE]\n\n", 120),
    "responses": (
        SSE,
        _events(
            *_LONG,
            {
                "type": "response.completed",
                "response": {
                    "output": [{"content": [{"text": "word " * 500}]}],
                    "usage": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120},
                    "metadata": {},
                },
            },
        ),
        120,
    ),
    "anthropic": (JSON, json.dumps({"content": [], "usage": {"input_tokens": 100, "output_tokens": 20}}).encode(), 120),
    "anthropic, streamed": (SSE, _events(_STARTED, *_TALK, _ENDED, {"type": "message_stop"}), 127),
    "gemini": (
        JSON,
        json.dumps(
            {"usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 150}}
        ).encode(),
        150,
    ),
    "ollama": (NDJSON, b'{"message":{}}\n{"done":true,"prompt_eval_count":100,"eval_count":20}\n', 120),
    "cohere": (JSON, b'{"usage":{"tokens":{"input_tokens":100.0,"output_tokens":20.0}}}', 120),
    "embeddings": (JSON, b'{"data":[{"embedding":[0.1]}],"usage":{"prompt_tokens":8,"total_tokens":8}}', 8),
}


def _passed(kind: bytes, pieces: list[bytes], status: int = 200, encoding: bytes = b"") -> ResponseEnds:
    usage = ResponseEnds()
    usage.starts(status, kind, encoding)
    for piece in pieces:
        usage.passes(piece)
    return usage


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [1, 7, 1_000, 65_536, 10**9])
def test_as_told(name: str, size: int) -> None:
    kind, body, tokens = CASES[name]
    assert _passed(kind, [body[at : at + size] for at in range(0, len(body), size)]).tokens(5) == tokens


def test_what_a_model_says_of_usage_is_not_taken_for_it() -> None:
    said = json.dumps({"content": 'It says "usage": {"total_tokens": 999999, "output_tokens": 5}.', "usage": _CHAT})
    assert _passed(JSON, [said.encode()]).tokens(5) == 120
    without = json.dumps({"content": '"total_tokens": 999999'}).encode()
    assert _passed(JSON, [without]).tokens(400) == 100 + len(without) // 4


def test_where_nothing_is_told_it_is_estimated() -> None:
    cut = _events(*_LONG)
    assert _passed(SSE, [cut]).tokens(4_000) == 1_000 + len(cut) // 330
    assert _passed(JSON, [bytes(400)], encoding=b"gzip").tokens(4_000) == 1_100


@pytest.mark.parametrize("status", [0, 400, 429, 500])
def test_errors_take_nothing(status: int) -> None:
    assert _passed(JSON, [CASES["chat"][1]], status).tokens(4_000) == 0


@given(st.lists(st.binary(max_size=9_000), max_size=30))
def test_what_is_held_is_bounded(pieces: list[bytes]) -> None:
    usage = _passed(JSON, pieces * 3)
    assert sum(map(len, usage._held)) <= 5 * 4_096 * 16
    assert usage.tokens(0) >= 0
