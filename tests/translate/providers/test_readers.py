"""What is odd in streams: calls out of turn, torn characters, events that are too long, seals, plain errors."""

from __future__ import annotations

import json
import time
from typing import Any, Final

import pytest

from tests.translate.calls import call, user
from tokenmizer_mw.errors import ForeignReply
from tokenmizer_mw.server.translate.chat import (
    Began,
    ChatTurn,
    Ended,
    Fault,
    Finish,
    Grew,
    ModelToolCall,
    PartStart,
    StreamEvent,
    Text,
    Thought,
    Usage,
)
from tokenmizer_mw.server.translate.table import PROVIDERS
from tokenmizer_mw.server.translate.translation import ProviderSide

from .heard import Heard, events_of, heard

SIDES: Final[dict[str, ProviderSide]] = {name: row.side() for name, row in PROVIDERS.items()}


def sse(*values: Any) -> bytes:
    spelled = (value if isinstance(value, str) else json.dumps(value) for value in values)
    return "".join(f"data: {data}\n\n" for data in spelled).encode()


def lines(*values: Any) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def delta(**delta: Any) -> dict[str, Any]:
    return {"id": "r1", "model": "m", "choices": [{"index": 0, "delta": delta}]}


def fragment(index: int, arguments: str = "", **more: str) -> dict[str, Any]:
    function = {"arguments": arguments, **({"name": more["name"]} if "name" in more else {})}
    return delta(tool_calls=[{"index": index, **({"id": more["id"]} if "id" in more else {}), "function": function}])


STOP: Final = {"id": "r1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def told(provider: str, data: bytes) -> Heard:
    return heard(events_of(SIDES[provider].reader(), [data]))


def chat(*values: Any) -> Heard:
    return told("openai", sse(*values))


def called(told: Heard) -> list[tuple[str, str, str]]:
    return [(call.id, call.name, call.arguments) for call in told.calls]


def test_calls_whose_fragments_alternate_wait_for_each_other() -> None:
    stream = [
        fragment(0, id="a", name="f"),
        fragment(1, id="b", name="g"),
        fragment(0, '{"x"'),
        fragment(1, '{"y":'),
        fragment(0, ":1}"),
        fragment(1, "2}"),
        STOP,
        "[DONE]",
    ]
    assert called(chat(*stream)) == [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')]


def test_calls_in_turn_are_told_as_they_come() -> None:
    reader = SIDES["openai"].reader()
    first = reader.receive(sse(fragment(0, '{"x":1}', id="a", name="f"), fragment(1, '{"y"', id="b", name="g")))
    assert [
        event.part.id for event in first if isinstance(event, PartStart) and isinstance(event.part, ModelToolCall)
    ] == [
        "a",
        "b",
    ]
    assert first[-1] == Grew('{"y"')


def test_calls_without_index_or_id_or_arguments() -> None:
    same = [fragment(0, "{}", id="a", name="f"), fragment(0, "{}", id="b", name="f"), STOP, "[DONE]"]
    assert [id for id, _, _ in called(chat(*same))] == ["a", "b"]
    bare = [fragment(0, name="f"), STOP, "[DONE]"]
    [(id, name, arguments)] = called(chat(*bare))
    assert (name, arguments) == ("f", "{}")
    assert id == called(chat(*bare))[0][0] != ""
    assert chat(*bare).ended == Ended(Finish.TOOLS)


def test_a_call_that_goes_on_behind_its_end_is_an_error() -> None:
    stream = [fragment(0, "{}", id="a", name="f"), fragment(1, id="b", name="g"), fragment(0, "{}"), STOP, "[DONE]"]
    assert chat(*stream).fault is not None


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", Finish.STOP),
        ("length", Finish.LENGTH),
        ("content_filter", Finish.FILTERED),
        ("tool_calls", Finish.TOOLS),
        ("new_reason", Finish.STOP),
    ],
)
def test_reasons_to_stop(reason: str, finish: Finish) -> None:
    last = {"choices": [{"delta": {"content": "a"}, "finish_reason": reason}]}
    assert chat(last, "[DONE]").ended == Ended(finish)
    assert chat(last).ended == Ended(finish)
    whole = {"id": "r", "choices": [{"message": {"content": "a"}, "finish_reason": reason}]}
    assert SIDES["openai"].answer(whole).finish is finish


