"""A handover (a prose summary that a model wrote) in a resume block: choose its sentences, and drop facts that it
already states.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.context.resume.facts import ResumeFact
from tokenmizer_mw.context.resume.sections import Section
from tokenmizer_mw.context.resume.sentences import Sentence, words_of
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.message import Role


@dataclass(frozen=True, slots=True)
class Handover:
    """The sentences of a handover, in order, and the numbers of the messages that they stand for, ``first`` to
    ``last``."""

    sentences: tuple[str, ...]
    first: int
    last: int


STATED_SHARE: Final = 0.7
"""A handover states a fact if it has at least this share of the fact's words."""

SINCE_SHARE: Final = 0.25
"""Share of a budget that stays free for messages after the handover, if there are any."""

BESIDE_SHARE: Final = 0.3
"""Share of a budget that facts may take if a block has a handover and quotes messages that the handover covers. Set on
development data."""

FULL_SHARE: Final = 0.8
"""If a handover takes more than this share of a budget, no sentences of the messages that it covers are quoted."""

_STATING: Final = 0.6
_STANDING: Final = frozenset({Section.RULES, Section.DECISIONS})
_COVERED_SECTIONS: Final = frozenset(
    {Section.DONE, Section.PROPOSED, Section.FILES, Section.USES, Section.ENDPOINTS, Section.SCHEMA, Section.TESTS}
)
_STANDING_WORTH: Final = 2.0
_SENTENCE_TOKENS: Final = 8


def handover_head(handover: Handover) -> str:
    """Return the line that introduces a handover in a block, such as "Messages 3 to 40, in a model's words:"."""
    return f"Messages {handover.first} to {handover.last}, in a model's words:"


def handover_sentences(handover: Handover) -> list[Sentence]:
    """Return the sentences of a handover as candidates for a resume block, in order; ``[]`` if it has none.

    Each counts as said by the assistant in message ``handover.last``. Its place is its index in the handover.
    """
    return [
        Sentence(handover.last, Role.ASSISTANT, place, text, words_of(text) - {""}, 1.0)
        for place, text in enumerate(handover.sentences)
    ]


def facts_beside(
    facts: Sequence[ResumeFact],
    graph: SessionGraph,
    handover: Handover,
    sentences: Sequence[Sentence],
    forced: Callable[[ResumeFact], bool],
) -> list[ResumeFact]:
    """Return ``facts`` without those that ``handover`` makes redundant: facts that its ``sentences`` state, and
    completed work, proposals and lists of names from the messages that it covers. Facts that changed since, or for
    which ``forced`` returns true, stay. ``graph``: has the facts, and when each changed.
    """
    stated = frozenset(word for one in sentences for word in one.words)
    return [
        fact
        for fact in facts
        if _is_later(graph, fact, handover.last)
        or forced(fact)
        or (fact.section not in _COVERED_SECTIONS and _share(words_of(fact.text + fact.why), stated) < STATED_SHARE)
    ]


def rank_sentences(
    sentences: Sequence[Sentence], facts: Iterable[ResumeFact], weights: Mapping[str, float]
) -> list[int]:
    """Return the indexes of ``sentences``, most needed first: each adds the most word weight for its length; sentences
    that state standing rules and decisions count twice. ``facts``: facts of the session, among them these rules and
    decisions; ``weights``: weights of words (1 for any other)."""
    standing = [words_of(fact.text) for fact in facts if fact.section in _STANDING]
    factors = [
        _STANDING_WORTH if any(_share(words, one.words) >= _STATING for words in standing if words) else 1.0
        for one in sentences
    ]
    left, covered, ranked = set(range(len(sentences))), set[str](), list[int]()
    while left:
        best = max(left, key=lambda at: (_worth(sentences[at], covered, weights) * factors[at], -at))
        ranked.append(best)
        left.discard(best)
        covered |= sentences[best].words
    return ranked


def _worth(sentence: Sentence, covered: Collection[str], weights: Mapping[str, float]) -> float:
    new = sum(weights.get(word, 1.0) for word in sentence.words if word not in covered)
    return new / (len(sentence.text) / 4 + _SENTENCE_TOKENS)


def _is_later(graph: SessionGraph, fact: ResumeFact, last: int) -> bool:
    return fact.turn > last or any(graph.life(id).touched > last for id in fact.ids if graph.get(id) is not None)


def _share(words: Collection[str], stated: Collection[str]) -> float:
    """Return the share, from 0 to 1, of ``words`` that are also in ``stated``; 1 if there are no ``words``."""
    return sum(word in stated for word in words) / len(words) if words else 1.0
