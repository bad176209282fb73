"""Explain a fact: what it replaced, its source, relations and manual edits. Every text and page that says what a fact
replaced uses this module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.text import words
from tokenmizer_mw.model.event import NodeEdited, node_to_dict, transition_to_dict
from tokenmizer_mw.model.message import short_repr
from tokenmizer_mw.model.node import DecisionKind, Edge, EdgeType, Node, Status, Transition
from tokenmizer_mw.safety.labels import flatten

_TEXT_MAX: Final = 1_000
"""Characters of a reason or a quotation that an explanation shows."""


@dataclass(frozen=True, slots=True)
class Why:
    """The explanation of a fact.

    - ``chain``: the replacements that led to ``node``, oldest first, each as (old node, transition, new node).
    - ``relations``: the other edges of the node, each with the node at the other end.
    - ``successors``: the replacements from ``node`` to the current fact, oldest first; () if it was not replaced.
    - ``edits``: the manual edits of ``node`` that are in force, oldest first.
    - ``times``: when the messages that the explanation names were recorded, in seconds since the epoch, by message
      number; empty if unknown.
    - ``added``: for each fact in it that was added by hand, when, in seconds since the epoch, by fact id.
    - ``others``: other facts that the words of the caller's question fit about equally well, best first.
    - ``is_undone``: whether the fact was added by hand, and that was undone.
    """

    node: Node
    chain: tuple[Replacement, ...]
    relations: tuple[tuple[Edge, Node], ...]
    successors: tuple[Replacement, ...] = ()
    edits: tuple[NodeEdited, ...] = ()
    times: Mapping[int, float] = field(default_factory=dict, compare=False)
    added: Mapping[str, float] = field(default_factory=dict, compare=False)
    others: tuple[Node, ...] = ()
    is_undone: bool = False

    @property
    def numbers(self) -> list[int]:
        """Numbers of the messages that the explanation names, ascending: those that state the fact or replaced
        something. Facts added by hand have none."""
        steps = (step.trigger for _, step, new in (*self.chain, *self.successors) if not new.source.is_by_hand)
        sources = () if self.node.source.is_by_hand else (self.node.source.turn,)
        return sorted({*sources, *steps})

    @property
    def text(self) -> str:
        """The explanation in a few lines of text, in which markup has no effect: the fact, its reason and source, its
        manual edits, what it replaced and what replaced it, and its relations. Times are local ones."""
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        because = f", because {self.node.detail}" if self.node.detail else ""
        return short_repr(self, f"{self.node.label!r} {self._status_word}{because}")

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON values: an object with the keys "node", "chain", "successors", "relations",
        "edits", "times", "added" and "others"."""
        return {
            "node": node_to_dict(self.node),
            "chain": [_replacement_to_dict(one) for one in self.chain],
            "successors": [_replacement_to_dict(one) for one in self.successors],
            "relations": [
                {"type": edge.type.value, "outgoing": edge.source == self.node.id, "node": node_to_dict(far)}
                for edge, far in self.relations
            ],
            "edits": [_edit_to_dict(edit) for edit in self.edits],
            "times": {str(number): time for number, time in self.times.items()},
            "added": dict(self.added),
            "others": [node_to_dict(node) for node in self.others],
        }

    def _lines(self) -> Iterator[str]:
        node = self.node
        reason = flatten(node.detail, _TEXT_MAX)
        yield f"{flatten(node.label)} ({node.type.value}, {self._status_word})"
        if reason:
            yield f"  because: {reason}"
        if node.source.is_by_hand:
            addition = next((f" (change {edit.number})" for edit in self.edits if edit.adds), "")
            yield f"  added by hand{self._addition_time(node)}{addition}"
        else:
            yield f"  said by: {self.speaker} in {self._message(node.source.turn)}"
        yield from (f"  {line}" for edit in self.edits for line in _describe_edit(edit))
        if quote := _shorten_quote(node, reason):
            yield f'  {"said before:" if self._is_reworded() else "quote:  "} "{quote}"'
        yield from (f"  {self._describe_step(*one, reason)}" for one in (*self.chain, *self.successors))
        for edge, far in self.relations:
            arrow = "->" if edge.source == node.id else "<-"
            yield f"  {arrow} {edge.type.value.replace('_', ' ')} {flatten(far.label)}"
        if self.others:
            yield "  also: " + "; ".join(f"{other.id} {flatten(other.label, _OTHER_MAX)}" for other in self.others)

    @property
    def _status_word(self) -> str:
        return "undone" if self.is_undone else self.node.status_word

    def _describe_step(self, old: Node, step: Transition, new: Node, reason: str) -> str:
        """Return a line that says what was replaced by what, when and why."""
        where = f"by hand{self._addition_time(new)}" if new.source.is_by_hand else self._message(step.trigger)
        status = "" if new.current or new.status is Status.SUPERSEDED else f" ({new.status.word})"
        was = f"{flatten(old.label)}{mark_uncertain(new)}"
        return f"{where}: {was} -> {flatten(new.label)}{status}{_format_reason(step, reason)}"

    @property
    def speaker(self) -> str:
        """Who said the fact, also if its wording was corrected by hand since: "user", "assistant" or "tool"; "hand" for
        one that was added by hand."""
        sources = [edit.before["source"] for edit in self.edits if "source" in edit.before]
        return flatten((sources or [self.node.source])[0].role)

    def _is_reworded(self) -> bool:
        """Whether the fact has other words than the message that states it, by a manual edit."""
        return any("label" in edit.changes for edit in self.edits)

    def _addition_time(self, node: Node) -> str:
        """The time at which a fact was added by hand, behind a comma; "" if unknown."""
        time = self.added.get(node.id)
        return f", {_spell_time(time)}" if time else ""

    def _message(self, number: int) -> str:
        """A message by its number, with the time at which it was recorded."""
        time = self.times.get(number)
        return f"message {number}" + (f", {_spell_time(time)}" if time else "")


