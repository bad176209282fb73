"""Finds the node that a finding is about: by its label, then by its slot, then by shared words among a few
candidates."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.match.slots import is_same_value
from tokenmizer_mw.extract.match.stated_values import differ_counted, differ_measured, differ_members, read_stated
from tokenmizer_mw.extract.text.names import is_same_path
from tokenmizer_mw.extract.text.similar import content, first_stem, likeness, overlap
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType

CANDIDATES_MAX: Final = 24
"""Most nodes that a label is compared with word by word: those that share most words with it."""

NEAR_MAX: Final = 12
"""Number of nodes that ``find_nearest`` looks at, from the newest."""

SAME_TASK: Final = 0.65
SAME_ERROR: Final = 0.7
SAME_OTHER: Final = 0.8
"""Two labels state the same task (``SAME_TASK``), error (``SAME_ERROR``) or other fact (``SAME_OTHER``) if their
``likeness`` is at least this; for errors, their ``overlap``."""

Test = Callable[[Node], bool]


def find_matching_node(graph: SessionGraph, finding: Finding, *, adjacent: Test) -> Node | None:
    """Return the node that states what ``finding`` states; ``None`` if there is none. The node may be one that no
    longer holds.

    ``adjacent``: returns whether a node belongs to the current exchange (the last messages of user and assistant). For
    such a node, a decision may be worded more differently.
    """
    exact = graph.find(finding.type, finding.label)
    if exact is not None:
        return exact
    holder = graph.in_slot(finding.slot)
    if holder is not None and holder.type is finding.type and is_same_value(holder.value, finding.value):
        return holder
    if finding.type is NodeType.FILE:
        return _find_known_file(graph, finding)
    matches = _SAME.get(finding.type)
    if matches is None or not graph.count_added(finding.type):
        return None
    for node, _ in graph.sharing_words(finding.label, finding.type, CANDIDATES_MAX):
        if matches(node, finding, adjacent(node)):
            return node
    return None


def _find_known_file(graph: SessionGraph, finding: Finding) -> Node | None:
    """The file with the finding's path, or with a path of which one is the ending of the other ("api/a.py", "a.py").

    If several paths end with it, the one in their common folder is meant, since relative paths start at the working
    folder. If there is no such folder, a path from a tool call is a new file.
    """
    shared = graph.sharing_words(_stem_of(finding.label), NodeType.FILE, CANDIDATES_MAX)
    found = [node for node, _ in shared if is_same_path(node.label, finding.label)]
    found = [node for node in found if node.current] or found
    if len(found) < 2:
        return found[0] if found else None
    folders = [node.label[: max(0, len(node.label) - len(finding.label))] for node in found]
    outer = min(folders, key=len)
    if all(folder.startswith(outer) for folder in folders):
        return found[folders.index(outer)]
    return None if finding.certain else found[0]


def _stem_of(path: str) -> str:
    """The last part of a path without its extension, which all spellings of the path have."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.rpartition(".")[0] or name


def find_described(graph: SessionGraph, label: str, type_: NodeType, accept: Test, floor: float) -> Node | None:
    """Return the node of type ``type_`` whose label is most similar to ``label``, among those for which ``accept``
    returns true.

    Nodes are compared by ``overlap``, then by ``likeness``. ``floor``: the least overlap (0 to 1). ``None`` if no node
    reaches it.
    """
    if not graph.count_added(type_):
        return None
    best: Node | None = None
    best_score = (floor - 1e-9, 0.0)
    for node, _ in graph.sharing_words(label, type_, CANDIDATES_MAX):
        if accept(node):
            score = (overlap(label, node.label), likeness(label, node.label))
            if score > best_score:
                best, best_score = node, score
    return best


def find_nearest(graph: SessionGraph, accept: Test, *, settled: bool = False) -> list[Node]:
    """Return those of the ``NEAR_MAX`` newest unfinished nodes for which ``accept`` returns true, newest first.
    ``settled``: look at the newest finished or otherwise settled nodes instead."""
    nodes = graph.newest_settled() if settled else graph.newest_unfinished()
    return [node for node in islice(nodes, NEAR_MAX) if accept(node)]


def find_current_heir(graph: SessionGraph, node: Node) -> Node | None:
    """Return the fact in force that replaced ``node``, directly or in several steps; ``None`` if there is none."""
    seen = {node.id}
    heir = graph.heir(node.id)
    while heir is not None and heir.id not in seen:
        if heir.current:
            return heir
        seen.add(heir.id)
        heir = graph.heir(heir.id)
    return None


def _find_same_decision(node: Node, finding: Finding, adjacent: bool) -> bool:
    if node.slot and finding.slot and node.slot != finding.slot and not adjacent:
        return False
    if node.value and finding.value and not is_same_value(node.value, finding.value):
        return False
    if _gives_other_value(node.label, finding.label):
        return False
    if node.kind is DecisionKind.RULE and finding.kind is DecisionKind.RULE:
        return content(node.label) == content(finding.label) or likeness(node.label, finding.label) >= SAME_OTHER
    mine, other = _head(node.label), _head(finding.label)
    if mine != other:
        within = bool(mine and other) and (mine < other or other < mine)
        return (adjacent and within) or likeness(node.label, finding.label) >= SAME_OTHER
    bare = mine == content(node.label) or other == content(finding.label)
    return bare or adjacent or likeness(node.label, finding.label) >= 0.5


def _gives_other_value(known: str, label: str) -> bool:
    """Whether ``label`` states another fact than the similar label ``known``: it has another value of the same kind
    ("Fridays" for "Saturdays"), or it has new names and lacks words of ``known``."""
    old, new = read_stated(known), read_stated(label)
    if differ_measured(old, new) or differ_counted(old, new) or differ_members(old, new):
        return True
    return bool(new.names - old.names) and not old.words <= new.words


def _head(label: str) -> frozenset[str]:
    """The content stems of the label up to "for", "in" and the like, which name the chosen thing without its
    purpose."""
    for word in (" for ", " as ", " in ", " to ", " on ", " with "):
        label = label.partition(word)[0]
    return content(label)


def _find_same_task(node: Node, finding: Finding, _: bool) -> bool:
    mine, other = content(node.label), content(finding.label)
    if min(len(mine), len(other)) < 2:
        return mine == other
    if node.open and (mine <= other or other <= mine):
        return first_stem(node.label) == first_stem(finding.label)
    return likeness(node.label, finding.label) >= SAME_TASK


def _find_same_error(node: Node, finding: Finding, _: bool) -> bool:
    return overlap(node.label, finding.label) >= SAME_ERROR and likeness(node.label, finding.label) >= 0.35


def _find_same_endpoint(node: Node, finding: Finding, _: bool) -> bool:
    return node.label.rpartition(" ")[2] == finding.label.rpartition(" ")[2] and (
        " " not in node.label or " " not in finding.label
    )


def _find_same_words(node: Node, finding: Finding, _: bool) -> bool:
    return likeness(node.label, finding.label) >= SAME_OTHER


_SAME: Final[dict[NodeType, Callable[[Node, Finding, bool], bool]]] = {
    NodeType.DECISION: _find_same_decision,
    NodeType.TASK: _find_same_task,
    NodeType.ERROR: _find_same_error,
    NodeType.ENDPOINT: _find_same_endpoint,
    NodeType.GOAL: _find_same_words,
    NodeType.SCHEMA: _find_same_words,
}
