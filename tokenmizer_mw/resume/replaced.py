"""Sentences that state what was replaced later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import Node, Status

from .sentences import Sentence, words_of

Replaced = tuple[frozenset[str], int]
"""The words that only an older statement has, and the number of the message that replaced it."""


def without_replaced(graph: SessionGraph, sentences: Sequence[Sentence]) -> list[Sentence]:
    """``sentences`` without those that say what a later message replaced or withdrew."""
    by_word: dict[str, list[Replaced]] = {}
    for words, number in _replaced(graph):
        by_word.setdefault(max(words, key=len), []).append((words, number))
    return [one for one in sentences if not _is_replaced(one, by_word)] if by_word else list(sentences)


def _is_replaced(sentence: Sentence, by_word: dict[str, list[Replaced]]) -> bool:
    return any(
        sentence.number < number and words <= sentence.words
        for word in sentence.words
        for words, number in by_word.get(word, ())
    )


def _replaced(graph: SessionGraph) -> Iterator[Replaced]:
    for step in graph.transitions():
        old, new = graph.get(step.old), graph.get(step.new)
        if old is not None and new is not None and not old.current:
            yield from _told(old, words_of(old.label) - words_of(new.label), step.trigger)
    for node in graph.nodes(status=Status.INVALIDATED):
        yield from _told(node, words_of(node.label), graph.life(node.id).touched)


def _told(node: Node, words: frozenset[str], number: int) -> Iterator[Replaced]:
    if words and number > node.source.turn:
        yield words, number
