"""Merge a model's reply into the known facts, as events.

Facts from structure (tool calls, edits) are certain and stay. Facts that the model states are confirmed if known, and
added if not. Facts read from prose that the model was shown and does not state are archived, except goals and the
user's rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tokenmizer_mw.extract.compose.validate import clean_label, format_quote
from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.resolve.facts import drop_taken_slot, extend_file_node
from tokenmizer_mw.extract.resolve.ledger import Ledger
from tokenmizer_mw.extract.resolve.node_search import CANDIDATES_MAX, find_matching_node
from tokenmizer_mw.extract.text.similar import content, likeness, overlap
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.text import words
from tokenmizer_mw.model.event import Event, NodeRevised
from tokenmizer_mw.model.node import NOT_FOUND, DecisionKind, Node, NodeType, Status, Trust
from tokenmizer_mw.session import Numbered
from tokenmizer_mw.session.refinement.reply import BY_NAME, RefinementReply, ReplyStatement
from tokenmizer_mw.session.refinement.sources import PlacedFinding, Places, place_finding, trust_of
from tokenmizer_mw.settings import Settings

_OVERLAP: Final = 0.6
_LIKENESS: Final = 0.4
_SHARED_LEAST: Final = 3
_SHARED: Final = 0.75
_OLD_CONFIDENCE: Final = 0.6
STATED_TWICE: Final = "the same choice, said twice"

_ANSWERED_IN: Final[Mapping[NodeType, frozenset[str]]] = {
    NodeType.TASK: frozenset({"tasks_done", "tasks_pending"}),
    NodeType.DECISION: frozenset({"decisions"}),
    NodeType.ERROR: frozenset({"errors"}),
}
"""For each type of facts, the lists of a reply that must be complete before facts that they lack are archived."""

_STANDING: Final = frozenset({DecisionKind.RULE, DecisionKind.PREFERENCE})


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The events to append for a model's reply, and how many of its entries had which effect.

    - "added": new facts; "confirmed": known facts; "moved": changes of status; "replaced": replacements.
    - "surplus": further goals beside the first; "unplaced": entries that no message of the session supports.
    - "archived": known facts that were archived.
    """

    events: tuple[Event, ...]
    counts: Mapping[str, int]


def merge(
    graph: SessionGraph,
    reply: RefinementReply,
    messages: Sequence[Numbered],
    settings: Settings,
    *,
    flagged: Iterable[int] = (),
    archives: bool = True,
) -> MergeResult:
    """Return the events and counts for merging a model's ``reply`` into a session whose graph is ``graph``.

    - ``messages``: the messages that the model was shown, with their numbers, oldest first; at least one.
    - ``flagged``: numbers of messages that read like an attempt to take over a model.
    - ``archives``: whether facts from the shown messages that the reply does not state are archived.

    Pure: ``graph`` is not changed. Facts from messages newer than those shown are not changed either.
    """
    places = Places(messages, flagged=flagged)
    merging = _Merge(Ledger(graph.fork()), first=messages[0][0], last=messages[-1][0])
    for stated in reply.stated:
        found = place_finding(stated, places, settings)
        if found is None:
            merging.counts[merging.recognise(stated)] += 1
            continue
        merging.ledger.begin_message(found.place.turn, found.place.speaker, 0, 0)
        merging.counts[merging.settle(found)] += 1
    if archives:
        merging.archive(reply.whole)
    merging.ledger.prune(settings.nodes_max)
    return MergeResult(tuple(merging.ledger.events), merging.counts)


