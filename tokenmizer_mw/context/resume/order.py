"""Rank facts by importance. The order does not depend on the budget, so that a bigger budget carries all that a smaller
one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, islice
from types import MappingProxyType
from typing import Final

from .facts import ResumeFact
from .sections import Section

_SHARE: Final[dict[Section, int]] = {
    Section.RULES: 30,
    Section.ABOUT: 24,
    Section.DOING: 12,
    Section.DECISIONS: 8,
    Section.GOAL: 8,
    Section.EARLIER: 8,
    Section.WARNINGS: 6,
    Section.TO_DO: 6,
    Section.ERRORS: 6,
    Section.DONE: 5,
    Section.FILES: 4,
    Section.ENDPOINTS: 3,
    Section.ENVIRONMENT: 3,
    Section.USES: 3,
    Section.SCHEMA: 2,
    Section.TESTS: 2,
    Section.PROPOSED: 2,
}
"""How the sections share a budget that is too small, by length: three times as much goes to what was told by the way as
to decisions, because it is told at greater length."""

RULES_FIRST: Final = 12
"""Standing rules that come before anything that is shared or asked for."""

_STANDING: Final = ((Section.GOAL, 1), (Section.DOING, 1), (Section.RULES, RULES_FIRST))
_FIRST: Final = ((Section.DECISIONS, 1),)
_ASKED_STANDING: Final = ((Section.RULES, RULES_FIRST),)
_ASKED_FIRST: Final = ((Section.GOAL, 1), (Section.DOING, 1), (Section.DECISIONS, 1))
"""What comes before all sharing: the core of the session. With a query the rules, then what it asks for, then the
rest of the core."""

_MENTIONED: Final = frozenset({Section.ENVIRONMENT, Section.USES, Section.TESTS, Section.SCHEMA, Section.ABOUT})
"""Sections whose facts need no saying again when a fact before has the same words in a row."""

_RUN_MAX: Final = 4


def rank_facts(
    facts: Iterable[ResumeFact],
    importance: Mapping[str, float],
    boost: Mapping[str, float],
    pinned: Mapping[str, float] = MappingProxyType({}),
) -> list[ResumeFact]:
    """``facts`` in the order in which they should be said. ``boost``: node ids that a query asks for, by how much;
    ``pinned``: those that somebody wants told before, right behind the standing rules."""
    by_section: dict[Section, list[ResumeFact]] = {section: [] for section in Section}
    for fact in facts:
        by_section[fact.section].append(fact)
    for section, members in by_section.items():
        members.sort(key=lambda fact: _within(section, fact, importance))
    standing = list(_take_counted(by_section, _ASKED_STANDING if boost else _STANDING))
    pins = _take_asked_for(by_section, pinned) if pinned else []
    asked = _take_asked_for(by_section, boost) if boost else []
    return [
        *standing,
        *pins,
        *asked,
        *_take_counted(by_section, _ASKED_FIRST if boost else _FIRST),
        *_share_sections(by_section),
    ]


def _take_asked_for(by_section: dict[Section, list[ResumeFact]], boost: Mapping[str, float]) -> list[ResumeFact]:
    """Takes what the query asks for out of the sections, the best first."""
    found: list[tuple[float, int, int, ResumeFact]] = []
    for section, members in by_section.items():
        wanted = [max((boost.get(id, 0.0) for id in fact.ids + fact.why_ids), default=0.0) for fact in members]
        found += [
            (-much, _SHARE_RANK[section], index, fact)
            for index, (fact, much) in enumerate(zip(members, wanted, strict=True))
            if much
        ]
        members[:] = [fact for fact, much in zip(members, wanted, strict=True) if not much]
    return [fact for *_, fact in sorted(found, key=lambda entry: entry[:3])]


_SHARE_RANK: Final = {section: rank for rank, section in enumerate(_SHARE)}


def _within(section: Section, fact: ResumeFact, importance: Mapping[str, float]) -> tuple[float, ...]:
    weight = -importance.get(fact.ids[0], 0.0) if fact.ids else 0.0
    return (fact.place[0], weight, *fact.place[1:]) if section is Section.TO_DO else (fact.grade, weight, *fact.place)


def _take_counted(
    by_section: dict[Section, list[ResumeFact]], counts: Sequence[tuple[Section, int]]
) -> Iterator[ResumeFact]:
    for section, count in counts:
        yield from islice(by_section[section], count)
        del by_section[section][:count]


def _share_sections(by_section: dict[Section, list[ResumeFact]]) -> Iterator[ResumeFact]:
    queue = [
        (said / _SHARE[section], _SHARE_RANK[section], index, fact)
        for section, members in by_section.items()
        for index, (said, fact) in enumerate(zip(accumulate(map(_length, members)), members, strict=True))
    ]
    queue.sort(key=lambda entry: entry[:3])
    return (fact for _, _, _, fact in queue)


def _length(fact: ResumeFact) -> int:
    return len(fact.text) + len(fact.why)


def said_once(facts: Sequence[ResumeFact], limit: int) -> list[ResumeFact]:
    """``facts`` without those whose words a fact before already says; their nodes count as carried by it. Stops after
    ``limit`` facts."""
    kept: list[ResumeFact] = []
    told: dict[tuple[str, str], int] = {}
    runs: dict[tuple[str, ...], int] = {}
    for fact in facts:
        sense, text = _SENSE.get(fact.section, ""), fact.text.casefold()
        words = tuple(word.strip(_MARKS) for word in text.split())
        teller = told.get((sense, text))
        if teller is None and fact.section in _MENTIONED and not fact.why:
            teller = runs.get((sense, *words))
        if teller is not None:
            kept[teller] = replace(kept[teller], ids=kept[teller].ids + fact.ids)
            continue
        if len(kept) == limit:
            break
        told[sense, text] = len(kept)
        for run in _runs(words):
            runs.setdefault((sense, *run), len(kept))
        kept.append(fact)
    return kept


_MARKS: Final = ".,;:()"

_SENSE: Final = {
    Section.WARNINGS: "ruled out",
    Section.PROPOSED: "proposed",
    Section.ERRORS: "broken",
    Section.DONE: "done",
}
"""Sections that say something else about the same words: "Redis" ruled out does not tell that Redis is used."""


def _runs(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for size in range(1, _RUN_MAX + 1):
        for start in range(len(words) - size + 1):
            yield words[start : start + size]
