"""Domain packs: tables for trades, several at once, found by their words or named in the settings.

The general tables are those of coding sessions and of everyday talk; a pack reads sentences that they leave.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from tokenmizer_mw.extract.hit import Hit, Table
from tokenmizer_mw.extract.pattern import PatternSet
from tokenmizer_mw.extract.phrases import asks, before_question, bounded, clauses, supposes, without_lead
from tokenmizer_mw.extract.rules import Speaker

from .ops import OPS
from .pack import Pack
from .product import PRODUCT
from .research import RESEARCH
from .writing import WRITING

PACKS: Final[tuple[Pack, ...]] = (OPS, RESEARCH, PRODUCT, WRITING)
"""All packs, by which a sentence is read in this order."""

TEXT_MAX: Final = 2_000
"""Characters of a message in which the words of domains are looked for."""

TEXTS_KEPT: Final = 16
"""Messages whose domains are kept: each is looked at beside those around it."""

_CUES: Final = PatternSet(*(rf"(?s).*{pack.cues}" for pack in PACKS))
_ENDS: Final = " .!…"


def domains_of(texts: Iterable[str]) -> tuple[str, ...]:
    """The names of the domains that one of ``texts`` has words of."""
    found = {number for text in texts for number in _cues(text[:TEXT_MAX])}
    return tuple(PACKS[number].name for number in sorted(found))


@lru_cache(maxsize=TEXTS_KEPT)
def _cues(text: str) -> tuple[int, ...]:
    return tuple(_CUES.matching(text))


def domain_hits(sentence: str, speaker: Speaker, names: tuple[str, ...]) -> tuple[Hit, ...]:
    """What the packs called ``names`` read in ``sentence``, clause by clause; () for questions and suppositions."""
    if not names:
        return ()
    said, _ = before_question(bounded(sentence))
    text = without_lead(said)
    if not text or asks(text) or supposes(text):
        return ()
    table = _table(names, speaker)
    found = (_first(table, part) for part in clauses(text.rstrip(_ENDS)))
    return tuple(hit for hit in found if hit is not None)


def _first(table: Table, part: str) -> Hit | None:
    clause = without_lead(part).rstrip(_ENDS)
    return table.first(clause, table.reading(clause)) if clause else None


@cache
def _table(names: tuple[str, ...], speaker: Speaker) -> Table:
    return Table([rule for pack in PACKS if pack.name in names for rule in pack.rules], speaker)


__all__ = ["PACKS", "Pack", "domain_hits", "domains_of"]
