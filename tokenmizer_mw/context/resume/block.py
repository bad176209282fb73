"""Build resume blocks of any budget for one session: text, token count, and ids of its facts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from tokenmizer_mw.context.resume.coverage import TYPED_SHARE, Coverage
from tokenmizer_mw.context.resume.facts import ResumeFact, facts_of, shorten_goals
from tokenmizer_mw.context.resume.handover import (
    BESIDE_SHARE,
    FULL_SHARE,
    SINCE_SHARE,
    Handover,
    facts_beside,
    handover_head,
    handover_sentences,
    rank_sentences,
)
from tokenmizer_mw.context.resume.layout import (
    QUOTES_HEAD,
    FactPart,
    added_tokens,
    compose_block,
    fit_facts,
    ids_of,
    pieces_of_choice,
)
from tokenmizer_mw.context.resume.order import condense_facts, drop_repeated_facts, rank_facts
from tokenmizer_mw.context.resume.replaced import ReplacedValues
from tokenmizer_mw.context.resume.sections import Section, is_guessed
from tokenmizer_mw.context.resume.sentences import (
    Numbered,
    ReadSentences,
    Sentence,
    message_sentences,
    transcript_sentences,
    words_of,
)
from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.errors import BudgetTooSmall, CallerError
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.search import search
from tokenmizer_mw.graph.views import importances, without_withdrawn_words
from tokenmizer_mw.model.event import NodeEdited
from tokenmizer_mw.model.message import short_repr
from tokenmizer_mw.model.node import HAND, Node, Status
from tokenmizer_mw.safety.fence import frame
from tokenmizer_mw.settings import BLOCK_TOKENS_MIN

LEVELS: Final = {"critical": 100, "standard": 300, "full": 600}
"""The budgets in tokens that have a name."""


@dataclass(frozen=True, slots=True)
class Resume:
    """A resume block. ``text`` is "" and ``tokens`` 0 when there are no facts or none fits.

    - ``tokens``: length of the whole text with its delimiters; never more than ``budget``. ``exact``: true if the
      model's own tokenizer counted; otherwise the count is an upper estimate.
    - ``level``: "critical", "standard", "full", or "custom" for a budget given by the caller.
    - ``node_ids``: the facts that the text states, including replaced ones that it mentions.
    - ``turn``: number of the newest message that it covers; 0 when unknown.
    """

    text: str
    tokens: int
    exact: bool
    level: str
    budget: int
    node_ids: tuple[str, ...]
    turn: int

    def __repr__(self) -> str:
        counted = f"{self.tokens} of {self.budget} tokens, {len(self.node_ids)} facts, to message {self.turn}"
        return short_repr(self, f"{self.level}, {counted}")

    def __str__(self) -> str:
        return self.text


BUDGET_MIN: Final = BLOCK_TOKENS_MIN
"""Smallest budget of a resume block in tokens, in the library, the commands, the API and the MCP server."""

QUOTES_FROM: Final = 200
"""Budget in tokens from which on a block quotes messages; a smaller one states facts alone."""

ASKED_MAX: Final = 64
"""At most this many facts that match a query come first."""

_RUNGS: Final = (300, 600, 1_200, 2_400, 4_800)
"""A block states or quotes every fact that the blocks with these smaller budgets state."""

_REPAIRS_MAX: Final = 2
"""Facts and sentences of a block are chosen again at most this many times because facts of smaller blocks are
missing."""

_PARTS_COUNTED: Final = 1.03
"""Tokens of the parts of a block, counted one by one, for each token of the whole text."""

_LEADING: Final = frozenset({Section.GOAL, Section.DOING, Section.RULES, Section.EARLIER_RULES})
_LEADING_BESIDE_HANDOVER: Final = frozenset({Section.RULES, Section.EARLIER_RULES})
"""Sections whose facts are taken before other candidates are compared. If there is a handover, it states the goal and
the current work."""

_IN_EVERY_BLOCK: Final = frozenset({Section.GOAL, Section.RULES})
"""Sections of facts that a block states even if the model also gets the messages that they come from."""

GOAL_SHARE: Final = 1 / 6
"""A goal whose label takes more than this share of a budget is shortened to its beginning."""

RULES_FROM: Final = 1_000
"""From this budget on, all standing rules are taken before other candidates are compared, not only the first ones."""


@dataclass(slots=True)
class ResumeBuilder:
    """Builds resume blocks of any budget for one graph. ``around``: the delimiters before and after the text. The other
    public fields are the arguments of the same name that ``build_resume`` describes.

    Two rankings of the facts are computed when they are first needed: with and without facts of messages that read like
    an attempt to take over the model.
    """

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
    edits: Collection[NodeEdited] = ()
    beside: Collection[int] = ()
    explicit: bool = False
    _ids_by_budget: dict[int, frozenset[str]] = field(default_factory=dict)
    _coverage: Coverage | None = None
    _candidates: list[Sentence] = field(default_factory=list)
    _marked: list[Sentence] | None = None
    _replaced: ReplacedValues | None = None
    _wanted: Mapping[str, float] | None = None
    _first: Mapping[str, float] | None = None
    _known: list[ResumeFact] | None = None
    _ranked: dict[bool, list[ResumeFact]] = field(default_factory=dict)

    def resume(self, level: str, tokens: int) -> Resume:
        """Build a block of at most ``tokens`` tokens. Its text is "" if nothing fits.

        ``level``: the name that the block gets; it does not change the content. Raises ``BudgetTooSmall`` if ``tokens``
        is less than the delimiters need.
        """
        counter, around = self.counter, self.around
        fixed = counter.count("".join(around))
        if tokens < fixed:
            reason = f"a resume needs a budget of at least {fixed} tokens, those of its fence, not {tokens}"
            raise BudgetTooSmall(reason)
        facts: Sequence[ResumeFact] = drop_repeated_facts(
            self._rank_facts(flagged=tokens > LEVELS["critical"]), limit=tokens
        )
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
        """Choose facts and sentences that together cover what the session is about, within ``budget`` tokens, of which
        the delimiters take ``fixed``. Return the text of the block, the parts of facts in it, and the facts to which
        the indexes in these parts refer. The text is "" and the parts ``()`` if nothing fits."""
        sentences, written = self._sentences(), self._handover_sentences()
        standing = facts
        since = [one for one in sentences if self.handover is None or one.number > self.handover.last]
        facts, quotable, share = self._beside_handover(facts, written, since, budget)
        facts = shorten_goals(facts, self.counter, int(budget * GOAL_SHARE))
        coverage = self._cover(facts, [*written, *quotable], sentences, share)
        pinned, first = self._order_first(facts, budget, _LEADING_BESIDE_HANDOVER if written else _LEADING)
        added = added_tokens(self.counter)
        head = handover_head(self.handover) if self.handover is not None and written else ""
        beside = fixed + (added(QUOTES_HEAD) if quotable else 0) + added(head)
        lead = [len(facts) + at for at in rank_sentences(written, standing, coverage.weights)]
        most = budget - int(budget * SINCE_SHARE) if since else budget

        def choose(first: Iterable[int], pinned: Collection[int]) -> list[int]:
            return coverage.choose(int(budget * _PARTS_COUNTED), beside, first, added, lead, most, pinned)

        chosen = choose(first, pinned)
        ids_before = self._ids_of_smaller(standing, budget, fixed)
        for _ in range(_REPAIRS_MAX):
            if not (missing := coverage.find_missing(chosen, ids_before) + coverage.find_untold(chosen)):
                break
            pinned, first = pinned.union(missing), list(dict.fromkeys((*first, *missing)))
            chosen = choose(first, pinned)
        for some in (chosen[:length] for length in range(len(chosen), 0, -1)):
            text = compose_block(facts, coverage.sentences, some, self.around, head, len(written))
            if self.counter.count(text) <= budget:
                return text, pieces_of_choice(facts, some), facts
        return "", (), facts

    def _cover(
        self, facts: Sequence[ResumeFact], sentences: Sequence[Sentence], spoken: Sequence[Sentence], share: float
    ) -> Coverage:
        """Return the candidates of a block as a ``Coverage``: the previous one again if facts, sentences and ``share``
        are the same. ``spoken``: the sentences by which words are weighed; ``share``: part of the budget for facts."""
        known = self._coverage
        if known is None or (known.facts, known.sentences, known.typed_share) != (facts, sentences, share):
            known = Coverage(facts, sentences, max(1, self.turn), self._sources(facts), spoken, share)
            self._coverage = known
        return known

    def _order_first(
        self, facts: Sequence[ResumeFact], budget: int, sections: Collection[Section]
    ) -> tuple[frozenset[int], list[int]]:
        """Return the indexes of the facts that may exceed the share of facts, and of all facts that are taken before
        others are compared: the leading ones of ``sections``, and those that somebody wants first."""
        pinned = frozenset(at for at, fact in enumerate(facts) if self._is_granted(fact))
        forced = [at for at in range(len(facts)) if self._forces(facts[at])]
        passed = pinned.union(forced)  # between the rules and the goal
        ahead = takewhile(lambda at: facts[at].section in sections or at in passed, range(len(facts)))
        leading = [at for at in ahead if facts[at].section in sections or at in pinned]
        if pinned:  # they may have taken the share of facts, which a goal must not be left out for
            pinned = pinned.union(at for at in leading if facts[at].section is Section.GOAL)
        if budget >= RULES_FROM:
            forced[:0] = [at for at, fact in enumerate(facts) if fact.section is Section.RULES]
        return pinned, list(dict.fromkeys((*leading, *forced)))

    def _ids_of_smaller(self, facts: Sequence[ResumeFact], budget: int, fixed: int) -> frozenset[str]:
        """Return the ids of the facts (of a merged fact the first id) that the blocks with all smaller budgets of
        ``_RUNGS`` state. ``fixed``: tokens of the delimiters."""
        rung = max((rung for rung in _RUNGS if rung < budget), default=0)
        if rung and rung not in self._ids_by_budget:
            _, taken, found = self._covering(facts, rung, fixed)
            ids = (id for piece in taken for id in found[piece.fact].ids[:1])
            self._ids_by_budget[rung] = self._ids_of_smaller(facts, rung, fixed).union(ids)
        return self._ids_by_budget.get(rung, frozenset())

    def _beside_handover(
        self, facts: Sequence[ResumeFact], written: Sequence[Sentence], since: Sequence[Sentence], budget: int
    ) -> tuple[Sequence[ResumeFact], Sequence[Sentence], float]:
        """Return the facts and the quotable sentences that may stand beside ``written``, the sentences of the handover,
        and the share of the budget that facts may take. Without a handover, these are all of them. ``since``: sentences
        of the messages after the handover."""
        if self.handover is None or not written:
            return facts, self._sentences(), TYPED_SHARE
        facts = facts_beside(facts, self.graph, self.handover, written, self._forces)
        if since or self.counter.count(" ".join(one.text for one in written)) > budget * FULL_SHARE:
            return facts, since, TYPED_SHARE
        return facts, self._sentences(), BESIDE_SHARE

    def _handover_sentences(self) -> list[Sentence]:
        """Return the sentences of the handover, without those that state a value which was replaced since."""
        if self.handover is None:
            return []
        return self._replaced_values().without_old(handover_sentences(self.handover))

    def _sentences(self) -> list[Sentence]:
        if self._marked is None:
            self._marked = self._replaced_values().mark_old(self._candidates)
        return self._marked

    def _replaced_values(self) -> ReplacedValues:
        if self._replaced is None:
            self._candidates = transcript_sentences(self.transcript, self.graph.flagged, self.read)
            self._replaced = ReplacedValues(self.graph, self._candidates, self.edits)
        return self._replaced

    def _sources(self, facts: Sequence[ResumeFact]) -> list[tuple[int, frozenset[str]]]:
        nodes = (self.graph.get(id) for fact in facts for id in fact.ids[:1])
        return [(node.source.turn, words_of(node.source.quote)) for node in nodes if node is not None]

    def _forces(self, fact: ResumeFact) -> bool:
        """Whether ``fact`` is to come before others: somebody pinned, added, worded or rejected it by hand, or it
        matches the query."""
        put_first, wanted = self._put_first(), self._asked_for()
        return any(id in put_first or id in wanted for id in fact.ids)

    def _is_beside(self, fact: ResumeFact) -> bool:
        """Whether the model gets the message that states ``fact`` in addition to the block, so that the block leaves it
        out. Never true for facts that every block states."""
        return fact.turn in self.beside and fact.section not in _IN_EVERY_BLOCK and not self._forces(fact)

    def _is_left_out(self, fact: ResumeFact) -> bool:
        """Whether to leave ``fact`` out because ``explicit`` is set and all its nodes were read from words that may
        mean something else (``is_guessed``). Never true for facts that somebody pinned or edited by hand."""
        if not self.explicit or self._is_granted(fact):
            return False
        nodes = [node for id in fact.ids if (node := self.graph.get(id)) is not None]
        return bool(nodes) and all(map(is_guessed, nodes))

    def _is_granted(self, fact: ResumeFact) -> bool:
        """Whether ``fact`` may exceed the share of facts: it is pinned, or was added, worded or rejected by hand."""
        return any(id in self._put_first() for id in fact.ids)

    def _put_first(self) -> Mapping[str, float]:
        """Return a weight by node id for the facts that somebody wants before others: 3 for pinned ones, 2 for those
        added or worded by hand, 1 for those rejected by hand. All other facts are missing."""
        if self._first is None:
            rejected = {edit.id for edit in self.edits if edit.changes.get("status") is Status.INVALIDATED}
            weights = ((node.id, _weigh_by_hand(node, rejected)) for node in self.graph.nodes())
            self._first = {id: weight for id, weight in weights if weight}
        return self._first

    def _rank_facts(self, *, flagged: bool) -> list[ResumeFact]:
        flagged = flagged or not self.graph.flagged
        if flagged not in self._ranked:
            self._ranked[flagged] = self._order_facts(flagged)
        return self._ranked[flagged]

    def _order_facts(self, flagged: bool) -> list[ResumeFact]:
        graph = self.graph
        if self._known is None:
            found = (fact for fact in facts_of(graph) if not (self._is_beside(fact) or self._is_left_out(fact)))
            self._known = [fact for fact in found if self.sections is None or fact.section in self.sections]
        known = self._known if flagged else [fact for fact in self._known if not _is_flagged(graph, fact)]
        facts = [*condense_facts(graph, known), *self.earlier]
        return rank_facts(facts, importances(graph, self.turn), self._asked_for(), self._put_first())

    def _asked_for(self) -> Mapping[str, float]:
        if self._wanted is None:
            hits = search(self.graph, self.query, k=ASKED_MAX) if self.query else ()
            self._wanted = {hit.node.id: hit.score for hit in hits}
        return self._wanted


_PINNED: Final = 3.0
_BY_HAND: Final = 2.0
_REJECTED_BY_HAND: Final = 1.0


def _weigh_by_hand(node: Node, rejected: Collection[str]) -> float:
    """Return the weight by which facts come first in a block: 3 for a pinned one, 1 for one whose id is in ``rejected``
    (rejected by hand), 2 for one that was added or worded by hand, 0 for any other."""
    if node.pinned:
        return _PINNED
    if node.id in rejected:
        return _REJECTED_BY_HAND
    return _BY_HAND if node.source.role == HAND else 0.0


def _is_flagged(graph: SessionGraph, fact: ResumeFact) -> bool:
    nodes = (graph.get(id) for id in fact.ids)
    return any(node is not None and graph.flags(node) for node in nodes)


def build_resume(
    graph: SessionGraph,
    *,
    level: str = "standard",
    budget: int | None = None,
    counter: TokenCounter,
    nonce: str,
    query: str | None = None,
    turn: int = 0,
    earlier: Sequence[ResumeFact] = (),
    transcript: Sequence[Numbered] = (),
    handover: Handover | None = None,
    read: ReadSentences = message_sentences,
    sections: Collection[Section] | None = None,
    edits: Collection[NodeEdited] = (),
    beside: Collection[int] = (),
    explicit: bool = False,
) -> Resume:
    """Build the resume block of ``graph`` within ``budget`` tokens, or within those of ``level``.

    Facts: a larger budget states every fact that a smaller one does. No text is repeated, and no label is shortened,
    except that a small block may state only the beginning of a goal. First come the standing rules (those by
    hand first, then the user's prohibitions), then pinned facts, facts that were added, worded or rejected by hand,
    facts that match ``query``, the goal, and the current work. If every fact fits and three fifths of the budget stay
    free, message numbers are added after facts: "[12]" means that message 12 states it. ``nonce``: from ``nonce_for``.

    ``transcript``: the messages that the block replaces, with their numbers, redacted and without earlier blocks. With
    it, a block of 200 tokens or more gives at most half of its budget to facts. The rest goes to sentences of the
    transcript, each with its message number, chosen so that together they cover what the session is about. Facts that
    the blocks of smaller budgets state (of 300, 600, 1,200 tokens and so on) are stated or have their words quoted.
    Sentences that state a value that was replaced later, or corrected by one of the manual ``edits`` in force, get
    less weight and are marked. Sentences of messages that read like an attempt to take over the model are left out.

    ``handover``: a summary that a model wrote, used in place of the messages that it covers. Its sentences come first;
    if not all fit, those with rules and decisions, and those with most content, are preferred. Then come facts and
    sentences of later messages, and the state of earlier facts that the summary does not mention; completed work and
    lists of names are omitted. Sentences of the summary that state a value that was replaced since are left out. If
    there are no later messages and a fifth of the budget is free, sentences of the covered messages follow. A block
    below 200 tokens ignores it.

    - ``read``: returns the sentences of a message, for example from a cache.
    - ``sections``: include only facts of these sections; ``None``: all.
    - ``beside``: numbers of messages that the model gets unchanged beside the block. Their facts are left out, except
      goals, standing rules, and facts that somebody wants first.
    - ``explicit``: leave out facts that were read from words that may mean something else (``is_guessed``).
    - ``earlier``: facts of other sessions of the project (from ``earlier_facts``), shown in sections of their own at
      the end.

    The smallest block contains nothing from messages that read like an attempt to take over the model.

    Returns an empty ``Resume`` when the graph has no facts, or the budget fits the delimiters but no fact. Raises
    ``CallerError`` for an unknown level, and ``BudgetTooSmall``, which names the smallest budget, when not even the
    delimiters fit.
    """
    level, tokens = _budget(level, budget)
    graph = without_withdrawn_words(graph)
    builder = ResumeBuilder(
        graph,
        counter,
        frame(nonce),
        query,
        turn,
        earlier,
        transcript,
        handover,
        read,
        sections,
        edits,
        beside,
        explicit,
    )
    return builder.resume(level, tokens)


def build_resumes(
    graph: SessionGraph,
    *,
    counter: TokenCounter,
    nonce: str,
    query: str | None = None,
    turn: int = 0,
    earlier: Sequence[ResumeFact] = (),
    transcript: Sequence[Numbered] = (),
    handover: Handover | None = None,
    edits: Collection[NodeEdited] = (),
    explicit: bool = False,
) -> dict[str, Resume]:
    """Build the resume blocks of all levels ("critical", "standard", "full"; budgets in ``LEVELS``), by level name.
    This costs little more than building one.

    - ``counter``: counts tokens; ``nonce``: from ``nonce_for``, for the delimiters.
    - ``query``: facts that match it come early; ``None``: no query. ``turn``: number of the session's newest message.
    - ``earlier``: facts of other sessions of the project (from ``earlier_facts``).
    - ``transcript``: numbered messages whose sentences may be quoted; ``handover``: a summary that a model wrote, used
      in place of the messages that it covers. Blocks below 200 tokens ignore both.
    - ``edits``: the manual edits in force; sentences that one of them corrected are marked.
    - ``explicit``: leave out facts that were read from words that may mean something else.

    Raises ``BudgetTooSmall`` if a level has fewer tokens than the delimiters need.
    """
    graph = without_withdrawn_words(graph)
    builder = ResumeBuilder(
        graph, counter, frame(nonce), query, turn, earlier, transcript, handover, edits=edits, explicit=explicit
    )
    return {level: builder.resume(level, tokens) for level, tokens in LEVELS.items()}


def check_budget(budget: int | None) -> None:
    """Raise ``BudgetTooSmall`` for a budget below ``BUDGET_MIN`` tokens; ``None`` is accepted."""
    if budget is not None and budget < BUDGET_MIN:
        raise BudgetTooSmall(f"a resume needs a budget of at least {BUDGET_MIN} tokens, not {budget}")


def _budget(level: str, budget: int | None) -> tuple[str, int]:
    if budget is None and level not in LEVELS:
        raise CallerError(f"unknown level {level!r}: one of {', '.join(LEVELS)}; a number of tokens is a budget")
    return (level, LEVELS[level]) if budget is None else ("custom", budget)
