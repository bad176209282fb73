"""Read the text of a fact that is added by hand: its reason, what it is a value of, and what it replaces. Pure.

It may replace a part of a fact: after "PostgreSQL instead of SQLite", the fact "Django with SQLite" becomes
"Django with PostgreSQL".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import re2

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.search import find_worded, product_words
from tokenmizer_mw.model.category import MEMBERS
from tokenmizer_mw.model.node import LABEL_MAX, DecisionKind, Node, NodeType

if TYPE_CHECKING:
    from tokenmizer_mw.extract.match.slots import Slot

_REASON: Final = re2.compile(
    r"(?i)^(?P<label>.*?\S),?\s+(?:because of|because|due to|weil|wegen|parce que|parce qu'|à cause de|porque"
    r"|perché|потому что|из-за)\s+(?P<reason>\S.*)$"
)
_CHANGES: Final = tuple(
    re2.compile(rf"(?i)^{pattern}[.!]?$")
    for pattern in (
        r"(?P<new>.+?),? (?:instead of|rather than|in place of|statt|anstatt|anstelle von|au lieu de|en vez de"
        r"|em vez de|invece di|вместо) (?:the |our |a |an )?(?P<old>.+?)",
        r"(?P<new>.+?),? (?:and )?no longer (?:with |by |on |in |use )?(?P<old>.+?)",
        r"(?:we |i |let's |let us )?(?:now |will )?(?:switch|mov|chang|migrat|go|went)\w* (?:[\pL\pN_-]+ ){0,5}from"
        r" (?P<old>.+?) to (?P<new>.+?)",
        r"(?:we |i |let's |let us )?(?:now |will )?replac\w* (?P<old>.+?) (?:with|by) (?P<new>.+?)",
    )
)
"""Patterns of texts that name what they replace: "Kamal instead of Ansible", "switch from SQLite to PostgreSQL"."""

_FORBIDDING: Final = re2.compile(
    r"(?i)(?:^|[^\pL])(?:never|not|no|without|avoid|cannot|\pL+n['’]t|nie|niemals|kein\pL*|nicht|jamais|pas|nunca"
    r"|jamás|não|mai|non|не|никогда)(?:$|[^\pL])"
)
_PAIRED: Final = re2.compile(r"[:=]\s+")
_SIGNS: Final = ".,;:!?()\"'`"


@dataclass(frozen=True, slots=True)
class NamedChange:
    """What a text such as "PostgreSQL instead of SQLite" says. ``new``: the words without the replaced thing
    ("PostgreSQL"); ``old``: the words for the replaced thing ("SQLite"), "" if the text names none."""

    new: str
    old: str = ""


def split_off_reason(text: str) -> tuple[str, str]:
    """Return a statement and its reason. For "switch to PostgreSQL because of locks" these are "switch to PostgreSQL"
    and "locks". A statement without a reason is returned whole, with "" as reason."""
    found = _REASON.match(text)
    return (found["label"], found["reason"].rstrip(" .!")) if found is not None else (text, "")


def read_change(label: str) -> NamedChange:
    """Split a text such as "PostgreSQL instead of SQLite" into the words for the new thing and for the replaced thing.
    If it names nothing as replaced, ``new`` is the whole text."""
    found = next((match for pattern in _CHANGES if (match := pattern.match(label)) is not None), None)
    return NamedChange(found["new"], found["old"]) if found is not None else NamedChange(label)


def read_value(label: str) -> Slot | None:
    """Return the slot (the thing, such as "database") and the value that a text states; ``None`` if it states no value.

    A version is ignored if the words without it name a value of a known thing: "PostgreSQL 16" is a database. A text
    that forbids a product states no value: "never use MySQL".
    """
    from tokenmizer_mw.extract.match.slots import (  # loaded when a memory is opened, not when it is imported
        find_versions,
        read_slot,
    )

    slot = read_slot(label)
    if slot is None or (slot.category and _is_forbidden(label)):
        return None
    if slot.category != "version":
        return slot
    bare = label
    for name, version in find_versions(label):
        bare = re2.sub(rf"{re2.escape(name)}[ @:=]?v?{re2.escape(version)}", name, bare, count=1)
    general = read_slot(bare)
    if general is None or not general.name:
        return slot
    if general.category:
        return general
    return replace(general, value=_PAIRED.split(label, 1)[-1].casefold())  # "runtime: Node 20"


def _is_forbidden(label: str) -> bool:
    """Whether a word such as "never" stands before the first name of a product."""
    ahead = []
    for word in label.split():
        if word.casefold().strip(_SIGNS) in MEMBERS:
            break
        ahead.append(word)
    return _FORBIDDING.search(" ".join(ahead)) is not None


@dataclass(frozen=True, slots=True)
class Replaced:
    """What ``find_replaced`` found.

    - ``nodes``: the facts that a new fact replaces.
    - ``slot``: the thing that the new fact is a value of, "" for none.
    - ``label``: the wording of the new fact if it keeps what a replaced fact states besides ("Django with PostgreSQL");
      "" if the text that was added is its wording.
    """

    nodes: tuple[Node, ...]
    slot: str
    label: str = ""


def find_replaced(graph: SessionGraph, label: str, slot: Slot | None, kind: DecisionKind | None) -> Replaced:
    """Return the facts in force that a new decision or environment with this ``label`` replaces: the fact that its
    words name ("X instead of Y"), and the other values of the same thing.

    ``slot``: the slot and value of the new fact, ``None`` for none. ``kind``: its kind. The new fact takes the slot of
    the named fact with its scope: "PostgreSQL instead of SQLite" after "SQLite for the orders".

    One fact that states other things as well is replaced by a choice that keeps them: "Django with PostgreSQL" after
    "Django with SQLite". Other such facts stay in force.
    """
    change = read_change(label)
    name = slot.name if slot is not None else ""
    named = _find_named(graph, change, kind) if change.old else None
    if named is not None:
        former = _slot_name(named)
        if name and former.partition("@")[0] == name.partition("@")[0]:
            name = former
    found = [*([named] if named is not None else []), *(_find_values(graph, name) if name else ())]
    kept = {node.id: keep_rest(node.label, change, name) for node in found}
    whole = [node for node in found if not kept[node.id]]
    partly = [node for node in found if kept[node.id] and kind in _REWORDED][:1]
    words = kept[partly[0].id] if partly else ""
    return Replaced(tuple({node.id: node for node in [*partly, *whole]}.values()), name, words)


_REWORDED: Final = frozenset({DecisionKind.CHOICE, None})


def find_reworded(graph: SessionGraph, label: str) -> Node | None:
    """Return the fact in force that was added by hand with the text ``label``, but is worded differently, because it
    keeps what a replaced fact stated besides; ``None`` for none."""
    change = read_change(label)
    slot = read_value(change.new)
    for step in reversed(graph.transitions()):
        old, new = graph.get(step.old), graph.get(step.new)
        if old is None or new is None or not (new.current and new.source.is_by_hand):
            continue
        kept = keep_rest(old.label, change, slot.name if slot is not None else "")
        if kept and product_words(kept) == product_words(new.label):
            return new
    return None


def keep_rest(label: str, change: NamedChange, slot: str) -> str:
    """Return the ``label`` of a replaced fact with the new value of ``change`` in place of the old one, such as
    "Django with PostgreSQL" for "Django with SQLite"; "" if the fact states nothing else, or if the result would be
    longer than ``LABEL_MAX``.

    ``slot``: the thing that the new value is of, such as "database". If ``change`` does not name the old value, it is
    the product of that kind in ``label``.
    """
    stated = read_change(label).new
    kept = _replace_part(stated, change.old, change.new) if change.old else ""
    if not kept and (value := _find_product(stated, slot.partition("@")[0])):
        kept = _replace_part(stated, value, change.new)
    return kept if len(kept) <= LABEL_MAX else ""


def _find_values(graph: SessionGraph, name: str) -> Iterator[Node]:
    """Yield the facts in force that are values of the slot ``name``. Among them are those whose version gave them
    another slot, and those without a slot that name one such value beside other things ("Django with SQLite")."""
    if (holder := graph.in_slot(name)) is not None:
        yield holder
    for node in graph.nodes(NodeType.DECISION):
        if _is_choice(node) and (
            _slot_name(node) == name or (not node.slot and _find_joined_product(node.label, name))
        ):
            yield node


def _slot_name(node: Node) -> str:
    if not node.slot.endswith(".version"):
        return node.slot
    slot = read_value(node.label)
    return slot.name if slot is not None else node.slot


def _find_named(graph: SessionGraph, change: NamedChange, kind: DecisionKind | None) -> Node | None:
    """Return the fact in force that a change names as replaced: a choice or a decision of the same kind, else a note.
    Of several, the one that shares most words with the new value; ``None`` if there is none or it is not clear
    which."""
    rest = product_words(change.new)
    fitting = find_worded([node for node in graph.nodes() if node.current], change.old)
    fitting = [node for node in fitting if not rest <= product_words(node.label)] or fitting
    decided = [node for node in fitting if _is_choice(node) or (kind is not None and node.kind is kind)]
    found = decided or [node for node in fitting if node.type is NodeType.CONCEPT]
    shared = [len(rest & product_words(node.label)) for node in found]
    best = [node for node, count in zip(found, shared, strict=True) if count == max(shared)]
    return best[0] if len(best) == 1 else None


def _is_choice(node: Node) -> bool:
    return node.current and (node.kind is DecisionKind.CHOICE or node.type is NodeType.ENVIRONMENT)


_JOINT: Final = re2.compile(
    r"(?i)\s+(?:(?P<and>and|plus|as well as|und|sowie|et|y|e|и|&|\+)|(?P<with>with|mit|avec|con|com|с))\s+|[,;]\s+"
)
_JOINING: Final = frozenset({"and", "with"})
_LEAD: Final = re2.compile(
    r"(?i)^(?:[\pL\pN_-]+(?: [\pL\pN_-]+)?[:=]\s+|(?:(?:we|i|let's|let us|wir|on) )?(?:now |will |should )?"
    r"(?:use|take|go with|choose|pick|nutzen|nimm|nehmen|utilise|utiliser|usa|usar|usare)\s+)"
)
"""Matches what may stand before a value: what it is of ("database: "), or a verb ("we use ")."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a label, from the character ``start`` on. ``joint``: "and", "with" or "," before it; "" for the
    first one."""

    text: str
    start: int
    joint: str


def _replace_part(label: str, old: str, new: str) -> str:
    """Return ``label`` with the value of ``new`` in place of ``old`` if the label states other things as well. "" if it
    does not, if ``new`` names any of them, too, or if the label says that something is dropped.

    Other things are parts that "and" or "with" joins to ``old``, and parts with the name of a product. What follows
    ``old`` after "with" belongs to it: "SQLite with WAL mode".
    """
    parts = _split(label)
    holding = [(at, place) for at, part in enumerate(parts) if (place := _find_place(part.text, old)) is not None]
    if len(holding) != 1:
        return ""
    at, (start, end) = holding[0]
    own, behind = parts[at], parts[at + 1 : at + 2]
    added = behind if behind and behind[0].joint == "with" else []
    others = [part for part in parts if part is not own and part not in added]
    joined = (own.joint in _JOINING and start == 0) or (_is_joined_by_and(behind) and end == len(own.text))
    if not others or not (joined or any(map(_names_product, others))):
        return ""
    if not product_words(" ".join(part.text for part in others)).isdisjoint(product_words(new)) or _DROPS.search(label):
        return ""
    before, after = label[: own.start + start], label[own.start + end :]
    value = new[len(before) :] if new.casefold().startswith(before.casefold()) else _LEAD.sub("", new)
    return f"{before}{value}{after}"


_DROPS: Final = re2.compile(r"(?i)\b(?:drop|scrap|ditch|forget|instead|rather|no longer|not|never)\b")
"""Matches words by which a label says that something does not hold. No new value is put into such a label."""


def _is_joined_by_and(parts: Sequence[_Part]) -> bool:
    return bool(parts) and parts[0].joint == "and"


def _find_joined_product(label: str, category: str) -> str:
    """Return the product of a category that is a whole part of a label with several parts: for "database" the "SQLite"
    of "Django with SQLite". "" for none or several."""
    parts = _split(label)
    found = [part.text for part in parts if len(parts) > 1 and _is_product(part.text, category)]
    return found[0] if len(found) == 1 else ""


def _find_product(label: str, category: str) -> str:
    """Return the only product of a category that a label names, as it is written there; "" for none or several."""
    found = [word.strip(_SIGNS) for word in label.split() if _is_product(word, category)]
    return found[0] if len(found) == 1 else ""


def _is_product(text: str, category: str) -> bool:
    known = MEMBERS.get(text.strip(_SIGNS).casefold())
    return known is not None and known[0].name == category


def _split(label: str) -> list[_Part]:
    parts, start, joint = [], 0, ""
    for found in _JOINT.finditer(label):
        parts.append(_Part(label[start : found.start()], start, joint))
        start, joint = found.end(), next((name for name in _JOINING if found[name]), ",")
    return [*parts, _Part(label[start:], start, joint)]


def _find_place(text: str, old: str) -> tuple[int, int] | None:
    """Return the start and end of ``old`` in a text, in any spelling if it is a known product; ``None`` if it is not
    there."""
    found = re2.search(rf"(?i)(?:^|[^\pL\pN_])({re2.escape(old)})(?:$|[^\pL\pN_])", text)
    if found is not None:
        return found.start(1), found.end(1)
    wanted = MEMBERS.get(old.casefold())
    start = 0
    for word in text.split(" "):
        bare = word.strip(_SIGNS)
        if wanted is not None and (known := MEMBERS.get(bare.casefold())) is not None and known[1] == wanted[1]:
            begin = start + word.index(bare)
            return begin, begin + len(bare)
        start += len(word) + 1
    return None


def _names_product(part: _Part) -> bool:
    return any(word.strip(_SIGNS).casefold() in MEMBERS for word in part.text.split())
