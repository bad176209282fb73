"""The text of a reminder: facts, then passages word for word, within a budget and a fence. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokenmizer_mw.fence import frame
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import Checkpointed
from tokenmizer_mw.model.reminder import ReminderPart
from tokenmizer_mw.recall import PassageHit, select_passages
from tokenmizer_mw.tokens import TokenCounter

from .facts import FactLine, outdated, relevant_facts
from .relevance import Found

HEAD: Final = "From messages that are no longer here; [n] is a message's number."

FACT_LEAST: Final = 0.3
"""Share of a question's words, by weight, that a fact must hold."""

_FACTS_SHARE: Final = 0.25


def compose(
    graph: SessionGraph, cut: Checkpointed, found: Found, *, budget: int, counter: TokenCounter, nonce: str
) -> ReminderPart | None:
    """What ``graph`` and the passages ``found`` say about a question, within ``budget`` tokens; ``None`` when nothing
    is relevant or fits.

    Facts come first, then passages in the session's order, each with its message. What the block of the cut states
    already is left out; what is no longer so is marked.
    """
    before, behind = frame(nonce)
    room = budget - counter.count(f"{before}{HEAD}\n{behind}")
    facts = _fitting(relevant_facts(graph, cut, found, FACT_LEAST), int(room * _FACTS_SHARE), counter)
    room -= sum(counter.count(fact.text + "\n") for fact in facts)
    pieces = select_passages(_unstated(found.hits, cut), room, counter)
    while facts or pieces:
        quotes = [piece.render(outdated(graph, piece)) for piece in pieces]
        text = "\n".join([before + HEAD, *(fact.text for fact in facts), *quotes]) + behind
        if (tokens := counter.count(text)) <= budget:
            nodes = dict.fromkeys(id for fact in facts for id in fact.nodes)
            return ReminderPart(text, tokens, tuple(nodes), tuple(dict.fromkeys(piece.number for piece in pieces)))
        facts, pieces = (facts, pieces[:-1]) if pieces else (facts[:-1], pieces)
    return None


def _unstated(hits: Sequence[PassageHit], cut: Checkpointed) -> list[PassageHit]:
    """The passages that the block of ``cut`` does not quote in full."""
    block = _squeezed(cut.block)
    return [hit for hit in hits if _squeezed(hit.text) not in block]


def _squeezed(text: str) -> str:
    return "".join(text.split()).casefold()


def _fitting(facts: Sequence[FactLine], room: int, counter: TokenCounter) -> list[FactLine]:
    """Those of ``facts`` that fit into ``room`` tokens, passing over what is too long."""
    chosen: list[FactLine] = []
    for fact in facts:
        cost = counter.count(fact.text + "\n")
        if cost <= room:
            chosen.append(fact)
            room -= cost
    return chosen
