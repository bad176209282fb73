"""Turns a rejection followed by a choice into a replacement, in any language:
"no Mailgun, it costs. rather our own server"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status

from .facts import PRECISE
from .ledger import Ledger
from .node_search import find_described

APART_MAX: Final = 80
"""Most characters between a rejection and the choice that takes the place of what it rejects."""

_CHOOSING: Final = frozenset({Move.NOTE, Move.REPLACE})


def join_refusals_and_choices(ledger: Ledger, findings: Sequence[Finding]) -> list[Finding]:
    """Return ``findings`` with each pair of a rejection and the choice directly after it joined into one replacement.
    The rejection must be about a decision in force that an earlier message stated, and the choice must begin at most
    ``APART_MAX`` characters after it."""
    made: list[Finding] = []
    for finding in findings:
        before = made[-1] if made else None
        if (
            before is not None
            and _is_refusal(before)
            and _is_choice_after(finding, before)
            and _is_in_force(ledger, before.label)
        ):
            reason = finding.reason or before.reason
            made[-1] = replace(finding, move=Move.REPLACE, target=before.label, reason=reason)
        else:
            made.append(finding)
    return made


def _is_refusal(finding: Finding) -> bool:
    return finding.type is NodeType.DECISION and finding.move is Move.REJECT and bool(finding.label)


def _is_choice_after(finding: Finding, before: Finding) -> bool:
    chosen = finding.type is NodeType.DECISION and finding.status is Status.ACTIVE and not finding.target
    if not chosen or finding.kind is not DecisionKind.CHOICE or finding.move not in _CHOOSING:
        return False
    return bool(finding.span and before.span) and _characters_between(before, finding) <= APART_MAX


def _characters_between(before: Finding, finding: Finding) -> int:
    end = before.span[1] if before.span else 0
    return (finding.span[0] if finding.span else 0) - end


def _is_in_force(ledger: Ledger, label: str) -> bool:
    def earlier(node: Node) -> bool:
        return node.current and node.kind is not DecisionKind.OPTION and node.source.turn < ledger.turn

    return find_described(ledger.graph, label, NodeType.DECISION, earlier, PRECISE) is not None
