"""Reopens tasks and errors that were reported as finished but are not."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.text.similar import content, split_words
from tokenmizer_mw.model.node import Node, NodeType, Status, Trust

from .error_status import note_error
from .facts import PRECISE
from .ledger import Ledger
from .node_search import find_described, find_nearest
from .open_tasks import is_order

_OVER: Final = split_words("finished done fixed solved resolved gone over works working")
"""Words of users for something that is finished or works."""


def reopen_work(ledger: Ledger, finding: Finding) -> Node | None:
    """Reopen the finished task or error that the finding's label describes, and return its node. An error becomes
    active, a task in progress; a task that nobody had asked for is archived.

    Without a label ("it still fails"), what the assistant's last message reported as finished is reopened. If nothing
    finished matches, the newest open error is returned (without a label), or the finding is recorded as an error (with
    a label of at least two words). ``None`` if neither applies.
    """
    if finding.label:
        found = _find_finished(ledger, finding)
    else:
        found = [
            node for node in find_nearest(ledger.graph, _is_finished, settled=True) if _is_claimed_before(ledger, node)
        ]
    for node in found:
        ledger.move(node, _status_when_reopened(node), finding)
    if found:
        return found[0]
    opened = find_nearest(ledger.graph, lambda node: node.type is NodeType.ERROR)
    if opened and not finding.label:
        ledger.touch(opened[0])
        return opened[0]
    return note_error(ledger, finding) if len(content(finding.label)) > 1 else None


def _is_claimed_before(ledger: Ledger, node: Node) -> bool:
    """Whether the assistant's last message, or the user's own last message, reported a node as finished. If the
    assistant takes a report back, what tool calls showed does not count."""
    if ledger.role == "assistant":
        return ledger.last_touched(node) >= ledger.told and node.source.trust is not Trust.STRUCTURE
    own = node.source.role == "user" and node.source.turn == ledger.asked
    return ledger.last_touched(node) >= ledger.told or (own and _says_over(node.label))


def _says_over(label: str) -> bool:
    """Whether a label says that something is finished or works ("the import works")."""
    return not _OVER.isdisjoint(label.casefold().replace(",", " ").split())


def _status_when_reopened(node: Node) -> Status:
    """The status of a node that is reopened: an error is active, a task in progress. Work that somebody only claimed
    and nobody had asked for is archived, because it is no open work."""
    if node.type is NodeType.ERROR:
        return Status.ACTIVE
    only_claimed = node.source.trust in (Trust.CLAIMED, Trust.STATED) and not is_order(node)
    return Status.ARCHIVED if only_claimed else Status.IN_PROGRESS


def _find_finished(ledger: Ledger, finding: Finding) -> list[Node]:
    """The finished task or error that a finding describes, as a list of one; [] if there is none."""
    kinds = (finding.type, *(kind for kind in (NodeType.ERROR, NodeType.TASK) if kind is not finding.type))
    for kind in kinds:
        found = find_described(ledger.graph, finding.label, kind, _is_finished, PRECISE)
        if found is not None:
            return [found]
    return []


def _is_finished(node: Node) -> bool:
    return node.status is Status.COMPLETED and node.type in (NodeType.TASK, NodeType.ERROR)
