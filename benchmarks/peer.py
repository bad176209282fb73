"""Runs in the environment of the package tokenmizer: reads sessions as a JSON list on stdin, prints their labels by
category as a JSON list.

Each session is passed as a whole, with tool calls in OpenAI's format, to heuristic extraction only, in a temporary
folder.
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
    """Return a turn as an OpenAI message."""
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
    """Return the labels that tokenmizer holds at the end of a session, by category."""
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
    """Return the category of a node with its label; [] if it has none."""
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
