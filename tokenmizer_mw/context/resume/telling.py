"""Build resume blocks of any budget for one session."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.errors import BudgetTooSmall
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.importance import importances
from tokenmizer_mw.graph.search import search
from tokenmizer_mw.model.handover import Handover

from .condense import condense_facts
from .coverage import TYPED_SHARE, Coverage
from .facts import ResumeFact, facts_of
from .fill import FactPart
from .handover import (
    BESIDE_SHARE,
    FULL_SHARE,
    SINCE_SHARE,
    facts_beside,
    handover_head,
    handover_sentences,
    rank_sentences,
)
from .layout import SAID_HEAD, compose_block, pieces_of_choice
from .order import rank_facts, said_once
from .replaced import ReplacedValues
from .result import LEVELS, Resume
from .sections import Section
from .sentences import Numbered, ReadSentences, Sentence, message_sentences, transcript_sentences, words_of
from .typed import added_tokens, fit_facts, ids_of

QUOTES_FROM: Final = 200
"""Budget from which on a block quotes the transcript; a smaller one holds typed facts alone."""

ASKED_MAX: Final = 64
"""Facts that a query brings forward at most."""

_PARTS_COUNTED: Final = 1.03
"""How many tokens the parts of a block have, counted one by one, for each token of the whole."""

_LEADING: Final = frozenset({Section.GOAL, Section.DOING, Section.RULES})
_LEADING_BESIDE_HANDOVER: Final = frozenset({Section.RULES})
"""Sections whose facts come before anything is compared; a handover tells the goal and the work in hand."""

RULES_FROM: Final = 1_000
"""Tokens of a block from which on every standing rule comes before anything is compared, not only the first ones."""


@dataclass(slots=True)
class Telling:
    """Everything that there is to say about a graph, in the order in which it should be said, made when it is asked
    for: with and without what was said in a message that reads like an attempt to take over the model."""

    graph: SessionGraph
    counter: TokenCounter
    around: tuple[str, str]
    query: str | None
    turn: int
    earlier: Sequence[ResumeFact]
    transcript: Sequence[Numbered] = ()
    handover: Handover | None = None
    read: ReadSentences = message_sentences
    sections: Collection[Section] | None = None
    _candidates: list[Sentence] = field(default_factory=list)
    _said: list[Sentence] | None = None
    _replaced: ReplacedValues | None = None
    _wanted: Mapping[str, float] | None = None
    _known: list[ResumeFact] | None = None
    _ranked: dict[bool, list[ResumeFact]] = field(default_factory=dict)

    def resume(self, level: str, tokens: int) -> Resume:
        """The block of ``tokens`` tokens; ``level`` is its name."""
        counter, around = self.counter, self.around
        fixed = counter.count("".join(around))
        if tokens < fixed:
            reason = f"a resume needs a budget of at least {fixed} tokens, those of its fence, not {tokens}"
            raise BudgetTooSmall(reason)
        facts: Sequence[ResumeFact] = said_once(self._rank_facts(flagged=tokens > LEVELS["critical"]), limit=tokens)
        if (self.transcript or self.handover) and tokens >= QUOTES_FROM:
            facts = self._replaced_values().facts_without_old(facts)
            text, taken, facts = self._covering(facts, tokens, fixed)
        else:
            text, taken = fit_facts(facts, tokens, counter, around, fixed) if facts else ("", ())
        ids = [id for piece in taken for id in ids_of(facts[piece.fact], piece.part)]
        count = counter.count(text) if text else 0
        return Resume(text, count, counter.exact, level, tokens, tuple(dict.fromkeys(ids)), self.turn)

    def _covering(
        self, facts: Sequence[ResumeFact], budget: int, fixed: int
    ) -> tuple[str, Sequence[FactPart], Sequence[ResumeFact]]:
        """The text with facts and sentences that together cover the session, the pieces of its facts, and those."""
        said, written = self._sentences(), self._handover_sentences()
        standing = facts
        since = [one for one in said if self.handover is None or one.number > self.handover.last]
        facts, quotable, share = self._beside_handover(facts, written, since, budget)
        coverage = Coverage(facts, [*written, *quotable], max(1, self.turn), self._sources(facts), said, share)
        first = _LEADING_BESIDE_HANDOVER if written else _LEADING
        leading = takewhile(lambda at: facts[at].section in first, range(len(facts)))
        forced = [at for at in range(len(facts)) if self._forces(facts[at])]
        if budget >= RULES_FROM:
            forced[:0] = [at for at, fact in enumerate(facts) if fact.section is Section.RULES]
        added = added_tokens(self.counter)
        head = handover_head(self.handover) if self.handover is not None and written else ""
        beside = fixed + (added(SAID_HEAD) if quotable else 0) + added(head)
        lead = [len(facts) + at for at in rank_sentences(written, standing, coverage.weights)]
        most = budget - int(budget * SINCE_SHARE) if since else budget
        chosen = coverage.choose(
            int(budget * _PARTS_COUNTED), beside, dict.fromkeys((*leading, *forced)), added, lead, most
        )
        for some in (chosen[:length] for length in range(len(chosen), 0, -1)):
            text = compose_block(facts, coverage.sentences, some, self.around, head, len(written))
            if self.counter.count(text) <= budget:
                return text, pieces_of_choice(facts, some), facts
        return "", (), facts

    def _beside_handover(
        self, facts: Sequence[ResumeFact], written: Sequence[Sentence], since: Sequence[Sentence], budget: int
    ) -> tuple[Sequence[ResumeFact], Sequence[Sentence], float]:
        """The facts and the sentences that may stand beside the sentences ``written`` of a handover, and the share of
        the budget that facts may take."""
        if self.handover is None or not written:
            return facts, self._sentences(), TYPED_SHARE
        facts = facts_beside(facts, self.graph, self.handover, written, self._forces)
        if since or self.counter.count(" ".join(one.text for one in written)) > budget * FULL_SHARE:
            return facts, since, TYPED_SHARE
        return facts, self._sentences(), BESIDE_SHARE

    def _handover_sentences(self) -> list[Sentence]:
        """The sentences of the handover, but for those that state what was replaced since."""
        if self.handover is None:
            return []
        return self._replaced_values().without_old(handover_sentences(self.handover))

    def _sentences(self) -> list[Sentence]:
        if self._said is None:
            self._said = self._replaced_values().mark_old(self._candidates)
        return self._said

    def _replaced_values(self) -> ReplacedValues:
        if self._replaced is None:
            self._candidates = transcript_sentences(self.transcript, self.graph.flagged, self.read)
            self._replaced = ReplacedValues(self.graph, self._candidates)
        return self._replaced

    def _sources(self, facts: Sequence[ResumeFact]) -> list[tuple[int, frozenset[str]]]:
        nodes = (self.graph.get(id) for fact in facts for id in fact.ids[:1])
        return [(node.source.turn, words_of(node.source.quote)) for node in nodes if node is not None]

    def _forces(self, fact: ResumeFact) -> bool:
        """Whether somebody wants ``fact`` before others: it is pinned, or a query asks for it."""
        nodes = (self.graph.get(id) for id in fact.ids)
        wanted = self._asked_for()
        return any(node is not None and (node.pinned or node.id in wanted) for node in nodes)

    def _rank_facts(self, *, flagged: bool) -> list[ResumeFact]:
        flagged = flagged or not self.graph.flagged
        if flagged not in self._ranked:
            self._ranked[flagged] = self._order_facts(flagged)
        return self._ranked[flagged]

    def _order_facts(self, flagged: bool) -> list[ResumeFact]:
        graph = self.graph
        if self._known is None:
            found = facts_of(graph)
            self._known = [fact for fact in found if self.sections is None or fact.section in self.sections]
        known = self._known if flagged else [fact for fact in self._known if not _is_flagged(graph, fact)]
        told = [*condense_facts(graph, known), *self.earlier]
        pinned = {node.id: 1.0 for node in graph.nodes() if node.pinned}
        return rank_facts(told, importances(graph, self.turn), self._asked_for(), pinned)

    def _asked_for(self) -> Mapping[str, float]:
        if self._wanted is None:
            self._wanted = _score_query_matches(self.graph, self.query)
        return self._wanted


def _score_query_matches(graph: SessionGraph, query: str | None) -> Mapping[str, float]:
    return {hit.node.id: hit.score for hit in search(graph, query, k=ASKED_MAX)} if query else {}


def _is_flagged(graph: SessionGraph, fact: ResumeFact) -> bool:
    nodes = (graph.get(id) for id in fact.ids)
    return any(node is not None and graph.flags(node) for node in nodes)
