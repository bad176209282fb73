"""The first answer of the server: the SDK's own, sent before the SDK is there."""

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


def ask_sdk(request: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-c", SDK_ALONE]
    done = subprocess.run(command, input=line(request), capture_output=True, timeout=SECONDS, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_versions_are_those_of_the_sdk() -> None:
    assert VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_the_answer_is_that_of_the_sdk(version: str) -> None:
    request = {**REQUEST, "id": version, "params": {**PARAMS, "protocolVersion": version}}
    assert json.loads(Opening("1").answer(line(request))) == ask_sdk(request)


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
        process.stdin.write(line(REQUEST))
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        gate.touch()
        process.stdin.close()
        assert process.wait(SECONDS) != 0  # that SDK has no server
    assert answer["result"]["serverInfo"]["name"] == "tokenmizer"


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
