"""Compose the text of a reminder: facts, then quoted passages, within a token budget and delimiters. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from tokenmizer_mw.context.recall import PassageHit, QuotedPiece, select_passages
from tokenmizer_mw.context.recall.terms import index_terms
from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import Checkpointed
from tokenmizer_mw.model.reminder import ReminderPart
from tokenmizer_mw.safety.fence import frame

from .asking import only_asks
from .facts import FactLine, outdated_mark, relevant_facts
from .relevance import RelevantContent
from .terms import content_terms

HEAD: Final = "From messages that are no longer here; [n] is a message's number."

FACT_LEAST: Final = 0.3
"""Share of a question's words, by weight, that a fact must hold."""

_FACTS_SHARE: Final = 0.25
_OLD: Final = " (old)"

TOLD: Final = 0.85
"""Share of a passage's words that a line of a block must hold to tell it: a lead-in may be missing."""


def compose(
    graph: SessionGraph, cut: Checkpointed, found: RelevantContent, *, budget: int, counter: TokenCounter, nonce: str
) -> ReminderPart | None:
    """What ``graph`` and the passages ``found`` say about a question, within ``budget`` tokens; ``None`` when nothing
    is relevant or fits.

    Facts come first, then passages in the session's order, each with its message. What the block of the cut states
    already is left out; what is no longer so is marked.
    """
    before, behind = frame(nonce)
    room = budget - counter.count(f"{before}{HEAD}\n{behind}")
    facts = _select_fitting(relevant_facts(graph, cut, found, FACT_LEAST), int(room * _FACTS_SHARE), counter)
    room -= sum(counter.count(fact.text + "\n") for fact in facts)
    hits = _drop_stated(found.hits, cut)
    while room > 0:
        pieces = select_passages(hits, room, counter)
        if not (facts or pieces):
            break
        text = "\n".join([before + HEAD, *(fact.text for fact in facts), *_quotes(graph, pieces)]) + behind
        if (tokens := counter.count(text)) <= budget:
            nodes = dict.fromkeys(id for fact in facts for id in fact.nodes)
            return ReminderPart(text, tokens, tuple(nodes), tuple(dict.fromkeys(piece.number for piece in pieces)))
        room -= tokens - budget
    return None


def _quotes(graph: SessionGraph, pieces: Sequence[QuotedPiece]) -> Iterator[str]:
    """The pieces as text. What took the place of an old value is named once."""
    given: set[str] = set()
    for piece in pieces:
        mark = outdated_mark(graph, piece)
        yield piece.render(_OLD if mark and mark in given else mark)
        given.add(mark)


def _drop_stated(hits: Sequence[PassageHit], cut: Checkpointed) -> list[PassageHit]:
    """The passages that no line of the block of ``cut`` tells, and that do more than ask."""
    lines = [set(index_terms(line)) for line in cut.block.splitlines()]
    return [hit for hit in hits if not (only_asks(hit.text) or _is_told(hit, lines))]


def _is_told(hit: PassageHit, lines: Sequence[AbstractSet[str]]) -> bool:
    terms = set(content_terms(hit.text))
    return any(len(terms & line) >= TOLD * len(terms) for line in lines)


def _select_fitting(facts: Sequence[FactLine], room: int, counter: TokenCounter) -> list[FactLine]:
    """Those of ``facts`` that fit into ``room`` tokens, passing over what is too long."""
    chosen: list[FactLine] = []
    for fact in facts:
        cost = counter.count(fact.text + "\n")
        if cost <= room:
            chosen.append(fact)
            room -= cost
    return chosen
