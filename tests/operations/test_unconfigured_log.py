"""What an application that configures no logging prints of the package's warnings."""

from __future__ import annotations

import subprocess
import sys

import pytest

BEGIN = (
    "import logging; from tokenmizer_mw import SessionMemory, Settings;"
    " memory = SessionMemory.open('memory://', Settings(session_field='chat_id'));"
)
END = " memory.service.count('no_session'); memory.close()"
LINE = (
    "a chat passes and is not remembered: no header x-session-id, body field chat_id or callable names its session"
    " (docs/not-remembered.md; no_session)"
)


@pytest.mark.parametrize(
    ("configuration", "printed"),
    [
        ("", f"WARNING tokenmizer_mw: {LINE}\n"),
        (" SessionMemory.open('memory://').close();", f"WARNING tokenmizer_mw: {LINE}\n"),
        (" logging.basicConfig(format='mine: %(message)s');", f"mine: {LINE}\n"),
        (" logging.getLogger('tokenmizer_mw').addHandler(logging.NullHandler());", ""),
        (" logging.getLogger('tokenmizer_mw').setLevel('ERROR');", ""),
    ],
    ids=["nothing", "two memories", "the root logger", "silence", "a level"],
)
def test_a_warning_has_level_and_logger_unless_the_application_handles_it(configuration: str, printed: str) -> None:
    command = [sys.executable, "-c", BEGIN + configuration + END]
    assert subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stderr == printed
