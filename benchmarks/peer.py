"""Runs in the environment of the package tokenmizer: sessions as JSON on stdin, labels by category on stdout.

Each session goes in whole, tool calls in OpenAI's shape, heuristic extraction only, in a folder that is thrown away.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from typing import Any

INACTIVE = ("superseded", "modified", "invalidated", "archived")
BY_TYPE = {
    "goal": "goal",
    "decision": "decisions",
    "file": "files",
    "environment": "environment",
    "dependency": "dependencies",
    "api": "endpoints",
    "endpoint": "endpoints",
}


def message(turn: dict[str, Any]) -> dict[str, Any]:
    """A turn as OpenAI writes it."""
    shaped = {"role": turn["role"], "content": turn.get("content") or ""}
    if turn.get("tool_call_id"):
        shaped["tool_call_id"] = turn["tool_call_id"]
    if turn.get("tool_calls"):
        shaped["tool_calls"] = [
            {
                "id": call.get("id", ""),
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call.get("arguments", {}))},
            }
            for call in turn["tool_calls"]
        ]
    return shaped


def labels(session: dict[str, Any]) -> dict[str, list[str]]:
    """What the peer holds at the end of a session."""
    from tokenmizer.graph_memory.graph import GraphMemory

    graph = GraphMemory(session["id"], storage_dir=os.getcwd(), semantic_retrieval=False)
    graph.extract_from_messages([message(turn) for turn in session["turns"]])
    found: dict[str, list[str]] = {}
    for node in graph._nodes.values():
        if not node._evicted:
            for category, label in placed(node):
                found.setdefault(category, []).append(label)
    found["superseded"] = [f"{step.from_label} -> {step.to_label}" for step in graph.get_transitions()]
    return found


def placed(node: Any) -> list[tuple[str, str]]:
    """The category of a node and its label; [] when it has none."""
    kind, status = node.type.value, node.status.value
    if kind == "task" and status not in INACTIVE:
        return [("tasks_done" if status == "completed" else "tasks_pending", node.label)]
    if kind == "error" and status not in INACTIVE:
        return [("errors", f"[{'resolved' if status == 'completed' else 'open'}] {node.label}")]
    if kind == "decision" and status == "invalidated":
        return [("rejected", node.label)]
    return [(BY_TYPE[kind], node.label)] if kind in BY_TYPE and status not in INACTIVE else []


def main() -> None:
    given = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with contextlib.redirect_stdout(sys.stderr):
            found = [labels(session) for session in given]
        os.chdir("/")
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
