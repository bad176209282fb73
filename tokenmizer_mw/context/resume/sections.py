"""The sections of a resume block, and the assignment of nodes to them."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Final

import re2

from tokenmizer_mw.model.node import HAND, DecisionKind, Node, NodeType, Status, Trust
from tokenmizer_mw.safety.labels import flatten


class Section(IntEnum):
    """The sections of a resume block, in the order in which the block shows them.

    ``WARNINGS``: rejected options and decisions. ``DOING``: work in progress; ``TO_DO``: work not begun; ``DONE``:
    finished work. ``ERRORS``: open errors; ``PAST_ERRORS``: errors that are probably fixed. ``USES``: libraries.
    ``TESTS``: passed tests. ``PROPOSED``: proposals that nobody accepted yet. ``ABOUT``: what was mentioned in passing.
    ``EARLIER_...``: facts from other sessions of the project.
    """

    GOAL = 0
    RULES = 1
    DECISIONS = 2
    WARNINGS = 3
    DOING = 4
    TO_DO = 5
    ERRORS = 6
    PAST_ERRORS = 7
    DONE = 8
    FILES = 9
    ENVIRONMENT = 10
    USES = 11
    ENDPOINTS = 12
    SCHEMA = 13
    TESTS = 14
    PROPOSED = 15
    ABOUT = 16
    EARLIER_RULES = 17
    EARLIER_DECISIONS = 18
    EARLIER_WORK = 19
    EARLIER_ENVIRONMENT = 20


EARLIER: Final = frozenset(
    {Section.EARLIER_RULES, Section.EARLIER_DECISIONS, Section.EARLIER_WORK, Section.EARLIER_ENVIRONMENT}
)
"""Sections for facts from other sessions of the project."""

STANDING: Final = frozenset({Section.RULES, Section.DECISIONS, Section.WARNINGS})
"""Sections of what holds whatever the current work is: rules, decisions, and what was rejected."""

STANDING_AND_WORK: Final = STANDING | {
    *(Section.DOING, Section.TO_DO, Section.ERRORS, Section.PAST_ERRORS),
    *(Section.DONE, Section.FILES),
}
"""Sections of rules, decisions and what was rejected, and of open and finished work, errors and files."""

_BY_TYPE: Final[dict[NodeType, Section]] = {
    NodeType.GOAL: Section.GOAL,
    NodeType.TASK: Section.DOING,
    NodeType.ERROR: Section.ERRORS,
    NodeType.TEST: Section.TESTS,
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
_BY_STATUS: Final[dict[tuple[NodeType, Status], Section]] = {
    (NodeType.GOAL, Status.COMPLETED): Section.DONE,
    (NodeType.TASK, Status.COMPLETED): Section.DONE,
    (NodeType.TASK, Status.FAILED): Section.ERRORS,
    (NodeType.TASK, Status.PENDING): Section.TO_DO,
    (NodeType.ERROR, Status.COMPLETED): Section.DONE,
    (NodeType.TEST, Status.FAILED): Section.ERRORS,
}
"""Sections of current facts: by type, and by type and status if the status matters. ``_section_of_decision`` returns
those of decisions."""

NO_OLD_VALUE: Final = " as it was"
"""End of the label of a replaced fact whose value nobody stated ("the timeout as it was"). Such a fact is named only as
what another fact replaced."""


def section_of(node: Node) -> Section | None:
    """Return the section of a resume block that states ``node``, by its type, status and kind; ``None`` if none does,
    as for archived and replaced facts, and for those that were withdrawn as never true."""
    if node.status is Status.INVALIDATED:
        return Section.WARNINGS if node.is_rejected else None
    if not node.current or _is_only_named(node) or node.is_note:
        return None
    if node.type is NodeType.DECISION:
        return _section_of_decision(node)
    return _BY_STATUS.get((node.type, node.status)) or _BY_TYPE[node.type]


def _is_only_named(node: Node) -> bool:
    """Whether the label of ``node`` is a placeholder for a replaced value that nobody stated, such as
    "the timeout as it was": it ends with ``NO_OLD_VALUE``, and the node's quote does not contain it."""
    return node.label.endswith(NO_OLD_VALUE) and node.label not in node.source.quote


EXPLICIT: Final = 0.8
"""Least confidence of what was said explicitly. Findings of the classifiers, and of rules for vague wordings, have
less."""


def is_guessed(node: Node) -> bool:
    """Whether a fact was read from words that may mean something else (a confidence below ``EXPLICIT``). False for
    rules and preferences, what tools show, and facts that somebody pinned, added or worded by hand."""
    if node.pinned or node.source.role == HAND or node.source.trust is Trust.STRUCTURE:
        return False
    return node.confidence < EXPLICIT and node.kind not in (DecisionKind.RULE, DecisionKind.PREFERENCE)


def _section_of_decision(node: Node) -> Section:
    if node.status is Status.FAILED:
        return Section.WARNINGS
    if node.kind is DecisionKind.OPTION or node.status is Status.PENDING or node.source.trust is Trust.PROPOSED:
        return Section.PROPOSED
    return Section.RULES if node.kind in (DecisionKind.RULE, DecisionKind.PREFERENCE) else Section.DECISIONS


_FORBIDDING: Final = frozenset(("never", "don't", "dont", "not", "no", "nothing", "nobody", "without", "avoid", "only"))
_FORBIDDING_WITHIN: Final = 6


def _grade_rule(node: Node) -> int:
    """Return the grade of a rule from 0 to 7, lower first: rules before preferences; among each, statements of the user
    before others; among these, prohibitions ("never ...") before others."""
    words = flatten(node.label).casefold().replace("\u2019", "'").split()[:_FORBIDDING_WITHIN]
    forbids = not _FORBIDDING.isdisjoint(word.strip(".,;:!") for word in words)
    stated = node.source.role == "user" and node.source.trust is Trust.STATED
    return 4 * (node.kind is not DecisionKind.RULE) + 2 * (not stated) + (not forbids)


_STANDINGS: Final = re2.compile(
    r"(?i)[$€£%]|\b(?:deadlines?|due|budgets?|targets?|goals?|limits?|scheduled|rescheduled|planned|booked|reached|increased"
    r"|reduced|raised|improved|extended|moved|adjusted|completed|now)\b"
)


def _grade_about(node: Node) -> int:
    """Return the grade of a fact that was mentioned in passing: 0 if its label has an amount ($, %) or a word of
    deadlines, budgets, plans or changes; else 1. Lower grades come first."""
    return int(_STANDINGS.search(flatten(node.label)) is None)


_GRADES: Final[dict[Section, Callable[[Node], int]]] = {Section.RULES: _grade_rule, Section.ABOUT: _grade_about}


def grade_of(node: Node, section: Section) -> int:
    """Return the grade of ``node`` among the facts of ``section``: if not all fit, lower grades are taken first. Rules
    have 0 to 7, facts mentioned in passing 0 or 1, and all facts of other sections 0."""
    return _GRADES[section](node) if section in _GRADES else 0
