"""Choose the facts and sentences of a resume block so that together they cover what the session is about.

Each word of the session has a weight, which counts once. The candidate that adds the most uncovered weight per token is
taken first (greedy submodular maximisation under a budget, after Lin and Bilmes, ACL 2011). Facts and sentences
compete, so that a sentence that repeats a fact adds nothing.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from tokenmizer_mw.context.resume.facts import ResumeFact
from tokenmizer_mw.context.resume.sections import Section
from tokenmizer_mw.context.resume.sentences import Sentence, words_of
from tokenmizer_mw.model.message import Role

TYPED_SHARE: Final = 0.5
"""Share of a budget that facts may take if sentences are quoted as well."""

LONG_SHARE: Final = 0.85
"""Share of a budget that facts may take in a session so long that the sentences that fit cover little of it."""

LONG: Final = 70
"""A session counts as that long if its sentences have more than this many times the tokens of the budget, at four
characters per token."""

DONE_SHARE: Final = 0.15
"""Share of a budget that completed work may take."""

NOVELTY: Final = 0.25
"""A sentence is quoted only if at least this share of its weight comes from words that nothing chosen before covers."""

_SECTION_WEIGHT: Final[Mapping[Section, float]] = {
    Section.GOAL: 2.0, Section.RULES: 3.0, Section.DECISIONS: 3.0, Section.DOING: 1.5, Section.TO_DO: 1.5,
    Section.ERRORS: 1.5, Section.PAST_ERRORS: 1.5, Section.PROPOSED: 0.5, Section.ABOUT: 6.0,
}  # fmt: skip
_OLD: Final = 0.25
_ASKED: Final = 2.0
_FACT: Final = 1.6
_FACT_TOKENS: Final = 8
_SENTENCE_TOKENS: Final = 12
_MARK_TOKENS: Final = 4
_HEAD_TOKENS: Final = 4
_CHARACTERS_A_TOKEN: Final = 4
_MISSES_MAX: Final = 60
_NOTHING: Final = 1e-9
_PROSE: Final = frozenset(
    {Section.GOAL, Section.RULES, Section.DECISIONS, Section.DOING, Section.TO_DO, Section.DONE, Section.PROPOSED}
)
_SYMBOLS: Final = "=(){}[]<>|\\\"';"
_SYMBOLS_SHARE: Final = 0.1
_CODE_LIKE: Final = 0.1
_SHORT: Final = 5
_SHORT_WEIGHT: Final = 0.1
"""Factors for the weight of candidates: of a fact by its section; of a sentence by its age, if it states a fact, and if
it belongs to the user's newest request. Tokens that are added to the size of a candidate before candidates are
compared, so that short ones do not win by their size alone; tokens of a line's mark and of a section's heading. Set on
development data."""


@dataclass(slots=True)
class Coverage:
    """The candidates of a resume block: facts in order of importance, sentences, and the weight of each word.

    - ``newest``: number of the newest message.
    - ``sources``: for each fact, the number of the message that it was extracted from and the words of its quote;
      sentences that a fact comes from weigh more.
    - ``session``: the sentences from which the word weights are computed; empty: ``sentences``.
    - ``typed_share``: the share of a budget that facts may take if there are sentences.
    """

    facts: Sequence[ResumeFact]
    sentences: Sequence[Sentence]
    newest: int
    sources: Collection[tuple[int, frozenset[str]]] = ()
    session: Sequence[Sentence] = ()
    typed_share: float = TYPED_SHARE
    weights: dict[str, float] = field(default_factory=dict, init=False)
    """The weight of each word of the session."""
    _factors: list[float] = field(default_factory=list)
    _words: list[frozenset[str]] = field(default_factory=list)
    _hollow: list[bool] = field(default_factory=list)
    _wholes: list[float] = field(default_factory=list)
    _unheard: float = 0.0

    def __post_init__(self) -> None:
        people = [one.words for one in self.session or self.sentences if one.role is not Role.TOOL]
        holding = Counter(chain.from_iterable(people))
        total = len(people)
        self.weights = {word: math.log1p(n) * math.log1p(total / n) for word, n in holding.items()}
        self._words = [words_of(fact.text + fact.why) for fact in self.facts] + [one.words for one in self.sentences]
        self._hollow = [_is_hollow(fact) for fact in self.facts]
        self._factors = [_fact_weight(fact, hollow) for fact, hollow in zip(self.facts, self._hollow, strict=True)]
        stated = _find_stated_places(self.sentences, self.sources)
        asked = max((one.number for one in self.sentences if one.role is Role.USER), default=0)
        self._factors += [
            one.salience
            * (_ASKED if one.number == asked else 1.0)
            * (_OLD + (1 - _OLD) * one.number / max(1, self.newest))
            * (_FACT if at in stated else 1.0)
            for at, one in enumerate(self.sentences)
        ]
        self._unheard = math.log1p(1) * math.log1p(max(1, len(self.sentences)))
        self._wholes = list(map(self.weigh, self._words))

    def weigh(self, words: Collection[str]) -> float:
        """Return the sum of the weights of ``words``. A word that occurs twice among them counts twice; a word without
        a weight counts as one that occurs in a single one of ``sentences``."""
        weights, default = self.weights, self._unheard
        return sum([weights.get(word, default) for word in words])

    def choose(
        self,
        budget: int,
        fixed: int,
        first: Iterable[int],
        count: Callable[[str], int],
        lead: Iterable[int] = (),
        lead_budget: int = 0,
        pinned: Collection[int] = (),
    ) -> list[int]:
        """Choose the candidates that fit into ``budget`` tokens, ``fixed`` of which are already used. ``count`` returns
        the tokens of a text.

        Returns indices in the order of choice: a fact has its index in ``facts``, a sentence its index plus
        ``len(facts)``. ``lead``, ``first`` and ``pinned`` are such indices. The order:

        - ``lead``, up to ``lead_budget`` tokens;
        - all facts that can be understood alone if they stay within their share, else the facts ``first``; those in
          ``pinned`` may exceed the share;
        - what covers the most weight per token;
        - with the remaining tokens, open work that no chosen sentence reports, and short decisions.
        """
        filling = _Filling(self, budget, fixed, count)
        for at in lead:
            filling.take_if_fits(at, lead_budget)
        forced = set(first)
        telling = [at for at in range(len(self.facts)) if at in forced or not self._hollow[at]]
        for at in telling if filling.holds_all_facts() else first:
            filling.take_if_fits(at, shared=at not in pinned)
        filling.fill()
        for at, fact in enumerate(self.facts):
            if fact.section in _OPEN or (fact.section is Section.DECISIONS and self._hollow[at]):
                filling.take_if_fits(at)
        return filling.taken

    def find_missing(self, chosen: Sequence[int], ids: Collection[str]) -> list[int]:
        """Return the indices of the facts whose first id is in ``ids`` and that the block would lack: they are not
        among the ``chosen`` candidates, and these do not contain all their words."""
        if not ids:
            return []
        taken, words = set(chosen), frozenset(chain.from_iterable(self._words[at] for at in chosen))
        wanted = (at for at, fact in enumerate(self.facts) if at not in taken and any(id in ids for id in fact.ids[:1]))
        return [at for at in wanted if not self._words[at] <= words]

    def find_untold(self, chosen: Sequence[int]) -> list[int]:
        """Return the indices of short decisions that were not chosen and of whose messages no sentence was chosen: the
        block would not say that they were decided, even if their words occur in other sentences."""
        count = len(self.facts)
        quoted = {self.sentences[at - count].number for at in chosen if at >= count}
        brief = set(range(count)).difference(chosen)
        return [at for at in sorted(brief) if self._hollow[at] and self._is_unquoted_decision(at, quoted)]

    def _is_unquoted_decision(self, at: int, quoted: Collection[int]) -> bool:
        return self.facts[at].section is Section.DECISIONS and self.facts[at].turn not in quoted


_OPEN: Final = frozenset({Section.TO_DO, Section.DOING})


def _fact_weight(fact: ResumeFact, hollow: bool) -> float:
    weight = _SECTION_WEIGHT.get(fact.section, 1.0)
    if fact.section in _PROSE and sum(map(fact.text.count, _SYMBOLS)) > _SYMBOLS_SHARE * len(fact.text):
        weight *= _CODE_LIKE
    return weight * _SHORT_WEIGHT if hollow else weight


def _is_hollow(fact: ResumeFact) -> bool:
    """Whether a fact has too few words to be understood without its sentence; it is then weighted less. For a decision
    that replaced another, the text in brackets counts as well."""
    text = f"{fact.text} {fact.why}" if fact.why_ids and fact.section is Section.DECISIONS else fact.text
    return fact.section in _PROSE and len(words_of(text)) < _SHORT


def _find_stated_places(sentences: Sequence[Sentence], sources: Collection[tuple[int, frozenset[str]]]) -> set[int]:
    """Return the indices of the sentences that state a fact. ``sources``: for each fact, the number of its message and
    the words of its quote. A sentence of that message states it if both share more than half of the words of the
    shorter one."""
    by_message: dict[int, list[frozenset[str]]] = {}
    for number, words in sources:
        by_message.setdefault(number, []).append(words)
    found: set[int] = set()
    for at, one in enumerate(sentences):
        for words in by_message.get(one.number, ()):
            if 2 * len(words & one.words) > min(len(words), len(one.words)):
                found.add(at)
                break
    return found


class _Filling:
    def __init__(self, coverage: Coverage, budget: int, fixed: int, count: Callable[[str], int]) -> None:
        self._facts, self._sentences = coverage.facts, coverage.sentences
        self._words, self._factors, self._wholes = coverage._words, coverage._factors, coverage._wholes
        self._weigh = coverage.weigh
        self._budget, self._used = budget, fixed
        length = sum(len(one.text) for one in self._sentences) / _CHARACTERS_A_TOKEN
        share = LONG_SHARE if length > LONG * budget else coverage.typed_share
        self._rooms = {"typed": int(budget * share), "done": int(budget * DONE_SHARE)}
        self._count = count
        self._sizes: dict[int, int] = {}
        self._covered: set[str] = set()
        self._open: set[Section] = set()
        self._marked: set[int] = set()
        self._chosen: set[int] = set()
        self.taken: list[int] = []

    def holds_all_facts(self) -> bool:
        """Whether all facts together, with the headings of their sections, take no more tokens than the share of the
        budget for facts."""
        characters = sum(map(self._text_length, range(len(self._facts))))
        if characters > 2 * _CHARACTERS_A_TOKEN * self._rooms["typed"]:
            return False
        heads = len({fact.section for fact in self._facts}) * _HEAD_TOKENS
        return heads + sum(self._size(at) + 1 for at in range(len(self._facts))) <= self._rooms["typed"]

    def take_if_fits(self, at: int, budget: int | None = None, *, shared: bool = True) -> bool:
        """Take candidate ``at`` if it is not taken yet and fits: into ``budget`` tokens (``None``: the whole budget)
        and, if ``shared`` is true and it is a fact, into the share of facts. Returns whether it was taken."""
        if at in self._chosen:
            return False
        size = self._size(at) + self._tokens_beside(at)
        if self._used + size > (self._budget if budget is None else budget):
            return False
        if at < len(self._facts):
            section = self._facts[at].section
            rooms = ("typed", "done") if section is Section.DONE else ("typed",)
            if shared and any(self._rooms[name] < size for name in rooms):
                return False
            for name in rooms:
                self._rooms[name] -= size
            self._open.add(section)
        else:
            self._marked.add(self._sentences[at - len(self._facts)].number)
        self._used += size
        self._covered |= self._words[at]
        self._chosen.add(at)
        self.taken.append(at)
        return True

    def fill(self) -> None:
        """Take the candidate (a fact or a sentence) that adds the most weight of uncovered words per token, again and
        again, until the budget is used up, no candidate adds enough, or too many did not fit."""
        left = (at for at in range(len(self._words)) if at not in self._chosen)
        heap = [(-self._value_per_token(at, self._wholes[at]), at) for at in left]
        heapq.heapify(heap)
        misses = 0
        while heap and misses < _MISSES_MAX and self._budget - self._used > _MARK_TOKENS:
            _, at = heapq.heappop(heap)
            sized = at in self._sizes
            self._size(at)
            new = self._weigh(self._words[at] - self._covered)
            if new < self._least_weight(at):
                continue
            worth = self._value_per_token(at, new)
            if heap and (worth < -heap[0][0] or not sized):
                heapq.heappush(heap, (-worth, at))
            elif not self.take_if_fits(at):
                misses += 1

    def _least_weight(self, at: int) -> float:
        """Return the least weight of words not covered yet that candidate ``at`` must add to be taken: for a sentence
        the share ``NOVELTY`` of its whole weight, for a fact nearly nothing."""
        return _NOTHING if at < len(self._facts) else max(_NOTHING, NOVELTY * self._wholes[at])

    def _value_per_token(self, at: int, new: float) -> float:
        """Return the gain per token of candidate ``at``, by which candidates are compared: ``new``, the weight of its
        words not covered yet, times the factor of its kind, divided by its size. The size is estimated from the number
        of characters if its tokens were not counted yet."""
        known = self._sizes.get(at)
        size = known if known is not None else self._text_length(at) / _CHARACTERS_A_TOKEN
        return new * self._factors[at] / (size + (_FACT_TOKENS if at < len(self._facts) else _SENTENCE_TOKENS))

    def _text_length(self, at: int) -> int:
        facts = len(self._facts)
        if at < facts:
            return len(self._facts[at].text) + len(self._facts[at].why)
        return len(self._sentences[at - facts].text)

    def _size(self, at: int) -> int:
        if at not in self._sizes:
            facts = len(self._facts)
            if at < facts:
                self._sizes[at] = self._count(self._facts[at].text + self._facts[at].why)
            else:
                self._sizes[at] = self._count(" " + self._sentences[at - facts].render())
        return self._sizes[at]

    def _tokens_beside(self, at: int) -> int:
        """Return the tokens that candidate ``at`` needs besides its text: for a fact a separator, and the heading if it
        is the first of its section; for a sentence the mark of its message if it is the first of that message."""
        facts = len(self._facts)
        if at < facts:
            return 1 + (_HEAD_TOKENS if self._facts[at].section not in self._open else 0)
        return _MARK_TOKENS if self._sentences[at - facts].number not in self._marked else 1
