"""Short conversations as graphs, for the tests of what sentences come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokenmizer_mw.extract.derive import derive
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import NodeType, Status
from tokenmizer_mw.settings import Settings

RULES_ONLY: Final = Settings(stages="rules,structure,dialogue")
"""What rules read: the model, which is trained anew from time to time, is tested by itself."""

SPEAKERS: Final = {"u": Role.USER, "a": Role.ASSISTANT}


def judged(messages: Sequence[Message], settings: Settings = RULES_ONLY) -> SessionGraph:
    """The graph after these messages."""
    graph = SessionGraph()
    for event in derive(graph, list(enumerate(messages, 1)), [], settings):
        graph.apply(event)
    return graph


def talk(*lines: str) -> SessionGraph:
    """The graph after lines such as "u: add a page" and "a: Added."."""
    return judged([Message(SPEAKERS[line[0]], line[3:]) for line in lines])


def labels(graph: SessionGraph, type_: NodeType, *statuses: Status) -> list[str]:
    """Labels of one type, of these statuses or all."""
    return [node.label for node in graph.nodes(type_) if not statuses or node.status in statuses]


def changes(graph: SessionGraph) -> list[tuple[str, str]]:
    """What took the place of what."""
    known = {node.id: node.label for node in graph.nodes()}
    return [(known[step.old], known[step.new]) for step in graph.transitions()]
