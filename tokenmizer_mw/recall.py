"""Recall: what a session says about a question, within a token budget, old values marked as old."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.fence import flatten, frame
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.search import search
from tokenmizer_mw.graph.text import ASKING, singular, words
from tokenmizer_mw.model.node import Node, Status
from tokenmizer_mw.tokens import TokenCounter

FACTS_MAX: Final = 20
"""Facts looked at."""

EXCERPTS_MAX: Final = 20
"""Messages quoted."""

EXCERPT_CHARACTERS: Final = 300
"""Longest quotation of a message."""

_FACTS_SHARE: Final = 0.5
_RELEVANT: Final = 0.3
_HEIRS_MAX: Final = 20

_SATURATION: Final = 1.2
_LENGTH: Final = 0.75
_ROLE_WEIGHT: Final = {"user": 1.0, "assistant": 0.35, "tool": 0.35}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A message that may be quoted: its number, its speaker, its text."""

    turn: int
    role: str
    text: str


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
) -> Recall:
    """What ``graph`` and the messages ``excerpts`` say about ``query``, the best first, within ``budget`` tokens.

    Facts get up to half of the budget before messages are quoted, and what those leave. A value that was replaced
    is named with the one that took its place; a quotation from before is marked as old. ``nonce`` (of ``nonce_for``)
    fences the text as data; without it the text is for people.
    """
    around = frame(nonce) if nonce else ("", "")
    room = budget - counter.count("".join(around))
    facts, quotes = list(_facts(graph, query)), list(_quotes(graph, query, excerpts))
    chosen = _taken(facts, int(room * _FACTS_SHARE), counter)
    chosen += _taken(quotes, room - _cost(chosen, counter), counter)
    chosen += _taken([line for line in facts if line not in chosen], room - _cost(chosen, counter), counter)
    while chosen:
        text = around[0] + "\n".join(line.text for line in chosen) + around[1]
        if (tokens := counter.count(text)) <= budget:
            ids = dict.fromkeys(id for line in chosen for id in line.ids)
            return Recall(text, tokens, tuple(ids), tuple(turn for line in chosen for turn in line.turns))
        chosen.pop()
    return Recall("", 0)


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


# -- facts -----------------------------------------------------------------------------------------------------


def _facts(graph: SessionGraph, query: str) -> Iterator[_Line]:
    hits = search(graph, query, k=FACTS_MAX)
    said: set[str] = set()
    for hit in hits:
        if hit.score < _RELEVANT * hits[0].score:
            return
        node = _current(graph, hit.node)
        if node.id not in said:
            line = _line(graph, node)
            said.update(line.ids)
            yield line


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


def _line(graph: SessionGraph, node: Node) -> _Line:
    olds = list(_replaced(graph, node))
    was = "".join(f", was {flatten(old.label)} [{old.source.turn}]" for old in olds)
    reason = flatten(graph.life(node.id).reason or (graph.life(olds[0].id).reason if olds else "") or node.detail)
    text = f"- {node.type.value}{_STATE[node.status]}: {flatten(node.label)} [{node.source.turn}]{was}"
    return _Line(text + (f" - {reason}" if reason else ""), (node.id, *(old.id for old in olds)))


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


# -- messages --------------------------------------------------------------------------------------------------

_PUNCTUATION: Final = "，。、；：？！「」『』（）【】《》…—–‘’“”«»„"
_SPACED: Final = {ord(char): " " for char in _PUNCTUATION} | {
    code: " " for code in range(0x80) if not chr(code).isalnum()
}
_SENTENCE_ENDS: Final = (". ", "! ", "? ", "\n", "。", "！", "？")
_LEAD_MAX: Final = 120

_Weights = dict[str, float]
"""How much each wanted word tells: rare words more."""


def _quotes(graph: SessionGraph, query: str, excerpts: Sequence[Excerpt]) -> Iterator[_Line]:
    ranked, weights = _ranked(_wanted(query), excerpts)
    for excerpt in ranked[:EXCERPTS_MAX]:
        passage = flatten(_passage(excerpt.text, weights), EXCERPT_CHARACTERS)
        yield _Line(f'- {excerpt.role} [{excerpt.turn}]{_outdated(graph, excerpt)}: "{passage}"', (), (excerpt.turn,))


def _wanted(query: str) -> frozenset[str]:
    """The words that messages are searched for, without a plural's ending."""
    parts = (part for word in words(query) for part in word.translate(_SPACED).split())
    cut = {singular(part) for part in parts}
    return frozenset(cut - ASKING) or frozenset(cut)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _counts(wanted: frozenset[str], text: str) -> dict[str, int]:
    """How often each wanted word stands in the folded ``text``; words of other scripts than Latin count within
    others, because they are inflected or written without spaces."""
    near = [word for word in wanted if word in text]
    spoken = text.translate(_SPACED).split() if near else []
    counts = {
        word: spoken.count(word) + spoken.count(word + "s") if word.isascii() else text.count(word) for word in near
    }
    return {word: count for word, count in counts.items() if count}


def _ranked(wanted: frozenset[str], excerpts: Sequence[Excerpt]) -> tuple[list[Excerpt], _Weights]:
    """The messages that hold wanted words, best first by BM25 (lengths in characters), and the words' weights."""
    found = [(excerpt, counts) for excerpt in excerpts if (counts := _counts(wanted, _folded(excerpt.text)))]
    mean = sum(len(excerpt.text) for excerpt in excerpts) / max(1, len(excerpts))
    holding = {word: sum(word in counts for _, counts in found) for word in wanted}
    weights = {word: math.log1p((len(excerpts) - n + 0.5) / (n + 0.5)) for word, n in holding.items()}

    def score(excerpt: Excerpt, counts: dict[str, int]) -> float:
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * len(excerpt.text) / mean)
        total = sum(weights[word] * n * (_SATURATION + 1) / (n + norm) for word, n in counts.items())
        return total * _ROLE_WEIGHT.get(excerpt.role, _ROLE_WEIGHT["tool"])

    found.sort(key=lambda pair: (-score(*pair), -pair[0].turn))
    return [excerpt for excerpt, _ in found], weights


def _passage(text: str, weights: _Weights) -> str:
    """The part of ``text`` with the most weight, from the start of a sentence, as long as a quotation may be."""
    if len(text) <= EXCERPT_CHARACTERS:
        return text
    hits = sorted(_hits(text, weights))
    best, best_value, value, first = 0, -1.0, 0.0, 0
    for place, weight in hits:
        value += weight
        while place - hits[first][0] > EXCERPT_CHARACTERS - _LEAD_MAX:
            value -= hits[first][1]
            first += 1
        if value > best_value + 1e-9:
            best, best_value = hits[first][0], value
    start = _sentence_start(text, best)
    return text[start : start + 2 * EXCERPT_CHARACTERS]


def _hits(text: str, weights: _Weights) -> Iterator[tuple[int, float]]:
    """Where wanted words begin in ``text``, each with its weight."""
    low = text.casefold()
    if len(low) != len(text):
        return
    for word, weight in weights.items():
        place = low.find(word)
        while place >= 0:
            if not word.isascii() or place == 0 or not low[place - 1].isalnum():
                yield place, weight
            place = low.find(word, place + len(word))


def _sentence_start(text: str, place: int) -> int:
    """Where the sentence around ``place`` begins, or else a word before it."""
    low = max(0, place - _LEAD_MAX)
    ends = [found + len(end) for end in _SENTENCE_ENDS if (found := text.rfind(end, low, place)) >= 0]
    if ends or low == 0:
        return max(ends, default=0)
    return max(low, text.find(" ", low, place) + 1)


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
