"""The scripted upstream itself: it refuses what providers refuse, sees who leaves, and tears streams as it is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream
from tests.upstream.steering import Missteered, Steering, steering
from tests.waiting import eventually

USER: dict[str, Any] = {"role": "user", "content": "hi"}
FUNCTION = {"name": "lookup", "arguments": "{}"}
CALLING: dict[str, Any] = {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}]}
RESULT: dict[str, Any] = {"role": "tool", "tool_call_id": "c1", "content": "4"}
ITEM = {"type": "function_call", "call_id": "c1", "name": "lookup", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "4"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}
USE = {"type": "tool_use", "id": "c1", "name": "lookup", "input": {}}
USED = {"type": "tool_result", "tool_use_id": "c1", "content": "4"}
THOUGHT = {"type": "thinking", "thinking": "well", "signature": "other"}
PART_CALL = {"functionCall": {"name": "lookup", "args": {}}, "thoughtSignature": "c2lnbmVk"}
PART_ANSWER = {"functionResponse": {"name": "lookup", "response": {"result": "4"}}}
LOCAL = {"role": "assistant", "tool_calls": [{"function": {"name": "lookup", "arguments": {}}}]}

LISTS = {
    "/v1/chat/completions": "messages",
    "/v1/responses": "input",
    "/v1/messages": "messages",
    "/v1beta/models/fake:generateContent": "contents",
    "/v2/chat": "messages",
    "/api/chat": "messages",
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


@pytest.fixture(scope="module")
def client(upstream: Upstream) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=upstream.url) as client:
        yield client


def _asked(client: httpx2.Client, path: str, told: list[dict[str, Any]], model: str = "fake") -> httpx2.Response:
    return client.post(path, json={"model": model, "max_tokens": 9, "stream": False, LISTS[path]: told})


def _said(role: str, *blocks: dict[str, Any], name: str = "content") -> dict[str, Any]:
    return {"role": role, name: list(blocks)}


def _parts(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return _said(role, *parts, name="parts")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/v1/chat/completions", [USER, CALLING, RESULT]),
        ("/v1/chat/completions", [{"role": "developer", "content": "Be brief."}, USER]),
        ("/v1/responses", [USER, REASONING, ITEM, OUTPUT]),
        ("/v1/messages", [USER, _said("assistant", USE), _said("user", USED)]),
        (
            "/v1beta/models/fake:generateContent",
            [_parts("user", {"text": "hi"}), _parts("model", PART_CALL), _parts("user", PART_ANSWER)],
        ),
        ("/v2/chat", [USER, CALLING, RESULT]),
        ("/api/chat", [USER, LOCAL, {"role": "tool", "tool_name": "lookup", "content": "4"}]),
    ],
)
def test_sound_histories_are_answered(client: httpx2.Client, path: str, told: list[dict[str, Any]]) -> None:
    response = _asked(client, path, told)
    assert (response.status_code, response.headers["x-request-id"]) == (200, "req_scripted"), response.text


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/v1/chat/completions", []),
        ("/v1/chat/completions", [RESULT, USER]),
        ("/v1/chat/completions", [USER, CALLING, USER]),
        ("/v1/chat/completions", [USER, CALLING]),
        ("/v1/chat/completions", [USER, CALLING, RESULT, RESULT]),
        ("/v1/chat/completions", [{"role": "machine", "content": "hi"}]),
        ("/v1/responses", [OUTPUT, USER]),
        ("/v1/responses", [USER, ITEM, USER]),
        ("/v1/responses", [USER, REASONING, USER]),
        ("/v1/messages", [_said("assistant", {"type": "text", "text": "hi"}), USER]),
        ("/v1/messages", [_said("user", USED)]),
        ("/v1/messages", [USER, _said("assistant", USE), USER]),
        ("/v1/messages", [USER, _said("assistant", USE), _said("user", {"type": "text", "text": "so"}, USED)]),
        ("/v1/messages", [USER, _said("assistant", THOUGHT), USER]),
        (
            "/v1/messages",
            [_said("user", *[{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}] * 5)],
        ),
        ("/v1beta/models/fake:generateContent", [_parts("model", {"text": "hi"}), _parts("user", {"text": "hi"})]),
        ("/v1beta/models/fake:generateContent", [_parts("user", PART_ANSWER)]),
        ("/v1beta/models/fake:generateContent", [_parts("user", {"text": "hi"}), _parts("model", PART_CALL)]),
        ("/v2/chat", [RESULT, USER]),
        ("/v2/chat", [USER, CALLING, USER]),
        ("/api/chat", [{"role": "tool", "tool_name": "lookup", "content": "4"}, USER]),
        ("/api/chat", [USER, LOCAL, USER]),
    ],
)
def test_broken_histories_are_refused(client: httpx2.Client, path: str, told: list[dict[str, Any]]) -> None:
    assert _asked(client, path, told).status_code == 400


def test_equal_requests_have_equal_answers_and_others_do_not(client: httpx2.Client) -> None:
    first, again = (_asked(client, "/v1/chat/completions", [USER]) for _ in range(2))
    other = _asked(client, "/v1/chat/completions", [{"role": "user", "content": "ho"}])
    assert first.content == again.content
    assert first.json()["choices"][0]["message"]["content"].startswith("You said: hi ")
    assert other.json()["id"] != first.json()["id"]


def test_script_answers_call_by_call(upstream: Upstream, client: httpx2.Client) -> None:
    upstream.script.extend([Scripted("one"), Scripted("", (("today", {}),)), Scripted(steering=Steering(status=429))])
    answers = [_asked(client, "/v1/chat/completions", [USER]) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 200]
    assert answers[0].json()["choices"][0]["message"]["content"] == "one"
    assert answers[1].json()["choices"][0]["finish_reason"] == "tool_calls"
    assert answers[2].headers["retry-after"] == "1"


def test_unknown_modes_are_refused(client: httpx2.Client) -> None:
    with pytest.raises(Missteered):
        steering("fake-nosuch")
    assert _asked(client, "/api/chat", [USER], "fake-nosuch").status_code == 400
    assert steering("gpt-4o") == Steering()
    assert steering("fake-n7-d20-f300-e503-crlf").pause == 0.02


def test_body_in_chunks_and_expectations_are_read(upstream: Upstream, client: httpx2.Client) -> None:
    def chunks() -> Iterator[bytes]:
        yield b'{"model": "fake", "messages": [{"role": "user", '
        yield b'"content": "hi"}]}'

    response = client.post("/v1/chat/completions", content=chunks(), headers={"expect": "100-continue"})
    assert response.status_code == 200
    assert upstream.calls[-1].json["messages"] == [USER]


def test_reader_that_leaves_is_seen(upstream: Upstream) -> None:
    before = upstream.statistics.aborted
    body = {"model": "fake-n1000-d20", "messages": [USER]}
    with httpx2.Client() as client, client.stream("POST", f"{upstream.url}/api/chat", json=body) as response:
        pieces = response.iter_raw()
        next(pieces)
        assert upstream.statistics.active == 1
    assert eventually(lambda: not upstream.statistics.active)
    assert (upstream.statistics.active, upstream.statistics.aborted) == (0, before + 1)


NINE: dict[str, Any] = {
    "role": "assistant",
    "tool_calls": [{"id": "abc123XYZ", "type": "function", "function": FUNCTION}],
}
NINE_RESULT: dict[str, Any] = {"role": "tool", "tool_call_id": "abc123XYZ", "content": "4"}
ANSWER: dict[str, Any] = {"role": "assistant", "content": "so"}


@pytest.mark.parametrize(
    ("model", "told", "status"),
    [
        ("fake-mistral-exact", [USER, NINE, NINE_RESULT], 200),
        ("fake-mistral-exact", [USER, CALLING, RESULT], 400),
        ("fake-mistral-exact", [USER, NINE, NINE_RESULT, USER], 400),
        ("fake-mistral", [USER, CALLING, RESULT, USER], 200),
        ("fake-deepseek", [USER, {**ANSWER, "reasoning_content": ""}, USER], 200),
        ("fake-deepseek", [USER, ANSWER, USER], 400),
        ("fake-deepseek", [{"role": "developer", "content": "Be brief."}, USER], 400),
    ],
)
def test_providers_refuse_what_only_they_refuse(
    client: httpx2.Client, model: str, told: list[dict[str, Any]], status: int
) -> None:
    assert _asked(client, "/v1/chat/completions", told, model).status_code == status
