"""Corrects the other facts that state a value which the current message replaced or rejected.

A fact that states only the old value is superseded. A fact that states more loses the clause with the old value. The
goal, if it names the old value, gets the new fact appended.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

import re2

from tokenmizer_mw.extract.compose.meaningless_labels import is_hollow
from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.match.slots import find_member
from tokenmizer_mw.extract.match.stated_values import StatedValues, key_of, normalise_value, read_stated
from tokenmizer_mw.extract.text.clauses import split_statements
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.graph.values import equal, same_sort, values_in
from tokenmizer_mw.model.event import NodeAdded, NodeRevised
from tokenmizer_mw.model.node import GOAL_CHANGED, LABEL_MAX, DecisionKind, Node, NodeType, Status

from .ledger import Ledger

FACTS_MAX: Final = 32
"""Number of newest facts of each type that are searched."""
GOAL_WORDS: Final = 2
"""A goal without a value to compare is about a replaced fact only if both share at least this many content stems (see
``NAMED``)."""
NAMED: Final = 0.5
"""Such a goal must also have at least this share (0 to 1) of the replaced fact's content stems."""

NAME_KINDS: Final = frozenset({"name", "term", "word", "code"})
_TYPES: Final = (NodeType.DECISION, NodeType.ENVIRONMENT, NodeType.CONCEPT)


def iterate_in_force(ledger: Ledger) -> Iterator[Node]:
    """Iterate over active decisions (without options), versions and concepts that earlier messages stated, newest first
    within each type. At most ``FACTS_MAX`` of each type are looked at."""
    graph = ledger.graph
    for type_ in _TYPES:
        for number in islice(range(graph.count_added(type_), 0, -1), FACTS_MAX):
            node = graph.get(f"{type_.value}-{number}")
            if node is None or node.status is not Status.ACTIVE or node.kind is DecisionKind.OPTION:
                continue
            if node.source.turn < ledger.turn:
                yield node


def supersede_restatements(ledger: Ledger, old: Node, new: Node) -> None:
    """Correct the other facts that state what ``old`` stated, after ``new`` has replaced ``old``. If the goal names the
    old value, append the label of ``new`` to it."""
    again = content(new.label)
    told = Finding(new.type, new.label, Status.ACTIVE, new.source.trust, new.confidence, quote=new.source.quote)
    for node in find_duplicates(ledger, old, again | content(new.source.quote)):
        if node.id != new.id and not again <= content(node.label):
            ledger.replace(node, new, told)
    values = find_old_values(old.label, new.label, new.source.quote)
    if values.typed or values.names:
        _keep_other_clauses(ledger, old, values)
        for node in list(iterate_in_force(ledger)):
            if node.id not in (old.id, new.id) and _states_old_value(node, values):
                _correct(ledger, node, new, values, told)
    goal = ledger.graph.in_slot("goal")
    if goal is not None and _names_old_value(goal.label, old, new):
        label = f"{goal.label}{GOAL_CHANGED}{new.label})"
        if len(label) <= LABEL_MAX and GOAL_CHANGED not in goal.label:
            ledger.emit(NodeRevised(goal.id, {"label": label}, ledger.turn))


def find_duplicates(ledger: Ledger, old: Node, said: frozenset[str]) -> list[Node]:
    """Return the other facts in force that state what ``old`` states: one has all content stems of the other.

    ``said``: the content stems of the new statement. If they name only some clauses of ``old``, a shorter fact must
    share a word with these clauses. Example: ``old`` is "the site is on Netlify and the list in Airtable", and the user
    drops Airtable. The fact "Netlify" is then not returned.
    """
    words = content(old.label)
    clauses = [content(part) for part in split_statements(old.label)]
    named = [part for part in clauses if not part.isdisjoint(said)] or clauses
    ended = words if len(named) == len(clauses) else frozenset[str]().union(*named)
    known = ((node, content(node.label)) for node in iterate_in_force(ledger))
    return [
        node
        for node, mine in known
        if mine and words and (words <= mine or (mine <= words and not mine.isdisjoint(ended)))
    ]


class OldValues(NamedTuple):
    """The values that a replacement made invalid, and what to recognise them by.

    - ``typed``: invalid dates, measures, counts and known products, as pairs of kind and value.
    - ``names``: other invalid names.
    - ``new``: the values and names that replace them.
    - ``words``: the words of the old fact and of the sentence that changed it.
    """

    typed: frozenset[tuple[str, str]]
    names: frozenset[str]
    new: frozenset[str]
    words: frozenset[str]


def find_old_values(old: str, new: str, quote: str) -> OldValues:
    """Return the values of a replaced fact that are no longer valid:

    - values for which the new fact or the sentence gives another one of the same kind
    - names that the sentence mentions beside a new name ("Acme is out, Initech takes over")

    ``old``, ``new``: the labels of the two facts; ``quote``: the sentence of the change. ``typed`` and ``names`` are
    empty if nothing shows which value is no longer valid.
    """
    before, after, said = read_stated(old), read_stated(new), read_stated(quote)
    known, given = _typed_values(before), _typed_values(after) | _typed_values(said)
    typed = frozenset(pair for pair in known if _is_ended(pair, known, given))
    fresh = (after.names | said.names) - before.names
    named = frozenset(name for name in before.names if _is_named(name, said)) if fresh or given - known else frozenset()
    if len(named) > 1:
        apart = [read_stated(part) for part in split_statements(quote)]
        named -= {name for name in named for part in apart if part.names & fresh and _is_named(name, part)}
    values = frozenset(value for _, value in given - known) | fresh
    return OldValues(typed, named | _ended_code(old, new), values, before.words | said.words)