def _spell_time(time: float) -> str:
    return f"{datetime.fromtimestamp(time):%Y-%m-%d %H:%M}"


_OTHER_MAX: Final = 80
"""Characters of the label of each of the ``others`` that an explanation shows."""

_REASON_MIN: Final = 8
"""Only a reason of at least this many characters is left out of a quote, because a shorter one may be part of a
word."""


def _shorten_quote(node: Node, reason: str) -> str:
    """Return the quote that states ``node``, with "[...]" in place of the reason that was already shown above; "" if
    the quote only repeats the label and there is a reason."""
    quote = flatten(node.source.quote, _TEXT_MAX)
    if reason and quote.rstrip(".!").casefold() == flatten(node.label).casefold():
        return ""
    return quote.replace(reason, "[...]") if len(reason) >= _REASON_MIN else quote


def _format_reason(step: Transition, shown: str) -> str:
    """The reason of a replacement; "" if there is none, or if it is the reason ``shown`` above."""
    reason = flatten(step.reason, _TEXT_MAX)
    return f": {reason}" if reason and reason != shown else ""


def _describe_edit(edit: NodeEdited) -> Iterator[str]:
    """Yield lines that say what an edit changed, from what, and why; nothing for the addition of a fact and for a
    pin."""
    hand = f"by hand (change {edit.number})"
    because = f": {flatten(edit.reason, _TEXT_MAX)}" if edit.reason else ""
    if edit.separated is not None:
        yield f"kept beside {edit.separated.new} {hand}{because}"
    elif "status" in edit.changes and not edit.adds:
        withdrawn = edit.changes["status"] is Status.INVALIDATED and edit.changes.get("confidence") == 0
        yield f"{'withdrawn as never true' if withdrawn else edit.changes['status'].value} {hand}{because}"
    if "label" in edit.changes:
        yield f"corrected {hand} from {flatten(edit.before['label'])}{because}"
    elif "detail" in edit.changes:
        yield f"reason corrected {hand} from {flatten(edit.before['detail'], _TEXT_MAX) or 'none'}{because}"