@pytest.mark.parametrize("reason", ["error", "insufficient_system_resource"])
def test_a_server_that_could_not_go_on_has_failed(reason: str) -> None:
    assert chat({"choices": [{"delta": {"content": "a"}, "finish_reason": reason}]}, "[DONE]").fault is not None
    with pytest.raises(ForeignReply, match=reason):
        SIDES["openai"].answer({"choices": [{"message": {"content": "a"}, "finish_reason": reason}]})


def test_a_stream_without_an_end_has_none() -> None:
    for provider, data in (
        ("openai", sse(delta(content="a"))),
        ("anthropic", sse({"type": "message_start", "message": {"id": "m"}})),
        ("gemini", sse({"candidates": [{"content": {"parts": [{"text": "a"}]}}]})),
        ("cohere", sse({"type": "message-start", "id": "m"})),
        ("ollama", lines({"message": {"content": "a"}, "done": False})),
    ):
        cut = told(provider, data)
        assert (cut.ended, cut.fault) == (None, None)
        assert cut.began is not None


@pytest.mark.parametrize("provider", SIDES)
@pytest.mark.parametrize("data", [b"", b"<html>bad gateway</html>", b"\n\n\n"])
def test_what_is_no_stream_is_an_error(provider: str, data: bytes) -> None:
    fault = told(provider, data).fault
    assert fault is not None
    assert fault.message


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "cohere", "ollama"])
def test_an_error_in_the_place_of_a_stream_is_told(provider: str) -> None:
    body = {"error": {"message": "no such model", "code": 404}}
    assert told(provider, json.dumps(body, indent=None if provider == "ollama" else 2).encode()).fault == Fault(
        404, "no such model"
    )


def test_openrouter_tells_errors_in_band_with_their_status() -> None:
    stream = sse(delta(content="a"), {"id": "r1", "error": {"code": 502, "message": "upstream is gone"}, "choices": []})
    assert told("openrouter", b": OPENROUTER PROCESSING\n\n" + stream).fault == Fault(502, "upstream is gone")


