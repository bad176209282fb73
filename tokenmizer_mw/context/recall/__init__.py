"""Recall: find what a session says about a question, within a token budget; replaced values are marked as old."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.context.recall.headings import find_asked_list
from tokenmizer_mw.context.recall.index import PassageHit, PassageIndex
from tokenmizer_mw.context.recall.passages import index_terms, is_function_word, message_text
from tokenmizer_mw.context.recall.selection import QuotedPiece, asked_kinds, select_passages, sort_by_answers
from tokenmizer_mw.context.resume.sections import Section, section_of
from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.graph.explanation import Predecessors, is_same_thing, qualify_replacement
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.search import find_open_work, search
from tokenmizer_mw.graph.text import pick_asked_words, words
from tokenmizer_mw.graph.values import Later, Statement, find_overtaken
from tokenmizer_mw.graph.views import without_withdrawn_words
from tokenmizer_mw.model.event import NodeEdited
from tokenmizer_mw.model.message import REPR_MAX, short_repr
from tokenmizer_mw.model.node import Node, NodeType, Status, Trust, is_current
from tokenmizer_mw.safety.fence import frame
from tokenmizer_mw.safety.labels import flatten

if TYPE_CHECKING:
    from tokenmizer_mw.context.recall.vectors import Matrix

FACTS_MAX: Final = 20
"""At most this many facts are considered for a question."""

_FACTS_SHARE: Final = 0.2
_FACTS_LEAST: Final = 60
"""Facts get this share of the budget before passages, but no less than this many tokens, nor more than half."""
_ANSWERING_MAX: Final = 20
"""This many of the best passages are searched for a value of the kind that a question asks for, such as a date."""
SIMILAR: Final = 0.4
"""Cosine similarity from which on a passage counts as relevant to a question with which it shares no word."""

_RELEVANT: Final = 0.3
_BY_HAND: Final = 2.0
"""Factor for the score of facts that were added or worded by hand."""
_HEIRS_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class Recall:
    """The text that answers a question, "" when nothing was found or fits. ``tokens``: its length; ``ids``: the facts
    that it states; ``turns``: numbers of the messages that it quotes; ``times``: when these were recorded, in seconds
    since the epoch, by number (empty if unknown).
    """

    text: str
    tokens: int
    ids: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()
    times: Mapping[int, float] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        return short_repr(self, f"{self.tokens} tokens: {self.text[:REPR_MAX]!r}")

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class RecallLine:
    """A fact or a passage as text. ``turn``: number of its message; ``ids``: the facts that it states; ``turns``:
    numbers of the messages that it quotes."""

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
    passages: PassageIndex | None = None,
    nonce: str = "",
    meaning: Matrix | None = None,
    edits: Sequence[NodeEdited] = (),
) -> Recall:
    """Return what ``graph`` and the messages in ``passages`` say about ``query``, newest first, within ``budget``
    tokens.

    Facts get a fifth of the budget; then quoted passages follow, and more facts if tokens are left. A replaced value is
    stated together with its replacement. A passage from before the replacement is marked as old; if a later message
    gives another value for the same thing, that value is added. A question about open work ("What is still open?") is
    answered by that work alone, and a general question such as "What was rejected?" by what a resume block lists under
    that heading.

    - ``nonce`` (from ``nonce_for``): put the text between delimiters that mark it as data; "": text for people.
    - ``meaning``: the vector of the query, for search by meaning; ``None``: by words alone. ``passages``: ``None``:
      only facts are searched.
    - ``edits``: the manual edits in force; passages that state what one of them reworded are marked as corrected.

    Passages that share only function words with the query do not count, unless it has no other words.
    """
    graph = without_withdrawn_words(graph)
    around = frame(nonce) if nonce else ("", "")
    room = budget - counter.count("".join(around)) - counter.count(_HEAD)
    if work := find_open_work(graph, query):
        lines = [describe_fact(graph, node) for node in work]
        return _fit(take_within_room(lines, room, counter), budget, counter, around, partial(_format_list, "Open work"))
    if (asked := find_asked_list(graph, query)) is not None:
        lines = [describe_fact(graph, node) for node in asked.nodes]
        return _fit(take_within_room(lines, room, counter), budget, counter, around, partial(_format_list, asked.title))
    hits = passages.rank(query, meaning=meaning) if passages is not None else []
    hits = drop_withdrawn(graph, hits if _answers_query(query, hits) else [])
    weights = _weights(query, passages)
    hits = (
        sort_by_answers(asked_kinds(query), hits[:_ANSWERING_MAX], weights, lambda hit: hit.text)
        + hits[_ANSWERING_MAX:]
    )
    facts = _find_fact_lines(graph, query, weights, hits)
    chosen = take_within_room(facts, max(int(room * _FACTS_SHARE), min(_FACTS_LEAST, room // 2)), counter)
    pieces = select_passages(hits, room - _cost(chosen, counter), counter)
    chosen += _mark_pieces(graph, pieces, weights, hits, edits)
    chosen += take_within_room([line for line in facts if line not in chosen], room - _cost(chosen, counter), counter)
    return _fit(chosen, budget, counter, around, _format_lines)


def _fit(
    chosen: list[RecallLine],
    budget: int,
    counter: TokenCounter,
    around: tuple[str, str],
    format_lines: Callable[[Sequence[RecallLine]], str],
) -> Recall:
    """Return a ``Recall`` with as many of the first lines as fit into ``budget`` tokens together with the delimiters
    ``around``; an empty one if none fits."""
    for lines in (chosen[:length] for length in range(len(chosen), 0, -1)):
        text = around[0] + format_lines(lines) + around[1]
        if (tokens := counter.count(text)) <= budget:
            ids = dict.fromkeys(id for line in lines for id in line.ids)
            return Recall(text, tokens, tuple(ids), tuple(turn for line in lines for turn in line.turns))
    return Recall("", 0)


def _answers_query(query: str, hits: Sequence[PassageHit]) -> bool:
    """Whether at least one of ``hits`` shares a word with ``query`` that is no function word (such as "the"), or is
    similar in meaning. Always true for a query of function words alone, even without hits."""
    asked = {term for term in index_terms(query) if not is_function_word(term)}
    return not asked or any(
        hit.similarity >= SIMILAR or not asked.isdisjoint(index_terms(f"{hit.head} {hit.text}")) for hit in hits
    )


def drop_withdrawn(graph: SessionGraph, hits: Sequence[PassageHit]) -> list[PassageHit]:
    """Return ``hits`` without the passages that contain all words of a fact which their message stated and which was
    withdrawn as never true."""
    withdrawn: dict[int, list[frozenset[str]]] = {}
    for node in graph.nodes(status=Status.INVALIDATED):
        if node.is_withdrawn and (named := words(node.value or node.label)):
            withdrawn.setdefault(node.source.turn, []).append(named)
    if not withdrawn:
        return list(hits)
    return [hit for hit in hits if not any(named <= words(hit.text) for named in withdrawn.get(hit.number, ()))]


def _format_lines(lines: Sequence[RecallLine]) -> str:
    """Return the lines as one text, the newest first; several lines get a heading that explains their order."""
    texts = [line.text for line in sorted(lines, key=lambda line: -line.turn)]
    return "\n".join([_HEAD, *texts] if len(texts) > 1 else texts)


def _format_list(title: str, lines: Sequence[RecallLine]) -> str:
    return "\n".join([f"{title}; [n] is the message.", *(line.text for line in lines)])


_HEAD: Final = "Newest first; [n] is the message."


def _weights(query: str, passages: PassageIndex | None) -> dict[str, float]:
    """Return the words that the question is about, in the singular, each with its weight: the rarer a word is in
    ``passages``, the higher; 1 for each word if ``passages`` is ``None``."""
    words = pick_asked_words(query)
    return dict.fromkeys(words, 1.0) if passages is None else {word: passages.weight(word) for word in words}


def _find_fact_lines(
    graph: SessionGraph, query: str, weights: dict[str, float], hits: Sequence[PassageHit]
) -> list[RecallLine]:
    """Return the facts that ``query`` is about as lines, best first; facts that an earlier line names are left out. A
    line is marked if a fact or a passage of ``hits`` from a later message gives another value for the same thing.

    ``weights``: the words of the question with their weights."""
    nodes = sort_by_answers(asked_kinds(query), _facts(graph, query), weights, lambda node: node.label)
    statements = [Statement(node.source.turn, node.label, node.source.trust in _SETTLING) for node in nodes]
    later = find_overtaken(weights, statements + _statements(hits))
    facts: list[RecallLine] = []
    stated: set[str] = set()
    for at, node in enumerate(nodes):
        if node.id not in stated:
            facts.append(describe_fact(graph, node, later.get(at)))
            stated.update(facts[-1].ids)
    return facts


def _statements(hits: Sequence[PassageHit]) -> list[Statement]:
    return [Statement(hit.number, hit.text, hit.role == "user") for hit in hits[:_ANSWERING_MAX]]


def _mark_pieces(
    graph: SessionGraph,
    pieces: Sequence[QuotedPiece],
    weights: dict[str, float],
    hits: Sequence[PassageHit],
    edits: Sequence[NodeEdited],
) -> list[RecallLine]:
    """Return quoted pieces as lines. A piece is marked if it is outdated (``outdated_mark``), or if another piece or a
    passage of ``hits`` from a later message gives another value for the same thing.

    ``weights``: the words of the question with their weights; ``edits``: the manual edits in force."""
    statements = [Statement(piece.number, piece.text, piece.role == "user") for piece in pieces]
    later = find_overtaken(weights, statements + _statements(hits))
    marks = (outdated_mark(graph, piece, edits) or _format_later(later.get(at)) for at, piece in enumerate(pieces))
    return [
        RecallLine(piece.render(mark), piece.number, (), (piece.number,))
        for piece, mark in zip(pieces, marks, strict=True)
    ]


_SETTLING: Final = frozenset({Trust.STATED, Trust.ADOPTED, Trust.STRUCTURE})


def take_within_room(lines: Sequence[RecallLine], room: int, counter: TokenCounter) -> list[RecallLine]:
    """Return the ``lines`` that together fit into ``room`` tokens, taken in order. A line that does not fit is skipped.
    ``counter``: counts the tokens."""
    taken = []
    for line in lines:
        cost = _cost([line], counter)
        if cost <= room:
            taken.append(line)
            room -= cost
    return taken


def _cost(lines: Sequence[RecallLine], counter: TokenCounter) -> int:
    return sum(counter.count(line.text + "\n") for line in lines)


def _facts(graph: SessionGraph, query: str) -> list[Node]:
    """Return the facts that a question is about, best first, without those declared wrong. For a replaced fact, its
    newest replacement is returned."""
    hits = [hit for hit in search(graph, query, k=FACTS_MAX, parts=False) if not hit.node.is_dropped]
    near = [hit for hit in hits if hit.score >= _RELEVANT * hits[0].score]
    near.sort(key=lambda hit: -hit.score * (_BY_HAND if hit.node.is_worded_by_hand else 1.0))
    return list({node.id: node for node in (newest_value(graph, hit.node) for hit in near)}.values())


def newest_value(graph: SessionGraph, node: Node) -> Node:
    """Return the fact that finally replaced ``node``, through any number of replacements (at most ``_HEIRS_MAX``);
    ``node`` itself if it was not replaced."""
    for _ in range(_HEIRS_MAX):
        heir = graph.heir(node.id) if node.status is Status.SUPERSEDED else None
        if heir is None:
            return node
        node = heir
    return node


_STATE: Final = {
    Status.PENDING: ", to do", Status.IN_PROGRESS: ", in progress", Status.COMPLETED: ", done",
    Status.FAILED: ", failed", Status.ACTIVE: "", Status.SUPERSEDED: ", replaced", Status.INVALIDATED: ", rejected",
    Status.ARCHIVED: ", no longer relevant",
}  # fmt: skip


def _state(node: Node) -> str:
    fixed = node.type is NodeType.ERROR and node.status is Status.COMPLETED
    if node.current and section_of(node) is Section.PROPOSED:
        return ", proposed, not agreed"
    return ", fixed" if fixed else _STATE[node.status]


def describe_fact(graph: SessionGraph, node: Node, later: Later | None = None) -> RecallLine:
    """Return a fact as one line, with its type, state, message number, what it replaced and why, such as
    "- decision: PostgreSQL [12], was SQLite [3] - concurrent writes". Its ``ids`` include those of the replaced facts.

    ``later``: another value of the same thing that a later message gives; it is added to the line. ``None``: none."""
    olds = [old for _, old in islice(Predecessors(graph).of(node), _HEIRS_MAX)]
    how = qualify_replacement(node, "was")
    was = "".join(f", {how} {flatten(old.label)} [{_number(old)}]" for old in olds)
    lives = (graph.life(one.id) for one in (node, *olds[:1]))
    reason = flatten(next(filter(None, (life.reason_in_words for life in lives)), "") or node.detail)
    text = f"- {node.type.value}{_state(node)}: {flatten(node.label)} [{_number(node)}]{_format_later(later)}{was}"
    return RecallLine(text + (f" - {reason}" if reason else ""), node.source.turn, (node.id, *(old.id for old in olds)))


def _number(node: Node) -> str:
    """Return the number of the message that states a fact, as text such as "12"; "by hand" if no message states it."""
    return node.source.mark.removeprefix("#")


def _format_later(later: Later | None) -> str:
    return f" (later [{later.turn}]: {later.value})" if later is not None else ""


_OLD_LABEL_MAX: Final = 60
"""The mark of a passage names the old value, or the correction, only if that has at most this many characters."""


_NAMED_LABEL_MIN: Final = 4
"""Passages are searched for the label of a rejected fact, or the former label of a corrected one, only if it has at
least this many characters."""


def outdated_mark(graph: SessionGraph, piece: QuotedPiece, edits: Sequence[NodeEdited] = ()) -> str:
    """Return the mark for an outdated passage, such as " (SQLite: replaced in [12] by PostgreSQL)"; "" for any other
    passage. A passage is outdated if it

    - names a value that was replaced later,
    - states a fact that was corrected by hand (``edits``: the manual edits in force) or rejected later,
    - or names work that was done later.
    """
    text = piece.text.casefold()
    if (corrected := _find_corrected(graph, piece, text, edits)) is not None:
        label = flatten(corrected.label)
        return f" (corrected to {label})" if len(label) <= _OLD_LABEL_MAX else " (corrected)"
    since = {step.new: step.trigger for step in graph.transitions()}
    for step in graph.transitions():
        old = graph.get(step.old)
        if old is None or old.status is not Status.SUPERSEDED or piece.number >= step.trigger:
            continue
        now = newest_value(graph, old)
        label = _find_named(old, now, text) if is_same_thing(now, step, old) else ""
        if label and now.id in since and not _names(text, now.label):
            named = f"{label}: " if len(label) <= _OLD_LABEL_MAX else ""
            how = qualify_replacement(now, "replaced")
            return f" ({named}{how} in [{since[now.id]}] by {flatten(now.label)})"
    if label := _find_rejected(graph, piece, text):
        return f" ({label} was rejected)" if len(label) <= _OLD_LABEL_MAX else " (rejected)"
    ended = [node for node in graph.nodes(status=Status.COMPLETED) if _ends_behind(graph, node, piece)]
    return " (done since)" if any(_names(text, flatten(node.label)) for node in ended) else ""


def _names(text: str, label: str) -> bool:
    """Whether ``text``, which is casefolded, contains ``label`` in any case as whole words: "IP" is not in "recipe"."""
    words = label.casefold()
    return words in text and re.search(f"(?<!{_LETTER}){re.escape(words)}(?!{_LETTER})", text) is not None


_LETTER: Final = r"[^\W\u2e80-\u9fff\uac00-\ud7af]"
"""A letter or digit of a script that has spaces between words."""


def _find_named(old: Node, now: Node, text: str) -> str:
    """Return the words by which a text names a replaced fact: its label, or its value if that is a name for the same
    thing; "" if it names neither, or the new value as well."""
    label = flatten(old.label)
    if _names(text, label):
        return label
    if not old.slot or old.slot != now.slot or not old.value[:1].isalpha() or _names(text, now.value):
        return ""
    return old.value if _names(text, old.value) else ""


def _find_corrected(graph: SessionGraph, piece: QuotedPiece, text: str, edits: Sequence[NodeEdited]) -> Node | None:
    """Return the fact that a quoted piece states as it was before somebody reworded it by hand; ``None`` for none."""
    for edit in reversed(edits):
        node = graph.get(edit.id)
        if node is None or not node.current or "label" not in edit.before or piece.number > edit.turn:
            continue
        if _names(text, flatten(node.label)):
            continue
        former = replace(node, **edit.before)
        named = _find_named(former, node, text) if len(former.label) >= _NAMED_LABEL_MIN else ""
        if named or (piece.number == node.source.turn and _shares_quote(node.source.quote, piece.text)):
            return node
    return None


def _shares_quote(quote: str, text: str) -> bool:
    """Whether a text has more than half of the words of a fact's quote. Not all, because a quoted piece may be
    shortened."""
    wanted = words(quote)
    return bool(wanted) and 2 * len(wanted & words(text)) > len(wanted)


def _find_rejected(graph: SessionGraph, piece: QuotedPiece, text: str) -> str:
    """Return the label of a fact that a quoted piece names and that was rejected later, after it had been in force; ""
    for none."""
    for node in graph.nodes(status=Status.INVALIDATED):
        life, label = graph.life(node.id), flatten(node.label)
        held = any(is_current(status) for _, status in life.moves)  # what was turned down at once never did
        if not (node.is_rejected and held and len(label) >= _NAMED_LABEL_MIN):
            continue
        is_before = piece.number < life.touched or piece.number == node.source.turn
        if is_before and _names(text, label):
            return label
    return ""


def _ends_behind(graph: SessionGraph, node: Node, piece: QuotedPiece) -> bool:
    """Whether ``node`` is work (a task or an error) that was stated in the message of the quoted piece or before it,
    and whose status changed after that message."""
    work = node.type in (NodeType.TASK, NodeType.ERROR)
    return work and node.source.turn <= piece.number < graph.life(node.id).touched


__all__ = [
    "SIMILAR", "PassageHit", "PassageIndex", "QuotedPiece", "Recall", "RecallLine", "describe_fact", "drop_withdrawn",
    "message_text", "newest_value", "outdated_mark", "recall", "select_passages", "take_within_room",
]  # fmt: skip
