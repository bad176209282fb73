"""Select what a cut removed and a question asks about, and compose the text of a reminder from it: facts, then quoted
passages, within a token budget. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.context.assembly import ReminderPart
from tokenmizer_mw.context.recall import (
    SIMILAR,
    PassageHit,
    PassageIndex,
    QuotedPiece,
    RecallLine,
    describe_fact,
    drop_withdrawn,
    newest_value,
    outdated_mark,
    select_passages,
    take_within_room,
)
from tokenmizer_mw.context.recall.passages import index_terms
from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.views import without_withdrawn_words
from tokenmizer_mw.model.event import Checkpointed, NodeEdited
from tokenmizer_mw.model.node import Node
from tokenmizer_mw.safety.fence import frame
from tokenmizer_mw.session import SessionState, Transcript
from tokenmizer_mw.session.reminder.question import content_terms, only_asks
from tokenmizer_mw.session.transcript_edits import HistoryMessages

if TYPE_CHECKING:
    from tokenmizer_mw.context.recall.vectors import Matrix


def other_branches(transcript: Transcript, anchor: int, compacted: Collection[int] = ()) -> Collection[int]:
    """Return the numbers of the messages before message ``anchor`` that are not on its branch of the chat. A branch
    begins when the client goes back to an earlier message and continues differently. Empty if there are none.

    ``transcript``: the session's messages. ``compacted``: numbers of the messages with which a client restarted its
    chat after a compaction; these do follow the messages before them.
    """
    place = anchor - 1
    if not 0 <= place < len(transcript) or transcript.depths[place] == place:
        return ()
    before: set[int] = set()
    while place >= 0:
        behind = transcript.parents[place]
        place = place - 1 if behind < 0 and place + 1 in compacted else behind
        before.add(place + 1)
    return frozenset(range(1, anchor)) - before


def beginnings_after_compaction(state: SessionState) -> Collection[int]:
    """Return the numbers of the messages with which the client restarted its chat after a compaction.

    In a compaction the client's history is replaced by a summary. Only compactions that left a resume block count:

    - The client made the summary itself: the number of the first message of the restarted chat. The request with that
      message got the block.
    - The client requested the summary through the API, and the block was the summary: the number of the message that
      follows the block.

    Empty if there was no such compaction.
    """
    marks = [mark.checkpoint for mark in state.checkpoints if mark.checkpoint.block]
    handed_back = {one.anchor_turn for one in marks if one.anchor and not one.dropped}
    return frozenset(handed_back | {one.turn + 1 for one in marks if not one.anchor})


SHARED_LEAST: Final = 2
"""Fewest words of a question that a passage must contain, if the question has so many."""

MOST: Final = 0.75
"""Smallest share of the words of a message that asks nothing, by weight, that a relevant fact or passage must
contain."""


@dataclass(frozen=True, slots=True)
class RelevantContent:
    """What a search found for a message.

    - ``hits``: the relevant passages, best first.
    - ``weights``: the weights of the message's words, by which facts are ranked.
    - ``asks``: true if the message asks something, or names what is to be found.
    """

    hits: Sequence[PassageHit]
    weights: Mapping[str, float]
    asks: bool = True


def select_relevant(query: str, hits: Sequence[PassageHit], *, asks: bool) -> RelevantContent:
    """Return the passages among ``hits`` (best first) that are worth a reminder, for the text ``query``.

    ``asks``: whether the text is a question. For a question these are all hits, if one of them shares enough words with
    it or is near it in meaning. For other texts they are the hits that contain most of its words, and none if the
    session lacks one of its words: a new topic has words that nobody has used yet.
    """
    wanted = content_terms(query)
    known = hits[0].weights if hits else {}
    weights = {term: known[term] for term in wanted if term in known}
    if asks:
        least = min(SHARED_LEAST, len(wanted))
        enough = any(hit.similarity >= SIMILAR or len(_shared_terms(hit, weights)) >= least for hit in hits)
        return RelevantContent(hits if enough and wanted else (), weights, asks)
    if len(weights) < len(wanted) or len(wanted) < SHARED_LEAST:
        return RelevantContent((), weights, asks)
    most = MOST * sum(weights.values())
    return RelevantContent(
        [hit for hit in hits if sum(map(weights.__getitem__, _shared_terms(hit, weights))) >= most], weights, asks
    )


def _shared_terms(hit: PassageHit, weights: Mapping[str, float]) -> set[str]:
    return weights.keys() & set(index_terms(f"{hit.head} {hit.text}"))


READ_MAX: Final = 200_000
"""Most characters of new messages that are indexed while a request waits (some 30 ms of CPU time). If there are more,
they are indexed in the background."""


@dataclass(frozen=True, slots=True)
class SearchTarget:
    """What to search for in a session.

    - ``asked``: a text, such as a question, or a list of names.
    - ``asks``: whether the text asks something or refers to an earlier statement.
    - ``sent``: numbers of the messages that the request contains; they are not searched.
    """

    asked: str | Sequence[str]
    asks: bool = True
    sent: Collection[int] = ()


def search(
    history: HistoryMessages,
    *,
    wanted: SearchTarget,
    index_of: Callable[[HistoryMessages], PassageIndex],
    before: int,
    elsewhere: Collection[int],
    meaning: Matrix | None = None,
) -> RelevantContent | None:
    """Search earlier messages of a session for passages (paragraphs) that are relevant for ``wanted``.

    - ``history``: the session's messages; ``index_of``: returns the search index of their passages.
    - ``before``: only messages with a smaller number are searched.
    - ``elsewhere``: numbers of messages on other branches of the chat (the client went back behind them and continued
      differently); they are not searched.
    - ``meaning``: the embedding of the question; ``None``: search by words alone.

    The result has no passages if none is relevant. Returns ``None`` without searching when more than ``READ_MAX``
    characters are not indexed yet.
    """
    if history.unindexed > READ_MAX:
        return None
    index, asked, out = index_of(history), wanted.asked, frozenset(elsewhere).union(wanted.sent)
    if isinstance(asked, str):
        return select_relevant(
            asked, index.rank(asked, upto=before - 1, exclude=out, meaning=meaning), asks=wanted.asks
        )
    names = " ".join(asked)
    hits = index.rank(names, upto=before - 1, exclude=out)
    named = [hit for hit in hits if any(name in hit.text for name in asked)]
    return select_relevant(names, named, asks=True)


CANDIDATES_MAX: Final = 64
"""Most facts that are examined for a reminder."""


def relevant_facts(
    graph: SessionGraph, cut: Checkpointed, question: RelevantContent, least: float, outdated: Sequence[str] = ()
) -> list[RecallLine]:
    """Return the facts that a reminder should state, best first: facts of messages that ``cut`` removed, and facts by
    hand, if they are relevant and the cut's resume block does not state them.

    A fact is relevant when it contains at least the share ``least`` of the words of ``question``, by weight; if the
    message asks nothing, a larger share (``MOST``). For a replaced fact, the line of the fact that holds now is
    returned; it also names the replaced one.

    ``outdated``: ids of facts that the block lacks or states wrongly, because they were added or changed by hand since.
    They come first and need not be relevant.
    """
    weights, least = question.weights, least if question.asks else MOST
    whole = sum(weights.values()) or 1.0
    lines = _describe_outdated(graph, outdated)
    stated = set(cut.carried).union(*(line.ids for line in lines))
    found: list[tuple[float, Node]] = []
    for node, _ in graph.sharing_words(" ".join(weights), limit=CANDIDATES_MAX):
        if node.is_dropped or (node.source.turn >= cut.anchor_turn and not node.is_worded_by_hand):
            continue
        held = weights.keys() & set(index_terms(f"{node.label} {node.detail} {node.value}"))
        coverage = sum(weights[term] for term in held) / whole
        if coverage >= least:
            found.append((coverage, node))
    for _, node in sorted(found, key=lambda pair: -pair[0]):
        current = newest_value(graph, node)
        stays = graph.life(node.id).touched >= cut.anchor_turn and not node.is_worded_by_hand
        if current.id in stated or (current is node and stays):
            continue
        lines.append(describe_fact(graph, current))
        stated.update(lines[-1].ids)
    return lines


def _describe_outdated(graph: SessionGraph, outdated: Sequence[str]) -> list[RecallLine]:
    nodes = (node for node in map(graph.get, outdated) if node is not None)
    current = {node.id: node for node in (newest_value(graph, one) for one in nodes) if not node.is_dropped}
    return [describe_fact(graph, node) for node in current.values()]


HEAD: Final = "From messages that are no longer here; [n] is a message's number."

FACT_LEAST: Final = 0.3
"""Smallest share of a question's words, by weight, that a relevant fact must contain."""

