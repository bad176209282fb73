"""Rank facts by importance, and shorten facts that repeat each other. The order does not depend on the budget, so that
a larger budget contains everything that a smaller one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, islice
from types import MappingProxyType
from typing import Final

from tokenmizer_mw.context.resume.facts import ResumeFact
from tokenmizer_mw.context.resume.sections import Section
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import EdgeType
from tokenmizer_mw.safety.labels import flatten

_SHARE: Final[dict[Section, int]] = {
    Section.RULES: 30, Section.ABOUT: 24, Section.DOING: 12, Section.DECISIONS: 8, Section.GOAL: 8,
    Section.EARLIER_RULES: 12, Section.EARLIER_DECISIONS: 8, Section.EARLIER_WORK: 8, Section.EARLIER_ENVIRONMENT: 3,
    Section.WARNINGS: 6, Section.TO_DO: 6, Section.ERRORS: 6, Section.PAST_ERRORS: 6, Section.DONE: 5, Section.FILES: 4,
    Section.ENDPOINTS: 3, Section.ENVIRONMENT: 3, Section.USES: 3, Section.SCHEMA: 2, Section.TESTS: 2,
    Section.PROPOSED: 2,
}  # fmt: skip
"""The relative share of each section, by length, of a budget that is too small for all facts. Facts mentioned in
passing (``ABOUT``) get three times as much as decisions, because their sentences are longer."""

RULES_FIRST: Final = 12
"""This many standing rules come first in a block, before facts that a query asks for; those added by hand lead."""

_STANDING: Final = ((Section.RULES, RULES_FIRST),)
_CORE: Final = ((Section.GOAL, 1), (Section.DOING, 1), (Section.EARLIER_RULES, RULES_FIRST), (Section.DECISIONS, 1))
"""Sections, with a maximum number of facts each, that are placed before the rest of the budget is shared: ``_STANDING``
first, ``_CORE`` behind the facts that the query asks for."""

_MENTIONED: Final = frozenset({Section.ENVIRONMENT, Section.USES, Section.TESTS, Section.SCHEMA, Section.ABOUT})
"""Facts of these sections are dropped if an earlier fact contains their words in the same order."""

_RUN_MAX: Final = 4


def rank_facts(
    facts: Iterable[ResumeFact],
    importance: Mapping[str, float],
    boost: Mapping[str, float],
    pinned: Mapping[str, float] = MappingProxyType({}),
) -> list[ResumeFact]:
    """Return ``facts`` in the order in which a resume block states them.

    ``importance``: weight of each node, by id. ``boost``: weight of each node that matches a query, by id. ``pinned``:
    weight of each node that comes directly after the standing rules, by id.
    """
    by_section: dict[Section, list[ResumeFact]] = {section: [] for section in Section}
    for fact in facts:
        by_section[fact.section].append(fact)
    for section, members in by_section.items():
        members.sort(key=lambda fact: _within(section, fact, importance))
    standing = list(_take_counted(by_section, _STANDING))
    pins = _take_asked_for(by_section, pinned) if pinned else []
    asked = _take_asked_for(by_section, boost) if boost else []
    return [*standing, *pins, *asked, *_take_counted(by_section, _CORE), *_share_sections(by_section)]


def _take_asked_for(by_section: dict[Section, list[ResumeFact]], boost: Mapping[str, float]) -> list[ResumeFact]:
    """Remove from ``by_section`` the facts that have a node with a weight in ``boost``, and return them, highest weight
    first."""
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
    if section is Section.TO_DO:
        return (fact.place[0], weight, *fact.place[1:])
    by_hand = min(fact.place[0], 0) if section is Section.RULES else 0
    return (by_hand, fact.grade, weight, *fact.place)


def _take_counted(
    by_section: dict[Section, list[ResumeFact]], counts: Sequence[tuple[Section, int]]
) -> Iterator[ResumeFact]:
    for section, count in counts:
        yield from islice(by_section[section], count)
        del by_section[section][:count]


def _share_sections(by_section: dict[Section, list[ResumeFact]]) -> Iterator[ResumeFact]:
    queue = [
        (length / _SHARE[section], _SHARE_RANK[section], index, fact)
        for section, members in by_section.items()
        for index, (length, fact) in enumerate(zip(accumulate(map(_length, members)), members, strict=True))
    ]
    queue.sort(key=lambda entry: entry[:3])
    return (fact for _, _, _, fact in queue)


def _length(fact: ResumeFact) -> int:
    return len(fact.text) + len(fact.why)


def drop_repeated_facts(facts: Sequence[ResumeFact], limit: int) -> list[ResumeFact]:
    """Return the first ``limit`` of ``facts`` without repetitions. Those do not count towards ``limit``; the earlier
    fact gets their node ids.

    A fact is a repetition if an earlier fact has the same text, whatever its case, and says the same of it: that it
    holds, or was rejected, proposed, broken or done. A fact of at most four words about environment, libraries, tests
    or schemas, or mentioned in passing, is one, too, if an earlier fact contains these words in the same order.
    """
    left: list[ResumeFact] = []
    first_at: dict[tuple[str, str], int] = {}
    runs: dict[tuple[str, ...], int] = {}
    for fact in facts:
        sense = _SENSE.get(fact.section, "")
        text = (fact.text + fact.why if fact.section is Section.GOAL else fact.text).casefold()
        words = tuple(word.strip(_MARKS) for word in text.split())
        holder = first_at.get((sense, text))
        if holder is None and fact.section in _MENTIONED and not fact.why:
            holder = runs.get((sense, *words))
        if holder is not None:
            left[holder] = replace(left[holder], ids=left[holder].ids + fact.ids)
            continue
        if len(left) == limit:
            break
        first_at[sense, text] = len(left)
        for run in _runs(words):
            runs.setdefault((sense, *run), len(left))
        left.append(fact)
    return left


_MARKS: Final = ".,;:()"

_SENSE: Final = {
    Section.WARNINGS: "rejected",
    Section.PROPOSED: "proposed",
    Section.ERRORS: "broken",
    Section.PAST_ERRORS: "broken",
    Section.DONE: "done",
}
"""Sections that say something else about the same words: "Redis" rejected does not tell that Redis is used."""


def _runs(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for size in range(1, _RUN_MAX + 1):
        for start in range(len(words) - size + 1):
            yield words[start : start + size]


def condense_facts(graph: SessionGraph, facts: Sequence[ResumeFact]) -> list[ResumeFact]:
    """Return ``facts`` in shorter form, without losing a node: a fixed error is merged with the task that fixed it, a
    rejected option with the decision whose reason rejects it, and a list of files is dropped from a fact if there are
    facts about these files."""
    facts_left = _without_fixed_errors(graph, facts)
    facts_left = _without_rejected_options(facts_left)
    return _without_file_lists(facts_left)


def _without_fixed_errors(graph: SessionGraph, facts: Sequence[ResumeFact]) -> list[ResumeFact]:
    done = {fact.ids[0]: fact for fact in facts if fact.section is Section.DONE}
    newer: dict[str, str] = {}
    for edge in graph.edges(EdgeType.FIXES):
        fixer, fixed = done.get(edge.source), graph.get(edge.target)
        if fixer is None or fixed is None or edge.target not in done or edge.source == edge.target:
            continue
        if flatten(fixed.label).casefold() in fixer.text.casefold():
            newer[edge.target] = edge.source
    return _absorb_facts(facts, {old: new for old, new in newer.items() if new not in newer})


def _without_rejected_options(facts: Sequence[ResumeFact]) -> list[ResumeFact]:
    """Return ``facts`` without rejected options that the reason of a decision names: of the decision
    "JWT in a cookie (not localStorage - XSS safe)" and the rejected option "localStorage", only the decision stays. It
    gets the ids of the option."""
    by_words: dict[str, ResumeFact] = {}
    for fact in facts:
        if fact.section is Section.WARNINGS:
            by_words.setdefault(fact.text.casefold(), fact)
    absorbed: dict[str, str] = {}
    for fact in facts:
        words = fact.why.casefold().strip(" ()").split() if fact.section is Section.DECISIONS else []
        if len(words) < 2 or words[0] not in ("not", "no", "instead", "rather"):
            continue
        for size in range(1, len(words)):
            option = by_words.get(" ".join(words[1 : 1 + size]).strip(".,;:"))
            if option is not None:
                absorbed[option.ids[0]] = fact.ids[0]
    return _absorb_facts(facts, absorbed, with_why=True)


def _absorb_facts(facts: Sequence[ResumeFact], absorbed: dict[str, str], *, with_why: bool = False) -> list[ResumeFact]:
    """Return ``facts`` without those whose node is a key of ``absorbed``. The fact of the node that it maps to gets
    their ids (with ``with_why``: as ids of its reason)."""
    more: dict[str, tuple[str, ...]] = {}
    for fact in facts:
        if fact.ids[0] in absorbed:
            carrier = absorbed[fact.ids[0]]
            more[carrier] = more.get(carrier, ()) + fact.ids + fact.why_ids
    left = [fact for fact in facts if fact.ids[0] not in absorbed]
    return [_with(fact, more[fact.ids[0]], with_why) if fact.ids[0] in more else fact for fact in left]


def _with(fact: ResumeFact, more: tuple[str, ...], with_why: bool) -> ResumeFact:
    return replace(fact, why_ids=fact.why_ids + more) if with_why else replace(fact, ids=fact.ids + more)


def _without_file_lists(facts: Sequence[ResumeFact]) -> list[ResumeFact]:
    """Return ``facts`` with lists of files removed that the block states anyway: "project structure: app.py, auth.py"
    becomes "project structure" if there are facts of the section ``FILES`` about both."""
    files = {fact.text for fact in facts if fact.section is Section.FILES}
    return [_without_list(fact, files) if ": " in fact.text else fact for fact in facts]


def _without_list(fact: ResumeFact, files: set[str]) -> ResumeFact:
    head, _, tail = fact.text.partition(": ")
    listed = [name.strip(" .`") for name in tail.replace(" and ", ", ").split(",")]
    return replace(fact, text=head) if head and all(name in files for name in listed) else fact