@dataclass(slots=True)
class _Merge:
    """One merge in progress. ``first``, ``last``: numbers of the oldest and the newest message that the model was
    shown; ``stated``: ids of the facts that its reply states."""

    ledger: Ledger
    first: int
    last: int
    stated: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    _goals: int = 0

    def settle(self, found: PlacedFinding) -> str:
        """Merge one finding into the graph. Returns the name of its effect, a key of ``MergeResult.counts``."""
        finding = found.finding
        if finding.move is Move.REPLACE:
            return self._replace(found)
        if finding.type is NodeType.GOAL:
            self._goals += 1
            if self._goals > 1:
                return "surplus"
        if finding.type is NodeType.FILE:
            node = find_matching_node(self.ledger.graph, finding, adjacent=lambda _: False)
        else:
            node = self._find_known(finding)
        return self._add(finding) if node is None else self._confirm(node, finding)

    def recognise(self, stated: ReplyStatement) -> str:
        """Find the known fact that an entry without a place in the session states. Returns "confirmed", or "unplaced"
        if there is none."""
        category = BY_NAME[stated.category]
        label = clean_label(stated.text)
        node = self._find_known(Finding(category.type, label, category.status, Trust.QUOTED, 0.0)) if label else None
        if node is None:
            return "unplaced"
        self.stated.add(node.id)
        return "confirmed"

    def archive(self, whole: Collection[str]) -> None:
        """Archive the current facts from the messages that the model saw and that its reply does not state, because it
        seems that they were read wrongly. Mere options, facts that tools or manual edits show, and rules that the user
        stated stay.

        ``whole``: names of the reply's lists that are complete. Only types of facts are considered whose lists are, and
        of which the reply states at least one fact: an empty reply does not mean that nothing is true.
        """
        nodes = self.ledger.graph.nodes()
        types = {node.type for node in nodes if node.id in self.stated}
        for node in nodes:
            needed = _ANSWERED_IN.get(node.type)
            if needed is not None and needed <= set(whole) and node.type in types and self._is_doubtful(node):
                gone = Finding(node.type, node.label, Status.ARCHIVED, Trust.CLAIMED, node.confidence)
                self.ledger.turn = self.last
                self.counts["archived"] += self.ledger.move(node, Status.ARCHIVED, gone, NOT_FOUND)

    def _is_doubtful(self, node: Node) -> bool:
        if node.id in self.stated or not node.current or _is_certain(node) or node.kind is DecisionKind.OPTION:
            return False
        if node.source.turn < self.first or self.ledger.last_touched(node) > self.last:
            return False
        return not (node.kind in _STANDING and node.source.trust is Trust.STATED)

    def _add(self, finding: Finding) -> str:
        note = drop_taken_slot(self.ledger, replace(finding, move=Move.NOTE))
        if finding.move is Move.REJECT:
            node = self.ledger.add(note, status=Status.PENDING)
            self.ledger.move(node, Status.INVALIDATED, finding)
        else:
            node = self.ledger.add(note)
        self.stated.add(node.id)
        return "added"

    def _confirm(self, node: Node, finding: Finding) -> str:
        """Note that the reply states the known fact ``node``, and give it the stated status, unless the fact is certain
        or newer messages mention it."""
        self.stated.add(node.id)
        ledger = self.ledger
        if finding.type is NodeType.FILE:
            ledger.move(node, Status.ACTIVE, finding)
            extend_file_node(ledger, ledger.graph.get(node.id) or node, replace(finding, detail=""))
        elif not _is_certain(node) and ledger.last_touched(node) <= self.last and not _is_in_force(node, finding):
            moved = self._move(node, finding)
            self._retell(ledger.graph.get(node.id) or node, finding)
            return "moved" if moved else "confirmed"
        ledger.touch(node)
        return "confirmed"

    def _move(self, node: Node, finding: Finding) -> bool:
        """Give a fact the status that the model states. A fact that was declared wrong stays so, and so does open work
        that the model calls pending. Returns whether the status changed."""
        if node.status is Status.INVALIDATED or (node.open and finding.status is Status.PENDING):
            return False
        holder = self.ledger.graph.in_slot(node.slot)
        if holder is not None and holder.id != node.id:
            self.ledger.emit(NodeRevised(node.id, {"slot": "", "value": ""}, self.ledger.turn))
        return self.ledger.move(node, finding.status, finding)

    def _retell(self, node: Node, finding: Finding) -> None:
        """Merge ``finding``, which the model read, into ``node``, the known fact that states the same. The model's
        wording is taken over if it has more content words; goals, rules and preferences keep the words in which they
        were said."""
        self.ledger.merge(node, replace(finding, slot="", value=""))
        changes: dict[str, Any] = {}
        own = node.type is NodeType.GOAL or node.kind in _STANDING
        if not own and len(content(finding.label)) > len(content(node.label)):
            changes["label"] = finding.label
        if node.kind is DecisionKind.OPTION and finding.kind is not DecisionKind.OPTION:
            changes["kind"] = finding.kind
        if changes:
            self.ledger.emit(NodeRevised(node.id, changes, self.ledger.turn))

    def _replace(self, found: PlacedFinding) -> str:
        """Merge a replacement of one choice by another: find both, add what is missing, and link them. Returns the
        effect."""
        finding = found.finding
        chosen = replace(finding, move=Move.NOTE, target="")
        before = replace(chosen, label=finding.target, reason="", slot="", value="")
        new = self._find_stated(chosen) or self._find_known(chosen)
        if new is not None:
            if new.id in self.stated:
                self.ledger.merge(new, replace(chosen, slot="", value=""))
            else:
                self._confirm(new, chosen)
            new = self.ledger.graph.get(new.id) or new
        old = self._find_known(before)
        if old is not None and (self._has_given_way(old, new) or _is_laid_down(old, finding)):
            self.stated.add(old.id)
            return "confirmed"
        if old is not None and (heir := self._replaced_here(old, found)) is not None:
            return self._reword(heir, new, chosen)
        if old is None or not old.current or (new is not None and old.id == new.id):
            old = self._add_before(before, found)
        return self._put_in_place(old, new, chosen)

    def _replaced_here(self, old: Node, found: PlacedFinding) -> Node | None:
        """Return the fact that replaced ``old`` in the same message, if the reply has not stated it yet; else ``None``.
        It may be the same change in other words."""
        heir = self.ledger.graph.heir(old.id)
        same = heir is not None and heir.current and heir.source.turn == found.place.turn and heir.id not in self.stated
        return heir if same else None

    def _reword(self, heir: Node, new: Node | None, chosen: Finding) -> str:
        """Give a replacement that was extracted before the words of the model, and archive the duplicate fact
        ``new``."""
        if new is not None:
            self.ledger.move(new, Status.ARCHIVED, chosen, STATED_TWICE)
        label = new.label if new is not None else chosen.label
        self.stated.add(heir.id)
        self.ledger.emit(NodeRevised(heir.id, {"label": label}, self.ledger.turn))
        return "confirmed"

    def _add_before(self, before: Finding, found: PlacedFinding) -> Node:
        """Add the replaced choice, with the message that states it as its source."""
        place = found.before
        if place is None:
            return self.ledger.add(before, confidence=_OLD_CONFIDENCE)
        self.ledger.begin_message(place.turn, place.speaker, 0, 0)
        node = self.ledger.add(
            replace(before, quote=format_quote(place.quote), span=place.span, trust=trust_of(place)),
            confidence=_OLD_CONFIDENCE,
        )
        self.ledger.begin_message(found.place.turn, found.place.speaker, 0, 0)
        return node

    def _put_in_place(self, old: Node, new: Node | None, chosen: Finding) -> str:
        ledger = self.ledger
        if new is None:
            inherits = bool(chosen.slot) and old.slot == chosen.slot
            new = ledger.add(chosen if inherits else drop_taken_slot(ledger, chosen))
        self.stated |= {old.id, new.id}
        ledger.replace(old, new, chosen)
        return "replaced"

    def _has_given_way(self, old: Node, new: Node | None) -> bool:
        heir = self.ledger.graph.heir(old.id)
        return heir is not None and new is not None and heir.id == new.id

    def _find_known(self, finding: Finding) -> Node | None:
        """Return the known fact that a finding states; ``None`` for none. A fact whose label is only similar counts if
        no other entry stated it before."""
        exact = self.ledger.graph.find(finding.type, finding.label)
        return exact or self._closest(finding, lambda node: node.id not in self.stated and _are_alike(node, finding))

    def _find_stated(self, finding: Finding) -> Node | None:
        """Return the fact in force that another entry of the reply stated in similar words, perhaps in more than the
        new side of this replacement; ``None`` for none."""
        return self._closest(
            finding,
            lambda node: node.id in self.stated and node.current and overlap(node.label, finding.label) >= _OVERLAP,
        )

    def _closest(self, finding: Finding, accept: Callable[[Node], bool]) -> Node | None:
        graph = self.ledger.graph
        found = [node for node, _ in graph.sharing_words(finding.label, finding.type, CANDIDATES_MAX) if accept(node)]
        return max(found, key=lambda node: (node.current, likeness(node.label, finding.label)), default=None)


def _is_certain(node: Node) -> bool:
    return node.source.trust is Trust.STRUCTURE


def _is_laid_down(node: Node, finding: Finding) -> bool:
    """Whether the user stated the fact as a rule or preference, and somebody else would replace it."""
    return node.kind in _STANDING and node.source.trust is Trust.STATED and finding.trust is not Trust.STATED


def _is_in_force(node: Node, finding: Finding) -> bool:
    """Whether the finding rejects a choice that is in force, for which a model's word is not enough."""
    return finding.move is Move.REJECT and node.current and node.kind is not DecisionKind.OPTION


def _are_alike(node: Node, finding: Finding) -> bool:
    if overlap(node.label, finding.label) >= _OVERLAP and likeness(node.label, finding.label) >= _LIKENESS:
        return True
    mine, other = words(node.label), words(finding.label)
    shared = len(mine & other)
    return shared >= _SHARED_LEAST and shared >= _SHARED * min(len(mine), len(other))
