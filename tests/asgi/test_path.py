"""How many steps of ours a chat takes: what a reader of the path has to follow, and what each chat pays for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

FRAMES_MAX = 16  # with the two at the bottom of the worker's stack
CALLS_MAX = 250


def test_path_of_a_chat_is_short_and_each_name_stands_there_once() -> None:
    script = Path(__file__).with_name("path_of_a_chat.py")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=60)
    told = json.loads(done.stdout)
    path = told["path"]
    assert told["counters"]["turn_complete"] == 6
    assert path[0] == "__call__" and path[-1] == "append"
    assert len(path) <= FRAMES_MAX, path
    assert len(set(path)) == len(path), path
    assert 0 < told["calls"] <= CALLS_MAX
    assert told["saving"] == [], "what saves tokens is imported where a setting asks for it"
