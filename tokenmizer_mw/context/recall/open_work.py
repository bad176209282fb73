"""Recognise questions about open work ("What is still open?"), and find the work that they ask for."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.search import kind_words
from tokenmizer_mw.graph.text import asked_words
from tokenmizer_mw.model.node import Node, NodeType, Status

# fmt: off
_OPEN: Final = frozenset((
    "open", "todo", "to-do", "left", "remaining", "remain", "pending", "outstanding", "unfinished", "unresolved",
    "unfixed", "missing", "next",
))
_BESIDE: Final = frozenset((
    "still", "yet", "currently", "current", "item", "thing", "point", "issue", "need", "session", "list", "show",
))
# fmt: on
_TYPES: Final = (NodeType.TASK, NodeType.TEST, NodeType.ERROR)


def find_open_work(graph: SessionGraph, query: str) -> list[Node]:
    """Return the open work that ``query`` asks for, in progress first, then the newest first.

    Empty for a question about anything else: one with a word that names neither a state of open work nor a kind of
    work. If it names kinds ("open errors"), only these are returned.
    """
    asked = asked_words(query) - _BESIDE
    named = [type_ for type_ in _TYPES if asked & kind_words(type_)]
    if not asked & _OPEN or asked - _OPEN.union(*map(kind_words, named)):
        return []
    found = [node for node in graph.newest_unfinished() if node.type in (named or _TYPES)]
    return sorted(found, key=lambda node: node.status is not Status.IN_PROGRESS)
