"""Applies a finding to the graph by the function for its move and its type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.model.node import Node, NodeType, Status

from .decision_moves import note_decision, reject_fact, replace_decision, replace_value
from .error_status import close_error, note_error
from .facts import extend_file_node, note_environment, note_fact, note_file, note_goal
from .finished_tasks import close_task
from .ledger import Ledger
from .node_search import find_matching_node
from .reopening import reopen_work
from .run_status import note_test
from .task_status import note_task


def place_finding(ledger: Ledger, finding: Finding) -> Node | None:
    """Apply a finding to the graph. Returns the node that states it now, or whose status it changed; ``None`` if it
    changed nothing."""
    node = _MOVES[finding.move](ledger, finding)
    return ledger.graph.get(node.id) if node is not None else None


def _apply_note(ledger: Ledger, finding: Finding) -> Node | None:
    return _NOTES.get(finding.type, note_fact)(ledger, finding)


def _apply_adoption(ledger: Ledger, finding: Finding) -> Node | None:
    return _apply_note(ledger, replace(finding, move=Move.NOTE))


def _apply_closing(ledger: Ledger, finding: Finding) -> Node | None:
    return _CLOSINGS.get(finding.type, note_fact)(ledger, finding)


def _apply_replacement(ledger: Ledger, finding: Finding) -> Node | None:
    return close_task(ledger, finding) if finding.type is NodeType.TASK else replace_decision(ledger, finding)


def _apply_archive(ledger: Ledger, finding: Finding) -> Node | None:
    found = find_matching_node(ledger.graph, finding, adjacent=lambda _: False)
    if found is None and finding.type is NodeType.FILE and finding.certain:
        return ledger.add(finding)
    if found is not None:
        ledger.move(found, Status.ARCHIVED, finding)
        if finding.type is NodeType.FILE:
            extend_file_node(ledger, found, finding)
    return found


_NOTES: Final[dict[NodeType, Callable[[Ledger, Finding], Node | None]]] = {
    NodeType.DECISION: note_decision,
    NodeType.TASK: note_task,
    NodeType.ERROR: note_error,
    NodeType.ENVIRONMENT: note_environment,
    NodeType.FILE: note_file,
    NodeType.GOAL: note_goal,
    NodeType.TEST: note_test,
}

_CLOSINGS: Final[dict[NodeType, Callable[[Ledger, Finding], Node | None]]] = {
    NodeType.TASK: close_task,
    NodeType.ERROR: close_error,
}

_MOVES: Final[dict[Move, Callable[[Ledger, Finding], Node | None]]] = {
    Move.NOTE: _apply_note,
    Move.CLOSE: _apply_closing,
    Move.REOPEN: reopen_work,
    Move.REPLACE: _apply_replacement,
    Move.REJECT: reject_fact,
    Move.ADOPT: _apply_adoption,
    Move.ARCHIVE: _apply_archive,
    Move.SET: replace_value,
}
