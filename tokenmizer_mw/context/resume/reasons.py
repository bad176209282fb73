"""The text in brackets after a fact: what it replaced, and why."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import Node, NodeType, Transition
from tokenmizer_mw.safety.labels import flatten

from .sections import NO_OLD_VALUE, Section

REASON_MAX: Final = 90
"""Longest reason that stands behind a fact, in characters; of a longer one its first clause is taken, or nothing."""

EXPLANATION_MAX: Final = 200
"""The same for what stands behind an error."""

OLD_LABELS_MAX: Final = 120
"""Characters of what a fact replaced, from which on only the newest predecessor is named."""

_COMMAND: Final = "$ "
_OLD_MAX: Final = 3


def reason_of(
    graph: SessionGraph, node: Node, section: Section, into: dict[str, list[Transition]]
) -> tuple[str, tuple[str, ...]]:
    """What stands behind ``node``, "" for nothing, and the nodes that this speaks of; ``into`` are the transitions that
    led to each node."""
    if section is Section.WARNINGS:
        reason = clause(graph.life(node.id).reason or node.detail)
        return (f" - {reason}" if reason else ""), ()
    steps = _steps(into, node.id)
    olds = [(step, old) for step in steps if (old := graph.get(step.old)) is not None]
    if olds and node.type is NodeType.TASK:
        reason = clause(olds[0][0].reason)
        return (f" ({reason})" if reason and reason not in node.label else ""), ()
    if olds:
        return _was(olds)
    reason = clause(node.detail) if node.type is NodeType.DECISION else _explanation(node)
    return (f" ({reason})" if reason else ""), ()


def _explanation(node: Node) -> str:
    """The cause of an error and its fix, where the node knows more than the command that showed it."""
    if node.type is not NodeType.ERROR or node.detail.startswith(_COMMAND):
        return ""
    return clause(node.detail, EXPLANATION_MAX)


def _steps(into: dict[str, list[Transition]], id: str) -> list[Transition]:
    """What led to ``id``, the newest first, at most ``_OLD_MAX``."""
    steps: list[Transition] = []
    seen = {id}
    while id in into and len(steps) < _OLD_MAX:
        step = max(into[id], key=lambda step: step.trigger)
        if step.old in seen:
            break
        steps.append(step)
        seen.add(step.old)
        id = step.old
    return steps


def _was(olds: list[tuple[Transition, Node]]) -> tuple[str, tuple[str, ...]]:
    shown = olds[:1]
    for entry in olds[1:]:
        if sum(len(old.label) for _, old in (*shown, entry)) > OLD_LABELS_MAX:
            break
        shown.append(entry)
    names = list(dict.fromkeys(flatten(old.label) for _, old in shown))
    reason = clause(olds[0][0].reason)
    named = [name for name in names if name and not name.casefold().endswith(NO_OLD_VALUE)]
    text = ", before that ".join(named)
    ids = tuple(old.id for _, old in shown)
    if not text:
        return (f" ({reason})" if reason else ""), ids
    return f" (was {text}{': ' + reason if reason else ''})", ids


def clause(text: str, limit: int = REASON_MAX) -> str:
    """``text`` as one line without its full stop, or its longest beginning of whole clauses within ``limit``
    characters; "" when even the first clause is longer."""
    line = flatten(text, _QUOTE_MAX).rstrip(". ")
    if len(line) <= limit:
        return line
    ends = (line.rfind(mark, 0, limit + 1) for mark in (". ", "; ", ", ", ": ", " - ", " ("))
    return line[: max(0, *ends)].rstrip(".,;: ")


_QUOTE_MAX: Final = 1_000
