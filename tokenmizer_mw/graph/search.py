"""Find facts by words: BM25 ranking over their texts and the words for their types; what fact a description means; and
the open work that a question asks for."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.text import pick_asked_words, singular, stem, words
from tokenmizer_mw.model.category import CATEGORIES, MEMBERS, Category
from tokenmizer_mw.model.event import NodeEdited
from tokenmizer_mw.model.message import short_repr
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status

_SATURATION: Final = 1.2
_LENGTH: Final = 0.5
_CURRENT: Final = 1.1
_SETTLED: Final = 1.2
_MENTIONED, _NAMED, _MEANT = 1, 2, 4
"""How often a word counts: in the reason or quote of a fact, in its name, as the name of what a current fact is a value
of ("database")."""

_IDENTIFIER: Final = re.compile(r"\w*?(?:[a-z0-9][A-Z]|[^\W_]_[^\W_])\w*")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PARTS_MAX: Final = 8
_PART_LETTERS_MIN: Final = 3
"""Names in code whose parts find a fact ("OutOfMemory" finds OutOfMemoryError): parts that are read, and their least
letters."""

CLEAR: Final = 1.25
"""How near to the best hit another one must be to fit a description about equally well: its score times this number
exceeds the best score."""

_NAMED_LEAST: Final = 2
"""A question is about a fact if it has at least this many words of its label, and these are at least a quarter of the
question's words."""

FITTING_MAX: Final = 5
"""Most facts that a description may mean."""

_READ_MAX: Final = 8_192
"""The words of this many nodes are cached for the next question."""

_CALLED: Final[dict[str, str]] = {
    NodeType.TASK: "work todo", NodeType.ERROR: "bug problem failure",
    NodeType.DECISION: "decide decided choice choose chose", NodeType.DEPENDENCY: "library package",
    NodeType.ENDPOINT: "route", NodeType.SCHEMA: "table", NodeType.ENVIRONMENT: "version runtime",
    NodeType.GOAL: "aim purpose", DecisionKind.RULE: "policy constraint", DecisionKind.OPTION: "proposal alternative",
}  # fmt: skip
"""Further words that people use for a type or a kind of facts."""

