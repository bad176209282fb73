"""What is remembered is the same in every process: it must not depend on the order of sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

REMEMBER = """
import json
from benchmarks.labelled import OWN, corpus
from tokenmizer_mw import SessionMemory

found = []
for session in corpus(OWN, "own").sessions[::6]:
    with SessionMemory.open("memory://") as memory:
        memory.record(session.id, session.turns)
        found.append([node.label for node in memory.graph(session.id).nodes()])
        said = [turn["content"] for turn in session.turns if turn.get("content")]
        for text in said[:: max(1, len(said) // 6)]:
            found.append([hit.node.label for hit in memory.search(session.id, text[:200])])
            found.append(memory.recall(session.id, text[:200], budget=300).text.splitlines()[1:-1])
print(json.dumps(found))
"""


def remembered(seed: int) -> str:
    """What a new process remembers, whose sets have an order of their own."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", REMEMBER], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def test_facts_and_passages_do_not_depend_on_the_process() -> None:
    first = remembered(1)
    assert len(first) > 10_000
    assert remembered(2) == first
