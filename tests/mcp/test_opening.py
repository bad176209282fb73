"""The first answers of the server: the SDK's own, sent before the SDK is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from tokenmizer_mw.agents.mcp.opening import VERSIONS, Opening

from .conftest import SECONDS, Desk

PARAMS = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"roots": {"listChanged": True}},
    "clientInfo": {"name": "host", "version": "1"},
}
REQUEST = {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": PARAMS}
SDK_ALONE = """
import anyio, os, sys
from tokenmizer_mw.agents.mcp.server import Memory, server
anyio.run(server(Memory(None, ".", ["."]), "1").run_stdio_async)
"""


def line(message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


LIST = {"jsonrpc": "2.0", "id": "tools", "method": "tools/list"}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def ask_sdk(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The SDK's answers to ``initialize`` and to the list of tools."""
    command = [sys.executable, "-c", SDK_ALONE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers = []
        for sent in (line(request), line(READY) + line(LIST)):
            process.stdin.write(sent)
            process.stdin.flush()
            answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.wait(SECONDS) == 0
    return answers


def test_versions_are_those_of_the_sdk() -> None:
    assert VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_the_answers_are_those_of_the_sdk(version: str) -> None:
    """`make pages` writes the list of tools anew."""
    request = {**REQUEST, "id": version, "params": {**PARAMS, "protocolVersion": version}}
    opening = Opening("1")
    early = [json.loads(opening.answer(sent)) for sent in (line(request), line(READY) + line(LIST))]
    assert early == ask_sdk(request)


@pytest.mark.parametrize("params", [{"cursor": "next"}, ["cursor"], {"_meta": {}, "cursor": None}])
def test_another_page_of_tools_is_the_sdks(params: Any) -> None:
    opening = Opening("1")
    assert opening.answer(line(REQUEST))
    assert opening.answer(line({**LIST, "params": params})) == b""
    assert json.loads(opening.answer(line({**LIST, "params": {"_meta": {"progressToken": 1}}})))["id"] == "tools"


def test_no_answer_is_sent_twice_and_none_is_early_once_the_sdk_answers() -> None:
    opening = Opening("1")
    opening.answer(line(REQUEST) + line(READY) + line(LIST))
    notice = line({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
    first, second = (line({"jsonrpc": "2.0", "id": id, "result": {}}) for id in (7, "tools"))
    assert opening.filter_output(first + notice + second) == notice
    assert opening.answer(line({**LIST, "id": 9})) == b""
    third = line({"jsonrpc": "2.0", "id": 9, "result": {}})
    assert opening.filter_output(third) == third


def test_the_answer_does_not_wait_for_the_sdk(desk: Desk, tmp_path: Path) -> None:
    """The import of this SDK ends only after the answer has been read."""
    gate = tmp_path / "open"
    (tmp_path / "mcp.py").write_text(
        f"import os, time\nwhile not os.path.exists({str(gate)!r}):\n    time.sleep(0.01)\n"
    )
    path = os.pathsep.join([str(tmp_path), desk.environment.get("PYTHONPATH", "")])
    environment = {**desk.environment, "PYTHONPATH": path}
    with subprocess.Popen(
        desk.command,
        env=environment,
        cwd=desk.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line(REQUEST) + line(READY) + line(LIST))
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        tools = json.loads(process.stdout.readline())
        gate.touch()
        process.stdin.close()
        assert process.wait(SECONDS) != 0  # that SDK has no server
    assert answer["result"]["serverInfo"]["name"] == "tokenmizer"
    assert "recall" in [tool["name"] for tool in tools["result"]["tools"]]


@pytest.mark.parametrize(
    "message",
    [
        {**REQUEST, "params": {**PARAMS, "protocolVersion": "2030-01-01"}},
        {**REQUEST, "params": {key: PARAMS[key] for key in ("protocolVersion", "capabilities")}},
        {**REQUEST, "params": {**PARAMS, "clientInfo": {"name": "host"}}},
        {**REQUEST, "params": {**PARAMS, "capabilities": None}},
        {**REQUEST, "params": None},
        {**REQUEST, "id": None},
        {**REQUEST, "id": True},
        {**REQUEST, "method": "server/discover"},
        {key: value for key, value in REQUEST.items() if key != "id"},
        [REQUEST],
        "initialize",
    ],
)
def test_the_sdk_answers_everything_else(message: Any) -> None:
    opening = Opening("1")
    assert opening.answer(line(message)) == b""
    assert opening.answer(line(REQUEST)) == b"", "only the first line is answered"
    answer = line({"jsonrpc": "2.0", "id": 7, "result": {}})
    assert opening.filter_output(answer) == answer


def test_a_long_first_line_is_not_collected() -> None:
    opening = Opening("1")
    assert opening.answer(b" " * 100_000) == b""
    assert opening.answer(line(REQUEST)) == b""


@given(st.lists(st.integers(1, 400), max_size=6), st.lists(st.integers(1, 400), max_size=6))
def test_pieces_make_no_difference(input_cuts: list[int], output_cuts: list[int]) -> None:
    opening = Opening("1")
    asked = line(REQUEST) + line({"jsonrpc": "2.0", "id": 8, "method": "ping"})
    answered = b"".join(opening.answer(piece) for piece in _cut(asked, input_cuts))
    assert json.loads(answered)["id"] == 7
    before = line({"jsonrpc": "2.0", "id": 7, "method": "ping"})  # the server's own request has the same id
    after = line({"jsonrpc": "2.0", "id": 8, "result": {}}) + line({"jsonrpc": "2.0", "id": 7, "result": {"again": 1}})
    sent = before + line({"jsonrpc": "2.0", "id": 7, "result": {"long": "x" * 50}}) + after
    assert b"".join(opening.filter_output(piece) for piece in _cut(sent, output_cuts)) == before + after


def _cut(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]
