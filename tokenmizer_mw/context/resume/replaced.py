"""Find sentences and facts that state a value which was replaced later."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import NOT_FOUND, Node, Status
from tokenmizer_mw.safety.labels import flatten

from .facts import ResumeFact
from .sections import NO_OLD_VALUE, Section
from .sentences import Sentence, words_of

MARK: Final = "replaced"
"""Stands behind a sentence that names an old value and not what took its place, with that where it is short."""

_SUCCESSOR_MAX: Final = 40

_OLD: Final = 0.4
"""How much a sentence with an old value counts, beside others. Set on development data."""

_STAYING: Final = frozenset({Section.RULES, Section.WARNINGS, Section.EARLIER})
_REASON: Final = re.compile(r"[,;(:\uff0c\uff1b\uff08]| - | because | since ")
_COMMON_SHARE: Final = 0.1
_COMMON_LEAST: Final = 4
_OLD_LETTERS_MIN: Final = 3
_NEW_LETTERS_MIN: Final = 4
"""What may stand behind a value; from which share of all sentences on, and from how many, a word is common; letters
that a word needs to name a value ("the" names none, "SMS" does)."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """What message ``number`` replaced: ``old`` are the words that only the older statement has, ``new`` those that
    only the newer one has; ``note`` says that it was replaced, and by what."""

    old: frozenset[str]
    new: frozenset[str]
    number: int
    note: str = MARK


class ReplacedValues:
    """What of a session was replaced or withdrawn, found by its words. ``sentences`` say which words are common."""

    def __init__(self, graph: SessionGraph, sentences: Sequence[Sentence]) -> None:
        holding = Counter(chain.from_iterable(one.words for one in sentences))
        most = max(_COMMON_LEAST, _COMMON_SHARE * len(sentences))
        common = {word for word, count in holding.items() if count > most}
        self._by_word: dict[str, list[Replaced]] = {}
        for found in _replaced_values(graph):
            old = frozenset(word for word in found.old - common if _names(word, _OLD_LETTERS_MIN))
            new = frozenset(word for word in found.new if _names(word, _NEW_LETTERS_MIN))
            if old:
                self._by_word.setdefault(max(old, key=len), []).append(replace(found, old=old, new=new))
        self._put_away = dict(_put_away(graph))

    def mark_old(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """``sentences`` with a mark on those from before a replacement that name its old value, which count little, and
        on later ones that name it and not the new one. What was withdrawn without a successor is left out."""
        if self._put_away:
            sentences = [one for one in sentences if not self._is_put_away(one)]
        if not self._by_word:
            return list(sentences)
        return [told for one in sentences if (told := self._annotate(one)) is not None]

    def without_old(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """``sentences`` without those from before a replacement that name its old value."""
        return [one for one in sentences if all(one.number >= found.number for found in self._find_replaced(one.words))]

    def facts_without_old(self, facts: Sequence[ResumeFact]) -> list[ResumeFact]:
        """``facts`` without those from before a replacement that name its old value and not the new one. Goals stay and
        are marked, as is what the message of the replacement itself says; the user's rules stay as they are."""
        if not self._by_word:
            return list(facts)
        return [told for fact in facts if (told := self._told_fact(fact)) is not None]

    def _is_put_away(self, sentence: Sentence) -> bool:
        """Whether a sentence is the one that says a fact which somebody has put away by hand."""
        return any(words <= sentence.words for words in self._put_away.get(sentence.number, ()))

    def _annotate(self, sentence: Sentence) -> Sentence | None:
        for found in self._find_replaced(sentence.words):
            if sentence.number < found.number:
                return replace(sentence, note=found.note, salience=_OLD * sentence.salience) if found.new else None
            if sentence.number > found.number and not found.new & sentence.words:
                return replace(sentence, note=found.note)
        return sentence

    def _told_fact(self, fact: ResumeFact) -> ResumeFact | None:
        if fact.section in _STAYING:
            return fact
        words = words_of(fact.text)
        found = next(
            (one for one in self._find_replaced(words) if fact.turn <= one.number and not one.new & words), None
        )
        if found is None:
            return fact
        if fact.section is not Section.GOAL and fact.turn < found.number:
            return None
        return fact if found.note == MARK else replace(fact, why=f"{fact.why} ({found.note})")

    def _find_replaced(self, words: frozenset[str]) -> Iterator[Replaced]:
        by_word = self._by_word
        for word in words:
            if word in by_word:
                yield from (found for found in by_word[word] if found.old <= words)


def _names(word: str, least: int) -> bool:
    return len(word) >= least or not word.isalpha() or not word.isascii()


def _replaced_values(graph: SessionGraph) -> Iterator[Replaced]:
    for step in graph.transitions():
        old, new = graph.get(step.old), graph.get(step.new)
        if old is not None and new is not None and not old.current:
            words, later = words_of(_value(old)), words_of(new.label)
            label = flatten(new.label)
            note = f"{MARK} by {label}" if new.current and len(label) <= _SUCCESSOR_MAX else MARK
            if all(len(word) <= _OLD_LETTERS_MIN for word in words - later):  # "B instead of A" names what A says
                yield from _make_replaced(old, words, later - words, step.trigger, note)
            else:
                yield from _make_replaced(old, words - later, later - words, step.trigger, note)
    for node in graph.nodes(status=Status.INVALIDATED):
        yield from _make_replaced(node, words_of(_value(node)), frozenset(), graph.life(node.id).touched, MARK)


def _put_away(graph: SessionGraph) -> Iterator[tuple[int, list[frozenset[str]]]]:
    """The words of facts that are archived by hand, by the numbers of their messages. What a model's pass archives is
    doubtful as a fact, not as a sentence."""
    by_number: dict[int, list[frozenset[str]]] = {}
    for node in graph.nodes(status=Status.ARCHIVED):
        words = words_of(_value(node))
        if words and graph.life(node.id).reason != NOT_FOUND:
            by_number.setdefault(node.source.turn, []).append(words)
    yield from by_number.items()


def _value(node: Node) -> str:
    """The label of a node without what stands behind its first clause, such as a reason."""
    return _REASON.split(node.label.removesuffix(NO_OLD_VALUE), 1)[0] or node.label


def _make_replaced(
    node: Node, words: frozenset[str], later: frozenset[str], number: int, note: str
) -> Iterator[Replaced]:
    if words and number >= node.source.turn:
        yield Replaced(words, later, number, note)
