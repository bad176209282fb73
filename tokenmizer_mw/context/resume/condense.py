"""Shorten facts of a resume block that repeat each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import EdgeType
from tokenmizer_mw.safety.labels import flatten

from .facts import ResumeFact
from .sections import Section


def condense_facts(graph: SessionGraph, facts: Sequence[ResumeFact]) -> list[ResumeFact]:
    """``facts`` in shorter forms, none of their nodes lost: an error that was fixed goes with the work that fixed it
    and names it, an option with the decision whose reason rules it out, and lists of files are left to the files."""
    kept = _without_fixed_errors(graph, facts)
    kept = _without_ruled_out_options(kept)
    return _without_file_lists(kept)


def _without_fixed_errors(graph: SessionGraph, facts: Sequence[ResumeFact]) -> list[ResumeFact]:
    done = {fact.ids[0]: fact for fact in facts if fact.section is Section.DONE}
    tellers: dict[str, str] = {}
    for edge in graph.edges(EdgeType.FIXES):
        fixer, fixed = done.get(edge.source), graph.get(edge.target)
        if fixer is None or fixed is None or edge.target not in done or edge.source == edge.target:
            continue
        if flatten(fixed.label).casefold() in fixer.text.casefold():
            tellers[edge.target] = edge.source
    return _absorb_facts(facts, {old: new for old, new in tellers.items() if new not in tellers})


def _without_ruled_out_options(facts: Sequence[ResumeFact]) -> list[ResumeFact]:
    """Of "JWT in a cookie (not localStorage - XSS safe)" and "localStorage" ruled out, only the first is said."""
    by_words: dict[str, ResumeFact] = {}
    for fact in facts:
        if fact.section is Section.WARNINGS:
            by_words.setdefault(fact.text.casefold(), fact)
    told: dict[str, str] = {}
    for fact in facts:
        words = fact.why.casefold().strip(" ()").split() if fact.section is Section.DECISIONS else []
        if len(words) < 2 or words[0] not in ("not", "no", "instead", "rather"):
            continue
        for size in range(1, len(words)):
            option = by_words.get(" ".join(words[1 : 1 + size]).strip(".,;:"))
            if option is not None:
                told[option.ids[0]] = fact.ids[0]
    return _absorb_facts(facts, told, with_why=True)


def _absorb_facts(facts: Sequence[ResumeFact], told: dict[str, str], *, with_why: bool = False) -> list[ResumeFact]:
    """``facts`` without those whose node is in ``told``; the node it maps to carries them, or its reason does."""
    more: dict[str, tuple[str, ...]] = {}
    for fact in facts:
        if fact.ids[0] in told:
            teller = told[fact.ids[0]]
            more[teller] = more.get(teller, ()) + fact.ids + fact.why_ids
    kept = [fact for fact in facts if fact.ids[0] not in told]
    return [_with(fact, more[fact.ids[0]], with_why) if fact.ids[0] in more else fact for fact in kept]


def _with(fact: ResumeFact, more: tuple[str, ...], with_why: bool) -> ResumeFact:
    return replace(fact, why_ids=fact.why_ids + more) if with_why else replace(fact, ids=fact.ids + more)


def _without_file_lists(facts: Sequence[ResumeFact]) -> list[ResumeFact]:
    """Of "project structure: app.py, auth.py" the list is left out when both have their place among the files."""
    files = {fact.text for fact in facts if fact.section is Section.FILES}
    return [_without_list(fact, files) if ": " in fact.text else fact for fact in facts]


def _without_list(fact: ResumeFact, files: set[str]) -> ResumeFact:
    head, _, tail = fact.text.partition(": ")
    listed = [name.strip(" .`") for name in tail.replace(" and ", ", ").split(",")]
    return replace(fact, text=head) if head and all(name in files for name in listed) else fact