_BY_NAME: Final = {category.name: category for category in CATEGORIES}


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A fact that was found. ``score`` is positive and comparable only within one search."""

    node: Node
    score: float

    def __repr__(self) -> str:
        return short_repr(self, f"{self.score:.2f} {self.node!r}")


def former_nodes(graph: SessionGraph, edits: Iterable[NodeEdited]) -> list[Node]:
    """Return the nodes whose wording (label) was changed by the manual ``edits``, with the label, slot and value that
    they had before; one for each such edit. Nodes that are no longer in the graph are left out."""
    edited = [(graph.get(edit.id), edit.before) for edit in edits if "label" in edit.before]
    names = ("label", "slot", "value")
    return [
        replace(node, **{name: before[name] for name in names if name in before})
        for node, before in edited
        if node is not None
    ]


def search(
    graph: SessionGraph, text: str, *, k: int = 5, former: Sequence[Node] = (), parts: bool = True
) -> list[SearchHit]:
    """Return at most ``k`` nodes that match ``text``, best first; ``[]`` when none shares a word with it.

    Searched are label, value, slot, reason and quote, and words for the node's type, kind and category, so that "db"
    finds PostgreSQL, which is also found as "postgres". Facts whose addition by hand was undone are left out. Among
    nearly equal hits, current facts come before replaced ones, and decisions and goals before other types.

    - ``former``: nodes with their earlier wording (``former_nodes``); a current node is also found by these words.
    - ``parts``: true: a word that no node has finds names in code of which it is a part ("memory" finds
      OutOfMemoryError); false: words find their inflected forms instead ("cancel" finds "cancellation").
    """
    nodes = [*_list_nodes(graph), *former]
    best: dict[str, float] = {}
    for index, score in _rank_nodes(_read_asked_words(text), nodes, parts):
        node = nodes[index]
        best[node.id] = max(best.get(node.id, 0.0), score * _preference(node))
    hits = [SearchHit(node, best[node.id]) for node in _list_nodes(graph) if node.id in best]
    return sorted(hits, key=lambda hit: (-hit.score, hit.node.id))[:k]


def _list_nodes(graph: SessionGraph) -> list[Node]:
    """Return all nodes except those whose addition by hand was undone."""
    return [node for node in graph.nodes() if not graph.is_undone(node)]


def find_described(graph: SessionGraph, text: str, former: Sequence[Node] = ()) -> Node | None:
    """Return the one node that ``text`` means; ``None`` when nothing matches.

    Tried in this order:

    - the node's id;
    - its label or value, or the same words (current nodes first, then exact spellings, then decisions);
    - the wording that it had before a correction by hand (``former``, see ``former_nodes``);
    - the best hit of ``search`` that ``text`` is about. It is about a node if it describes the node (``is_described``),
      names its value, or shares with its label at least two words that are a quarter of the words of ``text``. If
      others fit about equally well, ``find_fitting`` says which comes first.
    """
    return next(iter(find_fitting(graph, text, former)), None)


def find_fitting(graph: SessionGraph, text: str, former: Sequence[Node] = ()) -> list[Node]:
    """Return the nodes that ``text`` may mean; ``find_described`` returns the first of them. ``[]`` when nothing
    matches.

    - If ``text`` is the id of a node: only that node.
    - If it is a label or value, or has the same words: all nodes that it names equally well. Current nodes go before
      others, exact spellings before the same words, and decisions before other types.
    - If nodes had that label or value before a correction by hand (``former``, see ``former_nodes``): these nodes.
    - Else the best hit of ``search`` that ``text`` is about, and those that fit about equally well, current ones first;
      at most ``FITTING_MAX``. If the best hit is an error, decisions that have all words of ``text`` come before it.
    """
    if (node := graph.get(text)) is not None:
        return [node]
    if named := _find_all_in(_list_nodes(graph), text):
        return named
    if named := _find_all_in(former, text):
        return [node for id in dict.fromkeys(one.id for one in named) if (node := graph.get(id)) is not None]
    hits = [hit for hit in search(graph, text, k=FITTING_MAX, former=former) if _is_about(hit.node, text, former)]
    near = [hit.node for hit in hits if CLEAR * hit.score > hits[0].score]
    if hits and hits[0].node.type is NodeType.ERROR:  # it has a name in its text, such as that of a database
        wanted = _read_asked_words(text)
        decided = [hit.node for hit in hits if hit.node.type is NodeType.DECISION and wanted <= _naming_words(hit.node)]
        near = list({node.id: node for node in [*decided, *near]}.values())
    return sorted(near, key=lambda node: not node.current)


def _is_about(node: Node, text: str, former: Iterable[Node]) -> bool:
    """Whether a question is about a fact: one common word, or a word such as "file", does not make it so."""
    wanted = _read_asked_words(text)
    for one in (node, *(one for one in former if one.id == node.id)):
        named = shared_words(one, text) & _naming_words(one)
        valued = _singular(f"{one.value} {_category_words(one)}") if one.type is not NodeType.GOAL else frozenset[str]()
        if is_described(one, text) or valued & named or len(named) >= max(_NAMED_LEAST, len(wanted) / 4):
            return True
    return False


def find_meant(graph: SessionGraph, text: str, former: Sequence[Node], prefers: Callable[[Node], bool]) -> list[Node]:
    """Return the nodes that ``text`` may mean in an edit by hand; ``[]`` for none. ``prefers``: returns whether a node
    is more likely to be meant. Tried in this order until something is found:

    - the node with this id;
    - what ``find_worded`` finds among the nodes that ``prefers`` accepts;
    - what it finds among the others;
    - the accepted nodes whose quote contains ``text``, if that has several words; concepts only if no other node is
      found.

    ``former``: nodes with their earlier wording (``former_nodes``).
    """
    if (node := graph.get(text)) is not None:
        return [node]
    nodes = _list_nodes(graph)
    preferred = [node for node in nodes if prefers(node)]
    others = [node for node in nodes if not prefers(node)]
    found = find_worded(preferred, text, former) or find_worded(others, text, former)
    return found or _without_concepts(_find_containing(preferred, text, lambda node: node.source.quote))


def find_worded(nodes: Sequence[Node], text: str, former: Iterable[Node] = ()) -> list[Node]:
    """Return those of ``nodes`` that ``text`` may mean in an edit by hand (``find_meant``); ``[]`` for none. Tried in
    this order until something is found:

    - nodes with this label or value, now or before a correction (``former``, see ``former_nodes``);
    - if ``text`` has several words: nodes whose label begins with ``text``, else nodes whose label contains it;
    - nodes whose label, value and category together contain all words of ``text``.

    A text of several words means a concept only if it means nothing else. A single word may mean any fact that has it,
    concepts last.
    """
    by_id = {node.id: node for node in nodes}
    if named := _find_all_in(nodes, text) or _find_all_in((one for one in former if one.id in by_id), text):
        spelling = text.strip().casefold()
        named += [one for one in nodes if one.label.casefold() == spelling and one.current is named[0].current]
        spelled = any(one.label.casefold() == spelling or one.type is not NodeType.CONCEPT for one in named)
        if spelled or not (decided := [one for one in _find_containing(nodes, text) if not _is_concept(one)]):
            return [by_id[id] for id in dict.fromkeys(one.id for one in named)]
        return decided
    wanted = _read_asked_words(text)
    fitting = _find_containing(nodes, text) or [node for node in nodes if wanted and wanted <= _naming_words(node)]
    if len(wanted) == 1:
        return sorted(fitting, key=_is_concept)
    return _without_concepts(fitting)


def begins_with(label: str, text: str) -> bool:
    """Return whether ``label`` begins with ``text`` and ``text`` has several words. Ignores case and extra spaces."""
    spelling = " ".join(text.casefold().split())
    return " " in spelling and re.match(rf"{re.escape(spelling)}(?!\w)", " ".join(label.casefold().split())) is not None


def _is_concept(node: Node) -> bool:
    return node.type is NodeType.CONCEPT


def _without_concepts(nodes: Sequence[Node]) -> list[Node]:
    """``nodes`` without concepts, if others are among them."""
    return [node for node in nodes if not _is_concept(node)] or list(nodes)


def _find_containing(
    nodes: Sequence[Node], text: str, read: Callable[[Node], str] = lambda node: node.label
) -> list[Node]:
    """Return the nodes whose label (or what else ``read`` returns) contains ``text`` as it is written, without regard
    to case; those whose label begins with it if there are any. ``[]`` for a text of one word."""
    spelling = " ".join(text.casefold().split())
    if " " not in spelling:
        return []
    found = [node for node in nodes if _has_run(" ".join(read(node).casefold().split()), spelling)]
    return [node for node in found if begins_with(node.label, text)] or found


def _has_run(label: str, spelling: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(spelling)}(?!\w)", label) is not None


def names_half(node: Node, text: str) -> bool:
    """Return whether at least half of the words of ``text`` are words of the node's label, value, slot or category.
    False if none is."""
    wanted = _read_asked_words(text)
    shared = wanted & _naming_words(node)
    return bool(shared) and 2 * len(shared) >= len(wanted)


def is_described(node: Node, text: str) -> bool:
    """Return whether ``text`` describes ``node`` well enough for an edit by hand: more than half of its words are the
    node's, or half of them if one of these says what the node is a value of ("the database of the hall"). Question
    words and English function words do not count."""
    wanted, shared = _read_asked_words(text), shared_words(node, text)
    placed = frozenset[str]()
    if node.slot and node.type is not NodeType.GOAL:
        placed = _singular(f"{node.slot} {node.value} {_category_words(node)}")
    return 2 * len(shared) > len(wanted) or (2 * len(shared) == len(wanted) and not placed.isdisjoint(shared))


def shared_words(node: Node, text: str) -> frozenset[str]:
    """Return those words of ``text``, in the singular and without question words, by which ``search`` finds
    ``node``."""
    return _read_asked_words(text).intersection({*_read(node)[0], *_identifier_parts(node.label)})


def _naming_words(node: Node) -> frozenset[str]:
    named = _label_words(node) | _singular(f"{node.value} {node.slot} {_category_words(node)}")
    return named.union(_identifier_parts(node.label))


def _identifier_parts(text: str) -> Iterator[str]:
    """Yield the parts of names in CamelCase and snake_case, single and joined with their neighbours ("out", "outof",
    "outofmemory", ...)."""
    for name in _IDENTIFIER.findall(text):
        parts = [part.casefold() for part in _PART.findall(name)[:_PARTS_MAX]]
        for start in range(len(parts)):
            for end in range(start + 1, len(parts) + 1):
                joined = parts[start:end]
                if len("".join(joined)) >= _PART_LETTERS_MIN:
                    yield from (singular("".join(joined)), singular("_".join(joined)))


def _find_all_in(nodes: Iterable[Node], text: str) -> list[Node]:
    """Return the nodes that ``text`` names best by their label or value, the newest first; ``[]`` if it names none."""
    spelling, wanted = text.strip().casefold(), _read_asked_words(text)
    ranked = [(rank, node) for node in nodes if (rank := _match(node, spelling, wanted)) is not None]
    best = min((rank for rank, _ in ranked), default=None)
    return [node for rank, node in reversed(ranked) if rank == best]


def _match(node: Node, spelling: str, wanted: frozenset[str]) -> tuple[bool, bool, bool] | None:
    """Return how well ``text`` names a node, as a sort key (the smallest is the best); ``None`` if it does not."""
    decision = node.type is NodeType.DECISION
    valued = decision and node.value != ""
    exact = node.label.casefold() == spelling or (valued and node.value == _value(spelling))
    if (
        exact
        or (wanted and wanted in (_label_words(node), {node.value}))
        or (valued and {_value(word) for word in wanted} == {node.value})
    ):
        return not node.current, not exact, not decision
    return None


def _value(spelling: str) -> str:
    return MEMBERS[spelling][1] if spelling in MEMBERS else spelling


def _preference(node: Node) -> float:
    settled = node.type in (NodeType.DECISION, NodeType.GOAL) and node.kind is not DecisionKind.OPTION
    return (_CURRENT if node.current else 1.0) * (_SETTLED if settled else 1.0)


def _rank_nodes(wanted: frozenset[str], nodes: Sequence[Node], parts: bool) -> list[tuple[int, float]]:
    """Indices of the nodes that share words with ``wanted``, with BM25 scores (Robertson & Zaragoza, 2009, with a
    word's weight in the place of its count, and lengths without the words for what a node is)."""
    read = [_read(node) for node in nodes]
    if not parts:
        stems = {word: stem(word) for word in wanted}
        other = (_find_inflected(node, stems) for node in nodes)
        read = [({**bag, **more} if more else bag, size) for (bag, size), more in zip(read, other, strict=True)]
    elif missing := {word for word in wanted if not any(word in bag for bag, _ in read)}:
        named = (missing.intersection(_identifier_parts(node.label)) for node in nodes)
        read = [({**bag, **dict.fromkeys(new, _NAMED)}, size) for (bag, size), new in zip(read, named, strict=True)]
    frequency = Counter(word for bag, _ in read for word in wanted if word in bag)
    weights = {word: math.log1p((len(read) - n + 0.5) / (n + 0.5)) for word, n in frequency.items()}
    mean = sum(length for _, length in read) / len(read) if read else 0.0
    found = []
    for index, (bag, length) in enumerate(read):
        if shared := [word for word in weights if word in bag]:
            norm = _SATURATION * (1 - _LENGTH + _LENGTH * length / (mean or 1.0))
            score = math.fsum(weights[word] * bag[word] * (_SATURATION + 1) / (bag[word] + norm) for word in shared)
            found.append((index, score))
    return found


def _find_inflected(node: Node, stems: Mapping[str, str]) -> dict[str, int]:
    """The words of a question (``stems``: with their stems) of which a node has another form, each with its weight."""
    bag, forms = _read(node)[0], _forms(node)
    return {word: forms[found] for word, found in stems.items() if word not in bag and found in forms}


@lru_cache(maxsize=_READ_MAX)
def _forms(node: Node) -> Mapping[str, int]:
    """The stems of the words that find a node, each with its weight."""
    return {stem(word): weight for word, weight in _read(node)[0].items()}


@lru_cache(maxsize=_READ_MAX)
def _read(node: Node) -> tuple[Mapping[str, int], int]:
    """Return the words by which a node is found, each with its weight, and how many words its own texts have."""
    stems = _label_words(node) | _singular(f"{node.detail} {node.value} {node.source.quote}")
    return _bag(node, stems), len(stems)


def _singular(text: str) -> frozenset[str]:
    return frozenset(map(_spell, map(singular, words(text))))


def _label_words(node: Node) -> frozenset[str]:
    """The words of a label; those of a path as they are spelled."""
    return frozenset(map(singular, words(node.label))) if node.type is NodeType.FILE else _singular(node.label)


def _read_asked_words(text: str) -> frozenset[str]:
    return frozenset(map(_spell, pick_asked_words(text)))


def product_words(text: str) -> frozenset[str]:
    """Return the words of a text in the singular, without English function words. Each name of a known product has one
    spelling: "postgres" becomes "postgresql"."""
    return _singular(text)


_UNSPELLED: Final = frozenset({"js", "ts"})
"""Spellings that are more often the end of a name: "node.js", "app.ts"."""


def _spell(word: str) -> str:
    """The first spelling of a known product's name ("postgresql" for "postgres"); another word as it is."""
    return MEMBERS[word][1] if word in MEMBERS and word not in _UNSPELLED else word


def _bag(node: Node, stems: frozenset[str]) -> Mapping[str, int]:
    bag = dict.fromkeys(stems | kind_words(node.type, node.kind), _MENTIONED)
    bag.update(dict.fromkeys(_label_words(node) | _singular(f"{node.value} {_named_categories(node)}"), _NAMED))
    bag.update(dict.fromkeys(_singular(f"{node.slot} {_category_words(node)}"), _MEANT if node.current else _MENTIONED))
    return bag


@cache
def kind_words(type_: NodeType, kind: DecisionKind | None = None) -> frozenset[str]:
    """Return the words that people use for a type of facts and for a kind of decisions (``None``: for the type alone),
    in the singular: "task", "work" and "todo" for ``NodeType.TASK``."""
    named = kind or ""
    return _singular(f"{type_} {_CALLED.get(type_, '')} {named} {_CALLED.get(named, '')}")


def _category_words(node: Node) -> str:
    """Return the names of what a node is a value of, and the value's other spellings; "" if its category is unknown."""
    category, value = _category(node)
    if category is None:
        return ""
    spellings = next((names for names in category.members.split() if names.split("/")[0] == value), "")
    return f"{category.name} {category.names} {category.asked} {spellings.replace('/', ' ')}"


def _named_categories(node: Node) -> str:
    """Return the names of the categories whose values a current decision names, if it is not known to be a value of
    one: "keep everything in one SQLite file" answers which database is used. "" for other nodes."""
    if node.type is not NodeType.DECISION or not node.current or _category(node)[0] is not None:
        return ""
    named = (MEMBERS[word][0] for word in words(node.label) if word in MEMBERS)
    return " ".join(f"{category.name} {category.names}" for category in named)


def _category(node: Node) -> tuple[Category | None, str]:
    value = _value(node.value.casefold() or node.label.casefold())
    by_slot = _BY_NAME.get(node.slot.partition("@")[0])
    by_value = MEMBERS.get(value)
    return by_slot or (by_value[0] if by_value is not None else None), value


# fmt: off
_OPEN_WORDS: Final = frozenset((
    "open", "todo", "to-do", "left", "remaining", "remain", "pending", "outstanding", "unfinished", "unresolved",
    "unfixed", "missing", "next",
))
_BESIDE_OPEN: Final = frozenset((
    "still", "yet", "currently", "current", "item", "thing", "point", "issue", "need", "session", "list", "show",
))
# fmt: on
_WORK: Final = (NodeType.TASK, NodeType.TEST, NodeType.ERROR)


def find_open_work(graph: SessionGraph, query: str) -> list[Node]:
    """Return the unfinished tasks, tests and errors that ``query`` asks for ("what is left to do?"); those in progress
    first, then the newest first.

    Empty for a question about anything else: one without a word for open work, or with a word that means neither that
    nor a kind of work. If it names kinds ("open errors"), only these are returned.
    """
    asked = pick_asked_words(query) - _BESIDE_OPEN
    named = [type_ for type_ in _WORK if asked & kind_words(type_)]
    if not asked & _OPEN_WORDS or asked - _OPEN_WORDS.union(*map(kind_words, named)):
        return []
    found = [node for node in graph.newest_unfinished() if node.type in (named or _WORK)]
    return sorted(found, key=lambda node: node.status is not Status.IN_PROGRESS)
