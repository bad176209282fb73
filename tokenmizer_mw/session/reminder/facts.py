"""Select the facts that a cut removed and a question asks for, as lines. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.context.recall import QuotedPiece, describe_fact, newest_value
from tokenmizer_mw.context.recall.terms import index_terms
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import Checkpointed
from tokenmizer_mw.model.node import Node, Status
from tokenmizer_mw.safety.labels import flatten

from .relevance import MOST, RelevantContent

CANDIDATES_MAX: Final = 64
"""Facts that are looked at."""


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact as a line; ``nodes`` are the ids of the facts that it names."""

    text: str
    nodes: tuple[str, ...]


def relevant_facts(graph: SessionGraph, cut: Checkpointed, question: RelevantContent, least: float) -> list[FactLine]:
    """Return the facts of messages that ``cut`` removed and that its resume block does not state, best first.

    A fact is relevant when it holds at least the share ``least`` of the words of ``question``, by weight; if the
    message asks nothing, a larger share (``MOST``). A replaced fact is returned with the value that holds now.
    """
    weights, least = question.weights, least if question.asks else MOST
    whole = sum(weights.values()) or 1.0
    said = set(cut.carried)
    found: list[tuple[float, Node]] = []
    for node, _ in graph.sharing_words(" ".join(weights), limit=CANDIDATES_MAX):
        if node.source.turn >= cut.anchor_turn:
            continue
        held = weights.keys() & set(index_terms(f"{node.label} {node.detail} {node.value}"))
        coverage = sum(weights[term] for term in held) / whole
        if coverage >= least:
            found.append((coverage, node))
    lines: list[FactLine] = []
    for _, node in sorted(found, key=lambda pair: -pair[0]):
        current = newest_value(graph, node)
        if current.id in said or (current is node and _in_context(graph, node, cut)):
            continue
        text, nodes = describe_fact(graph, current)
        lines.append(FactLine(text, nodes))
        said.update(nodes)
    return lines


def _in_context(graph: SessionGraph, node: Node, cut: Checkpointed) -> bool:
    """Whether a message that stayed mentions the fact."""
    return graph.life(node.id).touched >= cut.anchor_turn


def outdated_mark(graph: SessionGraph, passage: QuotedPiece) -> str:
    """Return a mark for a passage that names a value which was replaced later; "" for any other passage."""
    text = passage.text.casefold()
    for old, new, trigger in _replaced_values(graph):
        if passage.number < trigger and old.label.casefold() in text and new.label.casefold() not in text:
            return f" (old; since [{trigger}] {flatten(newest_value(graph, new).label)})"
    return ""


def _replaced_values(graph: SessionGraph) -> Iterator[tuple[Node, Node, int]]:
    for step in graph.transitions():
        old, new = graph.get(step.old), graph.get(step.new)
        if old is not None and new is not None and old.status is Status.SUPERSEDED:
            yield old, new, step.trigger
