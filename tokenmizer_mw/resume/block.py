"""The resume block as text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tokenmizer_mw.errors import BudgetTooSmall, CallerError
from tokenmizer_mw.fence import frame
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.importance import importances
from tokenmizer_mw.graph.search import search
from tokenmizer_mw.tokens import TokenCounter

from .condense import condensed
from .facts import Fact, Section, facts_of
from .fill import Piece, beginnings, sequence
from .order import ranked, said_once

LEVELS: Final = {"critical": 100, "standard": 300, "full": 600}
"""Tokens of the named budgets."""

ASKED_MAX: Final = 64
"""Facts that a query brings forward at most."""

_RECEIPTS_SHARE: Final = 0.4
_NO_RECEIPTS: Final = frozenset({Section.FILES, Section.USES, Section.ENDPOINTS, Section.EARLIER})

_HEADS: Final[dict[Section, tuple[str, str]]] = {
    Section.GOAL: ("Goal:", "; "),
    Section.RULES: ("User's rules:", "\n- "),
    Section.DECISIONS: ("Decided:", "; "),
    Section.WARNINGS: ("Ruled out:", "; "),
    Section.DOING: ("In progress:", "; "),
    Section.TO_DO: ("To do:", "; "),
    Section.ERRORS: ("Open errors:", "; "),
    Section.DONE: ("Done:", "; "),
    Section.FILES: ("Files:", ", "),
    Section.ENVIRONMENT: ("Environment:", "; "),
    Section.USES: ("Uses:", ", "),
    Section.ENDPOINTS: ("Endpoints:", ", "),
    Section.SCHEMA: ("Schema:", "; "),
    Section.TESTS: ("Tests:", "; "),
    Section.PROPOSED: ("Proposed, not agreed:", "; "),
    Section.ABOUT: ("About:", "; "),
    Section.EARLIER: ("From earlier sessions of this project:", "\n- "),
}
"""For each section its head and what stands between two facts of it; facts between line breaks have lines of their
own."""


@dataclass(frozen=True, slots=True)
class Resume:
    """A resume block. ``text`` is "" and ``tokens`` 0 when there is nothing to say or no fact fits.

    ``tokens`` counts the whole text, fence included, and never exceeds ``budget``; ``exact`` says whether the
    model's own tokenizer counted (else it errs high). ``level`` is "critical", "standard", "full" or, for a budget
    of the caller's own, "custom". ``node_ids`` are the nodes whose facts the text carries, replaced ones that it
    names included. ``turn`` is the number of the newest message that it covers (0 when unknown).
    """

    text: str
    tokens: int
    exact: bool
    level: str
    budget: int
    node_ids: tuple[str, ...]
    turn: int


def build_resume(
    graph: SessionGraph,
    *,
    level: str = "standard",
    budget: int | None = None,
    counter: TokenCounter,
    nonce: str,
    query: str | None = None,
    turn: int = 0,
    earlier: Sequence[Fact] = (),
) -> Resume:
    """The resume block of ``graph`` within ``budget`` tokens, or within those of ``level``.

    A bigger budget carries every fact that a smaller one does. No text is said twice and no label is cut, save that
    brackets at the end of a goal may be missing. First come the goal, the work in hand and the standing rules,
    prohibitions by the user before others; facts that are pinned and those that ``query`` asks for come right behind
    the rules, and never instead of one. Behind the facts, lists of names excepted, stand receipts ("[12]":
    message 12 says so) when every fact is carried and as long as three fifths of the budget stay free. ``nonce`` is
    what ``nonce_for`` gives.

    ``earlier`` (of ``earlier_facts``) has a section of its own behind the session's own facts.

    What was said in a message that reads like an attempt to take over the model has no place in the smallest block.

    A budget that holds the fence but no fact gives an empty ``Resume``, as a graph without facts does. Raises
    ``CallerError`` for an unknown level and ``BudgetTooSmall``, which names the smallest budget that there is, when
    the budget cannot hold even the fence.
    """
    level, tokens = _budget(level, budget)
    telling = _Telling(graph, counter, frame(nonce), query, turn, earlier)
    return telling.resume(level, tokens)


def build_resumes(
    graph: SessionGraph,
    *,
    counter: TokenCounter,
    nonce: str,
    query: str | None = None,
    turn: int = 0,
    earlier: Sequence[Fact] = (),
) -> dict[str, Resume]:
    """What ``build_resume`` gives for every level, by its name, at little more than the cost of one."""
    telling = _Telling(graph, counter, frame(nonce), query, turn, earlier)
    return {level: telling.resume(level, tokens) for level, tokens in LEVELS.items()}


@dataclass(slots=True)
class _Telling:
    """Everything that there is to say about a graph, in the order in which it should be said, made when it is asked
    for: with and without what was said in a message that reads like an attempt to take over the model."""

    graph: SessionGraph
    counter: TokenCounter
    around: tuple[str, str]
    query: str | None
    turn: int
    earlier: Sequence[Fact]
    _known: list[Fact] | None = None
    _ranked: dict[bool, list[Fact]] = field(default_factory=dict)

    def resume(self, level: str, tokens: int) -> Resume:
        counter, around = self.counter, self.around
        fixed = counter.count("".join(around))
        if tokens < fixed:
            reason = f"a resume needs a budget of at least {fixed} tokens, those of its fence, not {tokens}"
            raise BudgetTooSmall(reason)
        facts = said_once(self._told(flagged=tokens > LEVELS["critical"]), limit=tokens)
        text, taken = _fitted(facts, tokens, counter, around, fixed) if facts else ("", ())
        ids = [id for piece in taken for id in _ids(facts[piece.fact], piece.part)]
        count = counter.count(text) if text else 0
        return Resume(text, count, counter.exact, level, tokens, tuple(dict.fromkeys(ids)), self.turn)

    def _told(self, *, flagged: bool) -> list[Fact]:
        flagged = flagged or not self.graph.flagged
        if flagged not in self._ranked:
            self._ranked[flagged] = self._ordered(flagged)
        return self._ranked[flagged]

    def _ordered(self, flagged: bool) -> list[Fact]:
        graph = self.graph
        if self._known is None:
            self._known = facts_of(graph)
        known = self._known if flagged else [fact for fact in self._known if not _flagged(graph, fact)]
        told = [*condensed(graph, known), *self.earlier]
        pinned = {node.id: 1.0 for node in graph.nodes() if node.pinned}
        return ranked(told, importances(graph, self.turn), _asked(graph, self.query), pinned)


def _budget(level: str, budget: int | None) -> tuple[str, int]:
    if budget is None and level not in LEVELS:
        raise CallerError(f"unknown level {level!r}: one of {', '.join(LEVELS)}")
    return (level, LEVELS[level]) if budget is None else ("custom", budget)


def _asked(graph: SessionGraph, query: str | None) -> Mapping[str, float]:
    return {hit.node.id: hit.score for hit in search(graph, query, k=ASKED_MAX)} if query else {}


def _flagged(graph: SessionGraph, fact: Fact) -> bool:
    nodes = (graph.get(id) for id in fact.ids)
    return any(node is not None and graph.flags(node) for node in nodes)


def _ids(fact: Fact, part: int) -> tuple[str, ...]:
    return fact.why_ids if part else fact.ids


def _fitted(
    facts: Sequence[Fact], budget: int, counter: TokenCounter, around: tuple[str, str], fixed: int
) -> tuple[str, Sequence[Piece]]:
    """The text with as many facts as fit beside the fence ``around``, of ``fixed`` tokens, and their pieces."""
    added = _added(counter)

    def cost(piece: Piece, opens: bool) -> int:
        fact = facts[piece.fact]
        if piece.part:
            return added(fact.why)
        return added("\n" + _line(fact.section, [fact.text]) if opens else _HEADS[fact.section][1] + fact.text)

    taken = sequence(facts, budget, fixed, cost)
    if len(taken) == sum(2 if fact.why else 1 for fact in facts):
        text = _with_receipts(facts, taken, budget, counter, around)
        if counter.count(text) <= budget:
            return text, taken
    for some in beginnings(taken):
        text = _wrapped(facts, some, (), around)
        if counter.count(text) <= budget:
            return text, some
    return "", ()


def _added(counter: TokenCounter) -> Callable[[str], int]:
    """What a text adds to the count of a text that it follows."""
    alone = counter.count("x")
    return lambda text: counter.count("x" + text) - alone


def _with_receipts(
    facts: Sequence[Fact], taken: Sequence[Piece], budget: int, counter: TokenCounter, around: tuple[str, str]
) -> str:
    text = _wrapped(facts, taken, (), around)
    room = int(budget * _RECEIPTS_SHARE) - counter.count(text)
    added = _added(counter)
    receipts: set[int] = set()
    for index, fact in enumerate(facts):
        if fact.section in _NO_RECEIPTS:
            continue
        room -= added(f" [{fact.turn}]")
        if room < 0:
            break
        receipts.add(index)
    return _wrapped(facts, taken, receipts, around) if receipts else text


def _wrapped(facts: Sequence[Fact], pieces: Sequence[Piece], receipts: Collection[int], around: tuple[str, str]) -> str:
    said: dict[int, str] = {}
    for index, part in pieces:
        said[index] = said.get(index, "") + (facts[index].why if part else facts[index].text)
    lines: dict[Section, list[str]] = {}
    for index in sorted(said, key=lambda index: (facts[index].section, facts[index].place)):
        receipt = f" [{facts[index].turn}]" if index in receipts else ""
        lines.setdefault(facts[index].section, []).append(said[index] + receipt)
    return around[0] + "\n".join(_line(section, texts) for section, texts in lines.items()) + around[1]


def _line(section: Section, texts: Sequence[str]) -> str:
    head, between = _HEADS[section]
    first = between if between.startswith("\n") else " "
    return head + first + between.join(texts)
