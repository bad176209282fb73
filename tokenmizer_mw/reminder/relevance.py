"""Which passages a message is worth being reminded of. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.recall import PassageHit
from tokenmizer_mw.recall.terms import index_terms

from .terms import content_terms

SHARED_LEAST: Final = 2
"""Words of a question that must stand in a passage, where it has so many."""

TELLING: Final = 2
"""The words that tell most of a message that asks for nothing: a passage must hold them to be of interest."""

NEAR_BEST: Final = 0.5
"""Share of the best passage's score that another one must have where the message asks for nothing."""


SIMILAR: Final = 0.4
"""Cosine from which on a passage shares enough with a question without its words."""


@dataclass(frozen=True, slots=True)
class Found:
    """What is relevant for a message: passages, best first, and its words with how much each tells, by which facts are
    compared. ``asks``: the message asks something, or names what is to be found."""

    hits: Sequence[PassageHit]
    weights: Mapping[str, float]
    asks: bool = True


def relevant(query: str, hits: Sequence[PassageHit], *, asks: bool) -> Found:
    """Those of ``hits``, best first, that are worth a reminder.

    A question gets all of them, if one of them shares enough with it. A message that asks for nothing gets only what
    holds its most telling words: what it brings up for the first time, no passage holds.
    """
    wanted = content_terms(query)
    known = hits[0].weights if hits else {}
    weights = {term: known[term] for term in wanted if term in known}
    if asks:
        least = min(SHARED_LEAST, len(wanted))
        enough = any(hit.similarity >= SIMILAR or len(_shared(hit, weights)) >= least for hit in hits)
        return Found(hits if enough and wanted else (), weights, asks)
    telling = set(sorted(weights, key=lambda term: -weights[term])[:TELLING])
    if len(weights) < len(wanted) or len(telling) < TELLING:
        return Found((), weights, asks)
    near = NEAR_BEST * hits[0].score
    return Found([hit for hit in hits if hit.score >= near and telling <= _shared(hit, weights)], weights, asks)


def _shared(hit: PassageHit, weights: Mapping[str, float]) -> set[str]:
    return weights.keys() & set(index_terms(f"{hit.head} {hit.text}"))
