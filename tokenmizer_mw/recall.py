"""Recall: what a session says about a question, within a token budget, old values marked as old."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.fence import flatten
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.search import rank, search
from tokenmizer_mw.model.node import Node, Status
from tokenmizer_mw.tokens import TokenCounter

FACTS_MAX: Final = 20
EXCERPTS_MAX: Final = 20
EXCERPT_CHARACTERS: Final = 300


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A message that may be quoted: its number, its speaker, its text."""

    turn: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Recall:
    """An answer of ``tokens`` tokens, "" when nothing was found; ``ids`` are the nodes that it names."""

    text: str
    tokens: int
    ids: tuple[str, ...] = ()


_OLD: Final = {
    Status.SUPERSEDED: "no longer",
    Status.INVALIDATED: "wrong or rejected",
    Status.ARCHIVED: "archived",
}


def recall(
    graph: SessionGraph, query: str, *, budget: int, counter: TokenCounter, excerpts: Sequence[Excerpt] = ()
) -> Recall:
    """Facts that share words with ``query``, best first, then the messages that do, word for word but capped."""
    lines: list[str] = []
    ids: list[str] = []
    tokens = 0
    for id, line in (*_facts(graph, query), *_quotes(query, excerpts)):
        cost = counter.count(line + "\n")
        if tokens + cost <= budget:
            lines.append(line)
            tokens += cost
            ids += [id] if id else []
    text = "\n".join(lines)
    return Recall(text, counter.count(text) if text else 0, tuple(ids))


def _facts(graph: SessionGraph, query: str) -> Iterator[tuple[str, str]]:
    for hit in search(graph, query, k=FACTS_MAX):
        yield hit.node.id, _line(graph, hit.node)


def _line(graph: SessionGraph, node: Node) -> str:
    label = flatten(node.label)
    heir = graph.heir(node.id)
    if node.status is Status.SUPERSEDED and heir is not None:
        state = f"{_OLD[node.status]}; now: {flatten(heir.label)}"
    else:
        state = _OLD.get(node.status, node.status.value)
    reason = graph.life(node.id).reason or node.detail
    because = f": {flatten(reason)}" if reason else ""
    return f"[{node.source.turn}] {node.type.value} ({state}) {label}{because}"


def _quotes(query: str, excerpts: Sequence[Excerpt]) -> Iterator[tuple[str, str]]:
    for index, _ in rank(query, [excerpt.text for excerpt in excerpts])[:EXCERPTS_MAX]:
        excerpt = excerpts[index]
        yield "", f'[{excerpt.turn}] {excerpt.role} said: "{flatten(excerpt.text, EXCERPT_CHARACTERS)}"'
