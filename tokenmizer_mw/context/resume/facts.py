"""The facts of a graph as short texts, each with its section of the resume block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import re2

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status, Transition
from tokenmizer_mw.safety.labels import flatten

from .reasons import reason_of
from .sections import Section, grade_of, section_of

_PHRASE_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class ResumeFact:
    """A fact as a resume block states it.

    - ``text``: its label; ``why``: what follows in brackets (what it replaced, its reason), "" for nothing.
    - ``ids``, ``why_ids``: the nodes that ``text`` and ``why`` state.
    - ``turn``: the message it comes from; ``place``: its order in the section.
    - ``grade``: facts with a lower grade are taken first when not all fit.
    """

    section: Section
    text: str
    why: str
    turn: int
    place: tuple[int, int, int]
    ids: tuple[str, ...]
    why_ids: tuple[str, ...] = ()
    grade: int = 0


def facts_of(graph: SessionGraph) -> list[ResumeFact]:
    """Return every fact that a resume block may state, oldest first, without archived and replaced ones."""
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
        why, why_ids = reason_of(graph, node, section, into)
        if section is Section.GOAL and not why:
            text, why = _split_bracketed_end(text)
        place = (node.order if node.order is not None else _NO_ORDER, node.source.turn, index)
        said = _prefix(node) + text
        found.append(
            ResumeFact(section, said, why, node.source.turn, place, (node.id,), why_ids, grade_of(node, section))
        )
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


def _split_bracketed_end(goal: str) -> tuple[str, str]:
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
