"""Records findings in the graph: the functions that all types of facts share (add, confirm, replace), and those for
files, versions and goals."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Final

from tokenmizer_mw.extract.candidates.goal import GOAL_ASKED
from tokenmizer_mw.extract.compose.validate import clean_label
from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.match.ahead import is_postponement
from tokenmizer_mw.extract.match.scope import is_exception
from tokenmizer_mw.extract.match.slots import is_same_value
from tokenmizer_mw.extract.text.names import is_in_home_folder
from tokenmizer_mw.extract.text.phrases import has_digit
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.model.event import NodeRevised
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status, Trust

from .ledger import Ledger
from .node_search import find_matching_node, find_nearest

RELATED: Final = 0.5
"""A claim is about a task if their labels have an ``overlap`` of at least this (0 to 1)."""

ANSWERING: Final = 0.3
"""Like ``RELATED``, for tasks mentioned since the user's last message. Less is required, because the claim can hardly
mean anything else."""

PRECISE: Final = 0.6
"""Like ``RELATED``, where a wrong match would reject or replace a fact."""

DECIDING: Final = frozenset({Trust.STATED, Trust.ADOPTED})

TOOL_REACH: Final = 64
"""Number of newest nodes that are neither unfinished work nor unfixed errors which are searched for files from tool
calls. Such a file shows that the session has tools."""

_GONE: Final = ("deleted", "moved to")

_SPOKEN_OF: Final = "named"
NAMED: Final = "read and named"
"""Detail of a file that a tool read and that a speaker named. Unlike a file that was only read, it matters, although
nothing changed it."""

_LOOKED: Final = ("read", NAMED, "failing")


def find_same_fact(ledger: Ledger, finding: Finding) -> Node | None:
    """Return the node that states the same as ``finding``; ``None`` if no node does.

    It has the same type, and the same label (even if it no longer holds), or the same value for the same slot. For
    files an equivalent path is enough, for decisions, tasks, errors, endpoints, goals and schemas a similar label.
    """
    return find_matching_node(ledger.graph, finding, adjacent=lambda node: is_recent(ledger, node))


def is_recent(ledger: Ledger, node: Node) -> bool:
    """Whether a node was mentioned in the current exchange: in the current message, in the last message of the user or
    of the assistant before it, or between these."""
    since = min(turn for turn in (ledger.asked, ledger.told, ledger.turn) if turn)
    return ledger.last_touched(node) >= since


def is_asked_now(ledger: Ledger, node: Node) -> bool:
    """Whether a node was mentioned since the user's last message."""
    return ledger.asked > 0 and ledger.last_touched(node) >= ledger.asked


def find_asked_tasks(ledger: Ledger) -> list[Node]:
    """Return the open tasks mentioned since the user's last message, newest first, except tasks that the user
    postpones."""
    tasks = find_nearest(ledger.graph, lambda node: node.type is NodeType.TASK and is_asked_now(ledger, node))
    return [task for task in tasks if task.source.role != "user" or not is_postponement(task.source.quote)]


def drop_taken_slot(ledger: Ledger, finding: Finding) -> Finding:
    """Return the finding without slot and value if a current fact has its slot; else the finding unchanged."""
    if finding.slot and ledger.graph.in_slot(finding.slot) is not None:
        return replace(finding, slot="", value="")
    return finding


def note_fact(ledger: Ledger, finding: Finding) -> Node:
    """Add a fact, or merge it into the node that states the same. Returns the new node, or the known node as it was
    before the merge.

    - A known node gets the finding's status if it no longer holds or if the finding was read from a tool call, and if
      its status may change to that one.
    - A new node is added without slot and value if another current fact has the slot. That fact stays (see
      ``supersede``).
    """
    known_node = find_same_fact(ledger, finding)
    if known_node is None:
        return ledger.add(drop_taken_slot(ledger, finding))
    if not known_node.current or (finding.certain and finding.status is not known_node.status):
        ledger.move(known_node, finding.status, finding)
    ledger.merge(known_node, finding)
    return known_node


def adopt_option(ledger: Ledger, option: Node, finding: Finding) -> None:
    """Turn ``option``, which was only considered, into the choice that ``finding`` states."""
    changes: dict[str, object] = {"kind": finding.kind or DecisionKind.CHOICE, "source": ledger.make_source(finding)}
    if finding.slot and ledger.graph.in_slot(finding.slot) is None:
        changes |= {"slot": finding.slot, "value": finding.value}
    changes["confidence"] = max(option.confidence, finding.confidence)
    ledger.emit(NodeRevised(option.id, changes, ledger.turn))
    ledger.move(option, Status.ACTIVE, finding)


