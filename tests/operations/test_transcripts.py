from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable

import pytest

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.operations.transcripts import ImportedTranscript, read_transcript

USER = {"role": "user", "content": "Hello"}
REPLY = {"role": "assistant", "content": "Hi"}
HELLO = Message(Role.USER, "Hello")
HI = Message(Role.ASSISTANT, "Hi")

OPENAI_CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"p": "."}'}}],
}
ANTHROPIC_CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {"p": "."}}]}
LABELLED_CALL = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "c1", "name": "ls", "arguments": {"p": "."}}],
}
LABELLED_RESULT = {"role": "tool", "content": "no such file", "tool_call_id": "c1", "is_error": True}


def read(value: object) -> ImportedTranscript:
    found = read_transcript(value if isinstance(value, bytes) else json.dumps(value).encode(), "chat.json")
    assert isinstance(found, ImportedTranscript)
    return found


@pytest.mark.parametrize(
    "value",
    [
        [USER, REPLY],
        {"messages": [USER, REPLY], "model": "m"},
        {"turns": [USER, REPLY]},
        [{"role": "system", "content": "Be brief."}, USER, REPLY],
        b'{"role": "user", "content": "Hello"}\n\n{"role": "assistant", "content": "Hi"}\n',
        b'{"role": "user", "content": "Hello"}\r\n{"role": "assistant", "content": "Hi"}',
        b'\xef\xbb\xbf[{"role": "user", "content": "Hello"},\n {"role": "assistant", "content": "Hi"}]',
    ],
)
def test_every_shape_gives_the_same_messages(value: object) -> None:
    assert read(value).messages == (HELLO, HI)


def test_a_single_message_is_a_transcript() -> None:
    assert read(USER).messages == (HELLO,)


@pytest.mark.parametrize(("value", "id_"), [({"id": "s1", "turns": [USER]}, "s1"), ({"id": 7, "turns": [USER]}, "")])
def test_the_file_may_name_the_session(value: object, id_: str) -> None:
    assert read(value).id == id_


@pytest.mark.parametrize("message", [OPENAI_CALL, ANTHROPIC_CALL, LABELLED_CALL])
def test_tool_calls_of_every_spelling(message: dict[str, object]) -> None:
    [call] = read([message]).messages[0].tool_calls
    assert (call.id, call.name, json.loads(call.arguments)) == ("c1", "ls", {"p": "."})
    assert isinstance(call, ToolCall)


def test_a_failed_tool_result() -> None:
    assert read([LABELLED_RESULT]).messages[0].tool_results == (ToolResult("c1", "no such file", is_error=True),)


BAD = [
    (b"", "the file is empty"),
    (b" \n\t\n", "the file is empty"),
    (b"\xff\xfe{", "line 1: not UTF-8 text"),
    (b'[\n{"role": "user"}\n\xe9]', "line 3: not UTF-8 text"),
    (b'[\n{"role": "user",}\n]', "line 2, column 1"),  # where exactly depends on the version of Python
    (b'{"role": "user", "content": "a"}\n{"role": "user"', "line 2, column 16: not valid JSON"),
    (b'{"role": "user", "content": "a"} x', "line 1, column 34: not valid JSON: Extra data"),
    (b'{\n"messages": []\n}\n}', "line 4, column 1: not valid JSON: Extra data"),
    (b"[" * 20_000, "JSON nested too deeply"),
    (b'{"a":' * 20_000, "JSON nested too deeply"),
    (b'{"role": "user", "content": "a"}\n' + b"[" * 20_000, "line 2: JSON nested too deeply"),
    (b"9" * 5_000, "not valid JSON"),
    (b"null", "line 1: the message is None"),
    (b'"text"', "line 1: the message is a str"),
    (b"{}", "expected a list of messages"),
    (b'{"messages": "no"}', "expected a list of messages"),
    (b"[]", "there are no messages in it"),
    (b'[{"role": "system", "content": "x"}]', "there are no messages in it"),
    (b'[{"role": "user", "content": "x"}, {"role": "wizard"}]', "message 2 has no role that is known: 'wizard'"),
    (b'[{"role": "user", "content": 5}]', "message 1 has content of type int"),
    (b'{"role": "user", "content": "x"}\n3', "line 2: the message is an int"),
    (b'{"tokenmizer_export": 2, "session": "s", "events": 0}', "line 1: written by a newer version"),
    (b'{"tokenmizer_export": 1, "session": "s", "events": 3}', "cut short: 0 of 3 events"),
    (b'{"tokenmizer_export": 1, "session": "s", "events": 1}\n{}', "line 2: not an event of this version"),
    (b'{"tokenmizer_export": 1, "session": "s", "events": 1}\n[]', "line 2: not an event of this version"),
]


@pytest.mark.parametrize(("raw", "complaint"), BAD)
def test_bad_input_is_named_with_its_line(raw: bytes, complaint: str) -> None:
    with pytest.raises(CallerError) as caught:
        read_transcript(raw, "chat.json")
    assert str(caught.value).startswith("chat.json: ")
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def _cpu(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(4):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


@pytest.mark.parametrize("filler", [b"{}\n", b"\n", b" \n", b"[]\n"])
def test_a_wrong_line_is_refused_before_the_lines_behind_it_are_read(filler: bytes) -> None:
    """The rest of the file may cost its decoding, and no object for each of its lines."""
    raw = b'{"role": "user", "content": "a"}\n{}\n' + filler * 500_000
    tracemalloc.start()
    try:
        with pytest.raises(CallerError, match="line 2"):
            read_transcript(raw, "f")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * len(raw) + 1_000_000


@pytest.mark.parametrize("filler", [b"\n", b" \n", b"\t \r\n"])
def test_blank_lines_cost_in_proportion_to_their_number(filler: bytes) -> None:
    def work(count: int) -> Callable[[], object]:
        raw = b'{"role": "user", "content": "a"}\n' + filler * count + b'{"role": "user", "content": "b"}\n'
        return lambda: read_transcript(raw, "f")

    assert _cpu(work(800_000)) <= 6 * _cpu(work(200_000)) + 0.02


def test_a_line_behind_blank_ones_is_named_by_its_number() -> None:
    with pytest.raises(CallerError, match="line 12"):
        read_transcript(b'{"role": "user", "content": "a"}\n' + b" \n" * 10 + b"{}\n", "f")
