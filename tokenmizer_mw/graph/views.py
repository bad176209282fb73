"""Views of a graph: the facts that were valid at a time, the graph without the words of withdrawn facts, the difference
from an earlier graph, and the importance of facts, which is computed for a given message and never stored. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from tokenmizer_mw.graph.fold import Life, SessionGraph
from tokenmizer_mw.model.event import EdgeAdded, NodeAdded, node_to_dict, transition_to_dict
from tokenmizer_mw.model.message import short_repr
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status, Transition, is_current


def as_valid(graph: SessionGraph, at: float) -> SessionGraph:
    """Return a graph with the facts of ``graph`` that were valid at ``at`` (seconds since the epoch), with the status
    that they had then, the relations between them, and the transitions recorded until then.

    A fact is valid from ``valid_from`` (else from when it was recorded) until ``valid_until`` (else until it was
    replaced, declared wrong or archived).
    """
    then = SessionGraph()
    for node in graph.nodes():
        status = status_at(graph.life(node.id), node, at)
        if status is not None:
            then.apply(NodeAdded(replace(node, status=status)), graph.life(node.id).added)
    for edge in graph.edges():
        if then.get(edge.source) and then.get(edge.target):
            then.apply(EdgeAdded(edge))
    then.remember(_until(graph, at))
    return then


def status_at(life: Life, node: Node, at: float) -> Status | None:
    """Return the status that the fact ``node`` with the history ``life`` had at ``at`` (seconds since the epoch);
    ``None`` when the fact was not valid then. If ``valid_until`` is set, it alone decides until when the fact is valid,
    and the status is the last one that is not replaced, rejected or archived."""
    start = life.added if node.valid_from is None else node.valid_from
    if at < start or (node.valid_until is not None and at >= node.valid_until):
        return None
    known = [status for since, status in life.moves if since <= at] or [life.moves[0][1]]
    if node.valid_until is None:
        return known[-1] if is_current(known[-1]) else None
    return next((status for status in reversed(known) if is_current(status)), None)


def _until(graph: SessionGraph, at: float) -> Iterator[Transition]:
    """Iterate over the transitions that were recorded until ``at``. A transition has no time of its own; of each fact
    as many count as it had become ``superseded`` times by then."""
    seen: Counter[str] = Counter()
    for step in graph.transitions():
        seen[step.old] += 1
        life = graph.life(step.old) if graph.get(step.old) else None
        moves = life.moves if life is not None else ()
        if seen[step.old] <= sum(since <= at and status is Status.SUPERSEDED for since, status in moves):
            yield step


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed from one graph to a later one of the same session; false if nothing did.

    - ``added``, ``removed``: facts that only the later or only the earlier graph has.
    - ``changed``: pairs of a fact before and after.
    - ``transitions``: the replacements of one fact by another that are new.
    """

    added: tuple[Node, ...] = ()
    changed: tuple[tuple[Node, Node], ...] = ()
    removed: tuple[Node, ...] = ()
    transitions: tuple[Transition, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed or self.transitions)

    def __repr__(self) -> str:
        counts = (f"{len(getattr(self, name))} {name}" for name in ("added", "changed", "removed", "transitions"))
        return short_repr(self, ", ".join(counts))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values with the keys "added", "changed", "removed" and "transitions"; "changed" holds pairs of
        before and after."""
        return {
            "added": [node_to_dict(node) for node in self.added],
            "changed": [[node_to_dict(old), node_to_dict(new)] for old, new in self.changed],
            "removed": [node_to_dict(node) for node in self.removed],
            "transitions": [transition_to_dict(step) for step in self.transitions],
        }


def diff(before: SessionGraph, after: SessionGraph) -> Diff:
    """Return what differs between two graphs of the same session, ``before`` and a later ``after``. Nothing differs:
    the result is empty and false.

    - ``added``: the facts whose ids ``before`` lacks; ``removed``: those whose ids ``after`` lacks.
    - ``changed``: pairs of a fact before and after. A fact that was replaced is here, because it stays in the graph
      with another status.
    - ``transitions``: the replacements that ``before`` lacks.
    """
    pairs = [(before.get(node.id), node) for node in after.nodes()]
    known = set(before.transitions())
    return Diff(
        added=tuple(new for old, new in pairs if old is None),
        changed=tuple((old, new) for old, new in pairs if old is not None and old != new),
        removed=tuple(node for node in before.nodes() if after.get(node.id) is None),
        transitions=tuple(step for step in after.transitions() if step not in known),
    )


_TYPE_WEIGHT: Final[dict[NodeType, float]] = {
    NodeType.GOAL: 1.0, NodeType.DECISION: 0.9, NodeType.ERROR: 0.8, NodeType.TASK: 0.7, NodeType.SCHEMA: 0.6,
    NodeType.ENDPOINT: 0.6, NodeType.API: 0.6, NodeType.FILE: 0.5, NodeType.DEPENDENCY: 0.5, NodeType.ENVIRONMENT: 0.5,
    NodeType.TEST: 0.5, NodeType.PROJECT: 0.4, NodeType.CONCEPT: 0.3, NodeType.AGENT: 0.3,
}  # fmt: skip

HALF_LIFE: Final = 40
"""Number of messages after which the part of a fact's importance that depends on recency has halved."""


