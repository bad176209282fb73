"""What a resume can say: the facts of a graph, each in its section, as short texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import re2

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.labels import flatten
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status, Transition, Trust

REASON_MAX: Final = 90
"""Longest reason that stands behind a fact, in characters; of a longer one its first clause is taken, or nothing."""

EXPLANATION_MAX: Final = 200
"""The same for what stands behind an error."""

OLD_LABELS_MAX: Final = 120
"""Characters of what a fact replaced, from which on only the newest predecessor is named."""

_COMMAND: Final = "$ "
_OLD_MAX: Final = 3
_PHRASE_MAX: Final = 8
_NO_OLD_VALUE: Final = " as it was"


class Section(IntEnum):
    """The sections of a resume, in their order."""

    GOAL = 0
    RULES = 1
    DECISIONS = 2
    WARNINGS = 3
    DOING = 4
    TO_DO = 5
    ERRORS = 6
    DONE = 7
    FILES = 8
    ENVIRONMENT = 9
    USES = 10
    ENDPOINTS = 11
    SCHEMA = 12
    TESTS = 13
    PROPOSED = 14
    ABOUT = 15
    EARLIER = 16


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact as a resume says it. ``text`` is its label, ``why`` what stands behind it ("" for nothing): what it
    replaced, its reason, or the brackets at the end of a goal. ``ids`` are the nodes that ``text`` speaks of,
    ``why_ids`` those that ``why`` does. ``turn`` is where it was said; ``place`` orders the facts of a section.
    ``grade`` comes before all else when some must stay out: lower grades go in first."""

    section: Section
    text: str
    why: str
    turn: int
    place: tuple[int, int, int]
    ids: tuple[str, ...]
    why_ids: tuple[str, ...] = ()
    grade: int = 0


def facts_of(graph: SessionGraph) -> list[Fact]:
    """Every fact that a resume may carry, oldest first. What was archived or replaced is no fact of its own."""
    into: dict[str, list[Transition]] = {}
    standing = set()
    for step in graph.transitions():
        if _outlasts(graph.get(step.old), graph.get(step.new)):
            standing.add(step.old)
        else:
            into.setdefault(step.new, []).append(step)
    found = []
    for index, node in enumerate(graph.nodes()):
        section = Section.RULES if node.id in standing else section_of(node)
        text = flatten(node.label)
        if section is None or not text or (section is Section.DECISIONS and _asks(text)):
            continue
        why, why_ids = _why(graph, node, section, into)
        if section is Section.GOAL and not why:
            text, why = _bracketed(text)
        place = (node.order if node.order is not None else _NO_ORDER, node.source.turn, index)
        grade = _GRADES[section](node) if section in _GRADES else 0
        found.append(Fact(section, _prefix(node) + text, why, node.source.turn, place, (node.id,), why_ids, grade))
    return found


def _outlasts(old: Node | None, new: Node | None) -> bool:
    """Whether ``old`` is a standing rule of the user and ``new`` is none: a single choice ends no rule."""
    return (
        old is not None
        and new is not None
        and old.kind is DecisionKind.RULE
        and old.status is Status.SUPERSEDED
        and old.source.role == "user"
        and new.kind is not DecisionKind.RULE
    )


_NO_ORDER: Final = 1 << 30
_ASKING: Final = re2.compile(
    r"(?i)[?\x{ff1f}]\s*$|^(?:what|which|how|why|who|whom|where|when|whether|should|shall|could|would|can|do|does|did"
    r"|is|are)\s+(?:we|i|you|it|they|there|this|that|the|a|an|about|if|come)\b[^:]*$"
    r"|[吗嗎呢か까]\s*[.。]?\s*$|是否|要不要|能不能|可不可以"
)


def _asks(text: str) -> bool:
    """Whether a label is a question, not what was decided."""
    return _ASKING.search(text) is not None


_PLAIN: Final[dict[NodeType, Section]] = {
    NodeType.FILE: Section.FILES,
    NodeType.ENVIRONMENT: Section.ENVIRONMENT,
    NodeType.DEPENDENCY: Section.USES,
    NodeType.API: Section.ENDPOINTS,
    NodeType.ENDPOINT: Section.ENDPOINTS,
    NodeType.SCHEMA: Section.SCHEMA,
    NodeType.PROJECT: Section.ABOUT,
    NodeType.CONCEPT: Section.ABOUT,
    NodeType.AGENT: Section.ABOUT,
}
_SILENT_WHEN_WRONG: Final = frozenset({NodeType.ERROR, NodeType.TEST})