_FACTS_SHARE: Final = 0.25
_OLD: Final = " (old)"

STATED_SHARE: Final = 0.85
"""Smallest share of a passage's words that a line of a resume block must contain to count as stating the passage. A
lead-in may be missing."""


def compose(
    graph: SessionGraph,
    cut: Checkpointed,
    found: RelevantContent,
    *,
    budget: int,
    counter: TokenCounter,
    nonce: str,
    edits: Sequence[NodeEdited] = (),
    outdated: Sequence[str] = (),
) -> ReminderPart | None:
    """Compose the text of a reminder from facts in ``graph`` and the passages ``found``, within ``budget`` tokens;
    ``None`` when nothing is relevant or fits.

    Facts come first, then passages in the session's order, each with its message number. What the resume block of the
    cut already states is left out; what is no longer true is marked.

    - ``nonce``: the hexadecimal digits of the delimiters around the text, which nobody can guess.
    - ``edits``: the manual edits in force.
    - ``outdated``: ids of facts that the block lacks or states wrongly because of manual edits since; these come first.
    """
    graph = without_withdrawn_words(graph)
    before, behind = frame(nonce)
    room = budget - counter.count(f"{before}{HEAD}\n{behind}")
    facts = relevant_facts(graph, cut, found, FACT_LEAST, outdated)
    facts = take_within_room(facts, int(room * _FACTS_SHARE), counter)
    room -= sum(counter.count(fact.text + "\n") for fact in facts)
    hits = _drop_stated(drop_withdrawn(graph, found.hits), cut)
    while room > 0:
        pieces = select_passages(hits, room, counter)
        if not (facts or pieces):
            break
        text = "\n".join([before + HEAD, *(fact.text for fact in facts), *_quotes(graph, pieces, edits)]) + behind
        if (tokens := counter.count(text)) <= budget:
            nodes = dict.fromkeys(id for fact in facts for id in fact.ids)
            return ReminderPart(text, tokens, tuple(nodes), tuple(dict.fromkeys(piece.number for piece in pieces)))
        room -= tokens - budget
    return None


def _quotes(graph: SessionGraph, pieces: Sequence[QuotedPiece], edits: Sequence[NodeEdited]) -> Iterator[str]:
    """Yield the passages as text. The current value beside an outdated one is named only once."""
    given: set[str] = set()
    for piece in pieces:
        mark = outdated_mark(graph, piece, edits)
        yield piece.render(_OLD if mark and mark in given else mark)
        given.add(mark)


def _drop_stated(hits: Sequence[PassageHit], cut: Checkpointed) -> list[PassageHit]:
    """Return the passages that no line of the resume block of ``cut`` states, without those that only ask."""
    lines = [set(index_terms(line)) for line in cut.block.splitlines()]
    return [hit for hit in hits if not (only_asks(hit.text) or _is_stated(hit, lines))]


def _is_stated(hit: PassageHit, lines: Sequence[AbstractSet[str]]) -> bool:
    terms = set(content_terms(hit.text))
    return any(len(terms & line) >= STATED_SHARE * len(terms) for line in lines)
