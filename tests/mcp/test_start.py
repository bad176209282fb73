"""What a host does: it writes early, closes the input at once, and waits for the start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tokenmizer_mw.agents.mcp import server
from tokenmizer_mw.agents.mcp.opening import Unanswered
from tokenmizer_mw.agents.mcp.starting import OutputWriter
from tokenmizer_mw.saving.files import BUDGET

from .conftest import SECONDS, Desk

OPENING = {
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}},
}
READY = {"method": "notifications/initialized"}
CALLS = [
    {"id": number, "method": "tools/call", "params": {"name": "list_sessions", "arguments": {}}}
    for number in range(2, 9)
]


@pytest.mark.parametrize(
    "messages",
    [[OPENING, READY, *CALLS], [OPENING, *CALLS, READY]],
    ids=["the input closed at once", "calls in front of the notification"],
)
def test_every_call_is_answered(messages: list[dict[str, Any]], desk: Desk) -> None:
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    done = subprocess.run(
        desk.command,
        input=lines,
        capture_output=True,
        text=True,
        env=desk.environment,
        cwd=desk.folder,
        timeout=SECONDS * 3,
    )
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert set(answers) == set(range(1, 9)), done.stderr
    assert len(done.stdout.splitlines()) == 8
    assert all(desk.session in json.dumps(answers[call["id"]]["result"]) for call in CALLS)


def test_a_line_that_is_no_json_is_a_parse_error(desk: Desk) -> None:
    lines = [json.dumps({"jsonrpc": "2.0", **message}) for message in (OPENING, READY, CALLS[0])]
    lines[2:2] = ["this is no json", "", "[" * 100_000]
    done = subprocess.run(
        desk.command,
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        env=desk.environment,
        cwd=desk.folder,
        timeout=SECONDS * 3,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["error"]["code"] for one in answers if one["id"] is None] == [-32700, -32700]
    assert desk.session in json.dumps(next(one for one in answers if one["id"] == 2)["result"])


def test_lines_are_inserted_between_lines() -> None:
    reading, writing = os.pipe()
    output = OutputWriter(writing)
    output.insert(b"first\n")
    output.write(b'{"half": ')
    output.insert(b"second\n")
    output.insert(b"third\n")
    output.write(b"")
    output.write(b"1}\n{")
    output.write(b"}\n")
    output.insert(b"fourth\n")
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        assert file.read() == b'first\n{"half": 1}\nsecond\nthird\n{}\nfourth\n'


def test_a_store_that_cannot_be_opened_is_a_sentence(desk: Desk) -> None:
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in (OPENING, READY, CALLS[0]))
    environment = {**desk.environment, "TOKENMIZER_STORE": "sqlite:////nowhere/at/all.db"}
    done = subprocess.run(
        desk.command, input=lines, capture_output=True, text=True, env=environment, cwd=desk.folder, timeout=SECONDS * 3
    )
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    result = answers[2]["result"]
    assert result["isError"]
    assert "/nowhere/at/all.db" in result["content"][0]["text"]
    assert "\n" not in result["content"][0]["text"]


def test_the_server_ends_soon_after_its_input() -> None:
    """The SDK keeps a duplicate of standard output, which must not keep the process waiting."""
    code = (
        "import os, threading\n"
        "from tokenmizer_mw.agents.mcp.starting import interruptible_input\n"
        "from tokenmizer_mw.agents.mcp.opening import Opening\n"
        "with interruptible_input(Opening('1')):\n"
        "    duplicate = os.dup(1)\n"
        "    os.write(duplicate, b'x' * 200_000)\n"
        "assert threading.active_count() == 1  # it did not give up on what copies the output\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, input=b"", check=True, timeout=SECONDS)
    assert done.stdout == b"x" * 200_000


def test_requests_and_answers_are_counted_in_pieces() -> None:
    waiting = Unanswered()
    first, second = '{"jsonrpc": "2.0", "id": 1, "method": "a"}', '{"jsonrpc": "2.0", "id": "2", "method": "b"}'
    note = '{"jsonrpc": "2.0", "method": "note"}'
    lines = f"{first}\n{second}\n{note}\n \n".encode()
    assert waiting.note_input(lines[:60]) == (f"{first}\n".encode(), b"")
    assert waiting.note_input(lines[60:]) == (f"{second}\n{note}\n".encode(), b"")
    assert waiting.count == 2
    waiting.note_output(b'{"id": 9, "method": "asks back"}\n{"id": 1, "result": {}}\n')
    waiting.note_input(b'{"id": 9, "result": {}}\n')
    assert waiting.count == 1
    waiting.note_output(b'{"id": "2", "error": {"code": 1}}\n{"id": 7, "result": {}}\n')
    assert waiting.count == 0


def test_the_last_line_needs_no_end() -> None:
    waiting = Unanswered()
    line = b'{"jsonrpc": "2.0", "id": 1, "method": "a"}'
    assert waiting.note_input(line) == (b"", b"")
    assert waiting.note_input(b"") == (line + b"\n", b"")
    assert waiting.count == 1


@pytest.mark.parametrize(
    ("line", "code", "id"),
    [
        ("this is no json", -32700, None),
        ("[" * 100_000, -32700, None),
        ("5", -32600, None),
        ('[{"jsonrpc": "2.0", "id": 3, "method": "tools/list"}]', -32600, None),
        ('{"jsonrpc": "2.0", "id": 3}', -32600, 3),
        ('{"id": 3, "method": "tools/list"}', -32600, 3),
        ('{"jsonrpc": "2.0", "id": 3, "method": 5}', -32600, 3),
        ('{"jsonrpc": "2.0", "id": 3.5, "method": "tools/list"}', -32600, None),
        ('{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', -32600, None),
        ('{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": [1]}', -32600, "a"),
    ],
)
def test_a_line_that_is_no_message_is_answered_and_not_waited_for(line: str, code: int, id: object) -> None:
    waiting = Unanswered()
    passed, errors = waiting.note_input(f"{line}\n".encode())
    answer = json.loads(errors)
    assert (passed, waiting.count) == (b"", 0)
    assert (answer["error"]["code"], answer["id"]) == (code, id)


def test_a_cancelled_request_is_not_waited_for(desk: Desk) -> None:
    """The SDK never answers it."""
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": 2}}
    lines = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in (OPENING, READY, CALLS[0], cancelled))
    done = subprocess.run(
        desk.command, input=lines, capture_output=True, text=True, env=desk.environment, cwd=desk.folder, timeout=30
    )
    assert done.returncode == 0
    assert json.loads(done.stdout.splitlines()[0])["id"] == 1


def test_calls_are_answered_whenever_they_follow_the_list(desk: Desk) -> None:
    """A host that waits for each answer; the SDK is still being imported at the first call."""
    with subprocess.Popen(
        desk.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=desk.environment, cwd=desk.folder
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in (OPENING, READY, {"id": 20, "method": "tools/list"}, *CALLS):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()
            if "id" in message:
                assert json.loads(process.stdout.readline())["id"] == message["id"]
        process.stdin.close()
        assert process.stdout.read() == ""
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TOKENMIZER_SERVER", "not a url"),
        ("TOKENMIZER_SERVER", "http://[::1"),
        ("TOKENMIZER_SERVER", "http://127.0.0.1:99999"),
        ("TOKENMIZER_KEY", "schl\u00fcssel"),
    ],
)
def test_a_server_that_cannot_be_is_refused_before_any_answer(variable: str, value: str, desk: Desk) -> None:
    environment = {**desk.environment, variable: value}
    line = json.dumps({"jsonrpc": "2.0", **OPENING}) + "\n"
    done = subprocess.run(
        desk.command, input=line, capture_output=True, text=True, env=environment, cwd=desk.folder, timeout=SECONDS
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "fault of" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_budget_of_a_file_is_that_of_the_library() -> None:
    assert server._BUDGET == BUDGET


def test_calls_are_answered_where_interrupts_are_ignored(desk: Desk) -> None:
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in (OPENING, READY, *CALLS))
    done = subprocess.run(
        ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *desk.command],
        input=lines,
        capture_output=True,
        text=True,
        env=desk.environment,
        cwd=desk.folder,
        timeout=SECONDS * 3,
    )
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert all(desk.session in json.dumps(answers[call["id"]].get("result")) for call in CALLS)