def _typed_values(stated: StatedValues) -> frozenset[tuple[str, str]]:
    return stated.measured | stated.counted | stated.members


def _is_ended(pair: tuple[str, str], known: frozenset[tuple[str, str]], given: frozenset[tuple[str, str]]) -> bool:
    """Whether the new statement gives another value of the kind of ``pair`` (kind and value). If it also repeats that
    value, the value must have been the only one of its kind. ``known``: the values of the old statement; ``given``:
    those of the new one."""
    others = [one for one in given - known if one[0] == pair[0]]
    return bool(others) and (pair not in given or sum(one[0] == pair[0] for one in known) == 1)


def _is_named(name: str, stated: StatedValues) -> bool:
    return name in stated.names or key_of(name) in stated.words


def _ended_code(old: str, new: str) -> frozenset[str]:
    """The technical name ("eu-west-1") of the label ``old``, if each of the two labels has exactly one and they differ;
    else empty."""
    before, after = ({normalise_value(one) for one in values_in(text) if one.kind == "code"} for text in (old, new))
    return frozenset(before) if len(before) == len(after) == 1 and before != after else frozenset()


def _states_old_value(node: Node, values: OldValues) -> bool:
    """Whether a fact states an invalid value of the same thing, and none of the new ones."""
    stated = read_stated(node.label)
    if not values.new.isdisjoint(stated.names | stated.values):
        return False
    if any(_is_named(name, stated) for name in values.names):
        return True
    same = not stated.words or not stated.words.isdisjoint(values.words)
    return same and not values.typed.isdisjoint(_typed_values(stated))


def _correct(ledger: Ledger, node: Node, new: Node, values: OldValues, told: Finding) -> None:
    """Remove the clauses of a fact that state an invalid value; supersede the fact if no other clause has a value."""
    rest = _other_clauses(node.label, values)
    if rest:
        ledger.emit(NodeRevised(node.id, {"label": ", ".join(rest)}, ledger.turn))
    else:
        ledger.replace(node, new, told)


def _keep_other_clauses(ledger: Ledger, old: Node, values: OldValues) -> None:
    """Add what a replaced fact stated besides the invalid value as a new fact."""
    rest = ", ".join(_other_clauses(old.label, values)) or _name_other_product(old.label, values)
    now = ledger.graph.get(old.id)
    if not rest or now is None or now.status is not Status.SUPERSEDED or now.type not in _TYPES:
        return
    words = content(rest)
    if not any(words <= content(node.label) for node in iterate_in_force(ledger)):
        kept = replace(
            old,
            id=ledger.graph.next_id(old.type),
            label=rest,
            slot="",
            value="",
            detail="",
            status=Status.ACTIVE,
        )
        ledger.emit(NodeAdded(kept))


def _other_clauses(label: str, values: OldValues) -> list[str]:
    """The clauses of a fact that have values, all of them still valid; [] if no clause has an invalid value."""
    clauses = [(clause, read_stated(clause)) for clause in split_statements(label) if clause]
    valued = [
        (clause, stated) for clause, stated in clauses if (stated.values or stated.names) and not is_hollow(clause)
    ]
    rest = [clause for clause, stated in valued if not _has_ended(stated, values)]
    return rest if len(rest) < len(valued) else []


def _name_other_product(label: str, values: OldValues) -> str:
    """The part of a short label that names another product beside the replaced one ("Django" of "Django with SQLite");
    "" for none."""
    parts = [part.strip(" .,") for part in _JOINED.split(label.partition(",")[0])]
    stated = [(part, read_stated(part)) for part in parts]
    ended = [part for part, one in stated if not values.typed.isdisjoint(one.members)]
    rest = [part for part, one in stated if one.names and values.typed.isdisjoint(one.members)]
    return rest[0] if len(parts) == 2 and ended and rest else ""


_JOINED: Final = re2.compile(r"(?i) (?:with|and|plus|on|over|mit|und|avec|et|con|y|com|e|und) | \+ ")
"""Matches words that join two products in one label."""


def _has_ended(stated: StatedValues, values: OldValues) -> bool:
    """Whether a clause states an invalid value."""
    return not values.typed.isdisjoint(_typed_values(stated)) or any(_is_named(name, stated) for name in values.names)


def _names_old_value(goal: str, old: Node, new: Node) -> bool:
    """Whether a goal names the value that ``new`` replaced. If no value is known: whether it has half of the words of
    ``old`` and at least one that ``new`` lacks."""
    if members := _known_names(old.label) - _known_names(new.label):
        return bool(members & _known_names(goal))
    if figures := _changed_values(old.label, new.label):
        return any(equal(one, told.text) for one in figures for told in values_in(goal))
    if old.is_note:
        return old.label.casefold() in goal.casefold()
    said, named = content(old.label), content(goal)
    if old.slot and (value := content(old.value)):
        return value <= named
    return bool(said & named - content(new.label)) and len(said & named) >= max(GOAL_WORDS, NAMED * len(said))


def _changed_values(old: str, new: str) -> list[str]:
    """The values of ``old`` that are no names and for which ``new`` gives another one of the same kind."""
    return [
        one.text
        for one in values_in(old)
        for other in values_in(new)
        if one.kind not in NAME_KINDS and same_sort(one, other) and not equal(one.text, other.text)
    ]


def _known_names(text: str) -> frozenset[str]:
    """The known products and the like that a text names, in their canonical spelling."""
    found = (find_member(word.strip(".,:;()")) for word in (*text.split(), *(value.text for value in values_in(text))))
    return frozenset(member[1] for member in found if member is not None)
