"""Build the events of manual edits of facts; each records what it changed, so that it can be undone. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tokenmizer_mw.errors import CallerError, UnknownNode
from tokenmizer_mw.extract.slots import read_slot
from tokenmizer_mw.graph.search import find_named
from tokenmizer_mw.model.event import DecisionReplaced, Event, NodeAdded, NodeEdited, StatusChanged
from tokenmizer_mw.model.node import (
    DecisionKind,
    Node,
    NodeType,
    Source,
    Status,
    Transition,
    Trust,
    is_current,
    may_move,
)
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.session import Edited, SessionState

DETAIL_MAX: Final = 1_000
"""Characters of a detail, or of a reason, that is given by hand."""

HAND: Final = "hand"
"""Who speaks where somebody corrected a fact."""

KINDS: Final[dict[str, tuple[NodeType, DecisionKind | None, Status]]] = {
    "rule": (NodeType.DECISION, DecisionKind.RULE, Status.ACTIVE),
    "choice": (NodeType.DECISION, DecisionKind.CHOICE, Status.ACTIVE),
    "preference": (NodeType.DECISION, DecisionKind.PREFERENCE, Status.ACTIVE),
    "goal": (NodeType.GOAL, None, Status.ACTIVE),
    "task": (NodeType.TASK, None, Status.PENDING),
    "environment": (NodeType.ENVIRONMENT, None, Status.ACTIVE),
}
"""What a fact that is added by hand may be."""

_SLOTTED: Final = frozenset({NodeType.DECISION, NodeType.ENVIRONMENT})


def mark_fact(state: SessionState, id: str, status: Status, reason: str) -> list[Event]:
    """Return the events that invalidate or archive a fact (``status``); ``[]`` when the fact may not get this status,
    such as when it has it already. Raises ``UnknownNode``.
    """
    node = _node(state, id)
    return _edit(state, node, {"status": status}, reason) if may_move(node.status, status, evidence=True) else []


def pin_fact(state: SessionState, id: str, on: bool) -> list[Event]:
    """Return the events that pin a fact, or unpin it (``on`` is false). Raises ``UnknownNode``."""
    return _edit(state, _node(state, id), {"pinned": on}, "")


def correct_fact(state: SessionState, id: str, label: str | None, detail: str | None, reason: str) -> list[Event]:
    """Return the events that change the wording of a fact; its value is parsed again from the new label.

    The turn and the quote of its source stay. Raises ``UnknownNode``, and ``CallerError`` for an empty label or when
    another fact already has the same label or value.
    """
    node = _node(state, id)
    changes: dict[str, Any] = {}
    if label is not None:
        changes["label"] = flatten(label)
        if not changes["label"]:
            raise CallerError("a fact needs words")
    if detail is not None:
        changes["detail"] = flatten(detail, DETAIL_MAX)
    if changes.get("label", node.label) != node.label:
        changes |= _read(node, changes["label"])
        changes["source"] = Source(node.source.turn, HAND, node.source.quote, Trust.STATED)
    _require_free(state, node, changes)
    return _edit(state, node, changes, reason)


def add_fact(state: SessionState, text: str, kind: str, reason: str) -> list[Event]:
    """Return the events that add a fact by hand; it replaces a known fact of which it is another value. ``[]`` when the
    fact is known and holds. Raises ``CallerError`` for an empty text and for an unknown kind.

    The addition is an edit as well: undoing it archives the fact and gives the replaced one its place back.
    """
    label = flatten(text)
    if not label:
        raise CallerError("a fact needs words")
    if kind not in KINDS:
        raise CallerError(f"a fact is one of {', '.join(KINDS)}, not {kind!r:.40}")
    type_, decision, status = KINDS[kind]
    known = state.graph.find(type_, label)
    if known is not None and known.current:
        return []
    turn = len(state.transcript)
    slot = read_slot(label) if type_ in _SLOTTED else None
    name, value = (slot.name, slot.value) if slot is not None else ("", "")
    node = Node(
        id=state.graph.next_id(type_),
        type=type_,
        label=label,
        status=status,
        source=Source(turn, HAND, trust=Trust.STATED),
        detail=flatten(reason, DETAIL_MAX),
        kind=decision,
        slot=name,
        value=value,
    )
    replaced = state.graph.in_slot(name) if name else None
    steps = [Transition(replaced.id, node.id, turn, node.detail)] if replaced is not None else []
    changes, before = {"status": status}, {"status": Status.ARCHIVED}
    added = NodeEdited(_next(state), node.id, changes, before, turn, node.detail)
    return [NodeAdded(node), *map(DecisionReplaced, steps), added]


def find_addition(edits: Iterable[Edited], id: str) -> int:
    """Return the number of the edit that added this fact; 0 when none did."""
    return next((one.edit.number for one in edits if one.edit.id == id and one.edit.adds), 0)


def undone(state: SessionState, number: int) -> list[Event]:
    """Return the events that undo a manual edit. Raises ``UnknownNode``, and ``CallerError`` when there is no such
    edit, when the fact was changed again since, or when another fact has taken its place.
    """
    found = state.edits.get(number)
    if found is None:
        raise CallerError(f"the session has no change {number}")
    edit = found.edit
    node = _node(state, edit.id)
    if any(getattr(node, name) != value for name, value in edit.changes.items()):
        raise CallerError("the fact was changed again since: take the later change back first")
    _require_free(state, node, edit.before)
    turn, reason = len(state.transcript), f"change {number} undone"
    back = NodeEdited(_next(state), edit.id, edit.before, edit.changes, turn, reason, number)
    return [back, *_restore_replaced(state, node, turn, reason)] if edit.adds else [back]


def _restore_replaced(state: SessionState, node: Node, turn: int, reason: str) -> Iterator[Event]:
    """Give the fact that ``node`` replaced the status that it had, unless its place was taken since."""
    for old in [state.graph.get(step.old) for step in state.graph.transitions() if step.new == node.id]:
        if old is None or old.status is not Status.SUPERSEDED or state.graph.heir(old.id) != node:
            continue
        if (holder := state.graph.in_slot(old.slot)) is not None and holder.id != node.id:
            continue
        before = [status for _, status in state.graph.life(old.id).moves if is_current(status)]
        yield StatusChanged(old.id, before[-1] if before else Status.ACTIVE, turn, reason)


def _edit(state: SessionState, node: Node, wanted: Mapping[str, Any], reason: str) -> list[Event]:
    changes = {name: value for name, value in wanted.items() if getattr(node, name) != value}
    if not changes:
        return []
    before = {name: getattr(node, name) for name in changes}
    return [NodeEdited(_next(state), node.id, changes, before, len(state.transcript), flatten(reason, DETAIL_MAX))]


def _next(state: SessionState) -> int:
    return max(state.edits, default=0) + 1


def _read(node: Node, label: str) -> dict[str, Any]:
    """What the words of a fact that can be a value of something say that it is a value of."""
    if node.type not in _SLOTTED:
        return {}
    slot = read_slot(label)
    return {"slot": slot.name, "value": slot.value} if slot is not None else {"slot": "", "value": ""}


def _require_free(state: SessionState, node: Node, changes: Mapping[str, Any]) -> None:
    """Two facts that hold never share a slot."""
    holder = state.graph.in_slot(changes.get("slot", node.slot))
    if holder is not None and holder.id != node.id and is_current(changes.get("status", node.status)):
        raise CallerError(f"{holder.label!r} has that place now: declare it wrong, or put it away, first")


def _node(state: SessionState, text: str) -> Node:
    node = find_named(state.graph, text)
    if node is None:
        raise UnknownNode(f"the session has no fact {text[:60]!r}")
    return node
