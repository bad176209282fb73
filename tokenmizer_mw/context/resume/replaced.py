"""Find sentences and facts that state a value which was replaced later."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from tokenmizer_mw.context.resume.facts import ResumeFact
from tokenmizer_mw.context.resume.sections import EARLIER, NO_OLD_VALUE, Section
from tokenmizer_mw.context.resume.sentences import Sentence, words_of
from tokenmizer_mw.graph.explanation import qualify_replacement
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.category import MEMBERS
from tokenmizer_mw.model.event import NodeEdited
from tokenmizer_mw.model.node import GOAL_CHANGED, HAND, NOT_FOUND, Node, NodeType, Status
from tokenmizer_mw.safety.labels import flatten

MARK: Final = "replaced"
"""Begins the note after a sentence that names an old value: "replaced by PostgreSQL", or "replaced in message 12" if
the new fact is long."""

CORRECTED: Final = "corrected to"
"""Begins the note after a sentence that states a fact which somebody corrected by hand: "corrected to PostgreSQL"."""

_BY_HAND: Final = 0.5
"""Is added to the number of the newest message at a manual edit: the edit lies between that message and the next
one."""

LIST_ITEM: Final = re.compile(r"\s*(?:\d{1,2}[.)]|[-*\u2022])\s+")
"""How an item of a list begins."""

_SUCCESSOR_MAX: Final = 40

_OLD: Final = 0.4
"""Factor for the weight of a sentence with an old value. Set on development data."""

_STAYING: Final = EARLIER | {Section.RULES, Section.WARNINGS}
_REASON: Final = re.compile(r"[,;(:\uff0c\uff1b\uff08]| - | because | since ")
_KEY_WORDS_MAX: Final = 2
"""Text of at most this many words before a colon names what the value after it is of ("queue: Kafka")."""
_COMMON_SHARE: Final = 0.1
_COMMON_LEAST: Final = 4
_OLD_LETTERS_MIN: Final = 3
_NEW_LETTERS_MIN: Final = 4
"""A word is common if more than ``_COMMON_SHARE`` of all sentences, and more than ``_COMMON_LEAST`` sentences, contain
it; common words of an old value do not count. Nor do words of an old or a new value with fewer than
``_OLD_LETTERS_MIN`` or ``_NEW_LETTERS_MIN`` letters."""


@dataclass(frozen=True, slots=True)
class ReplacedValue:
    """A value that was replaced in message ``number``.

    ``old``: the words that occur only in the older statement; ``new``: those only in the newer one; ``note``: text that
    says that it was replaced, and by what. After a manual edit ``number`` lies between the numbers of two messages.
    """

    old: frozenset[str]
    new: frozenset[str]
    number: float
    note: str = MARK


class ReplacedValues:
    """Finds statements of replaced or withdrawn values by their words. ``sentences``: used to find common words, which
    do not count; ``edits``: the manual edits in force."""

    def __init__(self, graph: SessionGraph, sentences: Sequence[Sentence], edits: Iterable[NodeEdited] = ()) -> None:
        holding = Counter(chain.from_iterable(one.words for one in sentences))
        most = max(_COMMON_LEAST, _COMMON_SHARE * len(sentences))
        common = {word for word, count in holding.items() if count > most}
        self._by_word: dict[str, list[ReplacedValue]] = {}
        for found in chain(_replaced_values(graph), _edited_values(graph, edits)):
            old = frozenset(word for word in found.old - common if _is_naming(word, _OLD_LETTERS_MIN))
            new = frozenset(word for word in found.new if _is_naming(word, _NEW_LETTERS_MIN))
            if old:
                self._by_word.setdefault(max(old, key=len), []).append(replace(found, old=old, new=new))
        self._put_away = dict(_put_away(graph))
        self._done = _done_items(graph)
        self._corrected = _find_corrected(graph, edits)

    def mark_old(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Mark sentences that name a value before its replacement, and sentences that state a fact which was corrected
        by hand; they get a lower weight. Left out are sentences with values or facts that were withdrawn without
        replacement or archived by hand, and items of lists of work that was done since. Sentences after the replacement
        stay unchanged, because they may restore the old value.
        """
        if self._put_away or self._done:
            sentences = [one for one in sentences if not (self._is_put_away(one) or self._is_done_item(one))]
        if not self._by_word and not self._corrected:
            return list(sentences)
        return [marked for one in sentences if (marked := self._annotate(one)) is not None]

    def without_old(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return ``sentences`` without those that have the words of a replaced value and come from a message before its
        replacement (or before it was withdrawn)."""
        return [one for one in sentences if all(one.number >= found.number for found in self._find_replaced(one.words))]

    def facts_without_old(self, facts: Sequence[ResumeFact]) -> list[ResumeFact]:
        """Return ``facts`` without those that come from before a replacement and name the old value but not the new
        one. Goals, and facts from the message of the replacement itself, stay and get a note. The user's rules,
        rejected options and facts of earlier sessions of the project stay unchanged.
        """
        if not self._by_word:
            return list(facts)
        return [marked for fact in facts if (marked := self._mark_old(fact)) is not None]

    def _is_put_away(self, sentence: Sentence) -> bool:
        """Whether ``sentence`` has all words of a fact that its message stated and that was archived or withdrawn as
        never true. Facts archived by a refinement do not count."""
        return any(words <= sentence.words for words in self._put_away.get(sentence.number, ()))

    def _is_done_item(self, sentence: Sentence) -> bool:
        """Whether ``sentence`` is an item of a list ("- ...", "2. ...") and has all words in which the user stated, in
        the same message, work that is done now."""
        if not LIST_ITEM.match(sentence.text):
            return False
        return any(words <= sentence.words for words in self._done.get(sentence.number, ()))

    def _annotate(self, sentence: Sentence) -> Sentence | None:
        later = [found for found in self._find_replaced(sentence.words) if sentence.number < found.number]
        if later:
            found = max(later, key=lambda one: (one.number, one.note))
            return replace(sentence, note=found.note, salience=_OLD * sentence.salience) if found.new else None
        for quote, note in self._corrected.get(sentence.number, ()):
            if 2 * len(quote & sentence.words) > len(quote | sentence.words):
                return replace(sentence, note=note, salience=_OLD * sentence.salience)
        return sentence

    def _mark_old(self, fact: ResumeFact) -> ResumeFact | None:
        if fact.section in _STAYING:
            return fact
        words, itself = words_of(fact.text), f"{MARK} by {fact.text}"
        older = (one for one in self._find_replaced(words) if fact.turn <= one.number and not one.note.endswith(itself))
        found = next((one for one in older if not one.new & words), None)
        if found is None:
            return fact
        if fact.section is not Section.GOAL and fact.turn < found.number:
            return None
        known = found.note == MARK or GOAL_CHANGED in f"{fact.text}{fact.why}"
        return fact if known else replace(fact, why=f"{fact.why} ({found.note})")

    def _find_replaced(self, words: frozenset[str]) -> Iterator[ReplacedValue]:
        by_word = self._by_word
        for word in sorted(words & by_word.keys()):
            yield from (found for found in by_word[word] if found.old <= words)


def _is_naming(word: str, least: int) -> bool:
    return len(word) >= least or not word.isalpha() or not word.isascii()


def _replaced_values(graph: SessionGraph) -> Iterator[ReplacedValue]:
    holding = {node.label.casefold() for node in graph.nodes() if node.current}
    for step in graph.transitions():
        old, new = graph.get(step.old), graph.get(step.new)
        if old is not None and new is not None and not old.current and old.label.casefold() not in holding:
            words, later = words_of(_value(old)), words_of(new.label)
            number = step.trigger + (_BY_HAND if new.source.role == HAND else 0)
            mark = qualify_replacement(new, MARK)
            where = MARK if new.source.role == HAND else f"{mark} in message {step.trigger}"
            note = _spell_note(f"{mark} by", new, where)
            if all(len(word) <= _OLD_LETTERS_MIN for word in words - later):  # "B instead of A" names what A says
                yield from _make_replaced(old, words, later - words, number, note)
            else:
                yield from _make_replaced(old, words - later, later - words, number, note)
    for node in graph.nodes(status=Status.INVALIDATED):
        yield from _make_replaced(node, words_of(_value(node)), frozenset(), graph.life(node.id).touched, MARK)


def _edited_values(graph: SessionGraph, edits: Iterable[NodeEdited]) -> Iterator[ReplacedValue]:
    """Yield the values that manual edits made outdated: the words that a new label no longer has, and the value of a
    fact whose status was set to invalid. ``edits`` of facts that ``graph`` does not have are ignored."""
    for edit in edits:
        node = graph.get(edit.id)
        if node is None:
            continue
        number = edit.turn + _BY_HAND
        if "label" in edit.before:
            former = _value(replace(node, label=edit.before["label"]))
            words, later = words_of(former), words_of(node.label)
            old = words - later
            old = words if old and old <= _ordinary_words(former) else old
            if node.current:
                yield from _make_replaced(node, old, later - words, number, _spell_note(CORRECTED, node))
            else:  # it is its status that holds no more
                yield from _make_replaced(node, old, frozenset(), number, MARK)
        if node.status is Status.INVALIDATED is edit.changes.get("status"):
            yield from _make_replaced(node, words_of(_value(node)), frozenset(), number, MARK)


def _ordinary_words(text: str) -> frozenset[str]:
    """Return the words of a value that are no names: ASCII words that stand in ``text`` in lower case, such as "thing"
    in "SMS thing"."""
    ordinary = [word for word in words_of(text) if word.isalpha() and word.isascii() and word not in MEMBERS]
    return frozenset(word for word in ordinary if re.search(rf"(?<!\w){word}(?!\w)", text))


def _find_corrected(graph: SessionGraph, edits: Iterable[NodeEdited]) -> dict[int, list[tuple[frozenset[str], str]]]:
    """Return by message number the words of sentences that state facts which were reworded by hand, each with the note
    for them."""
    found: dict[int, list[tuple[frozenset[str], str]]] = {}
    for edit in edits:
        node = graph.get(edit.id)
        if node is not None and node.current and "label" in edit.before and (quote := words_of(node.source.quote)):
            found.setdefault(node.source.turn, []).append((quote, _spell_note(CORRECTED, node)))
    return found


def _spell_note(what: str, now: Node, otherwise: str = "corrected") -> str:
    """Return a note for an outdated sentence: ``what`` and the label of the fact ``now``, such as "replaced by X" or
    "corrected to X"; ``otherwise`` if that label is long or ``now`` no longer holds."""
    label = flatten(now.label)
    return f"{what} {label}" if now.current and len(label) <= _SUCCESSOR_MAX else otherwise


def _put_away(graph: SessionGraph) -> Iterator[tuple[int, list[frozenset[str]]]]:
    """Yield for each message that stated archived or withdrawn facts its number and the words of each of these facts.
    Facts that a refinement archived are left out: they are doubtful, but what the message said is not."""
    archived = [one for one in graph.nodes(status=Status.ARCHIVED) if graph.life(one.id).reason != NOT_FOUND]
    withdrawn = [one for one in graph.nodes(status=Status.INVALIDATED) if one.is_withdrawn]
    by_number: dict[int, list[frozenset[str]]] = {}
    texts = chain(((one, _value(one)) for one in archived), ((one, one.value or _value(one)) for one in withdrawn))
    for node, text in texts:
        if words := words_of(text):
            by_number.setdefault(node.source.turn, []).append(words)
    yield from by_number.items()


def _done_items(graph: SessionGraph) -> dict[int, list[frozenset[str]]]:
    """Return by message number the words of work that the user stated there and that is done."""
    found: dict[int, list[frozenset[str]]] = {}
    for node in graph.nodes(NodeType.TASK, status=Status.COMPLETED):
        if node.source.role == "user" and (words := words_of(node.source.quote)):
            found.setdefault(node.source.turn, []).append(words)
    return found


def _value(node: Node) -> str:
    """Return the label of ``node`` up to the end of its first clause, without a reason: "Kafka, because it is fast"
    gives "Kafka". In a label written by hand, a colon after one or two words ("queue: Kafka") ends no clause."""
    label = node.label.removesuffix(NO_OLD_VALUE)
    key, colon, value = label.partition(": ")
    if colon and node.source.role == HAND and len(key.split()) <= _KEY_WORDS_MAX:
        return f"{key}: {_REASON.split(value, 1)[0]}"
    return _REASON.split(label, 1)[0] or node.label


def _make_replaced(
    node: Node, words: frozenset[str], later: frozenset[str], number: float, note: str
) -> Iterator[ReplacedValue]:
    if words and number >= node.source.turn:
        yield ReplacedValue(words, later, number, note)
