"""What is put into a stream: the same whatever pieces it comes in, and nothing else changes."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenmizer_mw.context.compaction import anthropic, responses
from tokenmizer_mw.context.compaction.contract import SealedContent
from tokenmizer_mw.context.compaction.streams import StreamEditor, StreamFrame
from tokenmizer_mw.wire.dialects import ROUTES

KEPT = SealedContent("shop", "checkpoint-1", "the block \N{SLIGHTLY SMILING FACE}")
SEALED = "tokenmizer-compaction.1.AAAA"


def spelled(events: list[dict[str, Any]], end: str) -> bytes:
    lines = [f"event: {event['type']}{end}data: {json.dumps(event)}{end}{end}" for event in events]
    return f": kept alive{end}{end}".join(lines).encode()


MESSAGES: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": {"input_tokens": 5}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Ünal\u2028 says"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]
SAID = {"type": "message", "id": "i", "role": "assistant", "content": [{"type": "output_text", "text": "Ünal"}]}
WHOLE = {"id": "r", "object": "response", "status": "completed", "output": [SAID]}
ITEMS: list[dict[str, Any]] = [
    {"type": "response.created", "sequence_number": 0, "response": {**WHOLE, "output": []}},
    {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": SAID},
    {"type": "response.output_text.delta", "sequence_number": 2, "output_index": 0, "delta": "Ünal"},
    {"type": "response.output_item.done", "sequence_number": 3, "output_index": 0, "item": SAID},
    {"type": "response.completed", "sequence_number": 4, "response": WHOLE},
]


def through(added: Any, raw: bytes, cuts: list[int]) -> bytes:
    passing = StreamEditor(added.to_event)
    places = sorted({min(cut, len(raw)) for cut in cuts} | {0, len(raw)})
    pieces = [raw[start:end] for start, end in pairwise(places)]
    return b"".join(map(passing.feed, pieces)) + passing.end()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("words", "events"), [(anthropic, MESSAGES), (responses, ITEMS)])
@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(0, 1_500), max_size=12))
def test_any_pieces_give_the_same(words: Any, events: list[dict[str, Any]], end: str, cuts: list[int]) -> None:
    raw = spelled(events, end)
    whole = through(words.Addition(KEPT, SEALED, []), raw, [])
    assert through(words.Addition(KEPT, SEALED, []), raw, cuts) == whole
    assert whole.count(SEALED.encode()) == (1 if words is anthropic else 3)
    dialect = ROUTES["/v1/messages" if words is anthropic else "/responses"]
    found, before = dialect.collect(whole, stream=True), dialect.collect(raw, stream=True)
    assert found.message is not None and before.message is not None
    assert found.message.text == before.message.text
    assert found.finish_reason == before.finish_reason


def test_numbers_and_places_stay_in_order() -> None:
    raw = through(responses.ResponsesAddition(KEPT, SEALED, []), spelled(ITEMS, "\n"), [])
    told = [json.loads(line[6:]) for line in raw.decode().splitlines() if line.startswith("data: ")]
    assert [event["sequence_number"] for event in told] == list(range(7))
    assert [event["output_index"] for event in told if "output_index" in event] == [0, 0, 1, 1, 1]


def test_an_event_that_is_no_json_keeps_its_bytes() -> None:
    raw = b"event: message_start\ndata: {torn\n\ndata: [DONE]\n\n:\n\nrest"
    assert through(anthropic.MessagesAddition(KEPT, SEALED, []), raw, [3, 9]) == raw


ODD: list[Any] = [None, True, 1.5, "1", [], [1], {}, {"a": 1}, -1, 10**4_299, int("9" * 4_300)]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(("words", "events"), [(anthropic, MESSAGES), (responses, ITEMS)])
def test_a_member_of_another_type_ends_no_stream(words: Any, events: list[dict[str, Any]], odd: Any) -> None:
    for at, event in enumerate(events):
        changed = [{**event, name: odd} for name in {*event, "index", "usage", "sequence_number"}]
        changed.append({**event, "usage": {"iterations": odd, "output_tokens": odd}})
        for each in changed:
            raw = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in (*events[:at], each))
            told = through(words.Addition(KEPT, SEALED, [{"type": "x"}]), raw, [])
            assert told.endswith(b"\n\n")
            assert told.count(b"data: ") >= at + 1


@pytest.mark.parametrize("odd", ODD)
def test_a_member_of_another_type_spoils_no_answer(odd: Any) -> None:
    message = {"type": "message", "content": [], "usage": {"iterations": odd}}
    for body in (message, {**message, "content": odd}, {**message, "usage": odd}, {"type": odd, "object": odd}):
        assert anthropic.MessagesAddition(KEPT, SEALED, []).to_body(body)["type"] == body["type"]
        assert responses.ResponsesAddition(KEPT, SEALED, []).to_body(body) == body


CALLED = {"type": "function_call", "id": "f", "call_id": "c", "name": "ls", "arguments": "{}", "status": "completed"}


@pytest.mark.parametrize("output", [[SAID, CALLED], [CALLED, SAID], [SAID, {"type": "local_shell_call", "id": "s"}]])
def test_a_complete_response_that_calls_a_tool_is_not_changed(output: list[Any]) -> None:
    body = {**WHOLE, "output": output}
    assert responses.Following("BLOCK").to_body(body) == body


@pytest.mark.parametrize("before", [[], [{"type": "reasoning", "id": "t"}], [{"type": "web_search_call", "id": "w"}]])
def test_a_complete_response_is_followed_by_the_block(before: list[Any]) -> None:
    changed = responses.Following("BLOCK").to_body({**WHOLE, "output": [*before, SAID]})
    assert changed["output"][:-1] == before
    assert changed["output"][-1]["content"] == [{"type": "output_text", "text": "Ünal\n\nBLOCK"}]


def test_the_end_of_a_stream_repeats_what_was_streamed() -> None:
    """Also where a tool is called behind the text, which nobody knows while the text is streamed."""
    done = {"type": "response.output_text.done", "sequence_number": 3, "output_index": 0, "content_index": 0}
    items = [
        *ITEMS[:3],
        {**done, "text": "Ünal"},
        {"type": "response.output_item.done", "sequence_number": 4, "output_index": 0, "item": SAID},
        {"type": "response.output_item.done", "sequence_number": 5, "output_index": 1, "item": CALLED},
        {"type": "response.completed", "sequence_number": 6, "response": {**WHOLE, "output": [SAID, CALLED]}},
    ]
    raw = through(responses.Following("BLOCK"), spelled(items, "\n"), [])
    told = [json.loads(line[6:]) for line in raw.decode().splitlines() if line.startswith("data: ")]
    streamed = "".join(event["delta"] for event in told if event["type"] == "response.output_text.delta")
    ended = told[-1]["response"]["output"]
    assert streamed == ended[0]["content"][0]["text"] == "Ünal\n\nBLOCK"
    assert ended[1] == CALLED


def test_an_event_that_is_too_long_passes_with_all_behind_it() -> None:
    def change(frame: StreamFrame) -> list[bytes]:
        return [b"changed\n\n"]

    passing = StreamEditor(change, event_max=100)
    raw = b"data: " + b"x" * 200 + b"\n\ndata: 1\n\n"
    assert b"".join(passing.feed(raw[at : at + 50]) for at in range(0, len(raw), 50)) + passing.end() == raw


@pytest.mark.parametrize("event", [b"\n\n", b"data: {}\n\n"])
def test_the_time_for_a_piece_grows_with_its_length(event: bytes) -> None:
    def seconds(size: int) -> float:
        passing, piece = (
            StreamEditor(anthropic.MessagesAddition(KEPT, SEALED, []).to_event),
            event * (size // len(event)),
        )
        start = time.process_time()
        assert passing.feed(piece) == piece
        return time.process_time() - start

    assert min(seconds(800_000) for _ in range(3)) <= 6 * min(seconds(200_000) for _ in range(3))
