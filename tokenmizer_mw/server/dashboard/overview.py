"""The current content of a session in the order of its resume block: goal, decisions, rules, open work, errors,
rejected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.context.resume.sections import Section, section_of
from tokenmizer_mw.model.node import Node, Status, Transition
from tokenmizer_mw.session import SessionState

from .asked import PageRequest
from .markup import Markup, join_markup, tag
from .words import card, fact_link, link, message_link, nothing, quote_line, status_of, to, type_of

SHOWN: Final = 8
"""Facts of a list on the overview; behind it stands how many more there are, and where."""

OPEN_WORK: Final = "open work"


@dataclass(frozen=True, slots=True)
class Overview:
    """The newest facts of each section of the block and their numbers, what replaced them, and why facts ended."""

    newest: Mapping[str, Sequence[Node]]
    counts: Mapping[str, int]
    replaced: Mapping[str, Node]
    reasons: Mapping[str, str]

    def of(self, part: str) -> Sequence[Node]:
        """Return the newest facts of a section."""
        return self.newest.get(part, ())

    def count(self, part: str) -> int:
        """Return the number of facts of a section."""
        return self.counts.get(part, 0)


def overview(state: SessionState) -> Overview:
    """Return the facts of a session by section of the block."""
    graph = state.graph
    parts: dict[str, list[Node]] = defaultdict(list)
    for node in graph.nodes():
        if (name := _part_of(node)) is not None:
            parts[name].append(node)
    newest = {name: _newest(name, nodes) for name, nodes in parts.items()}
    shown = {node.id for nodes in newest.values() for node in nodes}
    replaced = {step.new: old for step in graph.transitions() if step.new in shown and (old := _old(state, step))}
    reasons = {id: graph.life(id).reason for id in shown}
    return Overview(newest, {name: len(nodes) for name, nodes in parts.items()}, replaced, reasons)


def _old(state: SessionState, step: Transition) -> Node | None:
    return state.graph.get(step.old)


def _part_of(node: Node) -> str | None:
    section = section_of(node)
    if section in (Section.DOING, Section.TO_DO):
        return OPEN_WORK
    return section.name if section is not None else None


def _newest(part: str, nodes: Sequence[Node]) -> list[Node]:
    shown = sorted(nodes, key=lambda node: (not node.pinned, -node.source.turn))[:SHOWN]
    return sorted(shown, key=lambda node: node.status is not Status.IN_PROGRESS) if part == OPEN_WORK else shown


def cards(asked: PageRequest, found: Overview, flagged: int) -> Markup:
    """Return a card for every section; usual sections are shown even when they are empty."""
    everywhere = (
        ("Goal", Section.GOAL.name, "goals", "goal", "current", "No goal was stated."),
        ("Decisions in force", Section.DECISIONS.name, "decisions", "decision", "current", "Nothing was decided."),
        ("Rules", Section.RULES.name, "rules", "decision", "current", "No standing rule."),
        ("Proposed", Section.PROPOSED.name, "proposed", "decision", "current", ""),
        ("Open work", OPEN_WORK, "open", "task", "open", "Nothing is open."),
        ("Errors", Section.ERRORS.name, "errors", "error", "open", "No open error."),
        ("Rejected", Section.WARNINGS.name, "rejected", "", "invalidated", "Nothing was rejected."),
    )
    made = []
    for title, part, id, type_, status, empty in everywhere:
        rows = [_row(asked, found, node, part) for node in found.of(part)]
        if rows or empty:
            shown = tag("ul", rows, class_="facts") if rows else nothing(empty)
            rest = _rest(found.count(part) - len(rows), to("facts", id=asked.id, type=type_, status=status))
            warning = _render_warning(flagged) if id == "rejected" else None
            made.append(card(title, warning, shown, rest, id=id, live=True))
    return join_markup(*made)


def _row(asked: PageRequest, found: Overview, node: Node, part: str) -> Markup:
    old = found.replaced.get(node.id)
    why = found.reasons.get(node.id) if part == Section.WARNINGS.name else ""
    reason = why or (node.detail if node.detail != node.label else "")
    return tag(
        "li",
        type_of(node),
        fact_link(asked.id, node),
        status_of(node.status) if part == OPEN_WORK else None,
        tag("span", "pinned", class_="badge") if node.pinned else None,
        message_link(asked.id, node.source.turn),
        tag("span", "because ", quote_line(reason), class_="reason") if reason else None,
        tag("span", "instead of ", tag("del", quote_line(old.label)), class_="reason") if old is not None else None,
    )


def _render_warning(count: int) -> Markup | None:
    if not count:
        return None
    text = f"{count:,} message{' reads' if count == 1 else 's read'} like an attempt to take over the model."
    return tag("p", text, " Facts from there stay out of the smallest block.", class_="warning")


def _rest(count: int, address: str) -> Markup | None:
    return tag("p", link(address, f"{count:,} more"), class_="hint") if count > 0 else None