def _edit_to_dict(edit: NodeEdited) -> dict[str, Any]:
    """The number and the reason of an edit, and what the words and the status of the fact were before it."""
    before = {name: edit.before[name] for name in ("label", "detail", "status", "pinned") if name in edit.before}
    return {"number": edit.number, "reason": edit.reason, "before": before}


def _replacement_to_dict(replacement: Replacement) -> dict[str, Any]:
    old, step, new = replacement
    return {
        "from": node_to_dict(old),
        "transition": transition_to_dict(step),
        "to": node_to_dict(new),
        "replaces_perhaps": new.replaces_perhaps,
    }


def qualify_replacement(new: Node | None, words: str) -> str:
    """Return ``words`` that say that ``new`` replaced another fact ("was", "replaced", "replaces", "instead of"), with
    "perhaps" added if that is uncertain (``new.replaces_perhaps``): "perhaps replaced", but "was perhaps". ``new`` is
    ``None`` if that fact was pruned; nothing is added then."""
    if new is None or not new.replaces_perhaps:
        return words
    return f"{words} perhaps" if words == "was" else f"perhaps {words}"


def mark_uncertain(new: Node | None) -> str:
    """Return " (perhaps replaced)" if it is uncertain that ``new`` replaced another fact, else "". Texts put it after
    the old fact: "SQLite (perhaps replaced) -> PostgreSQL". Also "" if ``new`` was pruned (``None``)."""
    return f" ({qualify_replacement(new, 'replaced')})" if new is not None and new.replaces_perhaps else ""


def why(graph: SessionGraph, node: Node, edits: Iterable[NodeEdited] = (), others: Iterable[Node] = ()) -> Why:
    """Return the explanation of ``node``, a fact of ``graph``. ``Why.times`` is left empty.

    - ``edits``: the session's manual edits that are in force, of any fact.
    - ``others``: other facts that may be meant; those that the explanation names anyway are left out.

    Facts that were withdrawn (declared never to have been true) are left out, except ``node`` itself.
    """
    relations = []
    for edge in graph.edges():
        if edge.type is EdgeType.SUPERSEDES or node.id not in (edge.source, edge.target):
            continue
        far = graph.get(edge.target if edge.source == node.id else edge.source)
        if far is not None and not far.is_withdrawn:
            relations.append((edge, far))
    of_node = tuple(edit for edit in edits if edit.id == node.id)
    steps = find_predecessors(graph, node), find_successors(graph, node)
    before, after = (drop_withdrawn(chain, besides=node) for chain in steps)
    named = {node.id: node} | {end.id: end for old, _, new in (*before, *after) for end in (old, new)}
    added = {id: graph.life(id).added for id, one in named.items() if one.source.is_by_hand}
    unnamed = tuple(one for one in others if one.id not in named and not one.is_withdrawn)
    undone = graph.is_undone(node)
    return Why(node, before, tuple(relations), after, of_node, added=added, others=unnamed, is_undone=undone)


class Predecessors:
    """Finds what each fact of a graph replaced.

    ``standing``: ids of the user's standing rules that a fact which is no rule is said to have replaced. Such a
    replacement does not count, because a single choice ends no rule.
    """

    def __init__(self, graph: SessionGraph) -> None:
        self._graph = graph
        self._into: dict[str, list[Transition]] = {}
        self.standing: set[str] = set()
        for step in graph.transitions():
            if _outlasts(graph.get(step.old), graph.get(step.new)):
                self.standing.add(step.old)
            else:
                self._into.setdefault(step.new, []).append(step)

    def of(self, node: Node) -> Iterator[tuple[Transition, Node]]:
        """Iterate over the facts that ``node`` replaced directly or through others, the newest first, each with its
        replacement (the transition).

        - Left out are facts that were withdrawn as never true or pruned, and facts about something else than ``node``
          (``is_same_thing``). The iteration goes on with what these had replaced.
        - If one fact replaced several, only one of them is followed: of those that are not left out, the one replaced
          last; if all are left out, the one replaced last.
        """
        seen, id = {node.id}, node.id
        while id in self._into:
            found = [(self._find_old(node, step), step) for step in self._into[id]]
            place = max(range(len(found)), key=lambda at: (found[at][0] is not None, found[at][1].trigger, at))
            old, step = found[place]
            if step.old in seen:
                return
            seen.add(step.old)
            if old is not None:
                yield step, old
            id = step.old

    def _find_old(self, node: Node, step: Transition) -> Node | None:
        """Return the fact that ``step`` replaced; ``None`` if it is not to be shown as a predecessor of ``node``."""
        old = self._graph.get(step.old)
        return old if old is not None and not old.is_withdrawn and is_same_thing(node, step, old) else None


