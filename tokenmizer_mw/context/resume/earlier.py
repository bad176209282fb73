"""What earlier sessions of a project hand on to a resume block: rules, decisions, environment and open work."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from tokenmizer_mw.context.resume.facts import ResumeFact
from tokenmizer_mw.context.resume.sections import Section, is_guessed, section_of
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.text import stem, words
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status, Trust
from tokenmizer_mw.safety.labels import flatten

FACTS_MAX: Final = 40
"""At most this many facts of earlier sessions are used, not counting open work."""

WORK_MAX: Final = 5
"""At most this many open tasks of earlier sessions are used."""

_SETTLING_WORDS: Final = 3
"""An open task of at least this many words counts as settled if a newer session settled a task that has all of them; a
shorter task only if a newer session settled one of the same words."""

_HANDED_ON: Final = {
    Section.RULES: Section.EARLIER_RULES,
    Section.DECISIONS: Section.EARLIER_DECISIONS,
    Section.ENVIRONMENT: Section.EARLIER_ENVIRONMENT,
}
_OPEN_WORK: Final = frozenset({Section.DOING, Section.TO_DO})
_TRUSTED: Final = frozenset({Trust.STATED, Trust.ADOPTED, Trust.STRUCTURE})
_ORIGIN_MAX: Final = 40
_UUID: Final = re.compile(r"([0-9a-fA-F]{8})(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")


def earlier_facts(
    own: SessionGraph, others: Sequence[tuple[str, SessionGraph]], *, explicit: bool = False
) -> list[ResumeFact]:
    """Return the facts that a session gets from ``others``, the other sessions of its project (ids and graphs, newest
    first).

    - Rules, decisions and environment that held at the end of these sessions: at most ``FACTS_MAX``, rules first, then
      decisions, then environment, the newest of each first. ``grade`` gives this order, in which a block without room
      for all of them takes them, too.
    - If ``own`` has no facts yet: up to ``WORK_MAX`` tasks that were open at the end, those of the newest session
      first, and of each session those in progress before the others, the newest first.

    Left out are facts that the assistant only claimed or proposed; facts of messages that read like an attempt to take
    over the model; decisions that a newer session replaced or rejected; tasks that a newer session states or has
    settled; and facts in the same slot or with the same words as a fact of ``own`` or of a newer session. With
    ``explicit``, facts read from words that may mean something else (``is_guessed``) are left out, too.

    In the returned list, each kind of facts has the newest session first, with its facts in the order in which they
    were stated; open work is last.
    """
    newer = _NewerStatements()
    newer.add(own)
    found: list[ResumeFact] = []
    work: list[tuple[str, Node]] = []
    for place, (origin, graph) in enumerate(others):
        for node, section in _find_trusted(graph, _HANDED_ON):
            if not (newer.has_overtaken(node) or (explicit and is_guessed(node))):
                at = (place, node.source.turn, len(found))
                found.append(_make_earlier_fact(_HANDED_ON[section], node, origin, at))
        if not own.nodes():
            tasks = (node for node in _find_open_work(graph) if not (explicit and is_guessed(node)))
            work += [(origin, node) for node in tasks if not newer.has_overtaken(node)]
        newer.add(graph)
    return _keep_newest(found) + [
        _make_earlier_fact(Section.EARLIER_WORK, node, origin, (0, at, at))
        for at, (origin, node) in enumerate(work[:WORK_MAX])
    ]


def _keep_newest(facts: Sequence[ResumeFact]) -> list[ResumeFact]:
    """Return at most ``FACTS_MAX`` of ``facts``: rules first, then decisions, then environment, of each the newest. The
    grade of each is its rank in this order. The list itself has the order in which a block states them."""
    newest = sorted(facts, key=lambda fact: (fact.section, fact.place[0], -fact.place[1], -fact.place[2]))[:FACTS_MAX]
    graded = (replace(fact, grade=grade) for grade, fact in enumerate(newest))
    return sorted(graded, key=lambda fact: (fact.section, fact.place))


class _NewerStatements:
    """What a session and the newer sessions of its project state. Used to leave out facts of older sessions that these
    outdate or repeat."""

    def __init__(self) -> None:
        self._slots: set[str] = set()
        self._statements: set[frozenset[str]] = set()
        self._settled: list[frozenset[str]] = []
        self._dropped: list[_DroppedDecision] = []

    def add(self, graph: SessionGraph) -> None:
        """Add the facts of one session, also those that no longer hold. Call it for the newest session first."""
        nodes = graph.nodes()
        held = (node for node in nodes if node.current or node.status is Status.SUPERSEDED)
        self._slots.update(node.slot for node in held if node.slot)
        self._statements.update(words(node.label) for node in nodes)
        self._settled += (_stems(node) for node in nodes if node.type is NodeType.TASK and not node.open)
        self._dropped += _find_dropped(graph)

    def has_overtaken(self, node: Node) -> bool:
        """Whether to leave out ``node``, a fact of a session older than all that were added: one of them has a fact in
        the same slot or with the same words, settled this task, or dropped this decision."""
        if node.slot in self._slots or (stated := words(node.label)) in self._statements:
            return True
        if node.type is NodeType.TASK:
            return self._is_settled(node)
        if node.type is not NodeType.DECISION or node.kind in (DecisionKind.RULE, DecisionKind.PREFERENCE):
            return False
        return any(dropped.covers(node, stated) for dropped in self._dropped)

    def _is_settled(self, task: Node) -> bool:
        """Whether a newer session has a task that is no longer open and has all words of ``task``; if ``task`` has
        fewer than ``_SETTLING_WORDS`` words, one with exactly the same words."""
        wanted = _stems(task)
        if len(wanted) < _SETTLING_WORDS:
            return wanted in self._settled
        return any(wanted <= settled for settled in self._settled)


def _stems(node: Node) -> frozenset[str]:
    return frozenset(map(stem, words(node.label)))


class _DroppedDecision(NamedTuple):
    """A decision that its session replaced or rejected: the words of its label, its slot and value, and the words of
    what took its place (none for a rejection)."""

    words: frozenset[str]
    slot: str
    value: str
    successor: frozenset[str]

    def covers(self, node: Node, stated: frozenset[str]) -> bool:
        """Whether ``node``, a decision with the words ``stated``, says the same as this one.

        A name alone ("Redis") says the same as what it was chosen for ("Redis for the queue") only if what took its
        place is for the same ("RabbitMQ for the queue").
        """
        if self.slot and self.slot == node.slot and self.value == node.value:
            return True
        if not self.words or not self.words <= stated:
            return False
        purpose = stated - self.words
        return not purpose or not self.successor or not purpose.isdisjoint(self.successor)


def _find_dropped(graph: SessionGraph) -> Iterator[_DroppedDecision]:
    """Yield the decisions of a session that were replaced or rejected in it."""
    successors = {step.old: graph.get(step.new) for step in graph.transitions()}
    for node in graph.nodes():
        if node.type is NodeType.DECISION and (node.status is Status.SUPERSEDED or node.is_rejected):
            successor = successors.get(node.id)
            taken = words(successor.label) if successor is not None else frozenset[str]()
            yield _DroppedDecision(words(node.label), node.slot, node.value, taken)


def _find_open_work(graph: SessionGraph) -> list[Node]:
    """Return the open tasks of a session, those in progress first, then the newest first."""
    tasks = list(_find_trusted(graph, _OPEN_WORK))
    tasks.sort(key=lambda found: (found[1] is Section.TO_DO, -graph.life(found[0].id).touched))
    return [node for node, _ in tasks]


def _find_trusted(graph: SessionGraph, wanted: Collection[Section]) -> Iterator[tuple[Node, Section]]:
    """Yield each fact of ``graph`` that belongs to a section in ``wanted`` and may be shown in another session, with
    its section. Left out are facts that the assistant only claimed or proposed, and facts of messages that read like an
    attempt to take over the model."""
    for node in graph.nodes():
        section = section_of(node)
        if section in wanted and section is not None and node.source.trust in _TRUSTED and not graph.flags(node):
            yield node, section


def _make_earlier_fact(section: Section, node: Node, origin: str, place: tuple[int, int, int]) -> ResumeFact:
    text = f"{flatten(node.label)} ({_shorten_origin(flatten(origin))})"
    return ResumeFact(section, text, "", 0, place, ())


def _shorten_origin(session: str) -> str:
    """Return a session id in few tokens: "session " and the first 8 characters of a UUID; an id of at most 40
    characters as it is; of a longer one the part after its last "/" or ":", shortened with "..." if that is too long as
    well."""
    if (found := _UUID.search(session)) is not None:
        return f"session {found[1]}"
    if len(session) <= _ORIGIN_MAX:
        return session
    name = re.split("[/:]", session)[-1]
    return name if len(name) <= _ORIGIN_MAX else f"{name[: _ORIGIN_MAX - 3]}..."