def test_bare_lines_of_json_are_errors_of_gemini() -> None:
    stream = sse({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]})
    error = json.dumps({"error": {"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}}, indent=2).encode()
    assert told("gemini", stream).ended is not None
    partly = sse({"candidates": [{"content": {"parts": [{"text": "a"}]}}]})
    assert told("gemini", partly + error).fault == Fault(503, "overloaded", "UNAVAILABLE")


@pytest.mark.parametrize(
    ("provider", "data"),
    [
        ("openai", sse(delta(content="a" * 500))),
        ("anthropic", sse({"type": "ping", "pad": "a" * 500})),
        ("ollama", lines({"message": {"content": "a" * 500}})),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_an_event_that_is_too_long_is_an_error_in_its_place(provider: str, data: bytes, size: int) -> None:
    first = sse(delta(content="x")) if provider == "openai" else b""
    data = first + data + first
    reader = PROVIDERS[provider].side(event_max=200).reader()
    events = events_of(reader, [data[start : start + size] for start in range(0, len(data), size)])
    assert isinstance(events[-1], Fault)
    assert "more than 200 bytes" in events[-1].message
    assert sum(isinstance(event, Grew) for event in events) == (provider == "openai")


def test_halves_of_a_character_are_one_in_texts_thoughts_and_arguments() -> None:
    owl = ("\ud83e", "\udd89")
    stream = [
        *(delta(reasoning_content=half) for half in owl),
        *(delta(content=half) for half in owl),
        fragment(0, '{"a":"\ud83e', id="c", name="f"),
        fragment(0, '\udd89"}'),
        STOP,
        "[DONE]",
    ]
    got = chat(*stream)
    assert (got.thought, got.text, got.calls[0].arguments) == ("🦉", "🦉", '{"a":"🦉"}')
    assert chat(delta(content="a\ud83e"), delta(tool_calls=[]), STOP, "[DONE]").text == "a\ufffd"


def test_seals_of_anthropic() -> None:
    start = {"type": "content_block_start"}
    grow = {"type": "content_block_delta"}
    stop = {"type": "content_block_stop"}
    events = events_of(
        SIDES["anthropic"].reader(),
        [
            sse(
                {"type": "message_start", "message": {"id": "m1", "model": "c", "usage": {"input_tokens": 5}}},
                {**start, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
                {**grow, "delta": {"type": "thinking_delta", "thinking": "hm"}},
                {**grow, "delta": {"type": "signature_delta", "signature": "c2ln"}},
                stop,
                {**start, "content_block": {"type": "redacted_thinking", "data": "aGlk"}},
                stop,
                {**start, "content_block": {"type": "tool_use", "id": "t1", "name": "f", "input": {}}},
                stop,
                {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
                {"type": "message_stop"},
            )
        ],
    )
    expected: list[StreamEvent] = [
        Began("m1", "c", Usage(prompt=5)),
        PartStart(Thought("")),
        Grew("hm"),
        Grew(seal="c2ln", sealed_by="anthropic"),
        PartStart(Thought("", "aGlk", "anthropic", hidden=True)),
        PartStart(ModelToolCall("t1", "f", "")),
        Grew("{}"),
        Ended(Finish.TOOLS, Usage(prompt=5, completion=3)),
    ]
    assert events == expected


def test_seals_of_gemini() -> None:
    parts = [
        {"text": "hm", "thought": True},
        {"text": "Hello."},
        {"text": "", "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "Y2Fs"},
    ]
    body = {"responseId": "r1", "candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
    answer = SIDES["gemini"].answer(body)
    thought, text, hidden, call = answer.parts
    assert (thought, text) == (Thought("hm"), Text("Hello."))
    assert hidden == Thought("", "c2ln", "gemini", hidden=True)
    assert isinstance(call, ModelToolCall)
    assert (call.name, call.arguments, call.seal, call.sealed_by) == ("f", '{"a":1}', "Y2Fs", "gemini")
    assert told("gemini", sse(body)).parts == list(answer.parts)
    assert answer.finish is Finish.TOOLS


DETAILS: Final = [
    {"type": "reasoning.text", "text": "Hm. ", "format": "anthropic-claude-v1", "index": 0},
    {"type": "reasoning.text", "text": "", "signature": "c2ln", "format": "anthropic-claude-v1", "index": 0},
    {"type": "reasoning.encrypted", "data": "aGlk", "format": "openai-responses-v1", "id": "rs_1", "index": 1},
]


def test_seals_through_openrouter_go_back_to_it_as_they_came() -> None:
    stream = [
        delta(reasoning="Hm. ", reasoning_details=DETAILS[:1]),
        delta(reasoning_details=DETAILS[1:2]),
        delta(content="Hello.", reasoning_details=DETAILS[2:]),
        STOP,
        "[DONE]",
    ]
    whole = [{**DETAILS[1], "text": "Hm. "}, DETAILS[2]]
    message = {"content": "Hello.", "reasoning": "Hm. ", "reasoning_details": whole}
    answer = SIDES["openrouter"].answer({"id": "r1", "choices": [{"message": message, "finish_reason": "stop"}]})
    streamed = told("openrouter", sse(*stream))
    assert list(answer.parts) == streamed.parts
    thought, hidden, text = answer.parts
    assert isinstance(thought, Thought)
    assert isinstance(hidden, Thought)
    assert (thought.text, thought.sealed_by, hidden.hidden, text) == ("Hm. ", "openrouter", True, Text("Hello."))
    again = call(user("a"), ChatTurn("assistant", answer.parts), user("b"))
    sent = SIDES["openrouter"].outgoing(again).body["messages"][1]
    assert (sent["reasoning"], sent["reasoning_details"]) == ("Hm. ", whole)
    for other in set(PROVIDERS) - {"openrouter"}:
        body = json.dumps(SIDES[other].outgoing(again).body)
        assert "c2ln" not in body
        assert "aGlk" not in body


def test_a_seal_that_a_client_made_up_goes_nowhere() -> None:
    forged = [Thought("a", seal, "openrouter") for seal in ("", "no json", "[1]", "[" * 9_999)]
    sent = SIDES["openrouter"].outgoing(call(user("a"), ChatTurn("assistant", tuple(forged)), user("b")))
    assert "reasoning_details" not in sent.body["messages"][1]


def test_ids_are_made_where_none_are_given_and_stay_the_same() -> None:
    calls = [{"function": {"name": "f", "arguments": {"a": 1}}}] * 2
    body = {"model": "m", "created_at": "2026-11-21T08:00:00Z", "message": {"tool_calls": calls}, "done": True}
    first = SIDES["ollama"].answer(body)
    ids = [part.id for part in first.parts if isinstance(part, ModelToolCall)]
    assert len(set(ids)) == 2
    assert SIDES["ollama"].answer(body) == first
    assert [call.id for call in told("ollama", lines(body)).calls] == ids
    other = SIDES["ollama"].answer({**body, "created_at": "2026-11-21T08:00:01Z"})
    assert not set(ids) & {part.id for part in other.parts if isinstance(part, ModelToolCall)}


def test_tokens_that_were_thought_belong_to_the_answer() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 22,
             "completion_tokens_details": {"reasoning_tokens": 7}}  # fmt: skip
    body = {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], "usage": usage}
    assert SIDES["grok"].answer(body).usage == Usage(prompt=10, completion=12, thought=7)
    usage["total_tokens"] = 15
    assert SIDES["openai"].answer(body).usage == Usage(prompt=10, completion=5, thought=7)


@pytest.mark.parametrize(
    ("provider", "body", "fault"),
    [
        ("openai", {"error": {"message": "no", "type": "t", "code": None}}, Fault(400, "no", "t")),
        ("openai", {"error": {"message": "no", "type": "t", "code": "c"}}, Fault(400, "no", "c")),
        ("mistral", {"object": "error", "message": "no", "type": "t", "code": "1"}, Fault(400, "no", "1")),
        ("mistral", {"detail": "no"}, Fault(400, "no")),
        ("anthropic", {"type": "error", "error": {"type": "t", "message": "no"}}, Fault(400, "no", "t")),
        ("gemini", [{"error": {"code": 400, "message": "no", "status": "S"}}], Fault(400, "no", "S")),
        ("cohere", {"id": "x", "message": "no"}, Fault(400, "no")),
        ("ollama", {"error": "no"}, Fault(400, "no")),
    ],
)
def test_error_responses(provider: str, body: Any, fault: Fault) -> None:
    assert SIDES[provider].fault(400, json.dumps(body).encode()) == fault


def test_error_responses_that_are_no_json() -> None:
    assert SIDES["openai"].fault(502, b"<html>Bad Gateway</html>") == Fault(502, "<html>Bad Gateway</html>")
    assert SIDES["openai"].fault(503, b"") == Fault(503, "the provider answered with status 503")
    assert len(SIDES["openai"].fault(500, b"x" * 100_000).message) == 1_000


def piece(provider: str, number: int) -> bytes:
    if provider == "ollama":
        return lines({"message": {"content": f"word {number} "}, "done": False})
    return sse(
        {
            "openai": delta(content=f"word {number} "),
            "anthropic": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": f"word {number} "}},
            "gemini": {"candidates": [{"content": {"parts": [{"text": f"word {number} "}]}}]},
            "cohere": {"type": "content-delta", "delta": {"message": {"content": {"text": f"word {number} "}}}},
        }[provider]
    )


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "cohere", "ollama"])
def test_reading_is_linear(provider: str) -> None:
    def cost(count: int) -> float:
        data = b"".join(piece(provider, number) for number in range(count))
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            events_of(SIDES[provider].reader(), [data[place : place + 100] for place in range(0, len(data), 100)])
            best = min(best, time.process_time() - start)
        return best

    assert cost(4_000) < 4 * cost(2_000)


def test_many_calls_are_read_in_linear_time() -> None:
    def cost(count: int) -> float:
        begun = [fragment(number, '{"a"', id=f"c{number}", name="f") for number in range(count)]
        grown = [fragment(number, ":1}") for number in range(count)]
        data = sse(*begun, *grown, STOP, "[DONE]")
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            got = told("openai", data)
            best = min(best, time.process_time() - start)
        assert [call.arguments for call in got.calls] == ['{"a":1}'] * count
        return best

    assert cost(2_000) < 4 * cost(1_000)