def is_same_thing(node: Node, step: Transition, old: Node) -> bool:
    """Return whether ``node`` and ``old``, a fact that ``step`` replaced, are about the same thing. True in each of
    these cases:

    - ``step`` has no quote as evidence, or both facts have the same slot (such as "database");
    - the label of ``node`` and the evidence together have more than an eighth of the words of the label of ``old``
      (rounded down, so one word of a label of up to seven);
    - the reason of ``step`` has at least half of the words of that label.
    """
    if not step.evidence or (old.slot and old.slot == node.slot):
        return True
    label = words(old.label)
    if len(label & {*words(node.label), *words(step.evidence)}) > len(label) // _NAMED_SHARE:
        return True
    return bool(label) and 2 * len(label & words(step.reason)) >= len(label)


_NAMED_SHARE: Final = 8
"""A text names a long label if it has more than one in this many of the label's words."""


def _outlasts(old: Node | None, new: Node | None) -> bool:
    """Whether ``old`` is a standing rule of the user that ``new`` is said to replace, although ``new`` is no rule: a
    single choice ends no rule."""
    return (
        old is not None
        and new is not None
        and old.kind is DecisionKind.RULE
        and old.status is Status.SUPERSEDED
        and old.source.role == "user"
        and new.kind is not DecisionKind.RULE
    )


Replacement = tuple[Node, Transition, Node]
"""A replaced fact, the transition that replaced it, and the fact that took its place."""


def drop_withdrawn(chain: Iterable[Replacement], *, besides: Node) -> tuple[Replacement, ...]:
    """Return ``chain`` without the replacements in which the old or the new fact was withdrawn as never true.
    ``besides``: a fact that may be withdrawn nevertheless."""
    return tuple(one for one in chain if not any(end.is_withdrawn and end.id != besides.id for end in (one[0], one[2])))


def find_predecessors(graph: SessionGraph, node: Node) -> tuple[Replacement, ...]:
    """Return the replacements that led to ``node``, directly or through other facts, oldest first; () if it replaced
    none. Left out are those of a fact that is no longer in the graph."""
    into: dict[str, list[Transition]] = {}
    for step in graph.transitions():
        into.setdefault(step.new, []).append(step)
    found: dict[Transition, None] = {}
    waiting = [node.id]
    while waiting:
        for step in into.get(waiting.pop(), ()):
            if step not in found:
                found[step] = None
                waiting.append(step.old)
    return _between(graph, [step for step in graph.transitions() if step in found])


def find_successors(graph: SessionGraph, node: Node) -> tuple[Replacement, ...]:
    """Return the replacements that lead from ``node`` to the fact that is now in its place, oldest first; () unless the
    status of ``node`` is ``superseded``."""
    if node.status is not Status.SUPERSEDED:
        return ()
    latest = {step.old: step for step in graph.transitions()}  # a fact that came back may have been replaced twice
    found: dict[Transition, None] = {}
    place: Node | None = node
    while place is not None and place.status is Status.SUPERSEDED and (step := latest.get(place.id)) is not None:
        if step in found:
            break
        found[step] = None
        place = graph.get(step.new)
    return _between(graph, found)


def _between(graph: SessionGraph, steps: Iterable[Transition]) -> tuple[Replacement, ...]:
    """The transitions with their two facts, as far as both are still in the graph."""
    pairs = [(graph.get(step.old), step, graph.get(step.new)) for step in steps]
    return tuple((old, step, new) for old, step, new in pairs if old is not None and new is not None)
