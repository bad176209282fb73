"""What manual edits return: the fact before and after the edit; for an added fact also the facts that it replaced and
those that it may contradict."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Self

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.text import label_key, singular, words
from tokenmizer_mw.model.message import short_repr
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, describe_move
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.manual_edits import KINDS, find_addition
from tokenmizer_mw.session.state import SHOWN_FIELDS

_SIMILAR_MAX: Final = 3
"""Most similar facts that are returned."""

_COMPARED: Final = frozenset({type_ for type_, _, _ in KINDS.values()} | {NodeType.CONCEPT})
"""Types of facts with which an added fact is compared. A message may have stated as a goal what a person adds as a
choice."""

_SHARED_MIN: Final = 2
"""Least number of words that similar facts have in common."""


@dataclass(frozen=True, slots=True)
class FactEdit:
    """The effect of a manual edit on a fact.

    - ``number``: the number of the edit, which ``undo`` takes; 0 if the edit changed nothing.
    - ``before``, ``after``: the fact before and after the edit.
    - ``restored``: other facts that hold again because of the edit, such as the one that an invalidated fact had
      replaced.
    """

    number: int
    before: Node
    after: Node
    restored: tuple[Node, ...] = ()

    @property
    def previous(self) -> dict[str, str | bool]:
        """The fields that the edit changed, with their values before it; ``{}`` for none. Only ``label``, ``detail``,
        ``status``, ``pinned`` and ``slot`` are compared."""
        return {
            name: getattr(self.before, name)
            for name in SHOWN_FIELDS
            if getattr(self.before, name) != getattr(self.after, name)
        }

    @property
    def effects(self) -> list[str]:
        """Further effects of the edit as lines of text; ``[]`` for none. A line says that the fact is now a value of
        something else (its slot changed), that it was not in force anyway, or which other fact is in force again."""
        return [*self._changes(), *(f"in force again: {node.id} {node.label}" for node in self.restored)]

    def _changes(self) -> list[str]:
        lines = [describe_move(self.before, self.after)] if "slot" in self.previous else []
        if not (self.before.current or self.after.current):
            lines.append(f"this fact was {self.before.status.word} before, and is not in force")
        return lines

    def __str__(self) -> str:
        was = f" (was: {self.before.label})" if "label" in self.previous else ""
        done = f"change {self.number}" if self.number else "nothing changed"
        return "; ".join([f"{done}: {self.after.label}{was}", *self.effects])

    def __repr__(self) -> str:
        return short_repr(self, str(self))


@dataclass(frozen=True, slots=True, repr=False)
class UndoneEdit(FactEdit):
    """The effect of an undo, which is itself a manual edit. ``undone``: number of the edit that was undone."""

    undone: int = 0

    @property
    def effects(self) -> list[str]:
        """Further effects of the undo as lines of text; ``[]`` for none. A line says that the fact is now a value of
        something else (its slot changed), or that it is not in force, as before. The facts in ``restored`` are not
        listed here."""
        return self._changes()

    def __str__(self) -> str:
        again = [f"in force again: {node.label}" for node in self.restored]
        return "; ".join([f"change {self.undone} is undone: {self.after.label}", *self.effects, *again])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AddedFact(Node):
    """The fact that ``remember`` added; it equals the ``Node`` in the graph.

    - ``number``: of the manual edit that added it, for ``undo``; 0 if the messages had already stated the fact.
    - ``replaced``: the facts whose place it took.
    - ``similar``: at most three statements in force that share most of their words with it, or are choices about the
      same thing ("search: SQLite FTS5" and "Elasticsearch for search"), the most similar first. If it contradicts one,
      correct or invalidate that one.
    - ``text``: the text that was passed to ``remember``, if the fact is worded differently, because it also keeps the
      rest of what the replaced fact stated. "" if it is worded the same.
    """

    number: int = 0
    replaced: tuple[Node, ...] = ()
    similar: tuple[Node, ...] = ()
    text: str = ""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Node):
            return NotImplemented
        return all(getattr(self, field.name) == getattr(other, field.name) for field in fields(Node))

    __hash__ = Node.__hash__

    @classmethod
    def of(cls, state: SessionState, node: Node, text: str = "") -> Self:
        """Return the fact ``node`` as an ``AddedFact``: with the number of the edit that added it, the facts that it
        replaced, and similar facts in force. ``state``: the session after the addition; ``text``: what was added."""
        graph = state.graph
        steps = [step.old for step in graph.transitions() if step.new == node.id]
        return cls(
            **{field.name: getattr(node, field.name) for field in fields(Node)},
            number=find_addition(state.edits.values(), node.id),
            replaced=tuple(old for id in steps if (old := graph.get(id)) is not None),
            similar=tuple(_find_similar(graph, node)),
            text=text if label_key(node.type, text) != label_key(node.type, node.label) else "",
        )

    @property
    def effects(self) -> list[str]:
        """What the addition did to other facts, and which similar ones are still in force, as lines of text; ``[]`` for
        nothing."""
        lines = [f"replaced {old.id}: {old.label}" for old in self.replaced]
        if self.text:
            lines.append(f"worded as {self.label}: what else the replaced fact states stays")
        if self.similar:
            named = "; ".join(f"{one.id}: {one.label}" for one in self.similar)
            lines.append(f"similar, still in force: {named} (use correct or invalidate if one no longer holds)")
        return lines


def _find_similar(graph: SessionGraph, node: Node) -> list[Node]:
    own = _read_words(node.label)
    compared = [one for one in graph.nodes() if one.current and one.id != node.id and one.type in _COMPARED]
    near = [one for one in compared if _is_alike(own, _read_words(one.label)) or _is_about_the_same(node, one)]
    return sorted(near, key=lambda one: -len(own & _read_words(one.label)))[:_SIMILAR_MAX]


def _is_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared >= _SHARED_MIN and 2 * shared > min(len(one), len(other))


def _is_about_the_same(node: Node, other: Node) -> bool:
    """Whether two choices may be values of the same thing: one of them has all words for what the other is a value of,
    or half of the words of both are the same ("Elasticsearch for search", "Tantivy for search")."""
    if not (_is_choice(node) and _is_choice(other)):
        return False
    own, others = _read_words(node.label), _read_words(other.label)
    return _names_thing(node, other) or _names_thing(other, node) or 2 * len(own & others) >= max(len(own), len(others))


def _names_thing(node: Node, other: Node) -> bool:
    """Whether ``node`` has all words for what ``other`` is a value of. Of a slot such as "database@search" only the
    narrower part, "search", is compared."""
    attribute, _, scope = other.slot.partition("@")
    thing = _read_words(scope or attribute)
    return bool(thing) and thing <= _read_words(f"{node.label} {node.slot}")


def _is_choice(node: Node) -> bool:
    return node.kind is DecisionKind.CHOICE or node.type is NodeType.ENVIRONMENT


def _read_words(text: str) -> frozenset[str]:
    return frozenset(map(singular, words(text)))
