"""Recall: what a session says about a question, within a token budget, old values marked as old."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.fence import frame
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.overtaken import Later, Statement, overtaken
from tokenmizer_mw.graph.search import search
from tokenmizer_mw.labels import flatten
from tokenmizer_mw.model.node import Node, Status, Trust
from tokenmizer_mw.tokens import TokenCounter

from .answers import answering, asked_kinds
from .index import PassageHit, PassageIndex
from .messages import EXCERPT_CHARACTERS, Excerpt, Weights, passage, ranked, wanted_words
from .passages import message_text
from .selection import Piece, select_passages

FACTS_MAX: Final = 20
"""Facts looked at."""

EXCERPTS_MAX: Final = 20
"""Messages quoted."""

_FACTS_SHARE: Final = 0.5
_RELEVANT: Final = 0.3
_HEIRS_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class Recall:
    """An answer of ``tokens`` tokens, "" when nothing was found or fits; ``ids`` are the nodes that it names,
    ``turns`` the numbers of the messages that it quotes."""

    text: str
    tokens: int
    ids: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    turn: int
    ids: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()


def recall(
    graph: SessionGraph,
    query: str,
    *,
    budget: int,
    counter: TokenCounter,
    excerpts: Sequence[Excerpt] = (),
    nonce: str = "",
    without: Collection[str] = (),
) -> Recall:
    """What ``graph`` and the messages ``excerpts`` say about ``query``, the newest first, within ``budget`` tokens.

    Facts get up to half of the budget before messages are quoted, and what those leave. A value that was replaced
    is named with the one that took its place; a quotation from before is marked as old, and where a later message
    gives the same thing another value, that value stands beside it. ``nonce`` (of ``nonce_for``)
    fences the text as data; without it the text is for people. Facts with an id in ``without`` are known already.
    """
    around = frame(nonce) if nonce else ("", "")
    room = budget - counter.count("".join(around)) - counter.count(_HEAD)
    facts, quotes = _found(graph, query, excerpts, without)
    chosen = _taken(facts, int(room * _FACTS_SHARE), counter)
    chosen += _taken(quotes, room - _cost(chosen, counter), counter)
    chosen += _taken([line for line in facts if line not in chosen], room - _cost(chosen, counter), counter)
    while chosen:
        text = around[0] + _told(chosen) + around[1]
        if (tokens := counter.count(text)) <= budget:
            ids = dict.fromkeys(id for line in chosen for id in line.ids)
            return Recall(text, tokens, tuple(ids), tuple(turn for line in chosen for turn in line.turns))
        chosen.pop()
    return Recall("", 0)


def _told(lines: Sequence[_Line]) -> str:
    """The lines, the newest first, under a head that says so."""
    told = [line.text for line in sorted(lines, key=lambda line: -line.turn)]
    return "\n".join([_HEAD, *told] if len(told) > 1 else told)


_HEAD: Final = "Newest first; [n] is the message."


def _found(
    graph: SessionGraph, query: str, excerpts: Sequence[Excerpt], without: Collection[str]
) -> tuple[list[_Line], list[_Line]]:
    """Facts and quotations as lines, the best first, each marked where a later one gives the same thing another
    value."""
    nodes = _facts(graph, query)
    weights, found = ranked(wanted_words(query), excerpts)
    kinds = asked_kinds(query)
    nodes = answering(kinds, nodes, weights, lambda node: node.label)
    quoted = answering(kinds, found[:EXCERPTS_MAX], weights, lambda excerpt: excerpt.text)
    statements = [Statement(node.source.turn, node.label, node.source.trust in _SETTLING) for node in nodes]
    statements += [Statement(excerpt.turn, excerpt.text, excerpt.role == "user") for excerpt in quoted]
    later = overtaken(weights, statements)
    facts: list[_Line] = []
    said = set(without)
    for at, node in enumerate(nodes):
        if node.id not in said:
            facts.append(_line(graph, node, later.get(at)))
            said.update(facts[-1].ids)
    behind = enumerate(quoted, start=len(nodes))
    return facts, [_quote(graph, excerpt, weights, later.get(at)) for at, excerpt in behind]


_SETTLING: Final = frozenset({Trust.STATED, Trust.ADOPTED, Trust.STRUCTURE})


def _taken(lines: Sequence[_Line], room: int, counter: TokenCounter) -> list[_Line]:
    """Those of ``lines`` that fit into ``room`` tokens, passing over what is too long."""
    taken = []
    for line in lines:
        cost = _cost([line], counter)
        if cost <= room:
            taken.append(line)
            room -= cost
    return taken


def _cost(lines: Sequence[_Line], counter: TokenCounter) -> int:
    return sum(counter.count(line.text + "\n") for line in lines)


def _facts(graph: SessionGraph, query: str) -> list[Node]:
    """The nodes that a question is about, each with what took its place in the end, the best first."""
    hits = search(graph, query, k=FACTS_MAX)
    near = (hit for hit in hits if hit.score >= _RELEVANT * hits[0].score)
    return list({node.id: node for node in (_current(graph, hit.node) for hit in near)}.values())


def _current(graph: SessionGraph, node: Node) -> Node:
    """What took the place of ``node`` in the end; ``node`` itself when nothing did."""
    for _ in range(_HEIRS_MAX):
        heir = graph.heir(node.id) if node.status is Status.SUPERSEDED else None
        if heir is None:
            return node
        node = heir
    return node


_STATE: Final = {
    Status.PENDING: ", to do",
    Status.IN_PROGRESS: ", in progress",
    Status.COMPLETED: ", done",
    Status.FAILED: ", failed",
    Status.ACTIVE: "",
    Status.SUPERSEDED: ", no longer so",
    Status.INVALIDATED: ", ruled out",
    Status.ARCHIVED: ", no longer relevant",
}


def _line(graph: SessionGraph, node: Node, later: Later | None) -> _Line:
    olds = list(_replaced(graph, node))
    was = "".join(f", was {flatten(old.label)} [{old.source.turn}]" for old in olds)
    reason = flatten(graph.life(node.id).reason or (graph.life(olds[0].id).reason if olds else "") or node.detail)
    text = f"- {node.type.value}{_STATE[node.status]}: {flatten(node.label)} [{node.source.turn}]{_then(later)}{was}"
    return _Line(text + (f" - {reason}" if reason else ""), node.source.turn, (node.id, *(old.id for old in olds)))


def _then(later: Later | None) -> str:
    return f" (later [{later.turn}]: {later.value})" if later is not None else ""


def _replaced(graph: SessionGraph, node: Node) -> Iterator[Node]:
    """What ``node`` took the place of, the newest first."""
    old_of = {step.new: step.old for step in graph.transitions()}
    seen = {node.id}
    id = old_of.get(node.id)
    while id is not None and id not in seen and len(seen) <= _HEIRS_MAX:
        seen.add(id)
        if (old := graph.get(id)) is not None:
            yield old
        id = old_of.get(id)


def _quote(graph: SessionGraph, excerpt: Excerpt, weights: Weights, later: Later | None) -> _Line:
    said = flatten(passage(excerpt.text, weights), EXCERPT_CHARACTERS)
    mark = _outdated(graph, excerpt) or _then(later)
    return _Line(f'- {excerpt.role} [{excerpt.turn}]{mark}: "{said}"', excerpt.turn, (), (excerpt.turn,))


def _outdated(graph: SessionGraph, excerpt: Excerpt) -> str:
    """A mark for a message that speaks of a value which was replaced after it."""
    text = excerpt.text.casefold()
    for step in graph.transitions():
        old, new = graph.get(step.old), graph.get(step.new)
        if old is None or new is None or excerpt.turn >= step.trigger:
            continue
        if old.label.casefold() in text and new.label.casefold() not in text:
            return f" (old; since [{step.trigger}] {flatten(_current(graph, new).label)})"
    return ""


__all__ = [
    "EXCERPT_CHARACTERS",
    "Excerpt",
    "PassageHit",
    "PassageIndex",
    "Piece",
    "Recall",
    "message_text",
    "recall",
    "select_passages",
]
