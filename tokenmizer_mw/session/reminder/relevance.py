"""Decide which of the passages found are relevant enough for a reminder. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.context.recall import PassageHit
from tokenmizer_mw.context.recall.terms import index_terms

from .terms import content_terms

SHARED_LEAST: Final = 2
"""Words of a question that must stand in a passage, where it has so many."""

MOST: Final = 0.75
"""Share of the words of a message that asks for nothing, by weight, which a fact or a passage must hold."""

SIMILAR: Final = 0.4
"""Cosine from which on a passage shares enough with a question without its words."""


@dataclass(frozen=True, slots=True)
class RelevantContent:
    """Passages that are relevant for a message, best first, and the weights of the message's words, by which facts are
    compared. ``asks``: the message asks something, or names what is to be found.
    """

    hits: Sequence[PassageHit]
    weights: Mapping[str, float]
    asks: bool = True


def relevant(query: str, hits: Sequence[PassageHit], *, asks: bool) -> RelevantContent:
    """Return those of ``hits`` (best first) that are worth a reminder.

    For a question: all of them, if one of them shares enough words with it. For other messages: only passages that hold
    most of the words, because a new topic occurs in no passage.
    """
    wanted = content_terms(query)
    known = hits[0].weights if hits else {}
    weights = {term: known[term] for term in wanted if term in known}
    if asks:
        least = min(SHARED_LEAST, len(wanted))
        enough = any(hit.similarity >= SIMILAR or len(_shared_terms(hit, weights)) >= least for hit in hits)
        return RelevantContent(hits if enough and wanted else (), weights, asks)
    if len(weights) < len(wanted) or len(wanted) < SHARED_LEAST:
        return RelevantContent((), weights, asks)
    most = MOST * sum(weights.values())
    return RelevantContent(
        [hit for hit in hits if sum(map(weights.__getitem__, _shared_terms(hit, weights))) >= most], weights, asks
    )


def _shared_terms(hit: PassageHit, weights: Mapping[str, float]) -> set[str]:
    return weights.keys() & set(index_terms(f"{hit.head} {hit.text}"))
