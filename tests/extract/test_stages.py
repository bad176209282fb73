"""Stages of extraction can be left out, and each finds what the others do not."""

from __future__ import annotations

import pytest

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.model.node import NodeType

TALK = [
    {"role": "user", "content": "Use SQLite for the cache."},
    {"role": "assistant", "content": "Should I add an index on the key column?"},
    {"role": "user", "content": "yes please"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "Write", "arguments": '{"file_path": "cache.py", "content": "x = 1"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "File created successfully at: cache.py"},
]


def _labels(stages: str) -> set[tuple[NodeType, str]]:
    memory = SessionMemory.open("memory://", Settings(stages=stages))
    memory.record("one", TALK)
    found = {(node.type, node.label) for node in memory.graph("one").nodes()}
    memory.close()
    return found


@pytest.mark.parametrize(
    ("stages", "found"),
    [
        ("", (False, False, False)),
        ("structure", (True, False, False)),
        ("rules", (False, True, False)),
        ("structure, rules", (True, True, False)),
        ("structure,rules,dialogue", (True, True, True)),
        ("dialogue,model", (False, False, False)),
    ],
)
def test_each_stage_finds_its_own(stages: str, found: tuple[bool, bool, bool]) -> None:
    labels = _labels(stages)
    assert (
        (NodeType.FILE, "cache.py") in labels,
        any("SQLite" in label for type_, label in labels if type_ is NodeType.DECISION),
        any("index" in label for type_, label in labels if type_ in (NodeType.TASK, NodeType.DECISION)),
    ) == found
