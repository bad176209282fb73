"""Leave the words of facts that were withdrawn as never true out of the reasons of other facts. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import Status

_CLAUSE_END: Final = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")
_WORD: Final = re.compile(r"\w+")


def without_withdrawn_words(graph: SessionGraph) -> SessionGraph:
    """Return ``graph`` as a model may read it: details of facts, and reasons of changes, lack what states a fact that
    was withdrawn as never true. Returns ``graph`` itself if no fact was withdrawn."""
    labels = [node.label for node in graph.nodes(status=Status.INVALIDATED) if node.is_withdrawn]
    phrases = spell_phrases(labels)
    if not phrases:
        return graph
    shown = graph.fork()
    shown.rewrite_reasons(lambda reason: remove_phrases(reason, phrases))
    return shown


def spell_phrases(labels: Iterable[str]) -> frozenset[str]:
    """Return labels of facts as ``remove_phrases`` looks for them: their words, without what is between them."""
    return frozenset(filter(None, map(_spell, labels)))


def remove_phrases(text: str, phrases: Collection[str]) -> str:
    """Return ``text`` without the sentences that contain one of ``phrases`` (see ``spell_phrases``).

    A phrase of one word is a name that other sentences may mention: it counts only if it is the whole text.
    """
    found = [phrase for phrase in phrases if _holds(text, phrase)]
    if not found:
        return text
    clauses = (clause for clause in _CLAUSE_END.split(text) if not any(_holds(clause, phrase) for phrase in found))
    left = " ".join(clauses).rstrip("; ")
    return "" if any(_holds(left, phrase) for phrase in found) else left


def _holds(text: str, phrase: str) -> bool:
    spoken = _spell(text)
    if not phrase.isascii():  # scripts without spaces have no ends of words
        return phrase in spoken
    return f" {phrase} " in f" {spoken} " if " " in phrase else phrase == spoken


def _spell(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
