"""Find the facts that a general question asks for, such as "What was rejected?": all that a resume block lists under a
heading."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from tokenmizer_mw.context.resume.facts import sections_of
from tokenmizer_mw.context.resume.sections import Section
from tokenmizer_mw.graph.explanation import Predecessors
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.search import kind_words
from tokenmizer_mw.graph.text import pick_asked_words
from tokenmizer_mw.model.node import Node, NodeType


class AskedList(NamedTuple):
    """The facts under a heading, newest first. ``title``: the heading, such as "Rejected"."""

    title: str
    nodes: list[Node]


class _Heading(NamedTuple):
    """A section of the resume block, and which questions ask for it: those that have a word of ``named`` and otherwise
    only words of ``named``, of ``beside`` and names of ``types``. If a question names some of ``types``, only facts of
    these types are listed."""

    title: str
    section: Section
    named: frozenset[str]
    beside: frozenset[str] = frozenset()
    types: tuple[NodeType, ...] = ()


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HEADINGS: Final = (
    _Heading(
        "Rejected",
        Section.WARNINGS,
        _set("rejected reject ruled turned declined discarded against"),
        _set("out down option alternative proposal idea decide decided"),
    ),
    _Heading("Decided", Section.DECISIONS, _set("decided decide decision choice agreed"), _set("made make force hold")),
    _Heading("User's rules", Section.RULES, _set("rule constraint"), _set("user standing apply hold force follow")),
    _Heading(
        "Done",
        Section.DONE,
        _set("done finished completed fixed"),
        types=(NodeType.TASK, NodeType.GOAL, NodeType.ERROR),
    ),
    _Heading(
        "Failing",
        Section.ERRORS,
        _set("failing fail failed broken"),
        types=(NodeType.TEST, NodeType.TASK, NodeType.ERROR),
    ),
    _Heading("Tests passed", Section.TESTS, _set("passing pass passed"), types=(NodeType.TEST,)),
)
_BESIDE: Final = _set(
    "so far already yet still now currently current session thing item anything everything list show s"
)


def find_asked_list(graph: SessionGraph, query: str) -> AskedList | None:
    """Return the facts that a general question such as "What was rejected?" asks for. ``None`` if there are none, or if
    the question has a word that narrows it down ("What was rejected for the cache?")."""
    asked = pick_asked_words(query) - _BESIDE
    for heading in _HEADINGS:
        types = [type_ for type_ in heading.types if asked & kind_words(type_)]
        if asked & heading.named and not asked - heading.named - heading.beside - _words_of(types):
            return _list_facts(graph, heading, types or heading.types)
    return None


def _words_of(types: Iterable[NodeType]) -> frozenset[str]:
    return frozenset().union(*map(kind_words, types))


def _list_facts(graph: SessionGraph, heading: _Heading, types: Iterable[NodeType]) -> AskedList | None:
    wanted = frozenset(types)
    found = [
        node
        for node, section in sections_of(graph, Predecessors(graph))
        if section is heading.section and (not wanted or node.type in wanted)
    ]
    return AskedList(heading.title, found[::-1]) if found else None