def importances(graph: SessionGraph, message: int = 0) -> dict[str, float]:
    """Return the importance of each node, a positive number, by the node's id. ``message``: number of the message at
    which the importance is computed; 0: the last one that mentioned a node.

    The importance grows with the weight of the type, the number of edges and mentions, recency, and the fact's
    confidence. Standing rules do not age.
    """
    lives = {node.id: graph.life(node.id) for node in graph.nodes()}
    now = message or max((life.touched for life in lives.values()), default=0)
    degree: defaultdict[str, int] = defaultdict(int)
    for edge in graph.edges():
        degree[edge.source] += 1
        degree[edge.target] += 1
    return {node.id: _importance(node, lives[node.id], degree[node.id], now) for node in graph.nodes()}


def _importance(node: Node, life: Life, edges: int, now: int) -> float:
    references = 1.0 + math.log1p(edges + life.mentions - 1)
    age = 0 if node.kind is DecisionKind.RULE or now <= life.touched else now - life.touched
    recency = 0.5 + 0.5 * math.exp2(-age / HALF_LIFE)
    return _TYPE_WEIGHT[node.type] * references * recency * (0.5 + 0.5 * node.confidence)


_CLAUSE_END: Final = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")
_WORD: Final = re.compile(r"\w+")


def without_withdrawn_words(graph: SessionGraph) -> SessionGraph:
    """Return a copy of ``graph`` to be shown to models. In it, details of facts and reasons of changes lack the
    sentences that contain the label of a fact which was withdrawn (declared never to have been true). Returns ``graph``
    itself if no fact was withdrawn."""
    labels = [node.label for node in graph.nodes(status=Status.INVALIDATED) if node.is_withdrawn]
    phrases = spell_phrases(labels)
    if not phrases:
        return graph
    shown = graph.fork()
    shown.rewrite_reasons(lambda reason: remove_phrases(reason, phrases))
    return shown


def spell_phrases(labels: Iterable[str]) -> frozenset[str]:
    """Return labels of facts as phrases for ``remove_phrases``: their words in lower case without punctuation, one
    space between them. Labels without a word are left out."""
    return frozenset(filter(None, map(_spell, labels)))


def remove_phrases(text: str, phrases: Collection[str]) -> str:
    """Return ``text`` without the sentences that contain one of ``phrases`` (as ``spell_phrases`` returns them);
    ``text`` itself if it contains none.

    A phrase of one word is a name that other sentences may mention: it counts only if it is a whole sentence, or the
    whole text.
    """
    found = [phrase for phrase in phrases if _holds(text, phrase)]
    if not found:
        return text
    clauses = (clause for clause in _CLAUSE_END.split(text) if not any(_holds(clause, phrase) for phrase in found))
    left = " ".join(clauses).rstrip("; ")
    return "" if any(_holds(left, phrase) for phrase in found) else left


def _holds(text: str, phrase: str) -> bool:
    spoken = _spell(text)
    if not phrase.isascii():  # scripts without spaces have no ends of words
        return phrase in spoken
    return f" {phrase} " in f" {spoken} " if " " in phrase else phrase == spoken


def _spell(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
