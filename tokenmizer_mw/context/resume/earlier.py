"""Facts that earlier sessions of a project settled, for the resume block of another session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.text import words
from tokenmizer_mw.model.node import Node, Trust
from tokenmizer_mw.safety.labels import flatten

from .facts import ResumeFact
from .sections import Section, section_of

FACTS_MAX: Final = 40
"""Facts of earlier sessions that a resume is made from."""

_HANDED_ON: Final = {Section.RULES: 0, Section.DECISIONS: 1, Section.ENVIRONMENT: 2}
_TRUSTED: Final = frozenset({Trust.STATED, Trust.ADOPTED, Trust.STRUCTURE})
_ORIGIN_MAX: Final = 40


def earlier_facts(own: SessionGraph, others: Iterable[tuple[str, SessionGraph]]) -> list[ResumeFact]:
    """Rules, decisions and environment that hold at the end of ``others`` (their ids and graphs, the newest first).

    What a newer session has in the same slot or in the same words stands for the older one, and what ``own`` says for
    all of them. Nothing of a message that reads like an attempt to take over the model is handed on.
    """
    slots, said = _known_slots_and_words(own.nodes())
    found: list[ResumeFact] = []
    for place, (origin, graph) in enumerate(others):
        nodes = [node for node in graph.nodes() if _hands_on(graph, node)]
        for node in nodes:
            if node.slot not in slots and words(node.label) not in said:
                found.append(_fact(node, origin, place, len(found)))
        more_slots, more_said = _known_slots_and_words(graph.nodes())
        slots, said = slots | more_slots, said | more_said
    found.sort(key=lambda fact: (fact.grade, fact.place))
    return found[:FACTS_MAX]


def _known_slots_and_words(nodes: Sequence[Node]) -> tuple[set[str], set[frozenset[str]]]:
    """The slots that are taken, and what was said in what words, whether or not it still holds."""
    return {node.slot for node in nodes if node.slot and node.current}, {words(node.label) for node in nodes}


def _hands_on(graph: SessionGraph, node: Node) -> bool:
    return section_of(node) in _HANDED_ON and node.source.trust in _TRUSTED and not graph.flags(node)


def _fact(node: Node, origin: str, place: int, index: int) -> ResumeFact:
    section = section_of(node)
    grade = _HANDED_ON[section] if section is not None else 0
    text = f"{flatten(node.label)} ({flatten(origin)[-_ORIGIN_MAX:]})"
    return ResumeFact(Section.EARLIER, text, "", 0, (place, node.source.turn, index), (), grade=grade)