def supersede(ledger: Ledger, old: Node, finding: Finding, *, verbatim: bool = False) -> Node:
    """Replace ``old`` by the fact that the finding states, and return the node of that fact: a new one, or an earlier
    one that is in force again.

    - Another fact that has the slot is replaced as well.
    - If the two facts hold for different scopes ("Postgres", "SQLite for tests"), nothing is replaced; both hold.
    - If the assistant states the finding, the user had stated ``old``, and the user's last message is not about it,
      nothing is replaced; the finding is added as an option.
    - ``verbatim``: the label is a whole sentence. Only a node with exactly this label counts as an earlier statement of
      the fact.
    """
    if is_exception(old.label, finding.label):
        return find_same_fact(ledger, finding) or ledger.add(drop_taken_slot(ledger, finding))
    if _may_only_propose(ledger, old, finding):
        option = replace(finding, trust=Trust.PROPOSED, status=Status.PENDING, kind=DecisionKind.OPTION)
        return ledger.add(replace(option, slot="", value=""))
    finding = replace(finding, reason=finding.reason or clean_label(finding.why))
    same = ledger.graph.find(finding.type, finding.label) if verbatim else find_same_fact(ledger, finding)
    if same is not None and (same.id == old.id or _has_other_number(same, finding) or _is_just_gone(ledger, same)):
        same = None
    holder = ledger.graph.in_slot((same.slot if same is not None else "") or finding.slot)
    new = ledger.add(finding) if same is None else _restore_fact(ledger, same, finding)
    if new.current:
        ledger.replace(old, new, finding)
        if holder is not None and holder.id not in (old.id, new.id):
            ledger.replace(holder, new, finding)
    return new


def _may_only_propose(ledger: Ledger, old: Node, finding: Finding) -> bool:
    """Whether the finding may not replace ``old`` but only be an option: the assistant states it in words, the user
    stated ``old``, and the user's last message was not about it."""
    theirs = old.type is NodeType.DECISION and old.source.role == "user" and old.source.trust is Trust.STATED
    if not theirs or ledger.role != "assistant" or finding.certain:
        return False
    matter = content(f"{finding.label} {finding.target} {old.label}")
    asked = find_nearest(
        ledger.graph, lambda node: node.source.role == "user" and ledger.last_touched(node) >= ledger.asked
    )
    settled = find_nearest(ledger.graph, lambda node: ledger.last_touched(node) >= ledger.asked > 0, settled=True)
    return not any(matter & content(node.label) for node in (*asked, *settled) if node.id != old.id)


def _is_just_gone(ledger: Ledger, node: Node) -> bool:
    """Whether the current message has rejected or replaced a fact. It then cannot also be what the message chooses."""
    return node.status in (Status.INVALIDATED, Status.SUPERSEDED) and ledger.last_touched(node) >= ledger.turn


def _has_other_number(node: Node, finding: Finding) -> bool:
    """Whether the finding's label has a word with a digit that is not part of the node's label."""
    return any(word not in node.label for word in finding.label.split() if has_digit(word))


def _restore_fact(ledger: Ledger, node: Node, finding: Finding) -> Node:
    if node.kind is DecisionKind.OPTION:
        adopt_option(ledger, node, finding)
    else:
        ledger.move(node, Status.ACTIVE, finding)
        ledger.emit(NodeRevised(node.id, _renewal_changes(ledger, node, finding), ledger.turn))
    return ledger.graph.get(node.id) or node


def _renewal_changes(ledger: Ledger, node: Node, finding: Finding) -> dict[str, object]:
    changes: dict[str, object] = {"source": ledger.make_source(finding)}
    if finding.reason:
        changes["detail"] = finding.reason
    if finding.slot and not node.slot:
        changes |= {"slot": finding.slot, "value": finding.value}
    return changes


def note_environment(ledger: Ledger, finding: Finding) -> Node:
    """Record the version of a runtime or a platform, and return its node.

    A new version from the user or from a tool replaces the recorded one. In all other cases (the assistant states it,
    or a decision has the slot) the version is recorded in addition, without a slot.
    """
    holder = ledger.graph.in_slot(finding.slot)
    if holder is None or is_same_value(holder.value, finding.value):
        if holder is not None:
            ledger.touch(holder)
            return holder
        return note_fact(ledger, finding)
    if holder.type is NodeType.ENVIRONMENT and finding.trust in (Trust.STATED, Trust.STRUCTURE):
        return supersede(ledger, holder, finding)
    return note_fact(ledger, replace(finding, slot="", value=""))