def section_of(node: Node) -> Section | None:
    """Where a resume says ``node``, or ``None`` when it does not."""
    if node.status is Status.INVALIDATED:
        return None if node.type in _SILENT_WHEN_WRONG else Section.WARNINGS
    if not node.current:
        return None
    section = _PLAIN.get(node.type)
    return section if section is not None else _BY_STATUS[node.type](node)


def _goal(node: Node) -> Section:
    return Section.DONE if node.status is Status.COMPLETED else Section.GOAL


def _decision(node: Node) -> Section:
    if node.status is Status.FAILED:
        return Section.WARNINGS
    if node.kind is DecisionKind.OPTION or node.status is Status.PENDING or node.source.trust is Trust.PROPOSED:
        return Section.PROPOSED
    return Section.RULES if node.kind in (DecisionKind.RULE, DecisionKind.PREFERENCE) else Section.DECISIONS


def _task(node: Node) -> Section:
    if node.status is Status.COMPLETED:
        return Section.DONE
    if node.status is Status.FAILED:
        return Section.ERRORS
    return Section.TO_DO if node.status is Status.PENDING else Section.DOING


def _error(node: Node) -> Section:
    return Section.DONE if node.status is Status.COMPLETED else Section.ERRORS


def _test(node: Node) -> Section:
    return Section.ERRORS if node.status is Status.FAILED else Section.TESTS


_BY_STATUS: Final[dict[NodeType, Callable[[Node], Section]]] = {
    NodeType.GOAL: _goal,
    NodeType.DECISION: _decision,
    NodeType.TASK: _task,
    NodeType.ERROR: _error,
    NodeType.TEST: _test,
}


_FORBIDDING: Final = frozenset(("never", "don't", "dont", "not", "no", "nothing", "nobody", "without", "avoid", "only"))
_FORBIDDING_WITHIN: Final = 6


def _rule_grade(node: Node) -> int:
    """Rules before preferences, then what the user said, then what forbids something near its beginning."""
    words = flatten(node.label).casefold().replace("\u2019", "'").split()[:_FORBIDDING_WITHIN]
    forbids = not _FORBIDDING.isdisjoint(word.strip(".,;:!") for word in words)
    said = node.source.role == "user" and node.source.trust is Trust.STATED
    return 4 * (node.kind is not DecisionKind.RULE) + 2 * (not said) + (not forbids)


_STANDINGS: Final = re2.compile(
    r"(?i)[$€£%]|\b(?:deadlines?|due|budgets?|targets?|goals?|limits?|scheduled|rescheduled|planned|booked|reached|increased"
    r"|reduced|raised|improved|extended|moved|adjusted|completed|now)\b"
)


def _told_grade(node: Node) -> int:
    """Facts told by the way: where the matter stands or is to go before what merely happened."""
    return int(_STANDINGS.search(flatten(node.label)) is None)


_GRADES: Final[dict[Section, Callable[[Node], int]]] = {Section.RULES: _rule_grade, Section.ABOUT: _told_grade}


def _bracketed(goal: str) -> tuple[str, str]:
    """A goal without the brackets at its end, and those; "" when there are none or nothing is before them."""
    text = goal.rstrip(" .!")
    start = text.rfind(" (") if text.endswith(")") else -1
    return (text[:start].rstrip(), text[start:]) if start > 0 and text[:start].strip() else (goal, "")


def _prefix(node: Node) -> str:
    if node.type is NodeType.ERROR and node.status is Status.COMPLETED:
        if node.label[:3].casefold() == "fix":
            return ""
        return "fixed " if node.label.isascii() and node.label.count(" ") < _PHRASE_MAX else "fixed: "
    return "failed: " if node.type in (NodeType.TASK, NodeType.TEST) and node.status is Status.FAILED else ""


def _why(
    graph: SessionGraph, node: Node, section: Section, into: dict[str, list[Transition]]
) -> tuple[str, tuple[str, ...]]:
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
    named = [name for name in names if name and not name.casefold().endswith(_NO_OLD_VALUE)]
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
