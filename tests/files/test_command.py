"""The command loads what it needs: a file is told of in little memory, wherever it is told of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

LOADED: Final = """
import json, sys
from tokenmizer_mw.cli import main
status = main(["analyze", sys.argv[1]])
print(json.dumps([status, sorted(sys.modules)]))
"""
HEAVY: Final = {
    "tokenmizer_mw.chat.service",
    "tokenmizer_mw.session",
    "tokenmizer_mw.extract",
    "tokenmizer_mw.store",
    "rich.progress",
    "sqlite3",
    "pydantic",
    "starlette",
}


def test_the_command_loads_nothing_of_sessions_nor_a_bar_that_nobody_sees(tmp_path: Path) -> None:
    (tmp_path / "ports.csv").write_text("service,port\nweb,8080\napi,8081\n")
    called = [sys.executable, "-c", LOADED, str(tmp_path / "ports.csv")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TOKENMIZER_")}
    said = subprocess.run(called, capture_output=True, text=True, check=True, env=environment)
    *text, last = said.stdout.splitlines()
    status, loaded = json.loads(last)
    assert status == 0 and text[0].startswith("ports.csv: CSV, 2 rows x 2 columns")
    assert not HEAVY & set(loaded)


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ports.csv")
    called = [sys.executable, "-m", "tokenmizer_mw", "analyze", str(tmp_path / "ports.csv")]
    said = subprocess.run(called, capture_output=True, text=True, timeout=60)
    assert said.returncode == 2
    assert said.stderr.rstrip().endswith("ports.csv: not a file")