def note_file(ledger: Ledger, finding: Finding) -> Node:
    """Record a file and return its node. If the file was known, that is the node before the update.

    - Of two spellings of a path the longer one is kept. A change recorded in the node's detail is not overwritten by a
      later read.
    - Two kinds of files are added as archived, until a tool works on them: those that only the assistant mentions in a
      session with tools, and files of programs in the home folder ("~/.cache/x").
    """
    known = find_same_fact(ledger, finding) if not finding.certain else None
    if known is not None and not known.current and known.detail.startswith((_SPOKEN_OF, *_GONE)):
        ledger.touch(known)
        return known
    if (
        known is None
        and not finding.certain
        and (is_in_home_folder(finding.label) or _is_only_mentioned(ledger, finding))
    ):
        return ledger.add(finding, status=Status.ARCHIVED, detail=_SPOKEN_OF)
    node = note_fact(ledger, finding)
    extend_file_node(ledger, node, finding)
    return node


def extend_file_node(ledger: Ledger, node: Node, finding: Finding) -> None:
    """Update path and detail of a known file, if the finding has a longer path or reports a later event."""
    changes: dict[str, object] = {}
    if len(finding.label) > len(node.label):
        changes["label"] = finding.label
    if not finding.certain:
        detail = NAMED if node.detail == "read" else ""
    else:
        detail = NAMED if finding.detail == "read" and node.detail in ("", _SPOKEN_OF) else finding.detail
    if _is_later_file_event(detail, node.detail):
        changes["detail"] = detail
    if changes:
        ledger.emit(NodeRevised(node.id, changes, ledger.turn))


def _is_later_file_event(detail: str, known: str) -> bool:
    """Whether a new detail of a file replaces the known one. A created file stays "created" when it is edited; an edit
    of a deleted file counts; that a file was only read or mentioned replaces no change."""
    if not detail or detail == known or (detail in _LOOKED and known not in ("", "read", _SPOKEN_OF)):
        return False
    return detail != "edited" or not known or known in (*_LOOKED, _SPOKEN_OF) or known.startswith(_GONE)


def _is_only_mentioned(ledger: Ledger, finding: Finding) -> bool:
    return finding.trust is Trust.CLAIMED and _has_tool_calls(ledger)


def _has_tool_calls(ledger: Ledger) -> bool:
    """Whether tools work on files in the session. Then files that the assistant only mentions are no files of the
    session."""
    newest = islice(ledger.graph.newest_settled(), TOOL_REACH)
    return any(node.type is NodeType.FILE and node.source.trust is Trust.STRUCTURE for node in newest)


def archive_mentioned_files(ledger: Ledger) -> None:
    """Archive active files that the user only mentioned in earlier messages by a name without a folder, if the session
    has tools. Most of them are examples or asides."""
    if not _has_tool_calls(ledger):
        return
    for node in islice(ledger.graph.newest_settled(), TOOL_REACH):
        if node.type is NodeType.FILE and node.status is Status.ACTIVE and _is_mentioned(ledger, node):
            past = Finding(node.type, node.label, Status.ARCHIVED, Trust.CLAIMED, node.confidence)
            ledger.move(node, Status.ARCHIVED, past, "only mentioned")


def _is_mentioned(ledger: Ledger, node: Node) -> bool:
    bare = not node.detail and "/" not in node.label and "\\" not in node.label
    return bare and node.source.trust is Trust.STATED and ledger.last_touched(node) < ledger.turn


def note_goal(ledger: Ledger, finding: Finding) -> Node | None:
    """Record the goal of the session and return its node.

    If the finding differs from the known goal, the user must have stated it to replace that; otherwise ``None`` is
    returned and nothing changes. A known goal that was only a question or a wish to look at something (confidence at
    most ``GOAL_ASKED``) is archived instead of replaced.
    """
    same = find_same_fact(ledger, finding)
    if same is not None and same.current:
        ledger.merge(same, finding)
        return same
    holder = ledger.graph.in_slot(finding.slot)
    if holder is not None and holder.confidence <= GOAL_ASKED and finding.trust is Trust.STATED:
        ledger.move(holder, Status.ARCHIVED, finding, "asked in passing")
        holder = None
    if holder is None:
        return ledger.add(finding)
    return supersede(ledger, holder, finding) if finding.trust is Trust.STATED else None
