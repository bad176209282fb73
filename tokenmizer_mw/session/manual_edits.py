"""Build the events of manual edits of facts; each records what it changed, so that it can be undone. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import re2

from tokenmizer_mw.errors import CallerError, UnknownNode
from tokenmizer_mw.graph.search import (
    CLEAR,
    SearchHit,
    begins_with,
    find_meant,
    former_nodes,
    is_described,
    names_half,
    search,
    shared_words,
)
from tokenmizer_mw.model.event import (
    DecisionReplaced,
    Event,
    NodeAdded,
    NodeEdited,
    StatusChanged,
)
from tokenmizer_mw.model.node import (
    HAND,
    LABEL_MAX,
    DecisionKind,
    Node,
    NodeType,
    Source,
    Status,
    Transition,
    Trust,
    is_current,
    may_move,
    spell_slot,
)
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.session import RecordedEdit, SessionState
from tokenmizer_mw.session.remembered_text import (
    Replaced,
    find_replaced,
    find_reworded,
    read_change,
    read_value,
    split_off_reason,
)

DETAIL_MAX: Final = 1_000
"""Longest detail or reason that is given by hand, in characters. The rest is cut off."""

KINDS: Final[dict[str, tuple[NodeType, DecisionKind | None, Status]]] = {
    "rule": (NodeType.DECISION, DecisionKind.RULE, Status.ACTIVE),
    "choice": (NodeType.DECISION, DecisionKind.CHOICE, Status.ACTIVE),
    "decision": (NodeType.DECISION, DecisionKind.CHOICE, Status.ACTIVE),
    "preference": (NodeType.DECISION, DecisionKind.PREFERENCE, Status.ACTIVE),
    "goal": (NodeType.GOAL, None, Status.ACTIVE),
    "task": (NodeType.TASK, None, Status.PENDING),
    "environment": (NodeType.ENVIRONMENT, None, Status.ACTIVE),
}
"""Maps each kind that ``remember`` accepts to the type, decision kind and first status of the added fact. "choice" and
"decision" are the same, because pages show a choice as a decision."""

COMPLETABLE: Final = frozenset({NodeType.TASK, NodeType.ERROR, NodeType.GOAL})
"""Types of facts that can be completed: a task that is done, an error that is fixed, a goal that is reached."""

_NEAREST_MAX: Final = 5
"""Most facts that an error names if a text names no fact or several."""

_NEAREST_CHARS: Final = 80
"""Longest label, in characters, in an error that names the facts nearest to a text."""

_SLOTTED: Final = frozenset({NodeType.DECISION, NodeType.ENVIRONMENT})
_TYPES: Final = frozenset(type.value for type in NodeType)


def mark_fact(state: SessionState, node: Node, status: Status, reason: str, *, never_true: bool = False) -> list[Event]:
    """Return the events that give a fact the ``status`` "invalidated" or "archived", with a ``reason``. Returns ``[]``
    if the fact cannot get this status, for example because it already has it. Invalidating a fact restores the fact
    that it had replaced.

    ``never_true``: the fact is withdrawn, because it never was true. Its confidence becomes 0, so that no text for a
    model contains it. This is also possible if it is invalidated already.
    """
    if not may_move(node.status, status, evidence=True) and not (never_true and node.status is status):
        return []
    marked = _edit(state, node, {"status": status} | ({"confidence": 0.0} if never_true else {}), reason)
    if status is not Status.INVALIDATED:
        return marked
    why = "" if never_true else f'"{flatten(node.label)}" was {status.word}'  # words of no fact are no reason
    return [*marked, *_restore_replaced(state, node, len(state.transcript), why)]


def complete_fact(state: SessionState, node: Node, reason: str) -> list[Event]:
    """Return the events that record by hand that a task is done, an error is fixed, or a goal is reached. Returns
    ``[]`` if that is recorded already or the fact is no longer in force. ``reason``: stored with the edit. Raises
    ``CallerError`` for facts of other types."""
    if node.type not in COMPLETABLE:
        raise CallerError(
            f"{node.id} {_shorten(node.label)!r} is no task, error or goal: archive what no longer matters"
        )
    if not may_move(node.status, Status.COMPLETED, evidence=is_current(node.status)):
        return []
    return _edit(state, node, {"status": Status.COMPLETED}, reason)


def can_be_completed(node: Node) -> bool:
    """Return whether ``complete_fact`` can complete a fact. It must be a task, an error or a goal that is in force
    and not completed; a failed task counts."""
    return node.type in COMPLETABLE and node.current and node.status is not Status.COMPLETED


def pin_fact(state: SessionState, node: Node, on: bool) -> list[Event]:
    """Return the events that pin a fact (``on`` is true) or unpin it; ``[]`` if it is so already. Resume blocks put
    pinned facts first after the rules, and pinned facts are never pruned."""
    return _edit(state, node, {"pinned": on}, "")


def date_fact(state: SessionState, node: Node, start: float | None, end: float | None) -> list[Event]:
    """Return the events that set when a fact is true: from ``start`` to ``end``, in seconds since the epoch; ``None``
    for no limit. ``[]`` if nothing changes."""
    return _edit(state, node, {"valid_from": start, "valid_until": end}, "")


def correct_fact(state: SessionState, node: Node, label: str | None, detail: str | None, reason: str) -> list[Event]:
    """Return the events that change the wording of a fact, ``[]`` if nothing changes. Its value is parsed again from
    the new label.

    ``label``, ``detail``: the new texts; ``None`` leaves one as it is. The fact stays a value of the same thing (its
    slot), unless the new label says that it is a value of something else. Message number and quote of its source stay
    the same, and the source's role becomes "hand". Raises ``CallerError`` for a label that is empty or longer than
    ``LABEL_MAX``, if both texts are ``None``, and when another current fact has the new slot.
    """
    if label is None and detail is None:
        raise CallerError("pass what changes: label='the new wording', detail='the new reason', or both")
    changes: dict[str, Any] = {}
    if label is not None:
        changes["label"] = _require_label(label)
    if detail is not None:
        changes["detail"] = flatten(detail, DETAIL_MAX)
    if changes.get("label", node.label) != node.label:
        changes |= _read(node, changes["label"])
    if any(getattr(node, name) != value for name, value in changes.items()):
        changes["source"] = Source(node.source.turn, HAND, node.source.quote, Trust.STATED)
    _require_free(state, node, changes)
    return _edit(state, node, changes, reason)


def separate_fact(state: SessionState, node: Node, reason: str) -> list[Event]:
    """Return the events that take back that the fact ``node`` was replaced, because it and its replacement are about
    different things: ``node`` is in force again, and the other fact stays. If another fact is now the value of the same
    thing (``slot``), ``node`` gets no slot.

    Raises ``CallerError`` for a fact that was not replaced. If it replaced others, the message names these.
    """
    graph = state.graph
    heir = graph.heir(node.id)
    steps = [one for one in graph.transitions() if one.old == node.id and heir is not None and one.new == heir.id]
    if node.status is not Status.SUPERSEDED or not steps:
        replaced = [one.old for one in graph.standing_transitions() if one.new == node.id]
        hint = f"; pass the one that it replaced: {' or '.join(replaced)}" if replaced else ""
        raise CallerError(f"{node.id} {_shorten(node.label)!r} was not replaced{hint}")
    changes: dict[str, Any] = {"status": _status_before(state, node)}
    if graph.in_slot(node.slot) is not None:
        changes["slot"] = ""
    return _edit(state, node, changes, reason, separated=steps[-1])


def kind_of_text(text: str) -> str:
    """Return the kind of a fact that is added by hand without one: "rule" or "preference" if the text is worded as one,
    else "choice". Unlike text from a chat, it is also a rule if a word such as "never" stands anywhere in it, unless it
    is a question or a report ("has never failed")."""
    from tokenmizer_mw.extract.match.rule_hits import (
        read_kind,  # loaded when a memory is opened, not when it is imported
    )

    label = flatten(text)
    kind = read_kind(label)
    return (DecisionKind.RULE if kind is DecisionKind.CHOICE and _holds_always(label) else kind).value


_WORD: Final = re2.compile(r"[\p{L}\p{M}\p{N}']+")

_ALWAYS: Final = frozenset({
    "always", "never", "immer", "stets", "nie", "niemals", "keinesfalls", "toujours", "jamais", "siempre",
    "nunca", "jamás", "sempre", "всегда", "никогда", "हमेशा", "hamesha"
})  # fmt: skip
_ALWAYS_BEHIND: Final[Mapping[str, frozenset[str]]] = {
    "ever": frozenset({"no", "nothing", "nobody"}),
    "exceptions": frozenset({"no"}),
    "exception": frozenset({"no", "without"}),
    "may": frozenset({"only"}),
    "mai": frozenset({"non"}),
    "नहीं": frozenset({"कभी"}),
    "nahi": frozenset({"kabhi"}),
}
_REPORTING: Final = frozenset({
    "not", "almost", "nearly", "hardly", "have", "has", "had", "i've", "we've", "was", "were", "did", "nicht",
    "fast", "hat", "habe", "haben", "hatte", "hatten", "war", "waren", "pas", "presque", "a", "ai", "ont",
    "avons", "n'a", "n'ai", "n'ont", "no", "casi", "ha", "han", "hemos", "não", "nem", "quase", "foi", "non",
    "quasi", "ho", "hanno", "abbiamo", "не", "почти"
})  # fmt: skip
_BEING: Final = frozenset({"is", "are", "be", "get", "gets"})
"""Words for ``_holds_always``. ``_ALWAYS``: they state a rule wherever they stand in a sentence. ``_ALWAYS_BEHIND``:
they do so after another word ("no ... ever"). ``_REPORTING``: directly before "always" or "never" they make it a report
("has never"). ``_BEING``: after them, a form in "-ed" is no report ("is never published", but "never worked")."""


def _holds_always(label: str) -> bool:
    """Whether a sentence states what holds from now on, by a word such as "always" or "never", and is no report and no
    question."""
    words = _WORD.findall(label.casefold().replace("\u2019", "'"))
    if label.endswith("?"):
        return False
    for before, word, behind in zip(["", *words], words, [*words[1:], ""], strict=False):
        if word in _ALWAYS:
            reports = before in _REPORTING or before.endswith("n't") or (behind.endswith("ed") and before not in _BEING)
            if not reports:
                return True
    return any(
        not heads.isdisjoint(words[: words.index(word)]) for word, heads in _ALWAYS_BEHIND.items() if word in words
    )


def _require_label(text: str) -> str:
    """Return the text of a fact as one line. Raises ``CallerError`` if it is empty or longer than ``LABEL_MAX``."""
    label = flatten(text, len(text) + LABEL_MAX)
    if not label:
        raise CallerError("a fact needs words")
    if len(label) > LABEL_MAX:
        raise CallerError(f"a fact has at most {LABEL_MAX} characters, not {len(label)}: shorten it, or split it")
    return label


def separate_reason(text: str, kind: str, reason: str) -> tuple[str, str]:
    """Return the text and the reason of a fact of this ``kind`` that is added by hand. If ``reason`` is "", the reason
    in the text of a choice, preference or environment ("because of locks") is split off. Facts of other kinds, such as
    rules, keep their words."""
    if reason or kind not in _REASONED:
        return text, reason
    return split_off_reason(" ".join(text.split()))


_REASONED: Final = frozenset({"choice", "decision", "preference", "environment"})


def add_fact(state: SessionState, text: str, kind: str, reason: str) -> list[Event]:
    """Return the events that add a fact by hand; ``[]`` when the fact is known and current.

    If known facts have another value for the same thing, or the text names them as replaced ("X instead of Y"), the new
    fact replaces them. If a replaced fact also states something else, the new fact keeps that and is worded differently
    from ``text``. Raises ``CallerError`` for a text that is empty or longer than ``LABEL_MAX``, and for an unknown
    kind.

    The addition is a manual edit: undoing it archives the new fact and restores the replaced one.
    """
    label = _require_label(text)
    if kind not in KINDS:
        raise CallerError(f"a fact is one of {', '.join(KINDS)}, not {kind!r:.40}")
    type_, decision, status = KINDS[kind]
    known = find_added_fact(state, label, kind)
    if known is not None and known.current:
        return []
    message = len(state.transcript)
    slot = read_value(read_change(label).new) if type_ in _SLOTTED else None
    replaced = find_replaced(state.graph, label, slot, decision) if type_ in _SLOTTED else Replaced((), "")
    node = Node(
        id=state.graph.next_id(type_),
        type=type_,
        label=replaced.label or label,
        status=status,
        source=Source(message, HAND, trust=Trust.STATED),
        detail=flatten(reason, DETAIL_MAX),
        kind=decision,
        slot=replaced.slot,
        value=slot.value if slot is not None else "",
    )
    steps = [Transition(old.id, node.id, message, node.detail) for old in replaced.nodes]
    changes, before = {"status": status}, {"status": Status.ARCHIVED}
    added = NodeEdited(_next(state), node.id, changes, before, message, node.detail)
    return [NodeAdded(node), *map(DecisionReplaced, steps), added]


def find_added_fact(state: SessionState, text: str, kind: str) -> Node | None:
    """Return the fact of this ``kind`` that already states ``text``, preferably one in force; ``None`` if there is
    none. A message may have stated it, or ``add_fact`` added it. In the latter case it may be worded differently,
    because it keeps what a replaced fact stated besides."""
    type_ = KINDS[kind][0]
    found = state.graph.find(type_, flatten(text))
    if (found is None or not found.current) and type_ in _SLOTTED:
        return find_reworded(state.graph, flatten(text)) or found
    return found


def find_addition(edits: Iterable[RecordedEdit], id: str) -> int:
    """Return the number of the manual edit that added the fact with this ``id``; 0 if it was not added by hand."""
    return next((one.edit.number for one in edits if one.edit.id == id and one.edit.adds), 0)


def newest_number(edits: Iterable[RecordedEdit]) -> int:
    """Return the number of the newest edit that is neither undone nor an undo. Raises ``CallerError`` when there is
    none."""
    left = edits_in_force([one.edit for one in edits])
    if not left:
        raise CallerError("the session has no change by hand to undo")
    return left[-1].number


def undo_edit(state: SessionState, number: int) -> list[Event]:
    """Return the events that undo the manual edit ``number``.

    Raises ``UnknownNode`` when the graph no longer has the fact. Raises ``CallerError`` when there is no such edit, it
    is already undone, the fact was changed again later, or another current fact has the slot that the fact would get
    back.
    """
    edits = [one.edit for one in state.edits.values()]
    found = state.edits.get(number)
    if found is None:
        raise CallerError(f"the session has no change {number}")
    if number in undone_numbers(edits):
        raise CallerError(f"change {number} is undone already")
    edit = found.edit
    node = find_fact(state, edit.id)
    if any(getattr(node, name) != value for name, value in edit.changes.items()):
        raise CallerError(_explain_later_change(edit, edits))
    message, reason = len(state.transcript), f"change {number} undone"
    again = list(_replace_again(state, edit))
    _require_free(state, node, edit.before, besides=[one.transition.old for one in again])
    back = NodeEdited(_next(state), edit.id, edit.before, edit.changes, message, reason, number, edit.separated)
    if edit.separated is not None and edit.before.get("status") is Status.SUPERSEDED:
        return [DecisionReplaced(edit.separated), back]
    if edit.adds:
        return [back, *_restore_replaced(state, node, message, reason)]
    return [*again, back]


def _explain_later_change(edit: NodeEdited, edits: list[NodeEdited]) -> str:
    """Return the text of an error that says what has to be undone before ``edit``."""
    in_the_way = [
        later.number
        for later in edits
        if later.number > edit.number and later.id == edit.id and later.changes.keys() & edit.changes.keys()
    ]
    if in_the_way:
        return f"change {in_the_way[-1]} is a later change of the same fact: undo it first"
    return f"fact {edit.id} was replaced or changed since: undo the later change first"


def _restore_replaced(state: SessionState, node: Node, message: int, reason: str) -> Iterator[Event]:
    """Yield the events that give the facts that ``node`` replaced the status that they had before, unless their place
    was taken by others since."""
    for old in [state.graph.get(step.old) for step in state.graph.transitions() if step.new == node.id]:
        if old is None or old.status is not Status.SUPERSEDED or state.graph.heir(old.id) != node:
            continue
        if (holder := state.graph.in_slot(old.slot)) is not None and holder.id != node.id:
            continue
        yield StatusChanged(old.id, _status_before(state, old), message, reason)


def _status_before(state: SessionState, node: Node) -> Status:
    """Return the status that a fact had when it was last current (neither replaced, rejected nor archived);
    ``ACTIVE`` if it never was."""
    before = [status for _, status in state.graph.life(node.id).moves if is_current(status)]
    return before[-1] if before else Status.ACTIVE


def _replace_again(state: SessionState, edit: NodeEdited) -> Iterator[DecisionReplaced]:
    """Yield the events for the undo of an invalidation: the facts that came back into force through it are replaced
    again."""
    if edit.changes.get("status") is not Status.INVALIDATED:
        return
    for step in {step.old: step for step in state.graph.transitions() if step.new == edit.id}.values():
        old = state.graph.get(step.old)
        if old is not None and old.current:
            yield DecisionReplaced(step)


def _edit(
    state: SessionState, node: Node, wanted: Mapping[str, Any], reason: str, separated: Transition | None = None
) -> list[Event]:
    changes = {name: value for name, value in wanted.items() if getattr(node, name) != value}
    if not changes:
        return []
    before = {name: getattr(node, name) for name in changes}
    message, reason = len(state.transcript), flatten(reason, DETAIL_MAX)
    return [NodeEdited(_next(state), node.id, changes, before, message, reason, separated=separated)]


def _next(state: SessionState) -> int:
    return max(state.edits, default=0) + 1


def _read(node: Node, label: str) -> dict[str, Any]:
    """Return the changes of slot and value that follow from a fact's new label. The slot stays, such as
    "database@ord", if the label names no other thing. The value of a goal is its label. Facts of other types keep
    both."""
    if node.type not in _SLOTTED:
        return {"value": label} if node.value and (node.type is NodeType.GOAL or node.value == node.label) else {}
    slot = read_value(label)
    if slot is None:
        return {"value": ""}
    return {"slot": node.slot if node.slot.partition("@")[0] == slot.name else slot.name, "value": slot.value}


def _require_free(state: SessionState, node: Node, changes: Mapping[str, Any], besides: Collection[str] = ()) -> None:
    """Raise ``CallerError`` if another current fact has the slot that ``node`` would have after ``changes``.
    ``besides``: ids of facts that will not be current any more."""
    holder = state.graph.in_slot(changes.get("slot", node.slot))
    if holder is not None and holder.id not in (node.id, *besides) and is_current(changes.get("status", node.status)):
        what = spell_slot(holder.slot, holder.label)
        raise CallerError(f"the current {what} is {holder.label!r} ({holder.id}): invalidate or archive it first")


def _find_described(hits: Sequence[SearchHit], text: str, former: Iterable[Node]) -> list[Node]:
    """Return the facts that a description may mean; ``[]`` if the best hit does not have most of its words. These are
    the best hit and the hits that fit about as well: their score is near, or they have most of the words, too, and no
    fewer than the best hit."""
    if not hits or not _has_most_words(hits[0].node, text, former):
        return []
    count = len(shared_words(hits[0].node, text))

    def fits(hit: SearchHit) -> bool:
        if CLEAR * hit.score > hits[0].score:
            return True
        return len(shared_words(hit.node, text)) >= count and _has_most_words(hit.node, text, former)

    return [hits[0].node, *(hit.node for hit in hits[1:] if fits(hit))]


def _has_most_words(node: Node, text: str, former: Iterable[Node]) -> bool:
    """Whether a text describes a fact (``is_described``), as it is worded now or was before a correction."""
    return any(is_described(one, text) for one in (node, *former) if one.id == node.id)


def is_replaced(node: Node) -> bool:
    """Whether another fact took the place of ``node``, so that its status is "superseded"."""
    return node.status is Status.SUPERSEDED


def _is_in_force(node: Node) -> bool:
    return node.current


def _is_id(text: str) -> bool:
    """Whether a text is worded as the id of a fact, which describes no other fact."""
    kind, _, number = text.strip().rpartition("-")
    return number.isdecimal() and kind in _TYPES


def _shorten(label: str) -> str:
    return label if len(label) <= _NEAREST_CHARS else f"{label[: _NEAREST_CHARS - 3].rsplit(' ', 1)[0]}..."


def find_fact(state: SessionState, text: str, prefers: Callable[[Node], bool] = _is_in_force) -> Node:
    """Return the fact that ``text`` names. The first of these steps that finds any fact counts; case is ignored, except
    in an id:

    1. The fact with this id.
    2. Among the preferred facts (``prefers``; by default those in force): those with this label or value, now or before
       a correction by hand; else those whose label begins with the text, if it has several words; else contains it as
       it is written; else those whose label, value and category together have all of its words.
    3. The same among the other facts.
    4. The preferred facts whose quote contains the text as it is written, if it has several words.
    5. Unless the text looks like an id: the preferred fact with most of the words (``is_described``), and those that
       fit about as well.

    In steps 2 to 4 several words find a concept only if they find nothing else. A concept that the text neither equals
    nor begins is ambiguous if preferred facts of other types have half of the words.

    Raises ``UnknownNode`` if this finds no fact, or more than one; the error names the nearest or the found facts.
    """
    former = former_nodes(state.graph, edits_in_force([one.edit for one in state.edits.values()]))
    meant = find_meant(state.graph, text, former, prefers)
    hits = [hit for hit in search(state.graph, text, k=_NEAREST_MAX, former=former) if not hit.node.is_withdrawn]
    if not meant and not _is_id(text):
        meant = _find_described([hit for hit in hits if prefers(hit.node)], text, former)
    meant += _rivals_of_concept(meant, [hit.node for hit in hits if prefers(hit.node)], text)
    if len(meant) == 1:
        return meant[0]
    nearest = (meant or [hit.node for hit in hits])[:_NEAREST_MAX]
    listed = "; ".join(f"{node.id} {_shorten(node.label)!r}" for node in nearest)
    if meant:
        raise UnknownNode(f"{text[:60]!r} fits {len(meant)} facts, pass an id: {listed}")
    add = "" if _is_id(text) else "; if a message mentions it, remember it as a fact first"
    raise UnknownNode(f"the session has no fact {text[:60]!r}" + (f"; nearest: {listed}" if listed else add))


def _rivals_of_concept(meant: Sequence[Node], found: Iterable[Node], text: str) -> list[Node]:
    """Return facts of other types that a text may mean although it fits only a concept, and not the concept's
    beginning. People mean a decision or a task more often than a mere mention, so half of the words are enough. ``[]``
    if ``meant`` is not one such concept."""
    if len(meant) != 1 or meant[0].type is not NodeType.CONCEPT:
        return []
    if text.strip().casefold() in (meant[0].id, meant[0].label.casefold()) or begins_with(meant[0].label, text):
        return []
    return [node for node in found if node.type is not NodeType.CONCEPT and names_half(node, text)]


def edits_in_force(edits: Sequence[NodeEdited]) -> tuple[NodeEdited, ...]:
    """Return the manual edits that were not undone, without the undo edits themselves, in the given order."""
    undone = undone_numbers(edits)
    return tuple(edit for edit in edits if not edit.undoes and edit.number not in undone)


def undone_numbers(edits: Sequence[NodeEdited]) -> set[int]:
    """Return the numbers of the manual edits that are undone. An undo can itself be undone."""
    undone: set[int] = set()
    for edit in reversed(edits):
        if edit.undoes and edit.number not in undone:
            undone.add(edit.undoes)
    return undone
