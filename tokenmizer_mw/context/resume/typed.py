"""Build resume blocks of facts alone, with receipts (message numbers) if there is room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tokenmizer_mw.context.tokens import TokenCounter

from .facts import ResumeFact
from .fill import FactPart, beginnings, sequence
from .layout import section_line, separator, wrap_facts
from .sections import Section

_RECEIPTS_SHARE: Final = 0.4
_NO_RECEIPTS: Final = frozenset({Section.FILES, Section.USES, Section.ENDPOINTS, Section.EARLIER})


def ids_of(fact: ResumeFact, part: int) -> tuple[str, ...]:
    """The nodes that a piece of ``fact`` speaks of."""
    return fact.why_ids if part else fact.ids


def fit_facts(
    facts: Sequence[ResumeFact], budget: int, counter: TokenCounter, around: tuple[str, str], fixed: int
) -> tuple[str, Sequence[FactPart]]:
    """The text with as many facts as fit beside the fence ``around``, of ``fixed`` tokens, and their pieces."""
    added = added_tokens(counter)

    def cost(piece: FactPart, opens: bool) -> int:
        fact = facts[piece.fact]
        if piece.part:
            return added(fact.why)
        return added("\n" + section_line(fact.section, [fact.text]) if opens else separator(fact.section) + fact.text)

    taken = sequence(facts, budget, fixed, cost)
    if len(taken) == sum(2 if fact.why else 1 for fact in facts):
        text = _with_receipts(facts, taken, budget, counter, around)
        if counter.count(text) <= budget:
            return text, taken
    for some in beginnings(taken):
        text = wrap_facts(facts, some, (), around)
        if counter.count(text) <= budget:
            return text, some
    return "", ()


def added_tokens(counter: TokenCounter) -> Callable[[str], int]:
    """What a text adds to the count of a text that it follows."""
    alone = counter.count("x")
    return lambda text: counter.count("x" + text) - alone


def _with_receipts(
    facts: Sequence[ResumeFact], taken: Sequence[FactPart], budget: int, counter: TokenCounter, around: tuple[str, str]
) -> str:
    text = wrap_facts(facts, taken, (), around)
    room = int(budget * _RECEIPTS_SHARE) - counter.count(text)
    added = added_tokens(counter)
    receipts: set[int] = set()
    for index, fact in enumerate(facts):
        if fact.section in _NO_RECEIPTS:
            continue
        room -= added(f" [{fact.turn}]")
        if room < 0:
            break
        receipts.add(index)
    return wrap_facts(facts, taken, receipts, around) if receipts else text
