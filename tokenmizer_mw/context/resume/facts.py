"""The facts of a graph as short texts for a resume block: each with its section and, in brackets, what it replaced and
why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import re2

from tokenmizer_mw.context.resume.sections import NO_OLD_VALUE, Section, grade_of, section_of
from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.graph.explanation import Predecessors, qualify_replacement
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.text import words
from tokenmizer_mw.model.event import WENT_ON
from tokenmizer_mw.model.node import HAND, Node, NodeType, Status, Transition
from tokenmizer_mw.safety.labels import flatten

REASON_MAX: Final = 90
"""Longest reason in brackets after a fact, in characters. A longer one is shortened to its first clauses (``clause``),
or left out."""

EXPLANATION_MAX: Final = 200
"""Longest explanation of an error (its cause and fix) in brackets after it, in characters; a longer one is
shortened."""

OLD_LABELS_MAX: Final = 120
"""The replaced facts that are named after a fact have at most this many characters together; the newest one is named in
any case."""

_REASON_WORDS: Final = 2
"""A reason that has words of the replaced fact is left out if it has fewer other words than this."""

_COMMAND: Final = "$ "
_OLD_MAX: Final = 3


def reason_of(graph: SessionGraph, node: Node, section: Section, replaced: Predecessors) -> tuple[str, tuple[str, ...]]:
    """Return the text that a block appends to the label of ``node``, and the ids of the nodes that this text names.

    The text says what the fact replaced and why: " (was SQLite: concurrent writes)". In ``Section.WARNINGS`` it has no
    brackets: " - too slow". It is "" if there is nothing to say.

    ``section``: the section of the block that states the node. ``replaced``: for each fact of the graph, the facts that
    it replaced.
    """
    if section is Section.WARNINGS:
        reason = clause(graph.life(node.id).reason_in_words or node.detail)
        return (f" - {reason}" if reason else ""), ()
    olds = list(islice(replaced.of(node), _OLD_MAX))
    if olds and node.type is NodeType.TASK:
        reason = clause(olds[0][0].reason)
        return (f" ({reason})" if reason and reason not in node.label else ""), ()
    if olds:
        by_hand = clause(node.detail) if node.source.role == HAND else ""
        return _describe_replaced(flatten(node.label), olds, by_hand, qualify_replacement(node, "was"))
    reason = clause(node.detail) if node.type is NodeType.DECISION else _explanation(node)
    return (f" ({reason})" if _new_reason(node.label, reason) else ""), ()


def _explanation(node: Node) -> str:
    """Return the cause of an error and its fix; "" for another fact, or if only the command that showed the error is
    known."""
    if node.type is not NodeType.ERROR or node.detail.startswith(_COMMAND):
        return ""
    return clause(node.detail, EXPLANATION_MAX)


def _describe_replaced(
    label: str, olds: list[tuple[Transition, Node]], by_hand: str, was: str
) -> tuple[str, tuple[str, ...]]:
    """Return the text in brackets that says what a fact with ``label`` replaced and why, and the ids of the facts that
    it names. The reason is that given ``by_hand``, else that of the newest replacement. ``was``: the words before the
    replaced facts."""
    shown = olds[:1]
    for entry in olds[1:]:
        if sum(len(old.label) for _, old in (*shown, entry)) > OLD_LABELS_MAX:
            break
        shown.append(entry)
    old_reason = clause(olds[0][0].reason)
    reason = by_hand or _new_reason(label, old_reason, _without_reason(flatten(olds[0][1].label), old_reason))
    names = list(dict.fromkeys(_without_reason(flatten(old.label), reason) for _, old in shown))
    known = label.casefold()
    named = [name for name in names if name and name.casefold() != known and not name.casefold().endswith(NO_OLD_VALUE)]
    text = ", before that ".join(named)
    ids = tuple(old.id for _, old in shown)
    if not text:
        return (f" ({reason})" if reason else ""), ids
    return f" ({was} {text}{': ' + reason if reason else ''})", ids


def _new_reason(label: str, reason: str, old: str = "") -> str:
    """Return ``reason``; "" if ``label`` says the same, or if the reason hardly says more than that ``old``, the
    replaced fact, was dropped."""
    stated, why = label.casefold(), reason.casefold()
    goes = bool(words(reason) & words(old)) and len(words(reason) - words(old)) < _REASON_WORDS
    return "" if why in stated or (why and stated in why) or goes else reason


def _without_reason(label: str, reason: str) -> str:
    """Return the label of a replaced fact without the reason for the change, if the label ends with that reason."""
    head, found, _ = label.partition(f", {reason}") if reason else (label, "", "")
    return head if found and head else label


def clause(text: str, limit: int = REASON_MAX) -> str:
    """Return ``text`` as one line without its full stop, shortened to ``limit`` characters.

    A text that is too long first loses a topic of a few words before a colon ("the flights: ..."). If it is still too
    long, its longest beginning of whole clauses is returned; "" if even the first clause is too long.
    """
    line = flatten(text, _QUOTE_MAX).rstrip(". ")
    if len(line) <= limit:
        return line
    topic, colon, rest = line.partition(": ")
    if colon and len(topic.split()) <= _TOPIC_WORDS_MAX:
        return clause(rest, limit)
    ends = (line.rfind(mark, 0, limit + 1) for mark in (". ", "; ", ", ", ": ", " - ", " ("))
    return line[: max(0, *ends)].rstrip(".,;: ")


_QUOTE_MAX: Final = 1_000
_TOPIC_WORDS_MAX: Final = 3
"""A topic before a colon ("the flights: ...") has at most this many words."""

_PHRASE_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class ResumeFact:
    """A fact as a resume block states it.

    - ``section``: the section of the block.
    - ``text``: the label of the fact; ``why``: the text appended to it, "" for none: what ``reason_of`` returns, or the
      rest of a long goal.
    - ``ids``, ``why_ids``: ids of the nodes that ``text`` and ``why`` state.
    - ``turn``: number of the message that the fact comes from; ``place``: order in the section.
    - ``grade``: if not all facts fit, those with a lower grade are taken first.
    """

    section: Section
    text: str
    why: str
    turn: int
    place: tuple[int, int, int]
    ids: tuple[str, ...]
    why_ids: tuple[str, ...] = ()
    grade: int = 0


def sections_of(graph: SessionGraph, replaced: Predecessors) -> Iterator[tuple[Node, Section]]:
    """Iterate over every fact that a resume block may state, with its section, oldest first, without archived and
    replaced ones. ``replaced``: for each fact of the graph, the facts that it replaced."""
    for node in graph.nodes():
        section = Section.RULES if node.id in replaced.standing else _section_of(graph, node)
        if section is None or (section is Section.DECISIONS and not node.pinned and _asks(flatten(node.label))):
            continue
        plain = node.label.isascii() and node.label.isprintable() and not node.label.isspace()
        if plain or flatten(node.label):
            yield node, section


def facts_of(graph: SessionGraph) -> list[ResumeFact]:
    """Return every fact of ``graph`` that a resume block may state, oldest first, without archived and replaced ones.
    Each has its section and, if it replaced another, the text in brackets that says so. The rest of a long goal is in
    ``why``."""
    replaced = Predecessors(graph)
    found = []
    for index, (node, section) in enumerate(sections_of(graph, replaced)):
        label = flatten(node.label)
        why, why_ids = reason_of(graph, node, section, replaced)
        text, why = _split_goal(label) if section is Section.GOAL and not why else (label, why)
        place = (_order_of(node), node.source.turn, index)
        text_and_prefix = _prefix(node, section) + text
        found.append(
            ResumeFact(
                section, text_and_prefix, why, node.source.turn, place, (node.id,), why_ids, grade_of(node, section)
            )
        )
    return found


def _order_of(node: Node) -> int:
    """Return the sort key of ``node`` in its section: -2 if it is pinned, -1 if it was added or edited by hand, else
    its own order number, or a very large number if it has none."""
    if node.pinned or node.source.role == HAND:
        return -2 if node.pinned else -1
    return node.order if node.order is not None else _NO_ORDER


def _section_of(graph: SessionGraph, node: Node) -> Section | None:
    """Return the section of a resume block that states ``node``; ``None`` if none does. An error that counts as fixed
    only because the session went on without it belongs to ``PAST_ERRORS``."""
    section = section_of(node)
    if section is Section.DONE and node.type is NodeType.ERROR and graph.life(node.id).reason == WENT_ON:
        return Section.PAST_ERRORS
    return section


def shorten_goals(facts: Sequence[ResumeFact], counter: TokenCounter, limit: int) -> list[ResumeFact]:
    """Return ``facts`` with every goal of more than ``limit`` tokens shortened to its beginning (``why`` removed).
    Goals whose ``why`` says what they replaced, and all other facts, stay unchanged."""
    return [
        replace(fact, why="")
        if fact.section is Section.GOAL and not fact.why_ids and counter.count(fact.text + fact.why) > limit
        else fact
        for fact in facts
    ]


_NO_ORDER: Final = 1 << 30
_ASKING: Final = re2.compile(
    r"(?i)[?\x{ff1f}]\s*$|^(?:what|which|how|why|who|whom|where|when|whether|should|shall|could|would|can|do|does|did"
    r"|is|are)\s+(?:we|i|you|it|they|there|this|that|the|a|an|about|if|come)\b[^:]*$"
    r"|[吗嗎呢か까]\s*[.。]?\s*$|是否|要不要|能不能|可不可以"
)


def _asks(text: str) -> bool:
    """Whether ``text``, the label of a fact, is a question, such as "Should we use Redis?". A block does not list a
    question among the decisions."""
    return _ASKING.search(text) is not None


GOAL_SHORT: Final = 60
"""Length in characters to which a block without room for a whole goal shortens it."""

_GOAL_BREAK: Final = re2.compile(
    r"(?i)[,;:] | \(| (?:which|that|who|where|so|and|with|from|for|of|in|on|by|using|to|as)\b"
)


def _split_goal(goal: str) -> tuple[str, str]:
    """Return the beginning of a goal and the rest. The rest is the brackets at its end; or, if more than ``GOAL_SHORT``
    characters stand before these, all after a short beginning of whole phrases; or ""."""
    text = goal.rstrip(" .!")
    start = text.rfind(" (") if text.endswith(")") else len(text)
    if start > GOAL_SHORT:
        breaks = [found.start() for found in _GOAL_BREAK.finditer(text[:GOAL_SHORT], GOAL_SHORT // 3)]
        start = breaks[-1] if breaks else max(text.rfind(" ", 0, GOAL_SHORT), 0) or start
    return (text[:start], text[start:]) if 0 < start < len(text) else (goal, "")


def _prefix(node: Node, section: Section) -> str:
    if node.type is NodeType.ERROR and section is Section.DONE:
        if node.label[:3].casefold() == "fix":
            return ""
        return "fixed " if node.label.isascii() and node.label.count(" ") < _PHRASE_MAX else "fixed: "
    return "failed: " if node.type in (NodeType.TASK, NodeType.TEST) and node.status is Status.FAILED else ""
